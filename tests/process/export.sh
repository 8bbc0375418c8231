#!/usr/bin/env bash
# ctrace export: each format is read by somebody else - babeltrace2, protoc, Python's json and csv - and has every event once.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { LC_ALL=C grep -aqE -- "$2" "$1" || { printf 'no /%s/ in:\n' "$2"; head "$1"; false; }; }
same() { cmp "$1" "$2" || { diff -a "$1" "$2" | head; false; }; }
run() {
	timeout 60 ctrace "$@" >out 2>err </dev/null
	status=$?
}

cat >app.cfg <<CONFIG
mftrace.level = debug
mftrace.dest = binfile
mftrace.emitter.binfile#location = $PWD
mftrace.emitter.binfile#file = \$(PID)
CONFIG
cat >spans.call.yaml <<'YAML'
component: spans.call
events:
  1: {mnemonic: CALL, exit: 2, arguments: [{name: number}]}
  2: {mnemonic: CALLED, arguments: [{name: number}]}
  3: {mnemonic: STEP, exit: 4, arguments: [{name: left}]}
  4: {mnemonic: STEPPED}
  10: {mnemonic: TEXTS, arguments: [{name: formula}, {name: terminal}, {name: bytes}]}
YAML
cat >spans.key.yaml <<'YAML'
component: spans.key
events:
  1: {mnemonic: LOCK, exit: 2, match: key, arguments: [{name: key}]}
  2: {mnemonic: UNLOCK, arguments: [{name: key}]}
YAML
rounds=50
total=$((2 * (5 * rounds + 5)))
MFTRACE_CONFIG=$PWD/app.cfg "$CTRACE_BUILD/tests/spans_subject" $rounds &
wait $!
trace=$PWD/$!
export CTRACE_CATALOG=$PWD/spans.call.yaml:$PWD/spans.key.yaml
check 'a trace to export' is "$(ctrace show "$trace" | wc -l)" $total

# ---- Common Trace Format
run export --format=common-trace-format -o clean "$trace"
check 'common-trace-format: status' is "$status" 0
check 'common-trace-format: nothing is said' is "$(cat out err)" ''
babeltrace2 clean >babel 2>babel.err
check 'babeltrace2 reads it' is "$?" 0
check 'babeltrace2 has nothing to say' is "$(cat babel.err)" ''
check 'babeltrace2 has every event' is "$(wc -l <babel)" $total
check 'event classes have names' has babel 'spans\.call:CALL: .*\{ number = 0 \}'
check 'so have those with several items' has babel 'spans\.call:TEXTS: .*formula = "=1\+1,\\?"x\\?"".* bytes = '
ctrace show "$trace" >before
ctrace show clean >after
check 'ctrace show says the same of both' same before after
ctrace show --json "$trace" >before
ctrace show --json clean >after
check 'as JSON too' same before after
env -u CTRACE_CATALOG timeout 60 ctrace show --json clean >after
check 'names are in the trace, without a catalogue' has after '"mnemonic":"CALL"'
run export -f common -o clean "$trace"
check 'a directory that holds something: status' is "$status" 2
check 'a directory that holds something: said' has err '^ctrace export: clean: is not empty; name a directory that is not there yet$'
run export -f common -o some -l warn "$trace"
check 'some events' is "$(babeltrace2 some | wc -l)" $((2 * rounds))

# ---- several processes
MFTRACE_CONFIG=$PWD/app.cfg "$CTRACE_BUILD/tests/spans_subject" 3 &
wait $!
second=$PWD/$!
run export -f common -o both "$trace" "$second"
check 'two processes: a directory each' is "$(find both -path 'both/*.spans_subject.*/metadata' | wc -l)" 2
check 'two processes: every event' is "$(babeltrace2 both | wc -l)" $((total + 40))
ctrace show "$trace" "$second" >before
ctrace show both >after
check 'two processes: the same text' same before after

# ---- rings of a live process, and what was lost: the destination fails until the rings are full
touch lossy
printf 'ctrace.buffer = 64K\nctrace.overflow = discard\n' | cat app.cfg - | sed "s,#file = .*,#file = $PWD/lossy," >lossy.cfg
coproc SUBJECT { MFTRACE_CONFIG=$PWD/lossy.cfg exec "$CTRACE_BUILD/tests/tool_subject" 0 2>/dev/null; }
subject=$SUBJECT_PID
read -r _ <&"${SUBJECT[0]}"
order() {
	echo "$1" >&"${SUBJECT[1]}"
	read -r _ <&"${SUBJECT[0]}"
}
order 10000
# shellcheck disable=SC2016 # the tool's
ctrace show --format '$(TIME) $(THREAD) $(COMPONENT) $(EVENT) $(LEVELNAME)$(DATA)' "$subject" >before 2>/dev/null
run export -f common -o live "$subject"
# shellcheck disable=SC2016 # the tool's
ctrace show --format '$(TIME) $(THREAD) $(COMPONENT) $(EVENT) $(LEVELNAME)$(DATA)' live >after 2>/dev/null
check 'a live process: the same text' same before after
check 'a live process: something was there' test -s after
rm lossy
order flush
order 10 # a packet behind the losses
order flush
eval "exec ${SUBJECT[1]}>&-"
wait "$subject"
run export -f common -o clean_lossy lossy
babeltrace2 clean_lossy >babel 2>babel.err
lost() { sed -n 's/^ctrace [a-z]*: \([0-9]*\) events were discarded before being written$/\1/p' "$1"; }
check 'lost events: some' test "$(lost err)" -gt 0
check 'lost events: babeltrace2 has the same number' is "$(grep -ao 'discarded [0-9]* event' babel.err | awk '{ n += $2 } END { print n }')" "$(lost err)"
check 'lost events: all are known' is "$(($(wc -l <babel) + $(lost err)))" 10010
run export -f chrome lossy
check 'lost events: instants of chrome' is "$(python3 -c 'import json; print(sum(e["args"]["events"] for e in json.load(open("out"))["traceEvents"] if e["name"] == "events lost"))')" "$(lost err)"

# ---- Chrome
run export -f chrome -o chrome.json "$trace"
check 'chrome: status' is "$status" 0
cat >chrome.py <<'PYTHON'
import collections, json, sys
document = json.load(open('chrome.json'))
events = document['traceEvents']
total = int(sys.argv[1])
named, stacks, count, last, kinds, pairs = set(), collections.defaultdict(list), 0, -1, collections.Counter(), collections.Counter()
for e in events:
    kinds[e['ph']] += 1
    if e['ph'] == 'M':
        named.add((e['name'], e['pid'], e['tid']))
        continue
    count += 1
    assert e['ts'] >= last, ('not sorted', e)
    last = e['ts']
    assert ('process_name', e['pid'], 0) in named and ('thread_name', e['pid'], e['tid']) in named, ('no name yet', e)
    if e['ph'] == 'B':
        stacks[e['tid']].append(e['name'])
    elif e['ph'] == 'E':
        assert stacks[e['tid']].pop() == e['name'], ('does not nest', e)
    elif e['ph'] == 'b':
        pairs[e['id'], e['cat'], e['name']] += 1
    elif e['ph'] == 'e':
        pairs[e['id'], e['cat'], e['name']] -= 1
    else:
        assert e['ph'] == 'i' and e['s'] == 't'
        assert e['args']['level'] in ('DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL')
    assert e['cat'] in ('spans.call', 'spans.key'), e
    assert e['ph'] == 'i' or 'args' not in e, ('speedscope takes args for a part of the name', e)
assert count == total, count
assert not any(stacks.values()) and not any(pairs.values())
assert isinstance(document['otherData']['begin_ns'], str)
print(kinds['B'], kinds['E'], kinds['b'], kinds['e'], kinds['i'])
texts = next(e for e in events if e['name'] == 'spans.call TEXTS')['args']
assert texts['formula'] == '=1+1,"x"' and texts['terminal'] == '\x1b[2Jr\xe9sum\xe9' and texts['bytes'] == '0001FF', texts
assert any(e['name'] == 'spans.call STEP' for e in events)
PYTHON
# A round: CALL and STEP nest.  Of the keyed ones that begin on a thread one nests, one crosses it, one never ends.
check 'chrome: sorted, nested, named, complete' is "$(python3 chrome.py $total 2>&1)" \
	"$((4 * rounds + 2)) $((4 * rounds + 2)) 2 2 $((2 * rounds + 2))"
run export -f chrome "$trace"
check 'chrome: the same to stdout' same out chrome.json
run export -f chrome --args "$trace"
check 'chrome: with --args spans have items too' is "$(python3 -c '
import json
print(next(e for e in json.load(open("out"))["traceEvents"] if e["name"] == "spans.call STEP")["args"]["left"])')" 18446744073709551615

printf '%s\n' '       01  THREE.' '           05  TWO   PIC X(2) COMP-X.' '           05  LAST  PIC X(1) COMP-X.' >THREE.cpy
printf '%s\n' 'component: spans.call' 'events: {10: {mnemonic: TEXTS, arguments: [f, t, {name: three, copybook: THREE.cpy}]}}' >record.yaml
CTRACE_CATALOG=$PWD/record.yaml run export -f chrome "$trace"
check 'chrome: a COBOL record is nested' is "$(python3 -c '
import json
print(next(e for e in json.load(open("out"))["traceEvents"] if e["name"] == "spans.call TEXTS")["args"]["three"])')" "{'TWO': 1, 'LAST': 255}"

# ---- Perfetto
run export -f perfetto -o trace.perfetto "$trace"
check 'perfetto: status' is "$status" 0
protoc --proto_path="$CTRACE_SOURCE/tests/golden" --decode=shape.Trace perfetto_shape.proto <trace.perfetto >perfetto.txt 2>err
check 'perfetto: protoc decodes it' is "$?" 0
check 'perfetto: no field is unknown' is "$(grep -cE '^ *[0-9]+[:{ ]' perfetto.txt)" 0
check 'perfetto: every event' is "$(grep -c 'track_event {' perfetto.txt)" $total
check 'perfetto: begins' is "$(grep -c 'TYPE_SLICE_BEGIN' perfetto.txt)" $((4 * rounds + 4))
check 'perfetto: ends' is "$(grep -c 'TYPE_SLICE_END' perfetto.txt)" $((4 * rounds + 4))
check 'perfetto: two threads' is "$(grep -c 'thread_name' perfetto.txt)" 2
check 'perfetto: keyed spans are named on events, and on the tracks of those that cross' is "$(grep -c 'name: "spans\.key LOCK"' perfetto.txt)" $((10 + 2))

# ---- speedscope: tests/process/speedscope.py
run export -f speedscope -o spans.json "$trace"
check 'speedscope: status' is "$status" 0
check 'speedscope: those that cross are in a profile of their own' is "$(python3 -c '
import json
print(*sorted((len(p["events"]) // 2, "overlapping" in p["name"]) for p in json.load(open("spans.json"))["profiles"]))')" \
	"(2, True)$(printf ' (%d, False)' $((2 * rounds + 1)) $((2 * rounds + 1)))"

# ---- CSV
run export -f csv -o events.csv "$trace"
check 'csv: status' is "$status" 0
cat >rows.py <<'PYTHON'
import csv, sys
raw = open('events.csv', newline='').read()
assert raw.count('\r\n') == raw.count('\n')
rows = list(csv.reader(open('events.csv', newline=''), strict=True))
head = rows.pop(0)
assert head == 'time,time_ns,host,pid,tid,component,event,mnemonic,level,duration_ns,names,data1,data2,data3'.split(','), head
assert all(len(r) == len(head) for r in rows)
rows = [dict(zip(head, r)) for r in rows]
texts = next(r for r in rows if r['mnemonic'] == 'TEXTS')
assert texts['data1'] == "'=1+1,\"x\"", texts
assert texts['data2'] == r'\u{1B}[2Jr\xE9sumé', texts
assert texts['names'] == 'formula terminal bytes'
ends = [r for r in rows if r['mnemonic'] in ('CALLED', 'STEPPED', 'UNLOCK')]
assert all(int(r['duration_ns']) >= 0 for r in ends)
assert all(r['duration_ns'] == '' for r in rows if r not in ends)
print(len(rows), len(ends))
PYTHON
check 'csv: strict, quoted, guarded' is "$(python3 rows.py 2>&1)" "$total $((4 * rounds + 4))"
run export -f csv --unguarded "$trace"
check 'csv: unguarded' is "$(grep -c '"=1+1,""x"""' out)" $((2 * rounds))

# ---- JSON
run export -f json -o events.json "$trace"
check 'json: every event in one document' is "$(python3 -c 'import json; print(len(json.load(open("events.json"))["events"]))')" $total
run export -f json --lines "$trace"
ctrace show --json "$trace" >before
check 'json: as ctrace show has it, but for durations' is "$(wc -l <out)" $total
check 'json: each line is an object' python3 -c 'import json; [json.loads(line) for line in open("out")]'

# ---- a dead process's rings, and damage
printf 'x' | dd of="$trace/$(basename "$(find "$trace" -name 'stream.*' | sort | head -1)")" bs=1 seek=3 conv=notrunc 2>dd.err
run export -f common -o damaged "$trace"
check 'damage: status' is "$status" 1
check 'damage: said once' is "$(grep -c ', offset 0' err)" 1
check 'damage: what is left is a clean trace' babeltrace2 damaged
run export -f chrome -o damaged.json "$trace"
check 'damage: said once, though it is read twice' is "$(grep -c ', offset 0' err)" 1

# ---- output that cannot be
run export -f json -o nowhere/x.json "$second"
check 'no such directory: status' is "$status" 2
check 'no such directory: said' has err '^ctrace export: nowhere/x\.json: No such file'
check 'no such directory: nothing else is said' is "$(wc -l <err)" 1
timeout 60 ctrace export -f csv "$second" >/dev/full 2>err
check 'a full disk: status' is "$?" 2
check 'a full disk: said' has err 'No space left'
run export -f json -o events.json "$trace.nothing"
check 'nothing to read: status' is "$status" 2
check 'nothing to read: the file stays' is "$(python3 -c 'import json; print(len(json.load(open("events.json"))["events"]))')" $total
check 'nothing is left beside it' is "$(find . -name '*.new-*')" ''

# ---- usage
for arguments in "$second" "-f pdf $second" '-f json' "-f common $second" "-f csv --lines $second" "-f json --unguarded $second" "-f perfetto --args $second"; do
	# shellcheck disable=SC2086 # words
	run export $arguments
	check "refused: ${arguments//$PWD/}" is "$status" 2
done
check 'a format that is none: said' has <(timeout 60 ctrace export -f pdf x 2>&1) 'expected common-trace-format, chrome, perfetto, speedscope, csv, json, otlp or otlp-protobuf'

# ---- what does not fit into memory waits in a file
cat >long.yaml <<'YAML'
component: SHOP.ORDER
events:
  10: {mnemonic: ORDER, exit: 11}
  11: {mnemonic: ORDEREND}
YAML
printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' "mftrace.emitter.binfile#file = $PWD/long.ctb" >long.cfg
MFTRACE_CONFIG=$PWD/long.cfg "$CTRACE_BUILD/tests/orders" 2000
TMPDIR=$PWD/nosuch ctrace export -f speedscope --catalog long.yaml -o long.json long.ctb >out 2>err
check 'TMPDIR is not there: status' is $? 2
check 'TMPDIR is not there: it is named, not the output' is "$(<err)" \
	"ctrace export: $PWD/nosuch: a temporary file cannot be written there: No such file or directory; TMPDIR names the directory"
check 'TMPDIR is not there: no output is left' test ! -e long.json
mkdir spool
TMPDIR=$PWD/spool ctrace export -f speedscope --catalog long.yaml -o long.json long.ctb >out 2>err
check 'TMPDIR is there: status' is "$? $(<err)" '0 '
check 'TMPDIR is there: nothing is left in it' is "$(ls -A spool)" ''
end
