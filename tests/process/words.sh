#!/usr/bin/env bash
# The words behind the verbs that read traces: an expression is found wherever it stands, and what is no trace is named as what it is.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }

printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile textfile' 'mftrace.emitter.textfile#file = orders.log' >cfg
MFTRACE_CONFIG=$PWD/cfg "$CTRACE_BUILD/tests/orders" 100
trace=$(echo orders*.ctb)
warnings=$(ctrace show --filter 'level >= warn' --count "$trace")
check 'there is something to be chosen' test "$warnings" -gt 0 -a "$warnings" -lt 516

# ---- an expression wherever it stands
count() { is "$(ctrace show "$@" 2>err)" "$warnings"; }
check 'before the path' count --count 'level >= warn' "$trace"
check 'behind the path' count --count "$trace" 'level >= warn'
check 'between two options' count "$trace" --limit 1000 'level >= warn' --count
check 'two expressions' is "$(ctrace show --count 'level >= warn' "$trace" 'event == 40')" \
	"$(ctrace show --count -F 'level >= warn && event == 40' "$trace")"
check 'stats' is "$(ctrace stats "$trace" 'level >= warn' | head -1 | cut -d' ' -f1)" "$warnings"
check 'export' is "$(ctrace export -f json --lines "$trace" 'level >= warn' | wc -l)" "$warnings"
check 'report' bash -c 'ctrace report "$1" "level >= warn" -o page.html | grep -q "^page.html: $2 events"' - "$trace" "$warnings"
check 'diff' bash -c 'ctrace diff "$1" "level >= warn" "$1" --counts; test $? = 0' - "$trace"
check 'ipcs' diff <(ctrace ipcs 'CTRACE QUERY' "$trace" 'level >= warn') <(ctrace ipcs 'CTRACE QUERY' --filter 'level >= warn' "$trace")

# ---- what no event has
cat >shop.yaml <<'YAML'
component: SHOP.ORDER
events:
  10: {mnemonic: ORDER, arguments: [number]}
  40: {mnemonic: ODD, arguments: [text, {name: mode, print: enumeration, values: {NONE: 0, ONE-WAY: 1, TWO: 2}}]}
YAML
hint() { # MESSAGE ARGUMENT...
	local message=$1
	shift
	ctrace show --catalog shop.yaml "$@" "$trace" >out 2>err
	is $? 1 && is "$(cat out)" '' && is "$(sed 's/^ctrace show: //' err)" "no events match${message:+
$message}"
}
check 'a component' hint 'no event has the component "SHOP.ORDR" (did you mean "shop.order"?)' 'component == "SHOP.ORDR"'
check 'a component, by the option' hint 'no event has the component "NOPE"' --component NOPE
check 'an item' hint 'no event has the item "numbr" (did you mean "number"?)' 'data.numbr == 5'
check 'a value' hint 'no event has the value "ONEWAY" (did you mean "ONE-WAY"?)' 'data.mode == "ONEWAY"'
check 'a mnemonic' hint 'no event has the mnemonic "ORDR" (did you mean "ORDER"?)' 'mnemonic == "ORDR"'
check 'what is there but not together' hint '' 'mnemonic == "ORDER" && level == fatal'
check 'a pattern' hint '' 'component ~ "NO*"'

# ---- a source that is missing is told first, and nothing is read
missing() { # MESSAGE COMMAND...
	local message=$1
	shift
	"$@" >out 2>err
	is $? 2 && is "$(cat out)" '' && is "$(head -1 err)" "$message"
}
none='no trace, process directory or traced process of that name'
check 'show --count' missing "ctrace show: nosuch: $none" ctrace show --count "$trace" nosuch
check 'show' missing "ctrace show: nosuch: $none" ctrace show nosuch "$trace"
check 'stats' missing "ctrace stats: nosuch: $none" ctrace stats "$trace" nosuch
check 'export' missing "ctrace export: nosuch: $none" ctrace export -f csv "$trace" nosuch
check 'report' missing "ctrace report: nosuch: $none" ctrace report "$trace" nosuch -o other.html
check 'no page is made' test ! -e other.html
check 'diff' missing "ctrace diff: nosuch: $none" ctrace diff nosuch "$trace"
check 'an expression without its quotes' missing \
	"ctrace show: level: $none; an expression stands in quotes, as 'level >= warn'" ctrace show --count "$trace" level

check 'the number of no process' missing \
	'ctrace show: 999999999: no traced process has this number, as ctrace list shows them; for its events in a trace: --pid and the trace' \
	ctrace show 999999999

# ---- a number as an option
check 'show -5' missing 'ctrace show: -5 is no option; the last 5 events are -n 5' ctrace show -5 "$trace"
check 'show -25, behind the trace' missing 'ctrace show: -25 is no option; the last 25 events are -n 25' ctrace show "$trace" -25
check 'show -0' missing 'ctrace show: -0 is no option, and no number of events; the last N events are -n N, from -n 1' ctrace show -0 "$trace"
check 'tail: two processes' missing 'ctrace tail: the processes 1 and 4711 are named; expected one, or none for all' ctrace tail 4711 --pid 1
check 'tail: two processes, by words' missing 'ctrace tail: the processes 1 and 4711 are named; expected one, or none for all' ctrace tail 1 4711
check 'tail: one process, twice' bash -c 'ctrace tail 4711 --pid 4711 --for 0.01 2>err && grep -q "no such process is traced yet" err'
check 'tail -5' missing 'ctrace tail: -5 is no option; the last 5 events are -n 5' ctrace tail -5
check 'the number of an option is none' is "$(ctrace show --count --since -5m --tail 5 "$trace" 2>&1 | head -1)" \
	'ctrace show: --count does not go with --tail or --reverse'

# ---- what is there is named
echo 'some text' >notes.txt
: >empty.ctb
printf 'OLD\0CTB' >vendor.ctb
mkdir nothing texts lacking
cp orders.log texts
cp "$trace"/stream.0 lacking
cp "$(type -P ctrace)" program
gzip -c notes.txt >notes.gz
ctrace export -f json "$trace" >out.json
what() { missing "ctrace show: $1: $2" ctrace show "$1"; }
check 'a text file of TEXTFILE' what orders.log 'a text file of the TEXTFILE emitter; read it with a text tool, as less'
check 'another text' what notes.txt 'a text file, no trace'
check 'a configuration' what cfg 'a configuration file, no trace'
check 'an empty file' what empty.ctb 'an empty file'
check "another product's binary trace" what vendor.ctb \
	'a file, and no trace that ctrace can read: what its BINFILE emitter writes are directories'
check 'a program' what program 'a program or a library, no trace; name what it traced, or the id of its process'
check 'a compressed file' what notes.gz 'a compressed file; unpack it with gunzip'
check 'JSON' what out.json 'a JSON document, which is not read'
check 'an empty directory' what nothing 'a directory that holds no trace'
check 'a directory of texts' what texts 'a directory that holds no trace; its text files are read with a text tool, as less'
check 'streams without metadata' what lacking 'a trace that lacks its file metadata; ctrace repair can make one that has it'
check 'a device' what /dev/null 'no file and no directory, so no trace'
check 'a name that is too long' what "$(printf '%0300d' 1)" 'File name too long'
if [ "$(id -u)" != 0 ]; then
	mkdir locked && chmod 0 locked
	check 'what may not be looked at' what locked 'Permission denied'
fi
check 'the file metadata stands for its trace' is "$(ctrace show --count "$trace/metadata")" 516
check 'ipcs names it too' bash -c 'ctrace ipcs "CTRACE QUERY" orders.log 2>&1 | grep -q "ITT10019I orders.log is not a trace: a text file of"'
ctrace show --catalog nosuch.yaml --count "$trace" >out 2>err
check 'a catalogue that is not there: status 2' test $? = 2
check 'a catalogue that is not there: said' grep -qx 'ctrace show: nosuch.yaml: no catalogue: there is no such file or directory' err
end
