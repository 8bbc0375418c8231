#!/usr/bin/env bash
# Spans without an exit, as the catalogue of a COBOL run time has them: programs, sections, paragraphs and files in show, stats, diff and exports.
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
names = {r["name"] + ("/" + r["mnemonic"] if r["operation"] else ""): r for r in document.get("names", [])}
print(eval(sys.argv[1]))' "$1"; }

for run in quick slow killed bare; do
	cat >app.cfg <<-CONFIG
	mftrace.level = debug
	mftrace.dest = binfile
	mftrace.emitter.binfile#file = $PWD/$run
	CONFIG
	MFTRACE_CONFIG=$PWD/app.cfg "$CTRACE_BUILD/tests/paragraphs_subject" 6 $run
done
export CTRACE_CATALOG=$CTRACE_SOURCE/catalog

# ---- show
run show quick
check 'an event a line' is "$(wc -l <out)" 46
check 'by name' has out 'mf\.rts PARAGRAPH DEBUG program="PAYROLL" paragraph="LOOP" line=55$'
check 'how long an operation took' has out 'mf\.mffh\.xfh READ INFO select="CUSTFILE" file="data/customers\.dat" .* \(100us\)$'
run show --ends quick
check 'with the ends that are inferred' is "$(wc -l <out) $(grep -c 'its end is inferred)$' out)" '63 17'
check 'an end comes before the event that ends it' is "$(grep -n 'paragraph=' out | cut -d ' ' -f 3- | sed -n '2,3{s/ (.*//;p}')" $'PARAGRAPH DEBUG program="PAYROLL" paragraph="INIT" line=42\nPARAGRAPH DEBUG program="PAYROLL" paragraph="LOOP" line=55'
run show --count 'duration >= 0 && mnemonic == "PARAGRAPH"' quick
check 'a filter finds spans without an exit' is "$(cat out)" 14
run show --json 'duration >= 0 && mnemonic == "SECTION"' quick
check 'JSON says that they are inferred' is "$(grep -c '"inferred":true' out)" 2
run show --ends --tail 1 --json 'event != 254' killed
check 'the trace ends, and what is open in it' has out '"mnemonic":"ENTRY".*"inferred":true.*"value":"PAYROLL"'
run show --nesting --catalog "$CTRACE_CATALOG" -c mf.rts quick
check 'nesting: a called program is within its caller'\''s paragraph' has out '^---- [0-9:.]+ mf\.rts PARAGRAPH .*"RATES"'

# ---- stats
run stats --by=paragraph quick
check 'by paragraph: status' is "$status" 0
check 'by paragraph: the title' has out '^PARAGRAPH +COUNT +TOTAL +SELF +MEDIAN +P95 +SLOWEST$'
check 'by paragraph' has out '^LOOP of PAYROLL +6 +[0-9.]+[mu]s +[0-9.]+[mu]s '
check 'by paragraph: that ends are inferred' has out '^\(inferred: '
run stats --by=paragraph --json quick
check 'by paragraph: the longest first' is "$(json '(lambda ns: ns == sorted(ns, reverse=True) and len(ns) > 3)([r["spans"]["total_ns"] for r in names.values()])')" True
run stats --by=PROGRAM --sort=name --limit=1 quick
check 'by program, the first by name' is "$(grep -cE '^PAYROLL +1 |^\(1 more\)$' out)" 2
run stats --by=section --json quick
check 'JSON by section' is "$(json '{name: (r["count"], r["by"], r["inferred"], r["component"], r["mnemonic"]) for name, r in names.items()}')" "{'MAIN of PAYROLL': (1, 'section', True, 'mf.rts', 'SECTION'), 'CLOSING of PAYROLL': (1, 'section', True, 'mf.rts', 'SECTION')}"
run stats --by=program --json quick
check 'JSON by program: counts' is "$(json 'names["PAYROLL"]["count"], names["TAXCALC"]["count"], names["TAXCALC"]["inferred"]')" '(1, 6, False)'
programs=$(json 'names["PAYROLL"]["spans"]["total_ns"], names["TAXCALC"]["spans"]["total_ns"], sum(names[n]["self_ns"] for n in ("PAYROLL", "TAXCALC"))')
run stats --by=paragraph --json quick
paragraphs=$(json 'sum(r["self_ns"] for r in names.values())')
check 'what paragraphs have for themselves' is "$(json 'all(0 < r["self_ns"] <= r["spans"]["total_ns"] for r in names.values())')" True
run stats --by=section --json quick
sections=$(json 'sum(r["self_ns"] for r in names.values())')
run stats --by=select --json quick
files=$(json 'sum(r["spans"]["total_ns"] for r in names.values())')
check 'all that is for itself is the whole' is "$(python3 -c "p = $programs; print(p[2] + $paragraphs + $sections + $files == p[0])")" True
run stats --by=file quick
check 'by file: the title' has out '^FILE +OPERATION +COUNT +BYTES +TOTAL +MEDIAN +P95 +SLOWEST  STATUSES$'
check 'by file: a status other than 00' has out '^data/customers\.dat +READ +6 +600 +600us +100us +100us +100us  23:1$'
check 'by file: none' has out '^data/audit\.log +WRITE +6 +480 +300us +50\.0us +50\.0us +50\.0us$'
run stats --by=file --json quick
check 'JSON by file' is "$(json '{name: (r["count"], r["bytes"], r["spans"]["total_ns"], [*map(tuple, map(dict.values, r["statuses"]))]) for name, r in names.items() if r["count"] == 6}')" "{'data/customers.dat/READ': (6, 600, 600000, [('23', 1)]), 'data/audit.log/WRITE': (6, 480, 300000, [])}"
run stats --by=paragraph --json killed
check 'a process that was killed: its last paragraph' is "$(json 'names["LOOP of PAYROLL"]["count"]')" 6
run stats --by=paragraph --json bare
check 'without entries: whose paragraph it is' is "$(json '{name: r["count"] for name, r in names.items()} == {"INIT of PAYROLL": 1, "LOOP of PAYROLL": 6, "RATES of TAXCALC": 6, "FINISH of PAYROLL": 1}')" True
run stats --json quick
check 'inferred ends are no events' is "$(json 'document["count"], sum(r["count"] for r in document["events"]), sum(r["count"] for r in document["threads"])')" '(46, 46, 46)'
run stats --by=nothing quick
check 'no such argument: status' is "$status" 2
check 'no such argument: said' has err '^ctrace stats: --by: "nothing" is no table, and no argument in a catalogue'

# ---- diff
run diff quick quick
check 'a run and itself' is "$status $(cat out err)" '0 '
run diff --by=paragraph quick slow
check 'slower paragraphs: status' is "$status" 1
check 'slower paragraphs' has out '^slower +paragraph RATES of TAXCALC  total [0-9.]+[mu]s -> [0-9.]+ms  x[0-9.]+  \(inferred\)$'
check 'only paragraphs' is "$(grep -vc ' paragraph ' out)" 0
run diff --by=file quick slow
check 'a file is read more often' has out '^more +mf\.mffh\.xfh READ data/customers\.dat  operations 6 -> 12  x2\.00$'
run diff slow quick
check 'all together' is "$(grep -cE '^fewer +mf\.mffh\.xfh READ CUSTFILE  operations 12 -> 6 |^faster +program TAXCALC  total |^faster +paragraph RATES ' out)" 3
run diff --by=event slow quick
check 'by event only' is "$(grep -c 'of PAYROLL' out)" 0
run diff --json --by=paragraph quick slow
check 'JSON' is "$(json '[(c["by"], c["change"], c["inferred"], c["a"]["count"], c["b"]["total_ns"] > 2 * c["a"]["total_ns"]) for c in document["changes"] if c["name"] == "RATES of TAXCALC"]')" "[('paragraph', 'slower', True, 6, True)]"
run diff --by=nothing quick slow
check 'diff, no such argument' is "$status" 2

# ---- exports
run export --format chrome -o chrome.json quick
check 'chrome: status' is "$status" 0
cat >nest.py <<'PY'
import json
open_spans, seen = [], []
for event in json.load(open("chrome.json"))["traceEvents"]:
    if event["ph"] == "B":
        open_spans.append(event)
        seen.append((len(open_spans), event["name"], event["cat"]))
    elif event["ph"] == "E":
        begun = open_spans.pop()
        assert begun["name"] == event["name"] and begun["cat"] == event["cat"], (begun, event)
    elif event["ph"] == "X":
        seen.append((len(open_spans) + 1, event["name"], event["dur"]))
assert not open_spans, open_spans
print(*seen[:8], sep="\n")
PY
check 'chrome: nested, and by name' is "$(python3 nest.py)" "(1, 'PAYROLL', 'mf.rts')
(2, 'MAIN of PAYROLL', 'mf.rts,inferred')
(3, 'INIT of PAYROLL', 'mf.rts,inferred')
(4, 'OPEN CUSTFILE', 100.0)
(4, 'OPEN AUDIT', 100.0)
(3, 'LOOP of PAYROLL', 'mf.rts,inferred')
(4, 'READ CUSTFILE', 100.0)
(4, 'TAXCALC', 'mf.rts')"
run export --format speedscope -o speedscope.json quick
cat >sums.py <<'PY'
import json
document = json.load(open("speedscope.json"))
frames = [frame["name"] for frame in document["shared"]["frames"]]
profile, = document["profiles"]
stack, depth, at = [], {}, 0
for event in profile["events"]:
    assert event["at"] >= at, event
    at = event["at"]
    if event["type"] == "O":
        stack.append(event["frame"])
        depth.setdefault(frames[event["frame"]], len(stack))
    else:
        assert stack.pop() == event["frame"], event
print(sorted(depth.items(), key=lambda item: item[1])[:3], depth["WRITE AUDIT"], stack, profile["name"].endswith(", some ends inferred"))
PY
check 'speedscope: nested, and by name' is "$(python3 sums.py)" "[('PAYROLL', 1), ('MAIN of PAYROLL', 2), ('CLOSING of PAYROLL', 2)] 6 [] True"
run export --format perfetto -o perfetto.trace quick
check 'perfetto: by name, and what is inferred' is "$status $(grep -aq 'INIT of PAYROLL' perfetto.trace; echo $?) $(grep -ao inferred perfetto.trace | wc -l)" '0 0 17'
run export --format json -o events.json quick
check 'what is no picture has the events alone' is "$(grep -o '"component":"mf' events.json | wc -l)" 46
end
