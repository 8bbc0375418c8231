#!/usr/bin/env bash
# demo.sh DIRECTORY - what ctrace does, shown on this machine's own data.  DIRECTORY is a finished build; everything is made in DIRECTORY/demo.
#
# Each step shows the commands that it runs and checks what comes out; the first thing that is not as it should be ends the demo with
# status 1.
set -eu
cd "$(dirname "$0")/.."
source=$PWD
build=$(realpath "$1")
demo=$build/demo

rm -rf "$demo"
mkdir -p "$demo/killed" "$demo/run"
chmod 700 "$demo/run"
cd "$demo"
for name in $(compgen -e); do
	case $name in CTRACE_* | MFTRACE_* | COB_*) unset "$name" ;; esac
done
export CTRACE_RUN_DIR=$demo/run PATH=$build:$PATH

if [ -t 1 ]; then bold=$'\e[1m' plain=$'\e[0m'; else bold='' plain=''; fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
say() { printf '%s\n' "$*"; }
seen() { printf '\n%s   You have seen:%s %s\n' "$bold" "$plain" "$*"; } # at the end of each section, in one line
good() { printf '   ok: %s\n' "$*"; }
fail() {
	printf '   NOT AS IT SHOULD BE: %s\n' "$*"
	exit 1
}
show() { printf '   $ %s\n' "$*"; }
indent() { sed 's/^/   /'; }
cut_lines() { awk -v most="$1" 'NR <= most { print } END { if (NR > most) print "... (" NR - most " more lines)" }' | cut -c1-150 | indent; }
# Entries as TEXTFILE writes them, a line each, for comparisons.
# shellcheck disable=SC2016 # ctrace's own variables
plain() { ctrace show --format '$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' "$@"; }
same() { [ "$2" = "$3" ] && good "$1: $2" || fail "$1: $2 here, $3 there"; }

worker=''
trap '[ -z "$worker" ] || kill -KILL "$worker" 2>/dev/null || :' EXIT

# ---------------------------------------------------------------------------------------------------------------
step '1. A COBOL program that knows nothing of ctrace'
say 'orders.cbl adds up orders by customer. It is compiled as always; -ftrace adds its paragraphs and lines.'
show 'cobc -x -ftrace orders.cbl && ./orders'
cobc -x -ftrace -o orders "$source/examples/orders.cbl"
./orders >orders.plain
cut_lines 3 <orders.plain
show 'ctrace run ./orders'
COLUMNS=100 ctrace run --summary=always ./orders >orders.traced 2>orders.page
indent <orders.page
cmp -s orders.plain orders.traced || fail 'its output is another one under ctrace run'
good "its output is the same, byte for byte"
same 'READs of orders that the trace has' "$(ctrace show --count orders.ctb 'mnemonic == "READNEXT" and data.select == "order-file"')" 1001
show 'ctrace show orders.ctb  # what it did last'
ctrace show orders.ctb | tail -n 8 | cut -c1-150 | indent
show 'ctrace report orders.ctb -o orders.html'
ctrace report orders.ctb -o orders.html
[ -s orders.html ] || fail 'no report'
seen 'paragraphs, files, statuses and errors of a program that nobody changed.'

# ---------------------------------------------------------------------------------------------------------------
step '2. Build a COBOL and a C program with tracing in them'
say '(Once ctrace is installed the flags are: $(pkg-config --variable=cobc_flags ctrace) and $(pkg-config --cflags --libs ctrace).)'
show "cobc -x dpkg-report.cbl -I copy -Q -Wl,--no-as-needed,-rpath,$build -L$build -lctrace"
cobc -x -o dpkg-report "$source/examples/dpkg-report.cbl" -I "$source/copy" -Q "-Wl,--no-as-needed,-rpath,$build" "-L$build" -lctrace
show "cc -o workers workers.c -I include -L$build -lctrace -Wl,-rpath,$build -pthread"
cc -O2 -o workers "$source/examples/workers.c" -I "$source/include" "-L$build" -lctrace "-Wl,-rpath,$build" -pthread
cp "$source"/examples/*.cfg .
seen 'tracing needs a copybook or a header, and one library.'

# ---------------------------------------------------------------------------------------------------------------
step '3. A COBOL batch program reports on the packages of this machine, and traces how'
show 'cat dpkg-report.cfg'
grep -v '^#' dpkg-report.cfg | grep . | indent
export DPKG_STATUS=${DPKG_STATUS:-/var/lib/dpkg/status}
if [ "$DPKG_STATUS" != /var/lib/dpkg/status ]; then
	say "(Reading $DPKG_STATUS, as DPKG_STATUS says.)"
elif [ ! -r "$DPKG_STATUS" ] || ! command -v dpkg-query >/dev/null; then
	export DPKG_STATUS=$source/tests/cobol/status.txt
	say "(No Debian packages here: reading $DPKG_STATUS instead.)"
fi
show 'MFTRACE_CONFIG=dpkg-report.cfg ./dpkg-report size'
MFTRACE_CONFIG=dpkg-report.cfg ./dpkg-report size >report.txt
{ head -6 report.txt; echo ...; tail -1 report.txt; } | indent

# The same totals from somebody else: dpkg-query, or a few lines of awk for another file.
other_totals() {
	if [ "$DPKG_STATUS" = /var/lib/dpkg/status ]; then
		# shellcheck disable=SC2016 # dpkg-query's own variables
		dpkg-query -W -f '${db:Status-Status}\t${Section}\t${Installed-Size}\n'
	else
		awk 'BEGIN { RS = ""; FS = "\n" } { split("", f); for (i = 1; i <= NF; i++) { n = index($i, ": "); f[substr($i, 1, n - 1)] = substr($i, n + 2) }
			sub(/.* /, "", f["Status"]); print f["Status"] "\t" f["Section"] "\t" f["Installed-Size"] }' "$DPKG_STATUS"
	fi | awk -F '\t' '$1 == "installed" { s = $2 == "" ? "(none)" : $2; n[s]++; kb[s] += $3; all++; sum += $3 }
		END { for (s in n) print s, n[s], kb[s]; print "Total", all, sum }' | LC_ALL=C sort
}
other_totals >totals.theirs
awk 'NR > 1 { print $1, $2, $3 }' report.txt | LC_ALL=C sort >totals.ours
cmp -s totals.ours totals.theirs || fail "the totals differ from dpkg-query's: $(diff totals.ours totals.theirs | head -5)"
good "all $(($(wc -l <totals.ours) - 1)) sections and the total are what dpkg-query says"
seen 'a COBOL program that works as ever while it is traced; a file of four lines says what, and where to.'

# ---------------------------------------------------------------------------------------------------------------
step '4. Look at the trace: as text, through babeltrace2, and with ctrace show'
say 'The TEXTFILE emitter wrote each package with its size and its COBOL record (hexadecimal):'
show 'cat dpkg-report.log'
cut_lines 14 <dpkg-report.log
say 'The BINFILE emitter wrote a Common Trace Format trace, which other tools read, too:'
show 'babeltrace2 dpkg-report.ctb'
babeltrace2 dpkg-report.ctb >babeltrace.txt 2>babeltrace.err || fail "babeltrace2: $(head -3 babeltrace.err)"
cut_lines 3 <babeltrace.txt
[ ! -s babeltrace.err ] || fail "babeltrace2 has something to say: $(head -3 babeltrace.err)"
show 'ctrace show --level warn dpkg-report.ctb    # the oddities'
ctrace show --level warn dpkg-report.ctb >odd.txt 2>/dev/null || :
if [ -s odd.txt ]; then cut_lines 5 <odd.txt; else say '   (none: every package is whole)'; fi
plain dpkg-report.ctb >show.txt || fail 'ctrace show'
events=$(grep -vc '^#' dpkg-report.log)
same 'events in the text file and in babeltrace2' "$events" "$(wc -l <babeltrace.txt)"
same 'events in the text file and in ctrace show' "$events" "$(wc -l <show.txt)"
grep -v '^#' dpkg-report.log | cmp -s - show.txt && good 'ctrace show prints the lines of the text file, in its format' ||
	fail "ctrace show differs: $(grep -v '^#' dpkg-report.log | diff - show.txt | head -4)"
seen 'one trace in two forms, for people and for tools; both have every event.'

# ---------------------------------------------------------------------------------------------------------------
step '5. Four threads and three components of a C program'
show 'MFTRACE_CONFIG=workers.cfg ./workers 4 1000'
MFTRACE_CONFIG=workers.cfg ./workers 4 1000 | indent
show 'babeltrace2 workers.ctb'
babeltrace2 workers.ctb | cut_lines 4
same 'orders begun and ended, of 4 x 1,000 x 2' 8000 "$(babeltrace2 workers.ctb | grep -c 'SHOP\.ORDER:[12]:')"
seen 'four threads trace at once, and no event is missing or doubled.'

# ---------------------------------------------------------------------------------------------------------------
step '6. Kill it: what it has traced is not lost'
cd killed
cp ../workers.cfg .
show 'MFTRACE_CONFIG=workers.cfg ./workers 2 0 &    # until killed, telling of each order that it has traced'
mkfifo told
MFTRACE_CONFIG=workers.cfg ../workers 2 0 >told &
worker=$!
exec 3<told
for _ in $(seq 500); do
	read -r line <&3 || fail 'the program ended'
	printf '%s\n' "$line"
done >told.txt
show 'ctrace list'
ctrace list | indent
show "kill -KILL $worker"
{ kill -KILL "$worker" && wait "$worker"; } 2>/dev/null || :
worker=''
cat <&3 >>told.txt
tail -2 told.txt | indent
show 'ctrace recover'
ctrace recover >recover.txt 2>&1 || fail "ctrace recover: $(cat recover.txt)"
indent <recover.txt
show 'ctrace show workers.ctb | tail -4'
ctrace show workers.ctb | tail -4 | indent
plain workers.ctb >show.txt || fail 'ctrace show'

# Every order that a worker told of is there, and each exactly once: 1, 2, 3 ... without a gap.
for who in 1 2; do
	last=$(awk -v who=$who '$2 == who { last = $5 } END { print last + 0 }' told.txt)
	there=$(awk -v who=$who '$2 == "SHOP.ORDER" && $3 == 2 && $5 == who { if ($6 != ++n) exit; } END { print n + 0 }' show.txt)
	count=$(awk -v who=$who '$2 == "SHOP.ORDER" && $3 == 2 && $5 == who' show.txt | wc -l)
	[ "$there" -ge "$last" ] || fail "worker $who told of order $last, the trace goes to $there"
	same "worker $who told of order $last; orders in the trace without a gap, and at all" "$there" "$count"
done
left=$(find "$CTRACE_RUN_DIR" -mindepth 1 -type d)
[ -z "$left" ] && good 'nothing is left behind in the run directory' || fail "left in the run directory: $left"
cd ..
seen 'kill -9 cost nothing: what was not yet written was in the buffers, which outlive the program, and ctrace recover wrote it.'

# ---------------------------------------------------------------------------------------------------------------
step '7. Component trace: a server whose trace an operator switches while it works'
show "cc -o kvserver kvserver.c kvline.c kvtrace.c kvoperator.c kvstore.c -I include -L$build -lctrace -Wl,-rpath,$build -pthread"
cc -O2 -o kvserver "$source"/examples/kvserver/kv{server,line,trace,operator,store}.c -I "$source/include" "-L$build" -lctrace \
	"-Wl,-rpath,$build" -pthread
cc -O2 -o kvload "$source/examples/kvserver/kvload.c" -pthread
cp "$source/examples/kvserver/CTKVSRV0" "$source/examples/kvserver/kvserver.cfg" .
if [ "$DPKG_STATUS" = /var/lib/dpkg/status ]; then
	# shellcheck disable=SC2016 # dpkg-query's own variables
	dpkg-query -W -f '${binary:Package}\t${Version} ${binary:Summary}\n'
else
	awk -F ': ' '$1 == "Package" { name = $2 } $1 == "Status" { print name "\t" $2 }' "$DPKG_STATUS"
fi >packages.txt
packages=$(wc -l <packages.txt)
say 'A parmlib member says what is traced from the start on:'
show 'cat CTKVSRV0'
tail -n +3 CTKVSRV0 | indent
show 'CTRACE_PARMLIB=. MFTRACE_CONFIG=kvserver.cfg ./kvserver kv.socket CTKVSRV0 &'
mkfifo server
CTRACE_PARMLIB=. MFTRACE_CONFIG=kvserver.cfg ./kvserver kv.socket CTKVSRV0 >server &
worker=$!
exec 3<server
read -r line <&3 || fail 'the server does not start'
operator() { # LINE WANTED - the operator's line, and how the answer has to begin
	show "./kvload kv.socket say '$1'"
	./kvload kv.socket say "$1" >answer.txt
	fold -s -w 132 answer.txt | indent
	case $(cat answer.txt) in "$2"*) ;; *) fail "the answer should begin with $2" ;; esac
}
say 'Packages and their descriptions go in over four connections, and are read back:'
show './kvload kv.socket 4 <packages.txt'
./kvload kv.socket 4 <packages.txt >load.txt || fail "$(cat load.txt)"
indent <load.txt
operator 'TRACE ON OPTIONS=(GET,PUTT)' RC=0C
operator 'TRACE DISPLAY' 'KVSERVER ON HEAD OPTIONS=(GET,PUT,DEL,KEYS)'
say 'And once more, with a change of the options meanwhile; the sublevel NET follows its head:'
./kvload kv.socket 4 <packages.txt >load.txt 2>&1 &
load=$!
operator 'TRACE ON OPTIONS=(VALUES)' RC=00
operator 'TRACE DISPLAY SUB=NET' 'KVSERVER.NET ON LIKEHEAD OPTIONS=(GET,PUT,DEL,VALUES)'
wait "$load" || fail "$(cat load.txt)"
./kvload kv.socket say "GET $(head -1 packages.txt | cut -f 1)" >answer.txt
show "kill -TERM $worker    # stops and deletes the traces"
kill -TERM "$worker" && wait "$worker" || fail 'the server'
worker=''
cat <&3 >counts.txt
indent <counts.txt
show 'ctrace show --component KVSERVER kvserver.ctb    # requests: their header, with KEYS the key, with VALUES the value too'
plain --component KVSERVER kvserver.ctb >show.txt || fail 'ctrace show'
head -2 show.txt | cut -c1-150 | indent
say '   ...'
tail -2 show.txt | cut -c1-150 | indent
same 'PUT, twice for each package; in the trace' $((2 * packages)) "$(awk '$2 == "KVSERVER" && $3 == 17' show.txt | wc -l)"
same 'GET, and one more; in the trace' $((2 * packages + 1)) "$(awk '$2 == "KVSERVER" && $3 == 16' show.txt | wc -l)"
seen 'a server whose operators change what it traces while it answers; a wrong option is refused, and changes nothing.'

# ---------------------------------------------------------------------------------------------------------------
step '8. Operate: the traces of running programs, switched, shown and taken over by a writer from outside'
# shellcheck source=scripts/demo-operator.sh
. "$source/scripts/demo-operator.sh"
seen 'running programs switched and shown from outside, and a writer in a process of its own; killing it cost nothing.'

# ---------------------------------------------------------------------------------------------------------------
step '9. Read: names, COBOL records, filters, sums, spans, and files for other tools'
# shellcheck source=scripts/demo-reading.sh
. "$source/scripts/demo-reading.sh"
seen 'a catalogue makes names of numbers, and fields of COBOL records; then traces can be filtered, summed and given to other tools.'

# ---------------------------------------------------------------------------------------------------------------
step '10. In storage, dumps, triggers: the history before a failure'
# shellcheck source=scripts/demo-storage.sh
. "$source/scripts/demo-storage.sh"
seen 'tracing without a file; a trap that keeps what came before an event, and a dump of a program that failed.'

# ---------------------------------------------------------------------------------------------------------------
step '11. Many machines: two hosts, three servers of which one is killed, one stream'
PATH=$PATH:/usr/sbin:/sbin
without=''
command -v nats-server >/dev/null || without='the package nats-server'
[ -e "$build/modules/nats.so" ] || without="${without:+$without and }libnats (Debian: libnats-dev), and then make"
if [ -z "$without" ]; then
	# shellcheck source=scripts/demo-cluster.sh
	. "$source/scripts/demo-cluster.sh"
	seen 'traces of two machines in one replicated stream; the death of a server cost no event, and one command asks both machines.'
else
	say "   LEFT OUT: it needs $without. Install that, and call make demo again; until then its status is 1."
fi

# ---------------------------------------------------------------------------------------------------------------
step "Everything is in ${demo#"$source"/}:"
say "   report.txt                           the COBOL program's report
   dpkg-report.log, dpkg-report.ctb     its trace, as text and for tools
   workers.ctb, bank.log                the C program's; killed/ that of the killed one
   packages.txt, kvserver.ctb           what the server was loaded with, and its trace
   operated/                            what the operator had traced; data/ is the writer's data set
   storage/                             the dumps of a server and of a program that failed
   catalog/                             what their events mean; workers.json, named.ctb: exports
   cluster/                             the two hosts, their servers, and the report of both, cluster.html
Try next:
   ctrace=${build#"$source"/}/ctrace; export CTRACE_CATALOG=${demo#"$source"/}/catalog
   \$ctrace show --component DPKG.READ --event 100 ${demo#"$source"/}/dpkg-report.ctb | less
   \$ctrace show --json ${demo#"$source"/}/workers.ctb | head
   edit ${demo#"$source"/}/dpkg-report.cfg: debug for DPKG.READ; then, in that directory, MFTRACE_CONFIG=dpkg-report.cfg ./dpkg-report
   \$ctrace config check ${demo#"$source"/}/dpkg-report.cfg
   \$ctrace explain 0C 11    # what the server's refusal means
   babeltrace2 ${demo#"$source"/}/operated/data | less    # what the external writer wrote
   docs/cobol.md is the guide for COBOL, docs/operator.md that for operators, docs/reading.md tells all about reading"

# ---------------------------------------------------------------------------------------------------------------
step '12. The largest packages by the fields of their COBOL records, two entries as IPCS lists them, and a page for a browser'
reading_ends
[ -z "$without" ]
