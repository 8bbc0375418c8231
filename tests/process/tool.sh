#!/usr/bin/env bash
# The ctrace tool as a user meets it: help, exit statuses, list, recover, and a man page for everything that is public.
set -u
source_directory=$CTRACE_SOURCE
subject=$CTRACE_BUILD/tests/tool_subject
count=0 bad=0

check() { # WHAT ERRORS
	count=$((count + 1))
	if [ -z "$2" ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		sed 's/^/#   /' <<<"$2"
		bad=1
	fi
}
skip() { # WHAT WHY
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# Runs the tool: its output in $out and $err, its status in $status.
tool() {
	ctrace "$@" >out 2>err </dev/null
	status=$?
	out=$(<out) err=$(<err)
}
expect_status() { [ "$status" = "$1" ] || echo "exit status $status, not $1; stdout: $out; stderr: $err"; }
expect_in() { # WHERE WHAT PATTERN...
	local where=$1 text=$2
	shift 2
	for pattern; do
		grep -qE -- "$pattern" <<<"$text" || echo "$where has no /$pattern/: $text"
	done
}
expect_not_in() { # WHERE TEXT PATTERN
	! grep -qE -- "$3" <<<"$2" || echo "$1 has /$3/: $2"
}

# ---- help and usage
verbs='show list recover config help'
version=$(sed -n "s/.*version: '\([0-9.]*\)'.*/\1/p" "$source_directory/meson.build" | head -1)

tool --help
check 'ctrace --help lists every verb' "$(
	expect_status 0
	for verb in $verbs; do expect_in help "$out" "^  $verb "; done
	[ -z "$err" ] || echo "stderr: $err"
)"
all=$out
tool help
check 'ctrace help says the same' "$(expect_status 0; [ "$out" = "$all" ] || echo "$out")"
tool --version
check 'ctrace --version' "$(expect_status 0; [ "$out" = "ctrace $version" ] || echo "$out")"
for verb in $verbs; do
	tool "$verb" --help
	help=$out
	check "ctrace $verb --help" "$(expect_status 0; expect_in help "$out" "^Usage: ctrace $verb( |$)")"
	tool help "$verb"
	check "ctrace help $verb says the same" "$(expect_status 0; [ "$out" = "$help" ] || echo "$out")"
	tool "$verb" -h
	check "ctrace $verb -h does, too" "$(expect_status 0; [ "$out" = "$help" ] || echo "$out")"
	tool "$verb" --version
	check "ctrace $verb --version" "$(expect_status 0; [ "$out" = "ctrace $version" ] || echo "$out")"
	tool "$verb" --no-such-option
	check "ctrace $verb refuses an unknown option" "$(
		expect_status 2
		expect_in stderr "$err" "^ctrace $verb: unrecognized option '--no-such-option'" "ctrace $verb --help"
		[ -z "$out" ] || echo "stdout: $out"
	)"
done

refuse() { # PATTERN ARGUMENT...
	local pattern=$1
	shift
	tool "$@"
	check "usage error: ctrace $*" "$(expect_status 2; expect_in stderr "$err" "$pattern"; [ -z "$out" ] || echo "stdout: $out")"
}
refuse 'Usage: ctrace'
refuse 'did you mean "list"' lst
refuse "unrecognized option '--lmit'; did you mean --limit\?" show --lmit 3
refuse "unrecognized option '--thred'; did you mean --thread\?" show -n 3 --thred=3
refuse "unrecognized option '--jsn'; did you mean --json\?" doctor --jsn df
refuse 'no level: "--lmit"' show --level --lmit
refuse 'did you mean "recover"' rec
refuse 'did you mean "config"' confgi
refuse 'unknown verb "nothing"$' nothing
refuse 'did you mean "show"' help shw
refuse 'one verb at a time' help list show
refuse 'unexpected argument "x"' list x
refuse '"abc" is not a process id' list --pid abc
refuse '"0" is not a process id' list -p 0
refuse '"99999999999" is not a process id' list -p 99999999999
refuse 'no level: "loud"; expected' show --level loud
refuse 'no level: "warning" \(did you mean warn\?\)' show --level warning
refuse 'no level: "wraning" \(did you mean warn\?\)' show --level wraning
refuse 'no level: "off"; expected' show --level off
refuse 'no list of event ids' show --event 5-
refuse 'no time: "soon"' show --since soon
refuse 'ctrace config' config
refuse 'ctrace config' config check
refuse 'ctrace config' config chekc file
refuse 'unknown verb "\\u\{1B\}\[2Jx"' $'\033[2Jx'

# ---- output that cannot be written
for arguments in --help --version 'recover --help' 'list --help'; do
	# shellcheck disable=SC2086 # words
	ctrace $arguments >/dev/full 2>err
	status=$? out='' err=$(<err)
	check "ctrace $arguments tells of a full disk" "$(expect_status 2; expect_in stderr "$err" 'cannot write the output: No space left')"
done
ctrace --help >&- 2>err
status=$? out='' err=$(<err)
check 'ctrace --help tells of a closed stdout' "$(expect_status 2; expect_in stderr "$err" 'cannot write the output')"

# ---- nothing there
tool list
check 'list: nothing is traced' "$(expect_status 1; expect_in stderr "$err" "^ctrace list: no traced process found in $CTRACE_RUN_DIR\$")"
tool show
check 'show: nothing is traced' "$(expect_status 1; expect_in stderr "$err" '^ctrace show: nothing is being traced')"
tool show /no/such/trace
check 'show: a trace that is not there' "$(expect_status 2; expect_in stderr "$err" '^ctrace show: /no/such/trace: ')"
tool recover
check 'recover: nothing to do is fine' "$(expect_status 0; [ "$out" = 'nothing to recover' ] || echo "$out")"
tool recover --dry-run
check 'recover --dry-run: the same' "$(expect_status 0; [ "$out" = 'nothing to recover' ] || echo "$out")"
tool recover /no/such/directory
check 'recover: a directory that is not there' "$(expect_status 1; expect_in stderr "$err" '^ctrace recover: /no/such/directory: No such file')"
tool recover out
check 'recover: a file is no run directory' "$(expect_status 1; expect_in stderr "$err" '^ctrace recover: out: Not a directory')"

# ---- a traced process
mkdir logs
cat >app.cfg <<CONFIG
mftrace.level = none
mftrace.level.tool.main = info
mftrace.level.tool.main.part = warn
mftrace.level.tool.later = debug
mftrace.dest.tool.main.part = stderr
mftrace.emitter.textfile#location = $PWD/logs
mftrace.emitter.textfile#file = subject.log
CONFIG

start() { # COUNT: $pid waits for orders
	coproc SUBJECT { MFTRACE_CONFIG=$PWD/app.cfg exec "$subject" "$1" 2>/dev/null; }
	pid=$SUBJECT_PID
	read -r answer <&"${SUBJECT[0]}"
}
order() { # ORDER: $answer
	echo "$1" >&"${SUBJECT[1]}"
	read -r answer <&"${SUBJECT[0]}"
}
finish() {
	eval "exec ${SUBJECT[1]}>&-"
	wait "$pid"
}
murder() {
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}
lines() { grep -vc '^#' logs/subject.log; }

# ---- what is there and no trace
echo '# -MFTRACE Text Emitter-' >some.log
tool show some.log
check 'show: a text file is no trace' "$(expect_status 2; expect_in stderr "$err" 'some\.log: a text file')"
tool show missing.log
check 'show: a name that nothing has' "$(expect_status 2; expect_in stderr "$err" 'missing\.log: no trace, process directory or traced process of that name')"

# ---- a configuration that cannot be read
mkdir configs
for row in 'configs/no-such.cfg No such file or directory' 'configs it is no file'; do
	coproc SUBJECT { MFTRACE_CONFIG=${row%% *} exec "$subject" 0; }
	pid=$SUBJECT_PID
	read -r answer <&"${SUBJECT[0]}"
	tool list --pid "$pid"
	check "list: MFTRACE_CONFIG ${row%% *}" "$(expect_status 0; expect_in stdout "$out" "^    configuration $PWD/${row%% *}: not read: ${row#* }\$")"
	finish
done

start 10
order flush
check 'the subject of these tests runs' "$([ "$answer" = 0 ] || echo "flush answered $answer")"
tool list
check 'list shows the process, its components, destinations and counters' "$(
	expect_status 0
	expect_in stdout "$out" "^$pid  tool_subject  running since [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}  user [a-z0-9_-]+  jobname TOOL_SUB  asid [0-9A-F]{4}$" \
		'^    COMPONENT +LEVEL  DESTINATIONS$' '^    tool\.main +INFO   TEXTFILE$' '^    tool\.main\.part +WARN   (TEXTFILE, STDERR|STDERR, TEXTFILE)$' \
		"^    TEXTFILE +20  $PWD/logs/subject.log\$" '^    STDERR +10  -$' \
		'^    delivered 20, lost 0, pending 0 \(0 bytes in [0-9]+ rings?\)$'
	expect_not_in stdout "$out" 'tool\.later'
)"
check 'list: a name forges neither a line nor a terminal sequence' "$(
	expect_in stdout "$out" '^    tool\.evil\\u\{1B\}\[2J\\n9999  forged +NONE'
	expect_not_in stdout "$out" $'\033|^9999'
)"
tool list --all
check 'list --all shows what is not registered' "$(expect_status 0; expect_in stdout "$out" '^    tool\.later +DEBUG +[A-Z]+  \(not registered\)$')"
tool list --component 'TOOL.*.P?rt'
check 'list --component' "$(
	expect_status 0
	expect_in stdout "$out" '^    tool\.main\.part '
	expect_not_in stdout "$out" '^    tool\.main '
)"
tool list --component nothing.like.it
check 'list --component that none has' "$(expect_status 1; expect_in stderr "$err" 'no traced process matches'; [ -z "$out" ] || echo "$out")"
tool list --pid "$pid"
check 'list --pid' "$(expect_status 0; expect_in stdout "$out" "^$pid  ")"
tool list --pid 1
check 'list --pid of another process' "$(expect_status 1; expect_in stderr "$err" 'no traced process matches')"
tool list --json
check 'list --json' "$(
	expect_status 0
	[ "$(wc -l <out)" = 1 ] || echo "$(wc -l <out) lines"
	python3 - "$pid" "$PWD/logs/subject.log" out <<'PYTHON'
import json, sys
pid, log, path = int(sys.argv[1]), sys.argv[2], sys.argv[3]
process = json.load(open(path))
components = {c['component']: c for c in process['components']}
destinations = {d['emitter']: d for d in process['destinations']}
def want(what, got, expected):
    if got != expected:
        print(f'{what} is {got!r}, not {expected!r}')
want('pid', process['pid'], pid)
want('program', process['program'], 'tool_subject')
want('state', process['state'], 'running')
want('job', process['job'], 'TOOL_SUB')
want('asid', 1 <= int(process['asid'], 16) <= 0xFFFF, True)
want('directory', process['directory'].rsplit('/', 1)[1].split('.')[0], str(pid))
want('level', components['tool.main']['level'], 'INFO')
want('level', components['tool.evil\033[2J\n9999  forged']['level'], 'NONE')
want('destinations', components['tool.main']['destinations'], ['TEXTFILE'])
want('destinations', sorted(components['tool.main.part']['destinations']), ['STDERR', 'TEXTFILE'])
want('registered', components['tool.main']['registered'], True)
want('path', destinations['TEXTFILE']['path'], log)
want('delivered', destinations['TEXTFILE']['delivered'], 20)
want('failing', destinations['TEXTFILE']['failing'], None)
want('counters', {k: process['counters'][k] for k in ('delivered', 'lost', 'pending', 'pending_bytes')},
     {'delivered': 20, 'lost': 0, 'pending': 0, 'pending_bytes': 0})
want('reasons', len(process['counters']['lost_by_reason']), 10)
want('no loss', set(process['counters']['lost_by_reason'].values()), {0})
PYTHON
)"
for arguments in list 'list --json' stats 'stats --json' 'top --batch --interval=0.1 -n 1' 'top --batch --json --interval=0.1 -n 1'; do
	# shellcheck disable=SC2086 # words
	ctrace $arguments >/dev/full 2>err
	status=$? out='' err=$(<err)
	check "$arguments tells of a full disk" "$(expect_status 2; [ "$err" = 'ctrace: cannot write the output: No space left on device' ] || echo "$err")"
done
tool recover
check 'recover leaves the living alone' "$(expect_status 0; [ "$out" = 'nothing to recover' ] || echo "$out"; [ -d "$CTRACE_RUN_DIR/$pid.0" ] || ls "$CTRACE_RUN_DIR")"
finish
tool list
check 'list: the process has gone and left nothing' "$(expect_status 1; expect_in stderr "$err" 'no traced process found')"

# ---- a process that was killed
rm -f logs/subject.log
start 100
order 1000
murder
tool recover --dry-run
check 'recover --dry-run names what it would recover' "$(
	expect_status 0
	expect_in stdout "$out" "^$CTRACE_RUN_DIR/$pid\.0: would be recovered: tool_subject \(process $pid of user $(id -u)\)\$"
	[ -d "$CTRACE_RUN_DIR/$pid.0" ] || echo 'it is gone'
)"
tool recover
check 'recover delivers the rest, once, and says so' "$(
	expect_status 0
	expect_in stdout "$out" "^$CTRACE_RUN_DIR/$pid\.0: recovered, [0-9]+ events? delivered\$" '^1 of 1 recovered, [0-9]+ events? delivered$'
	[ "$(lines)" = 1200 ] || echo "$(lines) lines, not 1200"
	[ ! -e "$CTRACE_RUN_DIR/$pid.0" ] || echo 'the directory is still there'
)"
tool recover
check 'recover again: nothing is left' "$(expect_status 0; [ "$out" = 'nothing to recover' ] || echo "$out"; [ "$(lines)" = 1200 ] || lines)"

rm -f logs/subject.log
start 100
order 1000
murder
tool list
check 'list recovers on the way' "$(
	expect_status 1
	[ "$(lines)" = 1200 ] || echo "$(lines) lines, not 1200"
	[ ! -e "$CTRACE_RUN_DIR/$pid.0" ] || echo 'the directory is still there'
)"

rm -f logs/subject.log
start 0
order 10
order flush
murder
tool recover
check 'recover: what was delivered is not delivered again' "$(
	expect_status 0
	expect_in stdout "$out" '^1 of 1 recovered, 0 events delivered$'
	[ "$(lines)" = 10 ] || echo "$(lines) lines"
)"

# ---- a destination that fails
rm -rf logs/subject.log
mkdir logs/subject.log # a directory in the place of the file, from the start
sed -i "s,^mftrace.emitter.textfile#file = .*,mftrace.emitter.textfile#file = $PWD/logs/subject.log," app.cfg
start 50
tool list
check 'list shows a failing destination' "$(expect_status 0; expect_in stdout "$out" '^    TEXTFILE +0  .*FAILING: .+ \([0-9]+ failures?\)$' 'pending [1-9]')"
murder
tool show "$CTRACE_RUN_DIR/$pid.0"
check 'show prints what is in the rings of an orphan, and leaves it there' "$(
	expect_status 0
	[ "$(wc -l <out)" = 100 ] || echo "$(wc -l <out) lines"
	[ -d "$CTRACE_RUN_DIR/$pid.0" ] || echo 'the directory is gone'
)"
tool recover
check 'recover keeps what cannot be delivered' "$(
	expect_status 1
	expect_in stderr "$err" "^ctrace recover: $CTRACE_RUN_DIR/$pid\.0: kept, 0 events delivered: .+" '1 kept for another try'
	[ -d "$CTRACE_RUN_DIR/$pid.0" ] || echo 'it is gone'
)"
tool list
check 'list shows it as ended' "$(expect_status 0; expect_in stdout "$out" "^$pid  tool_subject  ended since")"
rmdir logs/subject.log
tool recover
check 'recover delivers it when the obstacle is gone' "$(expect_status 0; [ "$(lines)" = 100 ] || lines)"

# ---- a damaged directory
mkdir -m 700 "$CTRACE_RUN_DIR/777.0" && printf 'no session' >"$CTRACE_RUN_DIR/777.0/session"
tool list
check 'list tells of a damaged directory' "$(expect_status 1; expect_in stderr "$err" "^ctrace list: $CTRACE_RUN_DIR/777\.0: ")"
tool recover
check 'recover keeps a damaged directory' "$(expect_status 1; expect_in stderr "$err" "^ctrace recover: $CTRACE_RUN_DIR/777\.0: kept, 0 events"; [ -d "$CTRACE_RUN_DIR/777.0" ] || echo gone)"
tool recover -n
check 'recover --dry-run tells of it too' "$(expect_status 1; expect_in stderr "$err" '777\.0: cannot be read')"
rm -r "$CTRACE_RUN_DIR/777.0"

killed_with() { # EVENTS: leaves the directory of a process that was killed with them in its ring
	export BATTERY_EMITTER=stuck
	start "$1"
	murder
	unset BATTERY_EMITTER
}
mkdir modules
cp "$CTRACE_BUILD/tests/libhang.so" modules/hang.so
export CTRACE_EMITTERS=$PWD/modules
cp app.cfg files.cfg
printf 'mftrace.level = info\nmftrace.dest = hang\n' >app.cfg

killed_with 10
mv "$CTRACE_RUN_DIR/$pid.0/session" session
tool recover
check 'recover keeps a directory without its session file' "$(
	expect_status 1
	expect_in stderr "$err" "^ctrace recover: $CTRACE_RUN_DIR/$pid\.0: kept, 0 events delivered: its session file is missing: .*--discard=$pid"
	[ -e "$CTRACE_RUN_DIR/$pid.0/ring.0" ] || echo 'its ring is gone'
)"
tool list
check 'list reports it too' "$(expect_status 1; expect_in stderr "$err" "$pid\.0: its session file is missing")"
mkfifo "$CTRACE_RUN_DIR/$pid.0/session"
tool recover
check 'recover reports a FIFO in its place' "$(expect_status 1; expect_in stderr "$err" "$pid\.0: kept, .*: session is a FIFO, not a file")"
tool list
check 'so does list' "$(expect_status 1; expect_in stderr "$err" "$pid\.0: session is a FIFO, not a file")"
rm "$CTRACE_RUN_DIR/$pid.0/session"
mv session "$CTRACE_RUN_DIR/$pid.0/session"
mv "$CTRACE_RUN_DIR/$pid.0/ring.0" ring
mkfifo "$CTRACE_RUN_DIR/$pid.0/ring.0"
tool recover
check 'recover reports a FIFO in the place of a ring' "$(expect_status 1; expect_in stderr "$err" "$pid\.0: kept, .*: ring\.0 is a FIFO, not a file")"
rm "$CTRACE_RUN_DIR/$pid.0/ring.0"
mv ring "$CTRACE_RUN_DIR/$pid.0/ring.0"

# ---- an output that hangs
for verb in list stats 'level tool.main'; do
	# shellcheck disable=SC2086 # a verb and its arguments
	BATTERY_EMITTER=stuck tool $verb
	check "$verb goes on without a recovery that hangs" "$(
		expect_in stderr "$err" "^ctrace ${verb%% *}: $CTRACE_RUN_DIR/$pid\.0: the recovery has made no progress for 2 seconds in the output HANG; going on without it, run ctrace recover\$"
		[ "$verb" != list ] || expect_in stdout "$out" "^$pid  tool_subject  ended since"
		[ -e "$CTRACE_RUN_DIR/$pid.0/session" ] || echo 'the directory is gone'
	)"
done
coproc HUNG { BATTERY_EMITTER=stuck exec ctrace recover 2>&1; }
hung=$HUNG_PID
read -r answer <&"${HUNG[0]}"
kill -INT "$hung"
wait "$hung" 2>/dev/null
interrupted=$?
check 'recover reports what it waits for, and can be interrupted' "$(
	expect_in stderr "$answer" "^ctrace recover: $CTRACE_RUN_DIR/$pid\.0: .* in the output HANG; waiting for it\$"
	[ "$interrupted" = 130 ] || echo "ended with $interrupted"
)"
for _ in 1 2 3 4 5 6 7; do killed_with 10; done
BATTERY_EMITTER=crawl tool list
check 'list waits for a recovery that makes progress, however long it takes' "$(
	expect_status 1
	expect_in stderr "$err" '^ctrace list: no traced process found'
	[ "$(wc -l <err)" = 1 ] || echo "$err"
	[ -z "$(find "$CTRACE_RUN_DIR" -maxdepth 1 -name '*.0')" ] || ls "$CTRACE_RUN_DIR"
)"
mv files.cfg app.cfg
unset CTRACE_EMITTERS

# ---- a run directory that is refused
refuse_directory() { # WHAT DIRECTORY WHY
	local verb
	for verb in list recover stats; do
		CTRACE_RUN_DIR=$2 tool "$verb"
		check "$verb: a run directory that is $1" "$(expect_status 1; expect_in stderr "$err" "^ctrace $verb: the run directory $2 is refused: $3")"
	done
}
ln -s "$CTRACE_RUN_DIR" link
refuse_directory 'a link' "$PWD/link" 'it is a symbolic link of user 0; remove it$'
mkdir open && chmod 777 open
refuse_directory 'open to others' "$PWD/open" 'others may write to it \(mode 0777\); chmod go-w, if you trust what is in it$'
if [ "$(id -u)" = 0 ]; then
	mkdir -m 700 third-party && chown 65534 third-party
	refuse_directory "another user's" "$PWD/third-party" 'it belongs to user 65534; that user or root can remove it$'
	mkdir -m 700 "$CTRACE_RUN_DIR/777.0" && chown 65534 "$CTRACE_RUN_DIR/777.0"
	tool recover
	check "recover: another user's directory in a directory that is closed to that user" "$(
		expect_status 1
		expect_in stderr "$err" "^ctrace recover: $CTRACE_RUN_DIR: has directories of user 65534, who may not look into it"
		[ -d "$CTRACE_RUN_DIR/777.0" ] || echo gone
	)"
	rm -r "$CTRACE_RUN_DIR/777.0"
fi

# ---- another user's directory: root delivers with that user's rights only
others() {
	local home
	home=$(mktemp -d /tmp/ctrace-tool.XXXXXX) || return
	mkdir "$home/run" "$home/logs" && cp "$subject" "$home/" && cp -a "$CTRACE_BUILD"/libctrace.so* "$home/"
	chmod 755 "$home" && chmod 700 "$home/run" && chown 65534:65534 "$home/run"
	# The user cannot write to logs, which is root's, so all events are in the ring when the process dies.  Root could.
	sed "s,$PWD/logs,$home/logs,g" app.cfg >"$home/app.cfg"
	coproc SUBJECT { cd "$home" && LD_LIBRARY_PATH=$home MFTRACE_CONFIG=$home/app.cfg CTRACE_RUN_DIR=$home/run exec setpriv --reuid=65534 --regid=65534 --clear-groups "$home/tool_subject" 0 2>/dev/null; }
	pid=$SUBJECT_PID
	read -r answer <&"${SUBJECT[0]}"
	order 30
	murder
	tool recover "$home/run"
	expect_status 1
	expect_in stderr "$err" "/run/$pid\.0: kept, 0 events delivered"
	[ ! -e "$home/logs/subject.log" ] || echo 'root delivered it'
	chown 65534:65534 "$home/logs"
	tool recover "$home/run"
	expect_status 0
	expect_in stdout "$out" '^1 of 1 recovered'
	[ "$(stat -c %u "$home/logs/subject.log")" = 65534 ] || stat "$home/logs/subject.log"
	[ "$(grep -vc '^#' "$home/logs/subject.log")" = 30 ] || cat "$home/logs/subject.log"
	rm -rf "$home"
}
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
	check "recover as root delivers with the owner's rights" "$(others)"
else
	skip "recover as root delivers with the owner's rights" 'needs root'
fi

# ---- manual pages
cd "$source_directory/man" || exit 1
is_alias() { [ "$(wc -l <"$1")" = 1 ] && grep -q '^\.so ' "$1"; }
check 'every verb has a manual page' "$(for verb in $verbs; do [ "$verb" = help ] || [ -f "ctrace-$verb.1" ] || echo "ctrace-$verb.1"; done)"
check 'every option of a verb is in its page' "$(
	for verb in show list recover config; do
		ctrace "$verb" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u | grep -vE -- '--(help|usage|version)$' | while read -r option; do
			grep -q -- "Fl -${option#--}" "ctrace-$verb.1" || echo "ctrace-$verb.1: $option"
		done
	done
)"
functions=$(cat ../include/ctrace/*.h ../include/mfctf.h ../include/cbl_ctrace.h | tr '\n' ' ' |
	grep -oE '\b(ctrace_[a-z0-9_]*[a-z0-9]|cobctf_[a-z_]+|CBL_CTF_[A-Z_]+|CBL_CTRACE_[A-Z_]+)\([^()]*(\([^()]*\)[^()]*)*\)( __attribute__\(\([^;]*\)\))?;' |
	grep -oE '^[A-Za-z0-9_]+' | sort -u)
check 'the headers were understood' "$(for name in ctrace_emit ctrace_flush ctrace_loss_name cobctf_trace CBL_CTF_DEST; do grep -qx "$name" <<<"$functions" || echo "$name"; done)"
check 'every public function has a manual page' "$(for name in $functions ctrace_enabled CTRACE CTRACE_TRACER; do [ -f "$name.3" ] || echo "$name.3"; done)"
check 'every item constructor has a manual page' "$(
	grep -oE '^#define CTRACE_[A-Z0-9]+\((p|s|v)[,)]' ../include/ctrace/ctrace.h | grep -oE 'CTRACE_[A-Z0-9]+' | while read -r name; do
		[ -f "$name.3" ] || echo "$name.3"
	done
)"
check 'a page that stands for several names has them' "$(
	for page in *.3; do
		is_alias "$page" || continue
		target=$(sed -n 's/^\.so man3\///p' "$page")
		if [ ! -f "$target" ] || is_alias "$target"; then
			echo "$page: .so $target"
		else
			grep -q "${page%.3}" "$target" || grep -qE 'CTRACE_[UI]8 v' "$target" || echo "$target does not name ${page%.3}"
		fi
	done
)"
check 'every reference to one of our pages leads somewhere' "$(
	grep -hoE '^\.(Xr|It Xr) [A-Za-z_.-]+ [1-8]' ./*.[1-8] | sed 's/^\.It /./; s/^\.Xr //' | sort -u | while read -r name section; do
		case $name in *ctrace* | *CTRACE* | mftrace* | cbl_*) [ -f "$name.$section" ] || echo "$name($section)" ;; esac
	done
)"
check 'every status is in ctrace.3' "$(
	grep -oE '^	CTRACE_[A-Z_]+ = [0-9]+' ../include/ctrace/status.h | tr -d '\t=' | while read -r name number; do
		grep -A1 -x ".It Dv $name" ctrace.3 | grep -q "^$number: " || echo "$name $number"
	done
)"
check 'every status is in cbl_ctf.3' "$(
	grep -oE '^#define CTF_RET_[A-Z_]+ [0-9]+' ../include/mfctf.h | sed 's/#define CTF_RET_//' | while read -r name number; do
		grep -q "^\.It ${name//_/-} Ta $number Ta" cbl_ctf.3 || echo "$name $number"
	done
)"
check 'every loss is in ctrace_stats_get.3' "$(grep -oE 'CTRACE_LOSS_[A-Z_]+ =' ../include/ctrace/event.h | tr -d ' =' | while read -r name; do grep -q "$name" ctrace_stats_get.3 || echo "$name"; done)"
check 'every configuration key is in mftrace.cfg.5' "$(
	ctrace config --help | grep -oE '^  (mftrace|ctrace)\.[a-z.]+' | tr -d ' ' | sed 's/\.$//' | sort -u | while read -r key; do
		grep -q "^\.It Ic $key" mftrace.cfg.5 || echo "$key"
	done
)"
if command -v mandoc >/dev/null; then
	check 'the manual pages are well-formed' "$(for page in *.[1-8]; do is_alias "$page" || mandoc -Tlint -Wwarning "$page"; done 2>&1)"
else
	skip 'the manual pages are well-formed' 'mandoc is not installed'
fi
check 'every property of a built-in emitter is in mftrace.cfg.5' "$(
	grep -hoE '\{ "[A-Z]+", CTRACE_PROPERTY_' ../src/lib/emit/*.[ch] | grep -oE '[A-Z]+' | grep -vE '^(CTRACE|PROPERTY)$' | sort -u | while read -r name; do
		grep -qxE "\.It Li (.* )?$name( .*)?" mftrace.cfg.5 || echo "$name"
	done
)"
cd "$OLDPWD" || exit 1

# ---- the emitter that a manual page shows
emitter() {
	sed -n '/^#include <ctrace\/emitter.h>/,/^\.Ed/p' "$source_directory/man/ctrace-emitter.7" | sed '$d' >counter.c
	gcc -Wall -Wextra -Werror -shared -fPIC -I"$source_directory/include" -o counter.so counter.c 2>&1 || return
	printf '%s\n' 'mftrace.level = info' 'mftrace.dest = COUNTER' "mftrace.emitter.counter#file = $PWD/events.count" >counter.cfg
	CTRACE_EMITTERS=$PWD MFTRACE_CONFIG=$PWD/counter.cfg "$subject" 20 </dev/null >/dev/null || echo "the program: $?"
	[ "$(od -An -tu8 events.count | tr -d ' ')" = 40 ] || od -An -tu8 events.count
}
check 'the emitter of ctrace-emitter(7) works' "$(emitter)"

# ---- characters of two columns
cat >columns.py <<'PYTHON'
import sys
import unicodedata

def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in 'WF' else 0 if unicodedata.combining(c) else 1 for c in text)

lines = sys.stdin.read().splitlines()
header = next(i for i, line in enumerate(lines) if 'COMPONENT' in line and 'LEVEL' in line)
rows = [line for line in lines[header + 1:] if ' NONE ' in line or line.endswith(' NONE')]
wanted = width(lines[header][:lines[header].index('LEVEL')])
found = [width(row[:row.index('NONE')]) for row in rows]
if found != [wanted] * 3:
    print(wanted, found, *lines, sep='\n')
PYTHON
printf 'mftrace.level = none\n' >wide.cfg
coproc WIDE { MFTRACE_CONFIG=$PWD/wide.cfg exec "$CTRACE_BUILD/tests/shop"; }
for name in '注文.処理' 'ｅ́é.한국어' 'order.plain'; do
	echo "tracer $name" >&"${WIDE[1]}"
	read -r _ <&"${WIDE[0]}"
done
for locale in C C.UTF-8; do
	for arguments in list stats 'top --batch --interval=0.1 -n 1'; do
		# shellcheck disable=SC2086 # words
		check "$arguments: columns line up ($locale)" "$(LC_ALL=$locale ctrace $arguments | python3 -X utf8 columns.py)"
	done
done
eval "exec ${WIDE[1]}>&-"
wait "$WIDE_PID"

echo "1..$count"
exit "$bad"
