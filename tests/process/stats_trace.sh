#!/usr/bin/env bash
# ctrace stats PATH: numbers of traces that add up, by component, event and thread, with the times of spans.
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
components = {r["component"]: r for r in document.get("components", [])}
events = {(r["component"], r["event"]): r for r in document.get("events", [])}
print(eval(sys.argv[1]))' "$1"; }

cat >app.cfg <<CONFIG
mftrace.level = debug
mftrace.dest = binfile
mftrace.emitter.binfile#file = $PWD/trace
CONFIG
cat >spans.call.yaml <<'YAML'
component: spans.call
events:
  1: {mnemonic: CALL, exit: 2}
  2: {mnemonic: CALLED}
YAML
MFTRACE_CONFIG=$PWD/app.cfg "$CTRACE_BUILD/tests/spans_subject" 40
export CTRACE_CATALOG=$PWD/spans.call.yaml
total=$((2 * (5 * 40 + 5)))

run stats trace
check 'status' is "$status" 0
check 'the whole' has out "^$total events, [0-9]+ bytes, in [0-9.]+[num]?s: from 20[0-9/]+ [0-9:.]+ to 20"
check 'a component' has out '^spans\.call +400 +[0-9.]+ +[0-9]+ +80  +[0-9.]+[num]?s'
check 'a component without spans' has out '^spans\.key +10 +[0-9.]+ +[0-9]+$'
check 'an event' has out '^spans\.call 10 +80 '
check 'an event that ends spans' has out '^spans\.call 2 CALLED +80 +[0-9.]+ +[0-9]+ +80  .*s$'
check 'threads' is "$(grep -c '^spans_subject [0-9]* [0-9]* ' out)" 2
run stats --json trace
check 'JSON: one document' is "$(wc -l <out)" 1
check 'JSON: components add up' is "$(json 'sum(r["count"] for r in document["components"]) == document["count"]')" True
check 'JSON: events add up' is "$(json 'sum(r["count"] for r in document["events"]) == document["count"]')" True
check 'JSON: threads add up' is "$(json 'sum(r["count"] for r in document["threads"]) == document["count"]')" True
check 'JSON: bytes add up' is "$(json 'sum(r["bytes"] for r in document["threads"]) == document["bytes"]')" True
check 'JSON: levels' is "$(json 'components["spans.call"]["levels"]')" "{'DEBUG': 160, 'INFO': 160, 'WARN': 80, 'ERROR': 0, 'FATAL': 0}"
check 'JSON: spans' is "$(json 'events["spans.call", 2]["spans"]["count"], events["spans.call", 1]["spans"]')" '(80, None)'
check 'JSON: percentiles rise' is "$(json '(lambda s: s["min_ns"] <= s["median_ns"] <= s["p95_ns"] <= s["p99_ns"] <= s["max_ns"] <= s["total_ns"])(events["spans.call", 2]["spans"])')" True

# The same from the events themselves: 1 % off at most.
ctrace show --json 'event == 2 && component == "spans.call" && duration >= 0' trace >events
check 'percentiles are those of the events' is "$(json "(lambda d, s: all(abs(s[n] - d[-(-len(d) * q // 1000) - 1]) <= d[-(-len(d) * q // 1000) - 1] / 100 for n, q in (('median_ns', 500), ('p95_ns', 950), ('p99_ns', 990))) and s['total_ns'] == sum(d) and s['max_ns'] == d[-1])(sorted(json.loads(line)['duration_ns'] for line in open('events')), events['spans.call', 2]['spans'])")" True

# ---- one table, another order, few rows
run stats --by=event --sort=name trace
check 'one table' is "$(grep -c '^$' out)" 1
check 'by name' is "$(sed -n '4,$p' out | awk '{ print $1, $2 }' | head -3)" $'spans.call 1\nspans.call 2\nspans.call 3'
run stats --by=event --sort=total --limit=1 trace
check 'by total time' is "$(sed -n 4p out | cut -d ' ' -f 1-3)" 'spans.call 2 CALLED'
check 'few rows' has out '^\([0-9]+ more\)$'
run stats -c spans.key trace
check 'with a filter' has out '^10 events'
run stats 'seq == 1' trace
check 'one time: no rate' has out '^spans\.[a-z]+ +1 +- +[0-9]+$'
run stats --json 'seq == 1' trace
check 'one time: JSON has 0' is "$(json '[r["per_second"] for r in document["components"]]')" '[0.0]'
run stats -c nobody trace
check 'nothing matches: status' is "$status" 1
check 'nothing matches: said' has err 'no events match'
run stats --pid=1 trace
check 'no event of that process: status' is "$status" 1
run stats nowhere
check 'no such trace' is "$status" 2

# ---- usage
for arguments in '--by=x trace' '--sort=x trace' '--limit=0 trace' '--by=event' '--sort=p95' '-l warn' '--watch trace' '--asid=1 trace' '--all trace'; do
	# shellcheck disable=SC2086 # words
	run stats $arguments
	check "refused: $arguments" is "$status" 2
done
timeout 60 ctrace stats trace >/dev/full 2>err
check 'a full disk' is $? 2
end
