#!/usr/bin/env bash
# ctrace stats: the numbers of a running program, which add up; of its components and destinations; as text, as JSON, again and again.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
subject=$CTRACE_BUILD/tests/tool_subject

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qE -- "$2" "$1" || { printf 'no /%s/ in:\n' "$2"; cat "$1"; false; }; }
json() { python3 -c 'import json, sys
document = json.load(open("out"))
process = document["processes"][0] if document["processes"] else None
components = {c["component"]: c for c in process["components"]} if process else {}
print(eval(sys.argv[1]))' "$1"; }
stats() {
	ctrace stats "$@" >out 2>err </dev/null
	status=$?
}

stats
check 'nothing is traced: status' is "$status" 1
check 'nothing is traced: said' has err '^ctrace stats: nothing is traced$'
stats --json
check 'nothing is traced, as JSON' is "$(json 'document["processes"] + document["writers"]')" '[]'

cat >app.cfg <<CONFIG
mftrace.level = none
mftrace.level.tool.main = info
mftrace.dest = textfile
mftrace.emitter.textfile#file = $PWD/subject.log
CONFIG
start() { # COUNT
	coproc SUBJECT { MFTRACE_CONFIG=$PWD/app.cfg exec "$subject" "$1" 2>/dev/null; }
	pid=$SUBJECT_PID
	read -r _ <&"${SUBJECT[0]}"
}
order() {
	echo "$1" >&"${SUBJECT[1]}"
	read -r _ <&"${SUBJECT[0]}"
}
finish() {
	eval "exec ${SUBJECT[1]}>&-"
	wait "$pid"
}
sums='process["emitted"] == process["delivered"] + process["pending"] + process["lost"] == '

# ---- what is delivered
start 5
order 7
order flush
stats
check 'of a process: status' is "$status" 0
check 'its name' has out "^$pid  tool_subject  running  jobname TOOL_SUB  asid [0-9A-F]{4}\$"
check 'its events' has out '^    events: emitted 17, delivered 17, pending 0, lost 0$'
check 'its rings' has out '^    rings: 1, 0% full, the fullest 0%, bytes [0-9]+$'
check 'its control' has out '^    control: [0-9]+ requests?, 0 refused$'
check 'a component' has out '^    tool\.main  +INFO  +12  +144  -$'
check 'one that is not on' has out '^    tool\.evil.*  NONE +0  +0  -$'
check 'which cannot forge lines' is "$(grep -c '^9999' out)" 0
check 'a destination' has out "^    TEXTFILE +17  $PWD/subject\.log\$"
stats --json
check 'JSON: one document' is "$(wc -l <out)" 1
check 'JSON: it adds up' is "$(json "$sums 17")" True
check 'JSON: reasons add up' is "$(json 'process["lost"] == sum(process["lost_by_reason"].values())')" True
check 'JSON: components' is "$(json 'components["tool.main"]["delivered"], components["tool.main.part"]["delivered"]')" '(12, 5)'
check 'JSON: a level' is "$(json 'components["tool.main"]["level"]')" INFO
# A ring has the marks of its windows beside.
check 'JSON: bytes are those of its components' is "$(json '0 < process["bytes"] - sum(c["bytes"] for c in components.values()) <= 100')" True
check 'JSON: no writer' is "$(json 'components["tool.main"]["writer"], components["tool.main"]["writer_connected"]')" '(None, False)'
check 'JSON: destinations' is "$(json '[(d["emitter"], d["delivered"], d["failing"]) for d in process["destinations"]]')" "[('TEXTFILE', 17, None)]"
check 'JSON: a ring' is "$(json 'process["rings"]["count"], process["rings"]["pending_bytes"]')" '(1, 0)'

# ---- which processes
stats --pid "$pid"
check 'by process id' is "$status" 0
stats --job 'tool*'
check 'by JOBNAME' is "$status" 0
stats --job 'x*'
check 'another JOBNAME: status' is "$status" 1
check 'another JOBNAME: said' has err '^ctrace stats: no traced process matches$'
stats --asid FFFF
check 'another ASID' is "$status" 1

# ---- again and again
ctrace stats --watch=0.2 >watch 2>watch.err &
watch=$!
for _ in $(seq 3000); do [ "$(grep -c '^    events' watch)" -ge 2 ] && break; sleep 0.02; done
order 1000
for _ in $(seq 3000); do grep -q 'emitted 1017 ' watch && break; sleep 0.02; done
kill -INT "$watch"
wait "$watch"
check 'a watch that is interrupted: status' is $? 0
check 'the first without rates' is "$(sed -n 3p watch)" '    events: emitted 17, delivered 17, pending 0, lost 0'
check 'then with rates' has watch '^    events: emitted 17 \(\+0\.0/s\), delivered 17 \(\+0\.0/s\), pending 0, lost 0 \(\+0\.0/s\)$'
check 'what has come in a second' has watch '^    events: emitted 1017 \(\+[1-9][0-9]*\.[0-9]/s\)'
check 'each with its time, on no terminal one below the other' is "$(grep -c '^20[0-9-]* [0-9:]*$' watch)" "$(grep -c '^    events' watch)"
check 'and nothing else' is "$(grep -c $'\033' watch)" 0
ctrace stats --json --watch=0.1 >out.many &
watch=$!
for _ in $(seq 3000); do [ "$(wc -l <out.many)" -ge 2 ] && break; sleep 0.02; done
kill -TERM "$watch"
wait "$watch"
check 'as JSON: status' is $? 0
sed -n 2p out.many >out
check 'as JSON: rates' is "$(json 'process["emitted_per_second"], components["tool.main"]["bytes_per_second"]')" '(0.0, 0.0)'
finish

# ---- what waits, and what is lost
rm subject.log && mkdir subject.log # in the place of the file: it cannot be written
sed -i '$a ctrace.buffer = 64K\nctrace.overflow = discard' app.cfg
start 10
stats
check 'what waits' has out '^    events: emitted 20, delivered 0, pending 20, lost 0$'
check 'a destination that fails' has out '^    TEXTFILE +0  .*  FAILING: .+ \([0-9]+ failures?\)$'
check 'how full' has out '^    rings: 1, 1% full, the fullest 1%,'
order 10000
stats
check 'what is lost' has out '^    events: emitted 10020, delivered 0, pending [0-9]+, lost [0-9]+ \(discarded [0-9]+\)$'
check 'what is lost for a destination' has out '^    TEXTFILE +0  .*  FAILING: .+  lost [0-9]+  \([0-9]+ failures?\)$'
stats --json
check 'it adds up' is "$(json "$sums 10020")" True
check 'it adds up for the destination' is "$(json 'process["destinations"][0]["lost"] == process["lost"]')" True
check 'by reason' is "$(json 'process["lost"] == process["lost_by_reason"]["discarded"] > 0')" True
check 'a full ring' is "$(json '98 <= process["rings"]["fullest_percent"] <= 100')" True
rmdir subject.log
order flush
stats --json
check 'it adds up when it works again' is "$(json "$sums 10020")" True
check 'and nothing waits' is "$(json 'process["pending"], process["rings"]["pending_bytes"], process["destinations"][0]["failing"]')" '(0, 0, None)'
finish
sed -i 's/= discard/= overwrite/' app.cfg
mkdir subject.log.d && sed -i "s,#file = .*,#file = $PWD/subject.log.d," app.cfg
start 0
order 10000
stats --json
check 'overwritten events are lost, also those that nobody has noticed yet' is "$(json "$sums 10000")" True
check 'overwritten, by reason' is "$(json 'process["lost"] == process["lost_by_reason"]["overwritten"] > 0')" True
rmdir subject.log.d
order flush
finish

# ---- external writers
mkdir -m 700 proclib
printf 'TRCOUT01 PATH=%s/data PRIMARY=1M\n' "$PWD" >proclib/CTW
export CTRACE_PROCLIB=$PWD/proclib
ctrace writer CTW >/dev/null 2>&1 &
writer=$!
for _ in $(seq 3000); do stats && has out '^writer CTW ' >/dev/null && break; sleep 0.02; done
check 'a writer without a process: status' is "$status" 0
start 1 # what has not traced yet is no component
ctrace op 'TRACE CT,ON,COMP=TOOL.MAIN' 'R 1,WTR=CTW,END' >op.out 2>&1
order 30
order flush
stats
check 'a component that is connected' has out '^    tool\.main  +[A-Z]+  +31  +372  CTW$'
check 'the writer' has out "^writer CTW  pid $writer  ACTIVE  events 30, bytes [1-9][0-9]*\$"
check 'its data set' has out "^    TRCOUT01  events 30, [1-9][0-9]* of 1048576 bytes used  $PWD/data\$"
stats --json
check 'JSON: connected' is "$(json 'components["tool.main"]["writer"], components["tool.main"]["writer_connected"]')" "('CTW', True)"
check 'JSON: the writer' is "$(json '[(w["name"], w["status"], w["events"], w["trcouts"][0]["number"]) for w in document["writers"]]')" "[('CTW', 'ACTIVE', 30, 1)]"
check 'JSON: it adds up' is "$(json "$sums 32")" True
kill "$writer"
wait "$writer"
stats
check 'a component that waits for its writer' has out '^    tool\.main  .*  CTW \(not connected\)$'
finish

# ---- what cannot be read
mkdir -m 700 "$CTRACE_RUN_DIR/777.0" && printf 'no session' >"$CTRACE_RUN_DIR/777.0/session"
stats
check 'a damaged directory: status' is "$status" 1
check 'a damaged directory: said' has err "^ctrace stats: $CTRACE_RUN_DIR/777\.0: "
rm -r "$CTRACE_RUN_DIR/777.0"

# ---- nobody reads on
check 'a watch whose reader has gone ends, and well' is "$( { timeout 60 ctrace stats --watch=0.1; echo $? >ended; } | head -1 >/dev/null; cat ended)" 0
check 'it does not wait for the next time' is "$( { timeout 60 ctrace stats --watch=3600; echo $? >ended; } | head -1 >/dev/null; cat ended)" 0

# ---- usage
for arguments in '--watch=0' '--watch=x' '--pid abc' '--by=event'; do
	# shellcheck disable=SC2086 # words
	stats $arguments
	check "refused: $arguments" is "$status" 2
done
ctrace stats --json >/dev/full 2>err
check 'a full disk' is $? 2
end
