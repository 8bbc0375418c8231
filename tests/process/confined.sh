#!/usr/bin/env bash
# Hostile surroundings: paths that are not what they seem, programs with another user's rights, and programs that lack what is usual.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

skip() { # WHAT WHY
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}
is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
records() { grep -v '^#' "$@"; }

# A directory that any user may enter; the programs in it.  Nobody's environment reaches them.
top=$(mktemp -d /tmp/ctrace-confined.XXXXXX) || exit 1
trap 'cd /; chmod -R u+rwX "$top"; rm -rf "$top"' EXIT
chmod 755 "$top"
cp "$CTRACE_BUILD/tests/steps" "$CTRACE_BUILD/ctrace" "$top/" && cp -a "$CTRACE_BUILD"/libctrace.so* "$top/"
export LD_LIBRARY_PATH=$top PATH=$top:$PATH CTRACE_RUN_DIR=$top/run
unset XDG_RUNTIME_DIR
place() { # LINE... : a configuration, in an empty directory
	cd "$top" && rm -rf place run && mkdir -m 755 place && cd place || exit 1
	printf '%s\n' 'mftrace.level = debug' "$@" >cfg
	export MFTRACE_CONFIG=$top/place/cfg
}
as_root=yes
[ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null || as_root=''
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
# A user of this test's own, so that nobody else's /tmp/ctrace-<uid> is touched.
uid=$((2000000000 + $$))
somebody() { setpriv --reuid=$uid --regid=$uid --clear-groups "$@"; }

# ---- modes, whatever the umask is; what is mapped is kept from accidents.  A ring that is ready for the next thread may be there or not.
modes='700 ./deep
700 ./deep/er
700 ./deep/er/x.ctb
600 ./deep/er/x.ctb/metadata
600 ./deep/er/x.ctb/stream.0
600 ./deep/er/x.log
700 ./run
700 ./run/0.0
600 ./run/0.0/control
400 ./run/0.0/ring.0
400 ./run/0.0/session
600 ./run/asid'
for mask in 0 0777 0277; do
	for who in '' ${as_root:+nobody}; do
		place 'mftrace.dest = textfile, binfile' 'mftrace.emitter.textfile#location = deep/er' 'mftrace.emitter.binfile#location = deep/er' \
			'mftrace.emitter.textfile#file = x.log' 'mftrace.emitter.binfile#file = x.ctb'
		chmod 777 .
		# Killed while its directory is there
		(umask $mask && CTRACE_RUN_DIR=$PWD/run $who steps trace a 1 3 flush kill) >said 2>&1
		check "files are 0600, or 0400, and directories 0700, umask $mask${who:+, another user}" is \
			"$(find deep run -printf '%m ./%p\n' | sed 's,run/[0-9]*\.0,run/0.0,' | grep -vxF '400 ./run/0.0/ring.1' | sort -k2)" "$modes"
	done
done

# ---- what stands where a trace should go
victim='something precious'
obstacle() { # KIND
	case $1 in
	link) ln -s victim x.out ;;
	dangling-link) ln -s nowhere x.out ;;
	directory-link) mkdir directory && ln -s directory x.out ;;
	hard-link) ln victim x.out ;;
	pipe) mkfifo x.out ;;
	directory) mkdir x.out && echo theirs >x.out/theirs ;;
	device) mknod x.out c 1 3 ;;
	others-file) echo theirs >x.out && chown 65534 x.out ;;
	others-directory) mkdir x.out && chown 65534 x.out ;;
	esac
}
for emitter in textfile binfile; do
	for kind in link dangling-link directory-link hard-link pipe directory ${as_root:+device others-file others-directory}; do
		[ $emitter/$kind != binfile/directory ] || continue # a directory is what it wants: see below
		place "mftrace.dest = $emitter" "mftrace.emitter.$emitter#file = $top/place/x.out"
		echo "$victim" >victim
		obstacle $kind
		before=$(find . ! -name said -printf '%p %y %m %u %s %i %l\n' | sort)
		timeout 60 steps emit a 1 emit a 1 >said 2>&1
		check "$emitter: a $kind is refused, and said to be" is "$(<said)" $'OUTPUT_ERROR\nOUTPUT_ERROR'
		check "$emitter: a $kind is not touched" is "$(cat victim; find . ! -name said -printf '%p %y %m %u %s %i %l\n' | sort)" "$victim"$'\n'"$before"
		rm -rf x.out
		check "$emitter: out of the way of a $kind everything is delivered" is "$(ctrace recover | tail -1)" '1 of 1 recovered, 2 events delivered'
	done
done
place 'mftrace.dest = binfile' "mftrace.emitter.binfile#file = $top/place/x.out"
obstacle directory
steps emit a 1 >said 2>&1
check "binfile: somebody's files in its directory stay" is "$(cat x.out/theirs)" theirs
place 'mftrace.emitter.textfile#location = trap' 'mftrace.emitter.textfile#file = x.log'
ln -s nowhere trap
check 'a LOCATION that leads nowhere is not made: the next directory has the file' is "$(steps emit a 1; ls -1 | tr '\n' ' ')" $'SUCCESS\ncfg trap x.log '

# ---- the run directory
refused() { # WHAT: tracing works privately, and nothing is in $run
	check "$1: tracing works all the same" is "$($who steps emit a 1 flush stats | tr '\n' ' '; records x.log | wc -l)" 'SUCCESS SUCCESS emitted 1 delivered 1 pending 0 lost 0 1'
	check "$1: and is not used" test -z "$(ls -A "$run")"
}
who='' run=real
place 'mftrace.emitter.textfile#file = x.log'
mkdir -m 700 real && ln -s real link
CTRACE_RUN_DIR=$PWD/link refused 'a run directory that is a link'
place 'mftrace.emitter.textfile#file = x.log'
mkdir -m 777 real && chmod 777 real
CTRACE_RUN_DIR=$PWD/real refused 'a run directory that others may write to'
if [ -n "$as_root" ]; then
	place 'mftrace.emitter.textfile#file = x.log'
	mkdir -m 700 real && chown 65534 real
	CTRACE_RUN_DIR=$PWD/real refused "another user's run directory"
	who=somebody
	place 'mftrace.emitter.textfile#file = x.log'
	mkdir -m 500 real && chown $uid real .
	CTRACE_RUN_DIR=$PWD/real refused 'a run directory that is read-only'

	# ---- defaults of a user
	default=/tmp/ctrace-$uid
	unset CTRACE_RUN_DIR
	begin() {
		mkfifo -m 666 go
		setpriv --reuid=$uid --regid=$uid --clear-groups steps "$@" say waiting pause <go >said 2>&1 &
		pid=$!
		exec 9>go
		until grep -q '^waiting$' said; do kill -0 "$pid" 2>/dev/null || break; sleep 0.01; done
	}
	place 'mftrace.dest = textfile, binfile' 'mftrace.emitter.textfile#file = x.log' 'mftrace.emitter.binfile#file = x.ctb'
	chown $uid .
	begin trace a 1 5 flush trace a.b 3 2 flush
	check 'not root: /tmp/ctrace-<uid>' test -d "$default/$pid.0" -a "$(stat -c '%a %u' "$default")" = "700 $uid"
	somebody ctrace list >listed
	check 'not root: list' grep -q "^$pid  steps  running " listed
	check 'not root: show' is "$(somebody ctrace show x.ctb | wc -l)" 7
	ctrace list >listed
	check "root's list finds it too" grep -q "^$pid  steps  running " listed
	check "another user's list does not" bash -c '! nobody ctrace list' 2>/dev/null
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	exec 9>&-
	check 'not root: recover' is "$(somebody ctrace recover | tail -1)" '1 of 1 recovered, 0 events delivered'
	check 'not root: nothing is left, everything is delivered' is "$(ls "$default"; records x.log | wc -l)" $'asid\n7'
	rm -rf "$default"
	mkdir x && chown $uid x
	XDG_RUNTIME_DIR=$PWD/x somebody steps trace a 1 1 kill 2>/dev/null
	check 'not root: XDG_RUNTIME_DIR goes before it' test "$(find x/ctrace -name session | wc -l)" = 1 -a ! -e "$default"
	check 'not root: recovered from there' is "$(XDG_RUNTIME_DIR=$PWD/x somebody ctrace recover | tail -1 | cut -c1-16)" '1 of 1 recovered'
	mkdir -m 700 closed
	XDG_RUNTIME_DIR=$PWD/closed somebody steps trace a 1 1 kill 2>/dev/null
	check 'not root: one that cannot be used gives way' test "$(find "$default" -name session | wc -l)" = 1
	rm -rf "$default"
	place 'mftrace.emitter.textfile#file = x.log'
	chown $uid . && mkdir real && chown $uid real && ln -s "$PWD/real" "$default"
	run=real refused 'a link in the place of /tmp/ctrace-<uid>'
	rm "$default"
	place 'mftrace.emitter.textfile#file = x.log'
	chown $uid . && mkdir -m 777 "$default"
	run=$default refused 'a directory of another user in the place of /tmp/ctrace-<uid>'
	mkdir -m 700 /tmp/ctrace-of-$$ && chown $uid /tmp/ctrace-of-$$
	check "root looks into nothing that only begins like a user's run directory" bash -c "! ctrace list 2>&1 | grep -q ctrace-of-$$"
	rm -rf "$default" /tmp/ctrace-of-$$
	export CTRACE_RUN_DIR=$top/run

	# ---- with another user's rights
	if gcc -std=gnu17 -D_GNU_SOURCE -I"$CTRACE_SOURCE/include" -o "$top/privileged" "$CTRACE_SOURCE/tests/process/steps.c" "$CTRACE_BUILD/libctrace.a" -pthread 2>/dev/null; then
		place "mftrace.emitter.textfile#file = $top/place/evil.log" 'mftrace.dest = textfile, evil'
		chmod 777 . && mkdir -m 777 logs run emitters
		hostile() {
			somebody env MFTRACE_CONFIG="$PWD/cfg" MFTRACE_LOGS="$PWD/logs" CTRACE_RUN_DIR="$PWD/run" CTRACE_JOBNAME=EVIL CTRACE_ATTACH=0 \
				XDG_RUNTIME_DIR="$PWD/run" CTRACE_EMITTERS="$PWD/emitters" "$top/privileged" "$@"
		}
		check 'the same program without rights of its own heeds the environment' is "$(hostile emit a 1; ls evil.log)" $'SUCCESS\nevil.log'
		rm -f evil.log
		owner=$((uid + 1))
		chown $owner "$top/privileged" && chmod 4755 "$top/privileged"
		# What the program itself says counts; MFTRACE_LOGS must not decide where it goes.
		check 'a set-uid program ignores MFTRACE_CONFIG' is "$(hostile emit a 4)" NOT_TRACE_ENABLED
		hostile configure 'mftrace.level = info' configure 'mftrace.dest = evil' trace a 1 2 flush kill >said 2>&1
		check 'a set-uid program ignores MFTRACE_LOGS, CTRACE_RUN_DIR and XDG_RUNTIME_DIR' is "$(find logs run evil.log 2>/dev/null | tr '\n' ' ')" 'logs run '
		check 'a set-uid program ignores CTRACE_ATTACH and CTRACE_EMITTERS' is "$(head -3 said | tr '\n' ' '; find /tmp/ctrace-$owner -name session | wc -l)" \
			'SUCCESS SYNTAX_ERROR SUCCESS 1'
		check 'a set-uid program ignores CTRACE_JOBNAME' is "$(env -u CTRACE_RUN_DIR setpriv --reuid=$owner --clear-groups ctrace show --json /tmp/ctrace-$owner/*.0 | wc -l; \
			grep -c EVIL /tmp/ctrace-$owner/*.0/session)" $'0\n0'
		rm -rf /tmp/ctrace-$owner "$default"
	else
		skip 'a set-uid program ignores its environment' 'gcc cannot link it'
	fi

	# ---- another root, without /proc
	place 'mftrace.emitter.textfile#file = x.log'
	mkdir jail && cp cfg jail/
	check 'chroot without /proc' is "$(MFTRACE_CONFIG=/cfg CTRACE_RUN_DIR=/run steps chroot jail trace a 1 2 thread a 1 1 emit a 1 flush stats | tr '\n' ' '; records jail/x.log | wc -l)" \
		'SUCCESS SUCCESS emitted 4 delivered 4 pending 0 lost 0 4'

	# ---- a full disk
	if unshare -m true 2>/dev/null; then
		for emitter in textfile binfile; do
			place "mftrace.dest = $emitter" "mftrace.emitter.$emitter#location = small" "mftrace.emitter.$emitter#file = x" 'ctrace.block.timeout = 100ms'
			mkdir small
			# Of 4 KiB blocks; a destination that has failed writes up to 64 KiB at once.  What is on it is looked at before it goes.
			unshare -m bash -c 'mount -t tmpfs -o size=2m none small || exit
				steps trace a 1 300000 flush say alive >said 2>&1
				df --output=used,size small | tail -1 >used
				if [ -d small/x ]; then babeltrace2 small/x; else grep -v "^#" small/x; fi >viewed 2>diagnostics'
			check "$emitter: a full disk harms nobody" is "$(tr '\n' ' ' <said)" 'OUTPUT_ERROR alive '
			check "$emitter: it is used, and what is on it can be read" python3 -c '
used, size = map(int, open("used").read().split())
lines = open("viewed").read().splitlines()
assert used >= 0.95 * size, (used, size)
assert len(lines) > 20000 and all("step" in line for line in lines), (len(lines), lines[-1:])'
		done
	else
		skip 'a full disk' 'cannot mount'
	fi
else
	skip 'another user, set-uid programs, chroot and a full disk' 'needs root'
fi

# ---- closed descriptors
place 'mftrace.dest = textfile, binfile' 'mftrace.emitter.textfile#file = x.log' 'mftrace.emitter.binfile#file = x.ctb'
steps trace a 1 2 flush say FORGED err FORGED trace a 1 1 flush kill <&- >&- 2>&-
check 'started without descriptors 0 to 2: its output does not end in our files' bash -c '! grep -rqE "^FORGED" . "$CTRACE_RUN_DIR"'
ctrace recover >out 2>&1
check 'everything is there' is "$(tail -1 out; records x.log | wc -l; babeltrace2 x.ctb 2>&1 | wc -l)" $'1 of 1 recovered, 0 events delivered\n3\n3'
place 'mftrace.dest = textfile, binfile' 'mftrace.emitter.textfile#file = x.log' 'mftrace.emitter.binfile#file = x.ctb'
# What daemons do: /dev/null where standard input, output and error were; the trace must not lose its files to that.  Our files are open
# before (flush): while another thread opens one, a program cannot count on getting the lowest numbers.
steps close 0 close 1 close 2 trace a 1 2 flush close 0 close 1 close 2 open first open second open third trace a 1 2 say FORGED err FORGED kill
ctrace recover >out 2>&1
check 'descriptors 0 to 2 stay free for the program' is "$(cat first second third)" $'1\n2\nFORGED\nFORGED'
check 'and it is recovered as a whole' is "$(records x.log | wc -l; babeltrace2 x.ctb 2>&1 | wc -l)" $'4\n4'

# A daemon that closes everything and opens files of its own: the text goes on, and not into those.  Which numbers those get is not said: the
# control thread opens its socket anew meanwhile.
said_words() { tr '\n' ' ' <said | sed -E 's/SUCCESS( [0-9]+)+/SUCCESS N/; s/ [0-9]+ $/ N /'; }
for sharing in false true; do
	place 'mftrace.emitter.textfile#file = x.log' "mftrace.emitter.textfile#multiproc = $sharing"
	steps trace a 1 2 flush close 3 close 4 close 5 close 6 close 7 close 8 close 9 open mine open mine open mine open mine open mine \
		trace a 1 2 flush open last >said
	check "descriptors that the program closed and took, MULTIPROC $sharing" is "$(said_words; records x.log | wc -l; stat -c %s mine)" $'SUCCESS N SUCCESS N 4\n0'
done

place 'mftrace.dest = binfile' 'mftrace.emitter.binfile#file = x.ctb'
steps trace a 1 2 flush close 3 close 4 close 5 close 6 close 7 close 8 close 9 open mine open mine open mine open mine open mine open mine \
	trace a 1 2 thread a 1 2 flush stats >said
check 'the same with BINFILE, and a thread whose first event comes after that' is \
	"$(said_words; babeltrace2 x.ctb 2>&1 | wc -l; stat -c %s mine)" $'SUCCESS N SUCCESS emitted 6 delivered 6 pending 0 lost N 6\n0'

# ---- few descriptors
place 'mftrace.emitter.textfile#file = x.log'
check 'RLIMIT_NOFILE=8' is "$(steps files 8 trace a 1 2 thread a 1 2 flush stats | tr '\n' ' '; records x.log | wc -l)" 'SUCCESS emitted 4 delivered 4 pending 0 lost 0 4'
for limit in 3 4 5 6 7 8 9; do
	place 'mftrace.dest = textfile, binfile' 'mftrace.emitter.textfile#file = x.log' 'mftrace.emitter.binfile#file = x.ctb'
	timeout 60 steps files $limit trace a 1 2 thread a 1 2 stats say alive >said 2>&1
	check "RLIMIT_NOFILE=$limit harms nobody; what is not delivered is pending or counted" python3 -c '
import re
said = open("said").read()
e, d, p, l = map(int, re.search(r"emitted (\d+) delivered (\d+) pending (\d+) lost (\d+)", said).groups())
assert said.endswith("alive\n") and e == d + p + l, said'
	ctrace recover >out 2>&1
	check "RLIMIT_NOFILE=$limit: and recovered" grep -qE '^(nothing to recover|1 of 1 recovered, [0-9]+ events? delivered)$' out
done

# ---- process 1 of a container, which dies before anybody has looked at it
if [ -n "$as_root" ] && nobody unshare --user --map-root-user --pid --fork true 2>/dev/null; then
	place 'mftrace.dest = binfile' 'mftrace.emitter.binfile#file = x.ctb'
	chmod 777 .
	mkdir -m 700 own && chown 65534:65534 own
	CTRACE_RUN_DIR=$PWD/own nobody unshare --user --map-root-user --pid --fork bash -c 'ulimit -c 0; exec "$@"' sh steps trace a 1 500 crash >said 2>&1
	CTRACE_RUN_DIR=$PWD/own nobody ctrace recover >out 2>&1
	check 'process 1 of a container that crashed is recovered by its user outside' grep -qE '^1 of 1 recovered, [0-9]+ events? delivered$' out
	check 'with all its events' is "$(babeltrace2 x.ctb | wc -l)" 500
else
	skip 'process 1 of a container that crashed is recovered by its user outside' 'no name spaces of another user here'
fi

# ---- a container that crashes and starts again all night: each time the same process number, and the same FILE
if unshare --pid --fork true 2>/dev/null; then
	place 'mftrace.dest = binfile' 'mftrace.emitter.binfile#file = x.ctb'
	for _ in $(seq 120); do
		unshare --pid --fork sh -c 'steps trace a.b 1 10 kill; :' >/dev/null 2>&1
	done
	ctrace recover >out 2>&1
	check 'a container that crashes again and again: nothing is left over' is "$(ctrace recover)" 'nothing to recover'
	check 'and one name has all its events' is "$(ctrace show x.ctb 2>&1 | wc -l)" 1200
else
	skip 'a container that crashes again and again' 'no name spaces of processes here'
fi
end
