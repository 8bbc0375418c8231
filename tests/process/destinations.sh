#!/usr/bin/env bash
# What a configuration makes of a real program's events: every property and pseudo-variable, seen from outside.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
steps=$CTRACE_BUILD/tests/steps

configure() { # LINE... : in an empty directory
	cd "$top" && rm -rf place && mkdir place && cd place || exit 1
	printf '%s\n' "$@" >"$top/cfg"
}
top=$PWD
export MFTRACE_CONFIG=$top/cfg
text() { configure 'mftrace.level = debug' 'mftrace.emitter.textfile#file = x.log' "${@/#/mftrace.emitter.textfile#}"; }
is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
records() { grep -v '^#' "$@"; }
# Starts the program, which does its steps and then waits at its "pause"; $pid.
begin() {
	: >"$top/said" # what the one before has said is not what this one says
	mkfifo "$top/go" 2>/dev/null
	"$steps" "$@" <"$top/go" >"$top/said" 2>&1 &
	pid=$!
	exec 9>"$top/go"
	until grep -q '^waiting$' "$top/said"; do kill -0 "$pid" 2>/dev/null || break; sleep 0.01; done
}
finish() {
	exec 9>&-
	wait "$pid"
}
murder() {
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	exec 9>&-
}

# ---- TEXTFILE: the whole file
text
"$steps" items My.Comp 2 emit my.COMP 3 >/dev/null
cat >wanted <<END
# -MFTRACE Text Emitter-
# CommandLine      = $steps items My.Comp 2 emit my.COMP 3
# ProcessId        = PID
# Date             = DATE
# Time             = TIME
# Operating System = $(uname -sr)
# Computer Name    = $(uname -n)
# Format           = \$(TIME) \$(COMPONENT) \$(EVENT) \$(LEVEL)\$(DATA)
TIME My.Comp 3 2 3132333435363738-393A "te\\"xt" 0x7FFC0010 65535 -1 65534 -2 "ä\\n"
TIME My.Comp 2 3
END
sed -E -e '1,8s/^(# ProcessId        = )[0-9]+$/\1PID/' -e "1,8s,^(# Date             = )$(date +%Y/%m/%d)$,\1DATE," \
	-e '1,8s/^(# Time             = )[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}$/\1TIME/' \
	-e '9,$s/^[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{3}/TIME/' x.log >got
check 'a TEXTFILE, byte for byte' diff wanted got

# ---- TEXTFILE: properties
text 'format = $(DATE)|$(COMPONENT)|$(event)|$(LEVEL)|$(THREAD)|$(PID)|$(PROCESS)|$(APPNAME)|$(NOSUCH)|$(DATA)|' \
	'delimchar = ,' 'quotestring = off' 'hexblocksize = 4'
"$steps" pid items a.b 4 >said
check 'FORMAT, DELIMCHAR, QUOTESTRING, HEXBLOCKSIZE' is "$(records x.log)" \
	"$(date +%Y/%m/%d)|a.b|3|4|$(<said)|$(<said)|$(<said)|steps|\$(NOSUCH)|,31323334-35363738-393A,te\\\"xt,0x7FFC0010,65535,-1,65534,-2,ä\\n|"
text 'format = $(LEVEL)' 'level = warn'
"$steps" emit a 1 emit a 2 emit a 4 >/dev/null
check 'LEVEL' is "$(records x.log | tr '\n' ' ')" '2 4 '
text 'format = $(DATE) $(TIME)'
TZ=ABC-13:45 "$steps" trace a 1 1
check 'date and time are local' is "$(records x.log | cut -c1-16)" "$(sed -n 's/^# Date  *= //p' x.log) $(sed -n 's/^# Time  *= //p' x.log | cut -c1-5)"
check 'in the zone of the program' test "$(TZ=ABC-13:45 date -r x.log '+%Y/%m/%d %H:%M')" = "$(records x.log | cut -c1-16)"
text 'format = $(DATA)'
"$steps" text a 1 $'one\nline\033[2J\xc2\x9b\xe2\x80\xae\xff"\\\x7f' >/dev/null
check 'a text forges neither a line nor a terminal sequence' is "$(records x.log)" ' "one\nline\u{1B}[2J\u{9B}\u{202E}\xFF\"\\\u{7F}"'

configure 'mftrace.level = debug' 'mftrace.emitter.textfile#file = $(APPNAME).$(emitter).$(PID).$(GEN).$(PLATFORM).$(NOSUCH)'
"$steps" pid trace a 1 1 >"$top/said"
check 'pseudo-variables of FILE' is "$(ls)" "steps.textfile.$(<"$top/said").1.native.\$(NOSUCH)"
configure 'mftrace.level = debug' 'mftrace.dest = TextFile BINFILE'
"$steps" pid trace a 1 1 >"$top/said"
check 'names by default' is "$(ls | tr '\n' ' ')" "steps.binfile.$(<"$top/said").ctb steps.textfile.$(<"$top/said").log "
configure 'mftrace.level = debug' 'mftrace.dest = TextFile, BINFILE' 'mftrace.emitter.textfile#maxgeneration = 2' 'mftrace.emitter.binfile#maxgeneration = 2'
"$steps" pid trace a 1 1 >"$top/said"
check 'names by default, with generations' is "$(ls | tr '\n' ' ')" "steps.binfile.$(<"$top/said").ctb_1 steps.textfile.$(<"$top/said").log_1 "

# ---- FLUSHEVERY
for every in 0 5; do
	text "flushevery = $every" 'format = $(EVENT)$(DATA)'
	begin trace a 1 3 say waiting pause
	ctrace list --json >listed
	check "FLUSHEVERY=$every: three events wait in the ring" python3 -c '
import json
c = json.load(open("listed"))["counters"]
assert (c["delivered"], c["pending"], c["lost"]) == (0, 3, 0), c'
	check "FLUSHEVERY=$every: and not in the file" test ! -s x.log
	murder
	check "FLUSHEVERY=$every: recover" ctrace recover
	check "FLUSHEVERY=$every: what waited survived the kill" is "$(records x.log | tr '\n' ,)" '1 1 "step",1 2 "step",1 3 "step",'
	text "flushevery = $every" 'format = $(EVENT)$(DATA)'
	"$steps" trace a 1 3
	check "FLUSHEVERY=$every: an ordinary end writes it" is "$(records x.log | wc -l)" 3
	text "flushevery = $every" 'format = $(EVENT)$(DATA)'
	begin trace a 1 3 flush say waiting pause
	check "FLUSHEVERY=$every: a flush writes it" is "$(records x.log | wc -l)" 3
	finish
done
text 'flushevery = 5'
begin trace a 1 5 say waiting pause
until [ -s x.log ]; do kill -0 "$pid" || break; sleep 0.01; done
check 'FLUSHEVERY=5: the fifth event takes them all along' is "$(records x.log | wc -l)" 5
finish
text
begin trace a 1 1 say waiting pause
until [ -s x.log ]; do kill -0 "$pid" || break; sleep 0.01; done
check 'FLUSHEVERY is 1: an event is written without being asked for' is "$(records x.log | wc -l)" 1
finish

# ---- generations
text 'maxgeneration = 3' 'maxfilesize = 4' 'format = $(EVENT)$(DATA)'
"$steps" trace a 1 2000
check 'MAXGENERATION: three files' is "$(ls | tr '\n' ' ')" 'x.log_1 x.log_2 x.log_3 '
check 'MAXFILESIZE in KB: each as large as asked for, or less' test -z "$(find . -name 'x.log_*' -size +4120c)" -a "$(find . -name 'x.log_*' -size +4090c | wc -l)" -ge 2
check 'each begins with a header' is "$(head -qn1 x.log_* | sort -u)" '# -MFTRACE Text Emitter-'
check 'the newest events are there, in order, without a gap' bash -c '
cat x.log_* | grep -v "^#" | cut -d" " -f2 | sort -n >kept; first=$(head -1 kept); last=$(tail -1 kept)
[ "$last" = 2000 ] && [ "$first" -gt 1 ] && [ "$(wc -l <kept)" = $((last - first + 1)) ] && rm kept'
text 'maxgeneration = 2' 'maxfilesize = 0x4' 'file = $(GEN)-x.log' 'format = $(EVENT)$(DATA)'
"$steps" trace a 1 500
check '$(GEN) has its place in FILE; MAXFILESIZE in hex' is "$(ls | tr '\n' ' ')" '1-x.log 2-x.log '

# ---- several processes, one file
text 'multiproc = true' 'format = $(PID) $(EVENT)$(DATA) end'
for _ in 1 2 3 4 5; do "$steps" trace a 1 8000 & done
wait
check 'MULTIPROC: one header' is "$(grep -c '^# -MFTRACE' x.log)" 1
check 'MULTIPROC: every event of five processes' is "$(records x.log | wc -l)" 40000
check 'MULTIPROC: whole lines only' is "$(records x.log | grep -vcE '^[0-9]+ 1 [0-9]+ "step" end$')" 0
check 'MULTIPROC: in the order of each process' is "$(records x.log | awk '$3 != ++n[$1] { bad++ } END { print bad + 0, length(n) }')" '0 5'
text 'format = $(EVENT)$(DATA)'
begin trace a 1 1 flush say waiting pause
"$steps" pid trace a 1 2 >"$top/second"
check 'without MULTIPROC the file stays its first user'"'"'s' is "$(records x.log | wc -l),$(records "x.log.$(<"$top/second")" | wc -l)" 1,2
finish

# ---- where the file is
configure 'mftrace.level = debug' 'mftrace.emitter.textfile#location = a/b/c' 'mftrace.emitter.textfile#file = x.log'
mkdir logs
MFTRACE_LOGS=$PWD/logs "$steps" chdir logs chdir .. trace a 1 1
check 'LOCATION, made when it is missing' test -f a/b/c/x.log -a ! -e logs/x.log
configure 'mftrace.level = debug' 'mftrace.emitter.textfile#location = occupied/c' 'mftrace.emitter.textfile#file = x.log'
mkdir logs && touch occupied
MFTRACE_LOGS=$PWD/logs "$steps" trace a 1 1
check 'else MFTRACE_LOGS' test -f logs/x.log -a ! -e x.log
MFTRACE_LOGS=$PWD/missing "$steps" trace a 1 1
check 'else the working directory; MFTRACE_LOGS is not made' test -f x.log -a ! -e missing
text
mkdir elsewhere
"$steps" emit a 1 chdir elsewhere flush trace a 1 1 >/dev/null
check 'the working directory is the one at the first tracer' test -f x.log -a ! -e elsewhere/x.log
text "file = $top/place/absolute.log" 'location = nowhere'
"$steps" trace a 1 1
check 'an absolute FILE is tried alone' test -f absolute.log -a ! -e nowhere

# ---- a standard error that could not be written, and went with its process
configure 'mftrace.level = debug' 'mftrace.dest = stderr' 'mftrace.emitter.stderr#level = 0'
"$steps" trace a 1 20 2>/dev/full >/dev/null
check 'STDERR: what nobody got is not called delivered' is "$(ctrace recover | sed 's/.*run.*: //')" "recovered, 0 events delivered
1 of 1 recovered, 0 events delivered
20 events undeliverable: for the standard error of a process that has ended"

# ---- BINFILE through another's reader
configure 'mftrace.level = debug' 'mftrace.dest = binfile' 'mftrace.emitter.binfile#file = x.ctb'
"$steps" pid items Some.Comp 0 items Some.Comp 4 thread other 3 1 trace other 1 1 emit other 2 >"$top/said"
babeltrace2 x.ctb >viewed 2>diagnostics
pid=$(sed -n 1p "$top/said")
check 'BINFILE: babeltrace2 has nothing to report of' test ! -s diagnostics
check 'BINFILE: five events' is "$(wc -l <viewed)" 5
check 'BINFILE: component and event in the name; items of their types and signs' is "$(sed -n '1s/.*) Some/Some/p' viewed)" \
	"Some.Comp:3: { pid = $pid, tid = $pid }, { data1 = [ [0] = 0x31, [1] = 0x32, [2] = 0x33, [3] = 0x34, [4] = 0x35, [5] = 0x36, [6] = 0x37, [7] = 0x38, [8] = 0x39, [9] = 0x3A ], data2 = \"te\\\"xt\", data3 = 0x7FFC0010, data4 = 65535, data5 = -1, data6 = 65534, data7 = -2, data8 = \"ä\\n\" }"
babeltrace2 --fields=loglevel x.ctb >levels 2>diagnostics
check 'BINFILE: the level is the log level' is "$(grep -oE 'TRACE_[A-Z]+ \([0-9]+\)' levels | tr '\n' ' ')" \
	'TRACE_DEBUG (14) TRACE_CRIT (2) TRACE_ERR (3) TRACE_INFO (6) TRACE_WARNING (4) '
babeltrace2 -c sink.text.details x.ctb >details 2>&1
check 'BINFILE: and the log level' is "$(grep -oE '(Event class `(Some|other).*|Log level: .*)' details | tr '\n' ' ')" \
	'Event class `Some.Comp:3` (ID 16): Log level: Debug Event class `Some.Comp:3` (ID 19): Log level: Critical Event class `other:1` (ID 22): Log level: Error Event class `other:1` (ID 24): Log level: Info Event class `other:2` (ID 26): Log level: Warning '
check 'BINFILE: the thread is known' is "$(grep -c "other:1: { pid = $pid, tid = $pid }" viewed),$(grep -cE "other:1: \{ pid = $pid, tid = [0-9]+ \}" viewed)" 1,2
configure 'mftrace.level = debug' 'mftrace.dest = binfile' 'mftrace.emitter.binfile#file = x.ctb' 'mftrace.emitter.binfile#flushevery = 0'
begin trace a 1 3 say waiting pause
murder
ctrace recover >recovered
check 'BINFILE: FLUSHEVERY=0 and a kill' is "$(babeltrace2 x.ctb 2>&1 | wc -l)" 3
# The output fails from its first event on, the ring is full soon, and then both work again: what was lost is in the data.
configure 'mftrace.level = debug' 'mftrace.dest = binfile' 'ctrace.buffer = 64K' 'ctrace.overflow = discard' "mftrace.emitter.binfile#file = $top/place/later/x.ctb"
touch later # where a directory should be
begin trace a 1 20000 say waiting pause trace a 1 1 flush trace a 1 1 flush stats
rm later && mkdir later
echo >&9
finish
babeltrace2 later/x.ctb >viewed 2>diagnostics
check 'BINFILE: events_discarded is what was lost' python3 - "$top/said" <<'END'
import re, sys
stats = re.search(r'emitted (\d+) delivered (\d+) pending 0 lost (\d+)', open(sys.argv[1]).read())
emitted, delivered, lost = map(int, stats.groups())
seen = sum(1 for _ in open('viewed'))
discarded = sum(int(n) for n in re.findall(r'discarded (\d+) event', open('diagnostics').read()))
assert lost > 0 and emitted == 20002 and seen == delivered and discarded == lost, (emitted, delivered, lost, seen, discarded)
END

# ---- the other names
configure 'mftrace.level = debug' 'mftrace.dest = idedbg'
"$steps" items a.b 2 items a.b 3 2>err
check 'IDEDBG is STDERR; ERROR and worse by default' is "$(sed 's/^[0-9:.]* //' err)" 'a.b 3 3  3132333435363738-393A "te\"xt" 0x7FFC0010 65535 -1 65534 -2 "ä\n"'
configure 'mftrace.level = debug' 'mftrace.dest = stderr' 'mftrace.emitter.idedbg#level = 0' 'mftrace.emitter.stderr#format = $(LEVEL):$(DATA)' \
	'mftrace.emitter.stderr#delimchar = ;' 'mftrace.emitter.stderr#quotestring = 0' 'mftrace.emitter.stderr#hexblocksize = 0'
"$steps" items a.b 0 2>err
check 'properties of STDERR, also under its other name' is "$(<err)" '0:;3132333435363738393A;te\"xt;0x7FFC0010;65535;-1;65534;-2;ä\n'
"$steps" open data trace a.b 0 10 flush >out 2>&-
check 'STDERR that was closed at the beginning: the next file gets the number, and no line' is "$(tr '\n' ' ' <out)$(<data)" '2 OUTPUT_ERROR '
configure 'mftrace.level = debug' 'mftrace.dest = es' 'mftrace.emitter.es#level = 9999'
check 'ES takes events and is silent' is "$("$steps" emit a 4 flush stats 2>&1 | tr '\n' ' '; ls)" 'SUCCESS SUCCESS emitted 1 delivered 1 pending 0 lost 0 '
configure 'mftrace.dest = winevent' 'mftrace.emitter.winevent#level = 0'
if ctrace config check ../cfg >out 2>err; then
	check 'WINEVENT is JOURNAL' is "$(grep -iE 'dest|emitter' out | tr '\n' ' ')" 'mftrace.dest = JOURNAL mftrace.emitter.JOURNAL#level = 0 '
else
	count=$((count + 1))
	echo "ok $count - WINEVENT is JOURNAL # SKIP built without libsystemd"
fi
text
printf '%s\n' 'mftrace.dest = nosuch' >>"$top/cfg"
check 'an unknown emitter changes nothing' is "$("$steps" emit a 1; ls)" $'SUCCESS\nx.log'

# ---- what the process says of itself is what the tool says
configure 'mftrace.level = debug' 'mftrace.dest = es' 'ctrace.buffer = 64K' 'ctrace.overflow = discard'
begin trace a 1 50000 flush trace b 1 7 flush stats say waiting pause
ctrace list --json >listed
check 'list --json counts as ctrace_stats_get() does' python3 - "$top/said" <<'END'
import json, re, sys
emitted, delivered, pending, lost = map(int, re.search(r'emitted (\d+) delivered (\d+) pending (\d+) lost (\d+)', open(sys.argv[1]).read()).groups())
counters = json.load(open('listed'))['counters']
assert emitted == 50007 and lost > 0, (emitted, lost)
assert (counters['delivered'], counters['pending'], counters['lost']) == (delivered, pending, lost), counters
assert sum(counters['lost_by_reason'].values()) == lost, counters
END
finish

# ---- reading the file
configure 'mftrace.level = debgu' 'mftrace.level' '= info' 'mftrace.level.a..b = info' 'mftrace.level.MF.DEBUGCOMMS#ALL = TRUE' 'mftrace.dest = (textfile' \
	'nonsense' $'mftrace.level.\x01' 'mftrace.emitter.textfile = x' 'ctrace.buffer = -1' 'mftrace.level.after = info'
check 'malformed lines change nothing and stop nothing' is "$("$steps" emit other 4 emit after 1 | tr '\n' ' ')" 'NOT_TRACE_ENABLED SUCCESS '
configure 'mftrace.level = info'
begin emit a 0 say waiting pause emit a 0 emit never.seen 0
echo 'mftrace.level = debug' >"$top/cfg"
echo >&9
finish
check 'the file is read once' is "$(tr '\n' ' ' <"$top/said")" 'NOT_TRACING_LEVEL waiting NOT_TRACING_LEVEL NOT_TRACING_LEVEL '
for file in '' "$top/missing" "$top" /dev/null "$top/go"; do
	check "no configuration in <${file/$top/.}>: nothing is traced" is "$(MFTRACE_CONFIG=$file "$steps" emit a 4; ls)" NOT_TRACE_ENABLED
done

# ---- mftrace.application
cp "$steps" "$top/" && export LD_LIBRARY_PATH=$CTRACE_BUILD
application() { # NAME yes|no [FIRST-ARGUMENT]
	configure 'mftrace.level.before = info' "mftrace.application = $1" 'mftrace.level.after = info'
	local both='SUCCESS SUCCESS '
	[ "$2" = yes ] || both='NOT_TRACE_ENABLED NOT_TRACE_ENABLED '
	check "mftrace.application = ${1/$top/.} (steps emit ...): $2" is "$("$top/steps" emit before 1 emit after 1 | tr '\n' ' ')" "$both"
}
application steps yes
application STEPS yes
application "$top/steps" yes
application /other/steps no
application step no
application '(emit)' yes
application '( EMIT )' yes
application '(steps)' no
application emit no
end
