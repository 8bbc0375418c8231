#!/usr/bin/env bash
# ctrace diff: two runs of one program that differ in known ways, and two that do not.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qE -- "$2" "$1" || { printf 'no /%s/ in:\n' "$2"; cat "$1"; false; }; }
run() {
	timeout 60 ctrace "$@" >out 2>err </dev/null
	status=$?
}
json() { python3 -c 'import json, sys
document = json.load(open("out"))
print(eval(sys.argv[1]))' "$1"; }

for run in quick slow; do
	cat >app.cfg <<-CONFIG
	mftrace.level = debug
	mftrace.dest = binfile
	mftrace.emitter.binfile#file = $PWD/$run
	CONFIG
	MFTRACE_CONFIG=$PWD/app.cfg "$CTRACE_BUILD/tests/spans_subject" 20 $run
done
cat >spans.call.yaml <<'YAML'
component: spans.call
events:
  1: {mnemonic: CALL, exit: 2}
  2: {mnemonic: CALLED}
  3: {mnemonic: STEP, exit: 4}
  4: {mnemonic: STEPPED}
YAML
export CTRACE_CATALOG=$PWD/spans.call.yaml

run diff quick quick
check 'a run and itself: status' is "$status" 0
check 'a run and itself: nothing to say' is "$(cat out err)" ''
ctrace diff quick slow >/dev/full 2>err
check 'what differs cannot be written: status' is $? 2
check 'what differs cannot be written: said' has err '^ctrace: cannot write the output: '
run diff --counts quick slow
check 'what differs: status' is "$status" 1
check 'what is new' has out '^new +spans\.call 11  events 0 -> 40$'
check 'what is slower' has out '^slower +spans\.call 2 CALLED  median [0-9.]+[num]s -> [0-9.]+ms  x[0-9.]+$'
check 'what is in it, too' has out '^slower +spans\.call 4 STEPPED '
check 'nothing else' is "$(wc -l <out)" 3
run diff --counts slow quick
check 'the other way round: gone' has out '^gone +spans\.call 11  events 40 -> 0$'
check 'the other way round: faster' has out '^faster +spans\.call 2 CALLED  median [0-9.]+ms -> '
run diff quick slow
check 'by the second: rates' has out '^fewer +spans\.call 1 CALL  events 40 \([0-9.]+/s\) -> 40 \([0-9.]+/s\)  x[0-9.]+$'
run diff --counts --by=component quick slow
check 'by component' has out '^slower +spans\.call  median '
run diff --counts --min-count=41 quick slow
check 'too few: status' is "$status" 0
run diff --counts --ratio=1e9 --min-count=1 quick slow
check 'a high ratio leaves what is new' is "$(cut -d ' ' -f 1 out)" new
run diff --counts -l warn --catalog spans.call.yaml quick slow
check 'with a filter' is "$(cat out)" 'new     spans.call 11  events 0 -> 40'

run diff --json --counts quick slow
check 'JSON: status' is "$status" 1
check 'JSON: changes' is "$(json '[(c["change"], c["event"], c["mnemonic"]) for c in document["changes"]][0]')" "('new', 11, None)"
check 'JSON: both sides' is "$(json 'document["changes"][0]["a"], document["changes"][0]["b"]["count"]')" '(None, 40)'
check 'JSON: the slower ones' is "$(json 'sorted(c["event"] for c in document["changes"] if c["change"] == "slower" and c["b"]["median_ns"] > 3e6 and c["ratio"] > 1.5)')" '[2, 4]'
check 'JSON: the runs' is "$(json 'document["a"]["path"], document["b"]["count"] - document["a"]["count"]')" "('quick', 40)"
run diff --json quick quick
check 'JSON: alike' is "$status $(json 'document["changes"]')" '0 []'

run diff quick nowhere
check 'no such run: status' is "$status" 2
check 'no such run: said' has err '^ctrace diff: nowhere: '
run diff -c nobody quick slow
check 'no event in either: status' is "$status" 2
printf 'x' | dd of="$(find slow -name 'stream.*' | sort | head -1)" bs=1 seek=3 conv=notrunc 2>dd.err
run diff quick slow
check 'damage: status' is "$status" 2
for arguments in '' quick 'quick slow quick' '--ratio=1 quick slow' '--ratio=x quick slow' '--by=thread quick slow' '--min-count=0 quick slow'; do
	# shellcheck disable=SC2086 # words
	run diff $arguments
	check "refused: $arguments" is "$status" 2
done
end
