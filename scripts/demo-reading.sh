# shellcheck shell=bash disable=SC2154 # sourced by demo.sh, whose functions and variables are used here
# demo-reading.sh - section 9 of the demo, and its end: what was traced is read with names, filters, sums, and by other tools.
#
# The sections before compare lines of ctrace show with those of text files, which have no names: the catalogues are set here, not earlier.

# all_packages - of each package of the status file: name, size in KB, section
all_packages() {
	if [ "$DPKG_STATUS" = /var/lib/dpkg/status ]; then
		# shellcheck disable=SC2016 # dpkg-query's own variables
		dpkg-query -W -f '${Package}\t${Installed-Size}\t${Section}\n'
	else
		awk 'BEGIN { RS = ""; FS = "\n" } { split("", f); for (i = 1; i <= NF; i++) { n = index($i, ": "); f[substr($i, 1, n - 1)] = substr($i, n + 2) }
			print f["Package"] "\t" f["Installed-Size"] "\t" f["Section"] }' "$DPKG_STATUS"
	fi | awk -F '\t' '{ print substr($1, 1, 40), $2 + 0, $3 == "" ? "(none)" : $3 }'
}
# events WORD... - how many there are, as ctrace show counts them
events() { ctrace show --count "$@" 2>/dev/null || :; }

mkdir -p catalog
cp "$source"/examples/dpkg-report.yaml "$source"/examples/DPKGREC.cpy "$source"/examples/workers.yaml catalog
cp "$source"/examples/kvserver/kvserver.yaml "$source"/examples/kvserver/KVENTRY.cpy catalog
say 'A catalogue says what events and their items are called, and by which copybook a record is read:'
show 'sed -n /100:/,/101:/p catalog/dpkg-report.yaml; cat catalog/DPKGREC.cpy'
sed -n '/^  100:/,/^  101:/{/^  101:/!p}' catalog/dpkg-report.yaml | indent
grep -v '^ *\*>' catalog/DPKGREC.cpy | indent
show 'ctrace catalog check catalog'
ctrace catalog check catalog >answer.txt 2>&1 || fail "$(cat answer.txt)"
indent <answer.txt
show 'export CTRACE_CATALOG=catalog'
export CTRACE_CATALOG=$PWD/catalog

all_packages >all.txt
least=$(awk '{ print $2 }' all.txt | sort -rnu | sed -n 4p)
least=${least:-0}
section=$(awk -v least="$least" '$2 > 0 && $2 <= least { print $3; exit }' all.txt)
filter="data.record.pkg-section == \"$section\" && data.record.pkg-size in (1..$least)"
say 'Filters know events by these names, and the fields of records by theirs:'
show "ctrace show '$filter' --limit 3 dpkg-report.ctb"
ctrace show "$filter" --limit 3 dpkg-report.ctb >answer.txt 2>/dev/null || :
cut -c1-190 answer.txt | indent
same "packages in section $section of at most $least KB, and as dpkg-query counts them" "$(events "$filter" dpkg-report.ctb)" \
	"$(awk -v section="$section" -v least="$least" '$3 == section && $2 > 0 && $2 <= least' all.txt | wc -l)"

say 'Where the time goes; the catalogue says which event ends what another one has begun:'
show 'ctrace stats --by=event workers.ctb'
ctrace stats --by=event workers.ctb >answer.txt || fail 'ctrace stats'
grep . answer.txt | cut -c1-130 | indent
same 'orders that ended, and spans of them' "$(awk '$2 == 2 && $3 == "END" { print $4, $7 }' answer.txt)" '4000 4000'
show "ctrace show 'component == \"SHOP.BANK\"' --limit 1 --context 2 --nesting workers.ctb"
ctrace show 'component == "SHOP.BANK"' --limit 1 --context 2 --nesting workers.ctb >answer.txt || fail 'ctrace show'
indent <answer.txt
same 'a refused payment, and the dash of the order around it' "$(grep -m 1 REFUSED answer.txt | cut -c 1)" -
show "ctrace show 'component ~ \"KVSERVER*\" && duration > 0ns' --limit 2 --format '\$(COMPONENT) \$(MNEMONIC) \$(DURATION)' kvserver.ctb"
ctrace show 'component ~ "KVSERVER*" && duration > 0ns' --limit 2 --format '$(COMPONENT) $(MNEMONIC) $(DURATION)' kvserver.ctb >answer.txt ||
	fail 'ctrace show'
indent <answer.txt
same 'connections with the time that they took, and connections that ended' "$(events 'component == "KVSERVER.NET" && duration > 0ns' kvserver.ctb)" \
	"$(events 'component == "KVSERVER.NET" && event == 0x29' kvserver.ctb)"

say 'For other tools, with the same names:'
show 'ctrace export --format=chrome -o workers.json workers.ctb    # for Perfetto and speedscope, which have formats of their own, too'
ctrace export --format=chrome -o workers.json workers.ctb || fail 'ctrace export'
if command -v python3 >/dev/null; then
	same 'events in the JSON document, which Python reads, and in the trace' "$(python3 -c '
import json
events = [e for e in json.load(open("workers.json"))["traceEvents"] if e["ph"] in "iBE"]
assert sum(e["ph"] == "B" for e in events) == sum(e["ph"] == "E" for e in events)
print(len(events))')" "$(events workers.ctb)"
fi
show 'ctrace export --format=common-trace-format -o named.ctb dpkg-report.ctb; babeltrace2 named.ctb'
ctrace export --format=common-trace-format -o named.ctb dpkg-report.ctb || fail 'ctrace export'
babeltrace2 named.ctb >answer.txt 2>babeltrace.err || fail "babeltrace2: $(head -3 babeltrace.err)"
cut_lines 2 <answer.txt
same 'packages in it by that name' "$(grep -c 'DPKG\.READ:PACKAGE:' answer.txt)" "$(wc -l <all.txt)"

# reading_ends - the records by field name, a listing, and the path of the page, which is the demo's last line
reading_ends() {
	show "ctrace show 'data.record.pkg-size > $least' --records dpkg-report.ctb"
	ctrace show "data.record.pkg-size > $least" --records dpkg-report.ctb >answer.txt || fail 'ctrace show'
	indent <answer.txt
	awk '$1 == "pkg-name" { gsub(/"/, "", $2); name = $2 } $1 == "pkg-size" { print name, $2 + 0 }' answer.txt | LC_ALL=C sort >largest.ours
	awk -v least="$least" '$2 > least { print $1, $2 }' all.txt | LC_ALL=C sort | cmp -s - largest.ours &&
		good 'these packages, and their sizes, are what dpkg-query says' || fail "the largest packages are others: $(cat largest.ours)"
	show "ctrace ipcs 'CTRACE COMP(DPKG) SUB((READ)) FULL ENTIDLIST(64) LIMIT(2)' dpkg-report.ctb"
	ctrace ipcs 'CTRACE COMP(DPKG) SUB((READ)) FULL ENTIDLIST(64) LIMIT(2)' dpkg-report.ctb >answer.txt || fail "$(cat answer.txt)"
	indent <answer.txt
	same 'its first line' "$(head -1 answer.txt)" ' COMPONENT TRACE FULL FORMAT'
	same 'entries in it' "$(grep -c '^ PACKAGE   00000064  ' answer.txt)" 2
	show 'ctrace report -o report.html dpkg-report.ctb workers.ctb kvserver.ctb operated/data'
	ctrace report --title 'The demo' -o report.html dpkg-report.ctb workers.ctb kvserver.ctb operated/data >answer.txt 2>&1 || fail "$(cat answer.txt)"
	indent <answer.txt
	same 'events in the page, and in the traces' "$(awk '$3 == "events," { print $2 }' answer.txt)" \
		"$(events dpkg-report.ctb workers.ctb kvserver.ctb operated/data)"
	seen 'the same traces by field, as IPCS lists them, and as a page that holds all that it shows.'
	say "   Open it: $PWD/report.html"
}
