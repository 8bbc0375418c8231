#!/usr/bin/env bash
# ctrace report: the page is made, replaced when it is complete, told of; what it lacks is said; errors are.  What is on it: tests/process/report_page.py.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
subject=$CTRACE_BUILD/tests/report_subject
catalog=$CTRACE_SOURCE/tests/report/shop.yaml

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qE -- "$2" "$1" || { printf 'no /%s/ in:\n' "$2"; cat "$1"; false; }; }
silent() { [ ! -s "$1" ] || { cat "$1"; false; }; }
below() { [ "$1" -lt "$2" ] || { echo "$1 is not below $2"; false; }; }
report() {
	ctrace report "$@" >out 2>err </dev/null
	status=$?
}
trace() { # DIRECTORY WORD COUNT LINE...
	local directory=$1 word=$2 count=$3
	shift 3
	printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' "mftrace.emitter.binfile#location = $PWD/$directory" "$@" >cfg
	MFTRACE_CONFIG=$PWD/cfg "$subject" "$word" "$count"
}
# What a page says about itself.
about() { python3 - "$1" "$2" <<'END'
import base64, json, re, sys, zlib
page = open(sys.argv[1], encoding='utf-8').read()
about = json.loads(zlib.decompress(base64.b64decode(re.search(r'id="data-about">([^<]*)<', page).group(1))))
print(eval(sys.argv[2]))
END
}

trace shop shop 30
events=$(ctrace show shop | wc -l)

# ---- a page
report --catalog "$catalog" shop -o page.html
check 'a page: status' is "$status" 0
check 'it says what it made' has out "^page\.html: $events events, 0\.[0-9] MB\$"
check 'and nothing else' silent err
check 'every event' is "$(about page.html 'about["counts"]["events"]')" "$events"
check 'names from the catalogue' is "$(about page.html 'sorted(t["mnemonic"] for t in about["types"])')" \
	"['ATTACK', 'CUSTOMER', 'ORDER', 'ORDEREND', 'QUERY', 'REFUSED', 'ROWS', 'SLOW']"
check 'layouts of records' is "$(about page.html '[f[0] for f in about["fields"]][:3]')" "['CUSTOMER-RECORD', 'CUST-NAME', 'CUST-CLASS']"
check 'the process' is "$(about page.html '[(o["program"], o["jobname"]) for o in about["origins"]]')" "[('report_subject', 'REPORT_S')]"
check 'what was named' is "$(about page.html 'about["paths"]')" "['shop']"
check 'one document' is "$(grep -c '</html>' page.html)" 1
check 'no text of the trace stands in it as it is' is "$(grep -c 'alert(' page.html)" 0

# ---- where it goes
report shop
check 'without a name: report.html' test -s report.html
report shop -o - && cp out piped.html
check 'to a pipe: nothing but the page' is "$(tail -1 piped.html)" '</html>'
check 'the same events' is "$(about piped.html 'about["counts"]["events"]')" "$events"
echo before >page.html
report shop -o page.html
check 'what was there is replaced' is "$(head -1 page.html)" '<!DOCTYPE html>'
check 'nothing is left beside it' is "$(find . -maxdepth 1 -name '*.new-*' | wc -l)" 0
echo before >page.html
report --event 4711 shop -o page.html
check 'no event: status' is "$status" 1
check 'no event: said' has err 'no events match'
check 'no event: what was there stays' is "$(cat page.html)" before
check 'no event: nothing beside it' is "$(find . -maxdepth 1 -name '*.new-*' | wc -l)" 0
report shop -o nowhere/page.html
check 'no such directory: status' is "$status" 2
check 'no such directory: said' has err '^ctrace report: nowhere/page\.html: No such file or directory$'
report shop -o /dev/full
check 'a full disk: status' is "$status" 2
check 'a full disk: said' has err '^ctrace report: /dev/full: No space left on device$'
mkdir small && ln -s "$PWD/page.html" link.html
report shop -o /dev/null
check 'what is no file is written to' is "$status" 0
check 'and not told of' silent out

# ---- which events
report --level warn shop -o page.html
check 'a filter' is "$(about page.html 'set(c[2] for c in about["classes"]) <= {2, 3, 4}')" True
report --catalog "$catalog" --filter 'duration > 2ms' shop -o page.html
check 'a filter of durations' is "$status" 0
report --limit 100 shop -o page.html
check 'the limit: status' is "$status" 0
check 'the limit: said' has err 'the page holds the last 100 events'
check 'the limit: in the page' is "$(about page.html 'about["counts"]["events"], about["counts"]["is_full"]')" '(100, True)'
report --limit "$events" shop -o page.html
check 'as many as there are: nothing is said' silent err
report --title '<i>Title</i> & more' shop -o page.html
check 'a title' has page.html '^<title>&lt;i>Title&lt;/i> &amp; more</title>$'

# ---- losses and damage
trace lose lose 3000 'ctrace.buffer = 64K' 'ctrace.overflow = discard'
report lose shop -o page.html
check 'losses are in the page' is "$(about page.html 'sum(n["events"] for n in about["notes"] if n["kind"] == "lost") == about["totals"]["discarded"] > 0')" True
check 'with their time' is "$(about page.html 'all(int(n["from_ns"]) <= int(n["to_ns"]) for n in about["notes"])')" True
stream=$(ls shop/*.ctb/stream.0)
python3 - "$stream" <<'END'
import os, sys
with open(sys.argv[1], 'r+b') as file:
    file.seek(os.path.getsize(sys.argv[1]) // 2)
    file.write(b'\xff' * 64)
END
report shop -o page.html
check 'damage: status' is "$status" 1
check 'damage: the rest is in the page' test "$(about page.html 'about["counts"]["events"] > 0 and about["totals"]["damages"] > 0')" = True

# ---- a million events
trace many many 1000000
report many -o many.html
check 'a million events: status' is "$status" 0
check 'all of them' is "$(about many.html 'about["counts"]["events"]')" 1000000
check 'less than 60 MB' below "$(stat -c %s many.html)" 60000000

# ---- usage
for arguments in '--limit=0' '--limit=x' '--limit=99999999999' '--level=loud' '--filter=level>>1' '--unknown'; do
	# shellcheck disable=SC2086 # words
	report $arguments shop
	check "refused: $arguments" is "$status" 2
done
report --help
check '--help' has out 'one page for a browser'
report nothing-there -o page2.html
check 'no trace: status' is "$status" 2
check 'no trace: no page' test ! -e page2.html
end
