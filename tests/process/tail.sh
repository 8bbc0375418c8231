#!/usr/bin/env bash
# ctrace tail: events of programs that run, come and go, as they happen; and that the programs pay and lose nothing for it.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
subject=$CTRACE_BUILD/tests/tool_subject

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
# Waits until a condition holds, a minute at most.
await() {
	for _ in $(seq 3000); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.02
	done
	"$@"
}
has_lines() { is "$(wc -l <"$1")" "$2"; }

cat >app.cfg <<CONFIG
mftrace.level = none
mftrace.level.tool = info
mftrace.dest = textfile
mftrace.emitter.textfile#location = $PWD
mftrace.emitter.textfile#file = \$(PID).log
CONFIG
export MFTRACE_CONFIG=$PWD/app.cfg

# start NAME COUNT: a program that traces and waits for orders; its process id is in pid_NAME.
start() {
	mkfifo "$1.in" "$1.out"
	"$subject" "$2" <"$1.in" >"$1.out" 2>/dev/null &
	eval "pid_$1=$!"
	eval "exec {in_$1}>$1.in {out_$1}<$1.out"
	local answer fd="out_$1"
	read -r answer <&"${!fd}"
	[ "$answer" = ready ]
}
order() { # NAME ORDER
	local in="in_$1" out="out_$1" answer
	echo "$2" >&"${!in}"
	read -r answer <&"${!out}"
	[ "$answer" = 0 ]
}
finish() { # NAME
	local in="in_$1" out="out_$1" pid="pid_$1"
	eval "exec ${!in}>&- ${!out}<&-"
	wait "${!pid}"
}
verb=(tail)
# follow FILE ARGUMENT...: tail in the background, once it has looked for the first time.
follow() {
	local file=$1
	shift
	ctrace "${verb[@]}" "$@" >"$file" 2>"$file.err" &
	tail=$!
	await looked
}
# Its watch on the run directory is there before it looks for what runs; it sleeps when it has.
sleeps() { [ "$(awk '{print $3}' "/proc/$tail/stat")" = S ]; }
looked() { grep -q inotify <<<"$(readlink "/proc/$tail/fd"/*)" && sleeps; }
gone() { ! kill -0 "$tail" 2>/dev/null; }
interrupt() {
	kill -"${1:-INT}" "$tail"
	wait "$tail"
	ended=$?
}

# ---- nothing runs yet
ctrace tail --for 0.05 >none 2>none.err
check 'what it waits for' is "$(<none.err)" 'ctrace tail: no process is traced yet; waiting for one'

# ---- what runs
start one 5
# shellcheck disable=SC2154 # start sets it
one=$pid_one
follow all
order one 3
order one 2
await has_lines all 5
check 'events come while it runs, flushed' has_lines all 5
interrupt INT
check 'an interrupt ends it well' is "$ended" 0
check 'nothing was said' test ! -s all.err
check 'a line is what show prints' grep -qE '^[0-9:]+\.[0-9]{3,9} tool\.main 1 INFO 0$' all
check 'in their order' is "$(cut -d' ' -f5 all | tr '\n' ' ')" '0 1 2 0 1 '
order one flush
check 'and all of it is in its destination' is "$(grep -vc '^#' "$one.log")" 15

# shellcheck disable=SC2016 # the tool's
follow some --limit 2 --format '$(PID) $(COMPONENT) $(DATA)' --pid "$one"
order one 4
wait "$tail"
check 'a count ends it well' is $? 0
check 'a format of one'\''s own' is "$(<some)" "$one tool.main  0
$one tool.main  1"
check '--for ends it well' ctrace tail --for 0.1
for arguments in '--for 0.05 1' '1 --for=0.05 level>=warn' 'level>=warn --for=0.05 1'; do
	# shellcheck disable=SC2086 # words
	ctrace tail $arguments >none 2>none.err
	check "a number is a process: $arguments" is "$? $(cat none none.err)" '0 ctrace tail: no such process is traced yet; waiting for one'
done
ctrace tail --pid 1 --for 0.05 >none 2>none.err
check 'what it waits for, if one that does not run is named' is "$(<none.err)" 'ctrace tail: no such process is traced yet; waiting for one'
follow json --json --limit 1
order one 1
wait "$tail"
check 'JSON' grep -q "\"component\":\"tool.main\".*\"pid\":$one" json

# ---- what the rings hold already
check '--last: the newest of them' is "$(ctrace tail --last 3 --for 0.05 | cut -d' ' -f2-5)" 'tool.main 1 INFO 2
tool.main 1 INFO 3
tool.main 1 INFO 0'
check '--from-start: delivered ones too' is "$(ctrace tail --from-start --for 0.05 | wc -l)" 20
check 'filters' is "$(ctrace tail --from-start --for 0.05 -c '*.part' -l warn -e 1-2 | wc -l)" 5
check 'an expression' is "$(ctrace tail 'level >= warn && data[0] == "part"' --from-start --for 0.05 | wc -l)" 5
check 'whose they are' is "$(ctrace tail "program ~ 'tool_subj*' && pid == $one && host == '$(hostname)' && job ~ 'tool*'" --from-start --for 0.05 | wc -l)" 20
printf '%s\n' 'component: TOOL.MAIN' 'events: {1: {mnemonic: STEP, arguments: [number]}}' >tool.yaml
check 'a catalogue' is "$(ctrace tail --catalog tool.yaml 'data.number == 2' --from-start --for 0.05 | cut -d' ' -f2- | sort -u)" 'tool.main STEP INFO number=2'
printf 'component: tool.main\nevents:\n  1: {mnemonic: STEP, until: next, arguments: [number]}\n' >until.yaml
check '--ends: a line where a span ends that has no exit' is "$(ctrace tail --ends --catalog until.yaml -c tool.main --from-start --for 0.05 | grep -c 'its end is inferred)$')" \
	"$(($(ctrace tail --catalog until.yaml -c tool.main --from-start --for 0.05 | wc -l) - 1))"
check 'which a filter by its duration finds too' ctrace tail 'duration > 0ns' --catalog until.yaml --from-start --limit 1
check '--limit' is "$(ctrace tail --from-start --limit 3 | wc -l)" 3
check 'filters that nothing passes' is "$(ctrace tail --from-start --for 0.05 -e 3 | wc -l)" 0
check 'a JOBNAME' is "$(ctrace tail --from-start --for 0.05 --job 'tool*' | wc -l)" 20
check 'another JOBNAME' is "$(ctrace tail --from-start --for 0.05 --job 'x*' | wc -l)" 0
asid=$(ctrace list | sed -n 's/.*asid //p')
check 'an ASID' is "$(ctrace tail --from-start --for 0.05 --asid "$asid" | wc -l)" 20
check 'another ASID' is "$(ctrace tail --from-start --for 0.05 --asid FFFF | wc -l)" 0

# ---- spans
order one span
printf '%s\n' 'component: TOOL.MAIN' 'events: {3: {mnemonic: IN, exit: 4, arguments: [what]}, 4: {mnemonic: OUT, arguments: [what]}}' >span.yaml
spans() { ctrace tail --catalog span.yaml --from-start --for 0.05 "$@"; }
check 'how long a span took' is "$(spans -e 3-4 | grep -cE ' tool.main (IN INFO what="begin"|OUT INFO what="end" \([0-9.]+(ns|us|ms|s)\))$')" 2
check 'a duration is filtered by' is "$(spans 'duration >= 0ns' | grep -c ' tool.main OUT ')" 1
check 'and is in JSON' is "$(spans 'duration < 1h' --json | grep -cE '"duration_ns":[0-9]+[,}]')" 1

# ---- processes come and go
follow coming
start two 2
await has_lines coming 4
order one 1
order two 1
order two 1
finish two
await has_lines coming 7
interrupt TERM
check 'SIGTERM too' is "$ended" 0
check 'what comes later is seen from its beginning, to its end' has_lines coming 7
check 'nothing was lost' test ! -s coming.err
check 'merged by time' sort -c -s -k1,1 coming

# ---- no cost, no damage
calls() { awk '/ctxt_switches/ {n += $2} END {print n}' "/proc/$one/status"; }
before=$(calls)
follow idle
for _ in $(seq 20); do ctrace tail --from-start --for 0.01 >/dev/null; done
interrupt
after=$(calls)
check 'a process that is followed does not wake for it' test "$((after - before))" -le 2
order one 200000
order one flush
check 'all of a burst is delivered, whoever looks' is "$(grep -c ' tool.main 1 ' "$one.log")" "$((200000 + 16))"
follow burst
order one 300000
order one flush
interrupt
lost=$(sed -n 's/^ctrace tail: \([0-9]*\) bytes went by too fast to be shown$/\1/p' burst.err | awk '{n += $1} END {print n + 0}')
# An event has 12 bytes; the marks of windows are among what went by.
all=$(($(wc -l <burst) + lost / 12))
check 'what is shown and what is told to have gone by is everything' test "$all" -ge 300000 -a "$all" -le 303000

# ---- output that is not taken
order one 1
check 'a reader that goes ends it' is "$(timeout 60 ctrace tail --from-start | head -1 | wc -l)" 1
ctrace tail > >(head -1 >first) &
tail=$!
await looked
order one 1
check 'also when nothing more comes' await gone
kill "$tail" 2>/dev/null
timeout 60 ctrace tail --from-start --for 1 >/dev/full 2>full.err
check 'a full disk: status' is $? 2
check 'a full disk: said' grep -q 'cannot write the output: No space left' full.err
mkfifo stuck
exec {held}<>stuck
ctrace tail --from-start >stuck 2>/dev/null &
tail=$!
await sleeps
check 'a reader that does not read is not waited for' timeout 30 bash -c "kill -TERM $tail; while kill -0 $tail 2>/dev/null; do sleep 0.05; done"
exec {held}<&-

# ---- hostile directories
mkdir -m 700 "$CTRACE_RUN_DIR/777.0" && printf 'no session' >"$CTRACE_RUN_DIR/777.0/session"
mkdir -m 700 "$CTRACE_RUN_DIR/778.0" && ln -s "$CTRACE_RUN_DIR/$one.0/session" "$CTRACE_RUN_DIR/778.0/session"
follow hostile
order one 1
await has_lines hostile 1
interrupt
check 'directories of nobody are passed over' has_lines hostile 1
rm -r "$CTRACE_RUN_DIR/777.0" "$CTRACE_RUN_DIR/778.0"

# ---- usage
usage() {
	ctrace tail "$@" 2>usage.err
	is $? 2
}
for arguments in '--pid abc' '--pid 0' '--asid XYZ' '--count 3' '--limit 0' '--limit -1' '--last 1000001' '--for 0' '--for x' '--level loud' '--event 5-' word 'event==1 event==2' 'level>abc'; do
	# shellcheck disable=SC2086 # words
	check "refused: $arguments" usage $arguments
done
finish one

# ---- lines that wait in a file
printf '%s\n' 'mftrace.level = info' 'mftrace.dest = storage' >kept.cfg
MFTRACE_CONFIG=$PWD/kept.cfg start kept 60000
long=$(printf '%04000d' 0)
check 'lines that wait and cannot be kept: status' bash -c 'trap "" XFSZ; ulimit -f 2; ctrace tail --last 1000000 --for 0.05 --format "\$(EVENT)$1" 2>err >/dev/null; [ $? -eq 2 ]' - "$long"
check 'lines that wait and cannot be kept: said' grep -qx 'ctrace tail: --last: File too large' err
finish kept

# ---- the other way to ask for it
start shown 0
# shellcheck disable=SC2154 # start sets it
one=$pid_shown
verb=(show -f)
follow shown 'event == 1' "$one" --format '$(PID)$(DATA)'
order shown 2
await has_lines shown 2
interrupt INT
check 'show -f of a process, with a filter' is "$ended:$(<shown):$(<shown.err)" "0:$one 0
$one 1:"
verb=(show --follow)
follow shown --json
order shown 1
await has_lines shown 1
interrupt INT
check 'show --follow of all' is "$ended:$(grep -c '"component":"tool.main"' shown)" 0:1
check 'a file cannot be followed' bash -c 'ctrace show -f "$PWD" 2>&1 >out | grep -qF "$PWD: -f follows processes, not files" && test ! -s out'
check 'nor can two processes' bash -c 'ctrace show -f 1 2 >out 2>&1; test $? = 2'
check 'what only show has' bash -c 'ctrace show -f --reverse 2>&1 | grep -q "unrecognized option .--reverse"'
finish shown
end
