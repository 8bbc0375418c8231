# shellcheck shell=bash disable=SC2154,SC2034 # sourced by demo.sh, whose functions and variables are used here
# demo-operator.sh - section 8 of the demo: two programs run, and an operator switches what they trace.
#
# The COBOL batch reads from a pipe, so that it stands where the demo wants it; the server is under load all the time.  Nothing here waits
# for time to pass: until_shown asks ctrace until it shows what is waited for.  Entries are looked for one by one at the end.

# as_typed WORD... - the words as a person types them to a shell
as_typed() {
	local word line=''
	for word in "$@"; do
		case $word in
		*\'*) line+=" \"$word\"" ;;
		*[!A-Za-z0-9.:_-]* | '') line+=" '$word'" ;;
		*) line+=" $word" ;;
		esac
	done
	show "ctrace$line"
}
# op ARGUMENT... - operator commands, and the answer, which answered() looks at
op() {
	as_typed op "$@"
	ctrace op "$@" >answer.txt 2>&1 || :
	fold -s -w 132 answer.txt | indent
}
answered() { grep -q -- "$1" answer.txt || fail "the answer should say $1"; }
# verb ARGUMENT... - another verb of the tool
verb() {
	as_typed "$@"
	ctrace "$@" >answer.txt 2>&1 || fail "$(cat answer.txt)"
	cut -c1-150 answer.txt | indent
}
# until_shown PATTERN ARGUMENT... - until ctrace prints a line for which the awk pattern holds
until_shown() {
	local pattern=$1
	shift
	for _ in $(seq 2000); do
		ctrace "$@" 2>&1 | awk "$pattern"' { found = 1 } END { exit !found }' && return
	done
	fail "ctrace $* does not show $pattern: $(ctrace "$@" 2>&1)"
}
until_written() { until_shown '$1 == "WRITTEN" && $2 > 2000' op 'D TRACE,WTR=CTWKVS'; }
# until_own - until the server's own destination has 2,000 entries more than now
until_own() {
	local line='$1 == "BINFILE" && /kvserver[.]ctb( |$)/' now # counted failures may stand behind it
	now=$(ctrace stats --job KVSERVER | awk "$line"' { n = $2 } END { print n + 0 }')
	until_shown "$line && \$2 > $((now + 2000))" stats --job KVSERVER
}
# packages FIRST LAST - these paragraphs of the status file
packages() { awk -v first="$1" -v last="$2" 'BEGIN { RS = ""; ORS = "\n\n" } NR > last { exit } NR >= first' "$DPKG_STATUS"; }
# names_traced FILE - the packages that the batch has traced, in order
names_traced() { awk '$2 == "DPKG.READ" && $3 == 100 { print $5 }' "$1" | tr -d '"'; }

batch='' load=''
operator_ends() {
	for process in $worker $batch $load; do kill -KILL "$process" 2>/dev/null || :; done
	[ ! -S "$CTRACE_RUN_DIR/writer/CTWKVS" ] || ctrace op 'TRACE CT,WTRSTOP=CTWKVS' >writer.txt 2>&1 || :
}
trap operator_ends EXIT
mkdir -p operated/proclib
chmod 700 operated operated/proclib
cd operated || exit
cp ../kvserver.cfg .

# ---- both begin without a trace
show 'CTRACE_JOBNAME=NIGHTLY ./dpkg-report size >report.txt &    # no configuration; it reads from a pipe'
mkfifo status
CTRACE_JOBNAME=NIGHTLY DPKG_STATUS=status ../dpkg-report size >report.txt &
batch=$!
show 'MFTRACE_CONFIG=kvserver.cfg ./kvserver kv.socket &         # no member'
mkfifo server
MFTRACE_CONFIG=kvserver.cfg ../kvserver kv.socket >server &
worker=$!
exec 3<server
read -r line <&3 || fail 'the server does not start'
until_shown '$3 == "DPKG.REPORT"' level '*'
say 'What runs, and traces nothing:'
verb level '*'

# ---- the batch: switched by verbs, changed by TRACE CT, off again
few=$((packages > 100 ? 40 : 2)) more=$((packages > 100 ? 50 : 3))
say "The batch knows nothing of operators, it only calls CBL_CTF_TRACE.  Switch it on, then let it read $few packages:"
verb prop --job NIGHTLY emitter:TEXTFILE FILE nightly.log
verb level DPKG.READ info
exec 4>status
packages 1 $few >&4
show "ctrace tail --from-start --component DPKG.READ --event 100 --limit $few | tail -2"
ctrace tail --from-start --component DPKG.READ --event 100 --limit $few --for 60 >tail.txt || fail 'ctrace tail'
tail -2 tail.txt | cut -c1-150 | indent
same 'packages followed by ctrace tail' $few "$(wc -l <tail.txt)"
say "Every line of the next $((more - few)) packages, and for tools as well.  To z/OS operators the same component is COMP=DPKG,SUB=(READ):"
op 'TRACE CT,ON,COMP=DPKG,SUB=(READ)'
op "R 1,OPTIONS=('LEVEL=DEBUG','DEST=(BINFILE)'),END"
answered 'ITT038I ALL'
verb dest DPKG.READ
packages $((few + 1)) $more >&4
ctrace tail --from-start --component DPKG.READ --event 100 --limit $more --for 60 >tail.txt || fail 'ctrace tail'
verb level DPKG.READ none
packages $((more + 1)) 1000000 >&4
exec 4>&-
wait $batch || fail 'the batch'
batch=''
awk 'NR > 1 { print $1, $2, $3 }' report.txt | LC_ALL=C sort | cmp -s - ../totals.theirs && good 'its report is what it was without an operator' ||
	fail 'its report has changed'
names_traced nightly.log >traced.txt
packages 1 $more | sed -n 's/^Package: //p' | cmp -s - traced.txt && good "in its trace are the first $more packages, each once" ||
	fail "in its trace are $(wc -l <traced.txt) packages"
same 'lines of those in between, in the text file' "$(packages $((few + 1)) $more | grep -c '^[^ ].*:')" "$(grep -c 'DPKG.READ 101 ' nightly.log)"
same 'and in the trace for tools' "$(grep -c 'DPKG.READ 101 ' nightly.log)" "$(babeltrace2 dpkg-report.binfile.*.ctb | grep -c 'DPKG\.READ:101:')"

# ---- the server: prompt and reply, and an external writer
say 'Every process that has a trace KVSERVER is meant by this; its start/stop routine is asked:'
op 'TRACE CT,ON,COMP=KVSERVER'
op 'R 1,OPTIONS=(GET,PUTT),END'
answered 'CTR012I .*unknown option "PUTT"'
op --reply 'OPTIONS=(GET,PUT,KEYS)' 'TRACE CT,ON,COMP=KVSERVER'
answered 'ITT038I ALL'
op 'D TRACE,COMP=KVSERVER'
answered 'OPTIONS    GET,PUT,KEYS'
show 'while [ ! -e enough ]; do ./kvload kv.socket 4 <packages.txt; done &    # requests without a pause, from here on'
(while [ ! -e enough ]; do ../kvload kv.socket 4 <../packages.txt || exit; done >load.txt 2>&1) &
load=$!
until_own
verb tail --component KVSERVER --limit 3
say 'An external writer takes its trace over: another process, which writes what its procedure says.'
sed "/^#/d; s#PATH=[^ ]*#PATH=$PWD/data#" "$source/examples/kvserver/proclib/CTWKVS" >proclib/CTWKVS
chmod 600 proclib/CTWKVS
export CTRACE_PROCLIB=$PWD/proclib
show 'cat proclib/CTWKVS'
indent <proclib/CTWKVS
op 'TRACE CT,WTRSTART=CTWKVS'
answered ITT110I
op --reply 'OPTIONS=(GET,PUT,KEYS),WTR=CTWKVS' 'TRACE CT,ON,COMP=KVSERVER'
answered 'ITT038I ALL'
until_written
op 'D TRACE,WTR=CTWKVS'
writer=$(awk '$1 == "PID" { print $2; exit }' answer.txt)
say 'It is killed.  The server finishes what the writer had of it, and goes on by itself:'
show "kill -KILL $writer"
kill -KILL "$writer"
until_shown '/^ +WAITING/' op 'D TRACE,WTR=CTWKVS'
until_own
op 'D TRACE,WTR=CTWKVS'
answered 'WAITING'
say 'It is started again, and the server is connected again:'
op 'TRACE CT,WTRSTART=CTWKVS'
answered ITT110I
until_written
verb stats --job KVSERVER
op --reply 'OPTIONS=(GET,PUT,KEYS),WTR=DISCONNECT' 'TRACE CT,ON,COMP=KVSERVER' 'TRACE CT,WTRSTOP=CTWKVS'
answered ITT111I
until_own
touch enough
wait $load || fail "$(tail -3 load.txt)"
load=''
op --reply '' 'TRACE CT,OFF,COMP=KVSERVER'
answered 'ITT038I ALL'
show "kill -TERM $worker"
kill -TERM $worker && wait $worker || fail 'the server'
worker=''
cat <&3 | indent

# ---- each request once, in the data set or in the server's own trace
plain data >data.txt || fail 'ctrace show data'
plain kvserver.ctb >own.txt || fail 'ctrace show kvserver.ctb'
say "$(wc -l <data.txt) entries are in the writer's data set, $(wc -l <own.txt) in the server's own trace."
requests=$(awk '{ n += $3 + $5 } END { print n }' load.txt)
same 'requests, and their entries in the two' "$requests" "$(cat data.txt own.txt | awk '$2 == "KVSERVER"' | wc -l)"
# a connection puts and gets each key once: its number begins the entry
same 'and of these different ones' "$requests" "$(cat data.txt own.txt | awk '$2 == "KVSERVER" { print $3, substr($5, 1, 8), $6 }' | sort -u | wc -l)"
same 'and as babeltrace2 counts those of the data set' "$(wc -l <data.txt)" "$(babeltrace2 data | wc -l)"
left=$(find "$CTRACE_RUN_DIR" -mindepth 1 \( -type s -o -path '*/reply/*' -o -name '*.[0-9]*' \))
[ -z "$left" ] && good 'nothing is left behind in the run directory' || fail "left in the run directory: $left"
cd ..
