#!/usr/bin/env bash
# doctor.sh - `ctrace doctor`: what a newcomer is told of a program that traces, that does not, and that fails; list and stats show the
# configuration too; what can never be delivered is kept as long as ctrace.keep says.
set -u
count=0 bad=0
check() { # WHAT STATUS
	count=$((count + 1))
	if [ "$2" -eq 0 ]; then echo "ok $count - $1"; else
		echo "not ok $count - $1"
		bad=1
		sed 's/^/#   /' out err 2>/dev/null
	fi
	# What a program of the doctor's could not deliver waits in a directory, which the doctor names.
	sed -n 's|^ctrace doctor: .*: ctrace recover \(/.*/ctrace-doctor\.[A-Za-z0-9]*\)/run$|\1|p' err 2>/dev/null | xargs -r rm -r
}
in_out() { # PATTERN...: each is in a line of out
	for pattern; do grep -qE -- "$pattern" out || { echo "# no /$pattern/" && return 1; }; done
}
subject=$CTRACE_BUILD/tests/tool_subject
unset MFTRACE_CONFIG
printf 'mftrace.level = info\n' >good.cfg
printf 'mftrace.level = info\nmftrace.levl = x\n' >bad.cfg

MFTRACE_CONFIG=good.cfg ctrace doctor "$subject" 3 >out 2>err </dev/null
check 'all is well: status 0' $?
[ "$(grep -vc '^ready$' out)" -eq 6 ] && ! [ -s err ]
check 'in six lines' $?
in_out '^library +(/.*/libctrace\.so|linked into the program)' "^configuration +$PWD/good.cfg: read$" '^clock +[A-Za-z_0-9]+: .' '^components .*tool.main INFO, tool.main.part INFO' \
	"^files +TEXTFILE $PWD/tool_subject\.textfile\.[0-9]+\.log: 6 events$" '^lost +nothing$'
check 'library, configuration, clock, components, files, losses' $?
[ "$(grep -c 'tool.main' tool_subject.textfile.*.log)" -eq 6 ]
check 'what it says was traced is there' $?

printf '%s\n' 'mftrace.level = info' 'mftrace.dest = textfile binfile stderr' 'mftrace.emitter.textfile#level = warn' \
	'mftrace.emitter.binfile#level = 5' 'mftrace.emitter.stderr#level = 0' >level.cfg
MFTRACE_CONFIG=level.cfg ctrace doctor "$subject" 3 >out 2>err </dev/null
[ $? -eq 0 ] && in_out "^files .*TEXTFILE $PWD/tool_subject\.textfile\.[0-9]+\.log: 6 events, of which its LEVEL keeps out those below WARN" \
	'BINFILE [^;]*6 events, of which its LEVEL keeps out all' 'STDERR 6 events(;|$)' '^lost +nothing$'
check 'what a LEVEL keeps out is no loss' $?

ctrace doctor "$subject" 3 >out 2>err </dev/null
[ $? -eq 1 ] && in_out '^configuration +none: .*MFTRACE_CONFIG$' 'none is on: set mftrace.level' '^files +none: nothing was traced$'
check 'without a configuration: status 1' $?
MFTRACE_CONFIG=bad.cfg ctrace doctor "$subject" 3 >out 2>err </dev/null
[ $? -eq 1 ] && in_out '^configuration .*/bad.cfg: 1 line not understood, line 2; `ctrace config check` names them$'
check 'an error in it: status 1' $?
MFTRACE_CONFIG=nosuch.cfg ctrace doctor "$subject" 3 >out 2>err </dev/null
[ $? -eq 1 ] && in_out "^configuration +$PWD/nosuch.cfg: not read: No such file or directory$"
check 'one that is not there: status 1' $?
ctrace doctor true >out 2>err
[ $? -eq 1 ] && in_out '^library +libctrace was not loaded'
check 'a program without the library: status 1' $?

MFTRACE_CONFIG=good.cfg ctrace doctor sh -c '"$0" 1 </dev/null; exit 7' "$subject" >out 2>err
[ $? -eq 3 ] && grep -q 'ended with exit status 7$' err && in_out 'tool.main INFO'
check 'a program that fails by itself: status 3' $?
ctrace doctor sh -c 'kill -9 $$' >out 2>err
[ $? -eq 4 ] && grep -q 'ended by signal 9' err
check 'both: status 4' $?
MFTRACE_CONFIG=good.cfg ctrace doctor sh -c '"$0" 1 >/dev/null; "$0" 2' "$subject" >out 2>err </dev/null
in_out '^process [0-9]+$' 'textfile.*: 2 events' 'textfile.*: 4 events'
check 'each process of the program' $?
ctrace doctor sh -c 'echo "$@"' sh -h --jsn >out 2>err
grep -qx -- '-h --jsn' out
check 'options behind the program are the program'\''s' $?
ctrace doctor -h >out 2>err
[ $? -eq 0 ] && in_out '^Usage: ctrace doctor'
check '-h is for help' $?
ctrace doctor /nosuch/program >out 2>err
[ $? -eq 3 ] && grep -q 'cannot run /nosuch/program: No such file' err
check 'a program that is not there' $?
ctrace doctor >out 2>err
[ $? -eq 2 ]
check 'no program: status 2' $?

MFTRACE_CONFIG=bad.cfg ctrace doctor --json -- "$subject" 3 >out 2>err </dev/null
[ $? -eq 1 ] && python3 - <<'EOF'
import json
document = json.load(open('out'))
assert document['problems'] == ['configuration'] and document['end'] == {'status': 0}, document
configuration = document['processes'][0]['configuration']
assert configuration['path'].endswith('/bad.cfg') and configuration['read'] and configuration['first_error'] == 2, configuration
EOF
check 'JSON' $?
[ -z "$(find /tmp "$TMPDIR" -maxdepth 1 -name 'ctrace-doctor.*' -user "$(id -u)" -newer good.cfg 2>/dev/null)" ]
check 'nothing is left' $?

printf 'mftrace.level = info\nmftrace.application = (prog)\n' >application.cfg
cp "$subject" cobcrun
export LD_LIBRARY_PATH=$CTRACE_BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # the copy has no library beside it
MFTRACE_CONFIG=application.cfg ctrace doctor -- ./cobcrun -q -M libctrace prog >out 2>err </dev/null
[ $? -eq 0 ] && in_out 'forged INFO' && MFTRACE_CONFIG=application.cfg ctrace doctor ./cobcrun -M prog other >out 2>err </dev/null
[ $? -eq 1 ] && in_out '^configuration .*: for another program, says mftrace.application in line 2$'
check 'what a trigger runs, behind its options' $?

# ---- of a process that runs; list and stats
mkfifo in
start() { # COUNT: the program has traced COUNT events and reads from descriptor 3; $pid
	: >ready
	"$subject" "$1" <in >ready &
	pid=$!
	exec 3>in
	until grep -q ready ready; do kill -0 "$pid" || break; sleep 0.01; done
}
MFTRACE_CONFIG=bad.cfg start 2
ctrace doctor "$pid" >out 2>err
[ $? -eq 1 ] && in_out '^library +' '^configuration .*bad.cfg: 1 line not understood' '^components .*tool.main INFO'
check 'a process that runs' $?
ctrace list >out 2>err && in_out '^    configuration /.*/bad.cfg: 1 line not understood, line 2$'
check 'list' $?
ctrace list --json >out 2>err && python3 -c 'import json; c = json.load(open("out"))["configuration"]; assert (c["errors"], c["first_error"], c["read"], c["error"]) == (1, 2, True, None), c'
check 'list --json' $?
ctrace stats >out 2>err && in_out '^    configuration: /.*/bad.cfg: 1 line not understood, line 2$'
check 'stats' $?
ctrace stats --json >out 2>err && python3 -c 'import json; assert json.load(open("out"))["processes"][0]["configuration"]["errors"] == 1'
check 'stats --json' $?
printf 'mftrace.level = info\nmftrace.emitter.textfile#file = /nosuch/directory/x.log\n' >nowhere.cfg
MFTRACE_CONFIG=nowhere.cfg ctrace doctor "$subject" 1 >out 2>err </dev/null
[ $? -eq 1 ] && in_out '^files .*TEXTFILE 0 events, FAILING: /nosuch/directory/x.log: No such file or directory; `ctrace config check` looks at its FILE and LOCATION$'
check 'a file that cannot be opened' $?
mkdir location && : >location/file
printf 'mftrace.level = info\nmftrace.emitter.textfile#%s\n' "location = $PWD/location" "file = $PWD/location/file/x.log" >under.cfg
MFTRACE_CONFIG=under.cfg ctrace doctor "$subject" 1 >out 2>err </dev/null
[ $? -eq 1 ] && in_out "^files .*TEXTFILE 0 events, FAILING: $PWD/location/file/x.log: Not a directory"
check 'a directory that cannot be made' $?
printf 'mftrace.level = debug\nmftrace.dest = stderr\nmftrace.emitter.stderr#level = 0\n' >full.cfg
MFTRACE_CONFIG=full.cfg ctrace doctor sh -c '"$0" 1 2>/dev/full' "$subject" >out 2>err </dev/null
[ $? -eq 1 ] && in_out '^files .*STDERR 0 events, FAILING: standard error: No space left on device$'
check 'standard error that cannot be written' $?
if [ -e /run/systemd/journal/socket ] || [ ! -e "$CTRACE_BUILD/modules/journal.so" ]; then
	echo "ok $((count += 1)) - a journal that cannot be reached # SKIP there is one, or no module for it"
else
	printf 'mftrace.level = debug\nmftrace.dest = journal\nmftrace.emitter.journal#level = 0\n' >journal.cfg
	CTRACE_EMITTERS=$CTRACE_BUILD/modules MFTRACE_CONFIG=journal.cfg ctrace doctor "$subject" 1 >out 2>err </dev/null
	[ $? -eq 1 ] && in_out '^files .*JOURNAL 0 events, FAILING: /run/systemd/journal/socket: No such file or directory$'
	check 'a journal that cannot be reached' $?
fi
cp good.cfg bad.cfg
ctrace reload >out 2>err
ctrace list >out 2>err && in_out '^    configuration /.*/bad.cfg: read$'
check 'after a reload' $?
exec 3>&-
wait "$pid"
start 0
ctrace list >out 2>err && in_out "^    configuration none: the program's environment has no MFTRACE_CONFIG\$"
check 'list: none was named' $?
ctrace stats >out 2>err && in_out "^    configuration: none: the program's environment has no MFTRACE_CONFIG\$"
check 'stats: none was named' $?
exec 3>&-
wait "$pid"

MFTRACE_CONFIG=nowhere.cfg start 1
until ctrace list --json --pid "$pid" | grep -q '"failing":"'; do kill -0 "$pid" || break; done
[ "$(ctrace list --json --pid "$pid" | grep -oE '"failing_at":"[^"]*"')" = '"failing_at":"/nosuch/directory/x.log"' ]
check 'list --json: what a destination failed at' $?
exec 3>&-
wait "$pid"
rm -rf "$CTRACE_RUN_DIR/$pid.0"

# ---- what can never be delivered
printf 'mftrace.level = info\nmftrace.emitter.textfile#file = /nosuch/directory/x.log\nctrace.keep = %s\n' 0s >now.cfg
sed s/0s/1d/ now.cfg >later.cfg
for config in now later; do
	MFTRACE_CONFIG=$config.cfg start 2
	kill -9 "$pid"
	exec 3>&-
	wait "$pid" 2>/dev/null
done
ctrace recover >out 2>err
[ $? -eq 1 ] && grep -q '2 kept for another try$' err
check 'what fails is kept at first' $?
ctrace recover --dry-run >out 2>err
in_out 'a destination has failed 1 time; undelivered events are removed after 20'
check 'and listed with its time' $?
ctrace recover >out 2>err
[ $? -eq 1 ] && grep -q 'given up and removed, 0 events delivered: a destination has failed for as long as ctrace.keep says$' err &&
	grep -q '1 kept for another try$' err
check 'ctrace.keep has passed for the one, not for the other' $?
echo "1..$count"
exit $bad
