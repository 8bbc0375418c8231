#!/usr/bin/env bash
# DISPLAY TRACE of running processes and writers, in all its forms, on programs that are examples/shop.c.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
mkdir proclib parmlib
export CTRACE_PROCLIB=$PWD/proclib CTRACE_PARMLIB=$PWD/parmlib

# ---- programs, each with a line to it: start NAME JOBNAME; order NAME ORDER waits until it is done
declare -A to from pid
start() {
	mkfifo "to.$1" "from.$1"
	CTRACE_JOBNAME=$2 "$CTRACE_BUILD/tests/shop" <"to.$1" >"from.$1" 2>/dev/null &
	pid[$1]=$!
	exec {fd}>"to.$1" && to[$1]=$fd
	exec {fd}<"from.$1" && from[$1]=$fd
}
order() {
	printf '%s\n' "$2" >&"${to[$1]}"
	IFS= read -r _ <&"${from[$1]}"
}
# DISPLAY TRACE,$1: $said, its messages; $out without its three lines of status, $head, $err, $status.  Clock and process ids are made the same for all runs.
display() {
	local operands=$1
	shift
	ctrace op "$@" "D TRACE$operands" >whole 2>err </dev/null
	status=$?
	sed -E -i -e "s/PID=${pid[server]:-none}\b/PID=1001/; s/PID=${pid[client]:-none}\b/PID=1002/" \
		-e 's/[0-9]{2}\.[0-9]{2}\.[0-9]{2}/hh.mm.ss/; s/20[0-9]{2}-[0-9]{2}-[0-9]{2}/yyyy-mm-dd/' \
		-e 's/^(     PID        )[0-9]+$/\1pid/' whole
	said=$(grep '^CTR' whole)
	sed -i '/^CTR/d' whole
	head=$(head -n 3 whole) out=$(tail -n +4 whole) err=$(<err)
}
operate() { ctrace op "$1" --reply "${2-}" >/dev/null; }
is() { [ "$1" = "$2" ] || { diff <(printf '%s\n' "$2") <(printf '%s\n' "$1"); false; }; }
# STATUS OUT
shows() { is "$out" "$2" && is "$status" "$1" && is "$err" ''; }
json() { python3 -c 'import json, sys; d = json.load(open("whole")); print(eval(sys.argv[1]))' "$1"; }
status_lines() {
	is "$head" " IEE843I hh.mm.ss  TRACE DISPLAY
         SYSTEM STATUS INFORMATION
 ST=OFF AS=OFF BR=OFF EX=$1 MT=OFF"
}

display ''
check 'no process: no traces' is "$out" '  NO TRACES'
check 'and it fails' is "$status $err$said" '1 CTR011I No traced process is running'

start server KVSERVER
start client KVCLIENT
order server 'define KVS head' && order server 'define KVS.NET asids jobs wtr mod buffer'
order server 'define KVS.LOCK asids jobs wtr mod buffer'
order client 'define KVS head' && order client 'define KVS.NET asids jobs wtr mod'
order client 'tracer MF.RUNTIME.LOADER'

# ---- the short form
display ''
check 'the head, while nothing is on' status_lines OFF
check 'short form' shows 0 '  COMPONENT     MODE  BUFFER HEAD SUBS   COMPONENT     MODE  BUFFER HEAD SUBS
  ------------------------------------   ------------------------------------
  KVS           OFF*         HEAD    2
  MF.RUNTIME.LOADER
                OFF
  * NOT THE SAME IN ALL PROCESSES: D TRACE,COMP=name SHOWS EACH'

# ---- the long form
operate 'TRACE CT,8M,COMP=KVS,SUB=(NET)' 'JOBNAME=(EZASOKJS),OPTIONS=(SOCKAPI),WTR=CTW,END'
display ',COMP=KVS,SUB=(net)' --job KVSERVER
check 'the head, while a trace is on' status_lines 'ON '
check 'long form of one process: as in the books, with a writer that does not run' shows 0 '  TRACENAME
  =========
  KVS
                      MODE BUFFER HEAD SUBS
                      =====================
                      OFF         HEAD    2
     NO HEAD OPTIONS
  SUBTRACE            MODE BUFFER HEAD SUBS
 -------------------------------------------------------
  NET                 ON   0008M
     ASIDS      *NONE*
     JOBNAMES   EZASOKJS
     OPTIONS    SOCKAPI
     WRITER     CTW  (NOT ACTIVE)
     GRANTED    0008M A THREAD, NO RING YET
     FILTERED   ON, BUT ITS FILTERS LEAVE THIS PROCESS OUT'
display ',COMP=KVS'
check 'several processes: a block each, and no sublevels unless they are asked for' shows 0 ' ASID=0001 JOBNAME=KVSERVER PID=1001
  TRACENAME
  =========
  KVS
                      MODE BUFFER HEAD SUBS
                      =====================
                      OFF         HEAD    2
     NO HEAD OPTIONS
 ASID=0002 JOBNAME=KVCLIENT PID=1002
  TRACENAME
  =========
  KVS
                      MODE BUFFER HEAD SUBS
                      =====================
                      OFF         HEAD    1
     NO HEAD OPTIONS'
display ',COMP=KVS,SUBLEVEL,N=1' --job KVSERVER
check 'N limits the sublevels' is "$(grep -c '^ ---' whole) $(tail -n 1 whole)" '1      1 OF 2 SUBLEVELS ARE SHOWN'
display ',COMP=K*S.*' --job KVSERVER
check 'a glob: all that it fits, wherever it stands' is "$(grep -A1 '^  ====' whole | grep -o '^  [A-Z.]*' | xargs)" 'KVS.LOCK KVS.NET'
display ',COMP=K*' --job KVSERVER
check 'but not what is below, as with TRACE CT' is "$(grep -A1 '^  ====' whole | grep -o '^  [A-Z.]*' | xargs) $(grep -c '^ ---' whole)" 'KVS 0'
display ',COMP=?VS,SUBLEVEL' --job KVSERVER
check 'unless it is asked for' is "$(grep -A1 '^ ---' whole | grep -o '^  [A-Z]*' | xargs)" 'LOCK NET'
display ',COMP=(KVS,KVX)'
check 'one of two names is known: it says of which nobody has it' is "$status $(tail -n 4 whole)" '0   TRACENAME
  =========
  KVX
     NO PROCESS HAS THIS TRACE'
display ',COMP=KVS,SUB=(NIX)'
check 'the trace is known, its sublevel is not' is "$(grep -A1 '^  KVS.NIX' whole)" '  KVS.NIX
     NO PROCESS HAS THIS TRACE'
order server 'define KVS.ASID(1)'
display ',COMP=KVS,SUB=(ASID(1))'
check 'a sublevel that is spelt in another way' is "$status $(grep -A1 '^ ---' whole | tail -n 1) $(grep -c 'NO PROCESS' whole)" \
	'0   ASID(0001)          OFF 0'
order server 'delete KVS.ASID(1)'
operate 'TRACE CT,ON,COMP=KVS,SUB=(LOCK)'
display ',COMP=KVX'
check 'nobody has it: it fails' is "$status" 1
check 'and EX is ON for what is not shown' status_lines 'ON '
operate 'TRACE CT,OFF,COMP=KVS,SUB=(LOCK)'

# ---- presets: member CTKVSPRE waits for a sublevel that nobody has
printf 'TRACEOPTS SUB(LATER) PRESET(PUT) ASID(1F) OPTIONS(%s) WTR(CTP)\n' "'WAITS'" >parmlib/CTKVSPRE
operate 'TRACE CT,,COMP=KVS,PARM=CTKVSPRE'
display ',COMP=KVS,SUB=(LATER)'
check 'a preset that waits: PRE' is "$status $(sed -n '/^  KVS.LATER/,$p' whole)" '0   KVS.LATER
                      MODE BUFFER HEAD SUBS
                      =====================
                      PRE
     ASIDS      001F
     JOBNAMES   *NONE*
     OPTIONS    WAITS
     WRITER     CTP'
order server 'define KVS.LATER asids jobs wtr mod'
display ''
check 'it is defined: no preset any more' is "$(grep -c PRE whole)" 0
order server 'delete KVS.LATER'
display ',COMP=KVS.*,SUBLEVEL'
check 'it is deleted: the preset waits again' is "$(grep -A3 '^  KVS.LATER' whole | grep -c PRE)" 1
display ',COMP=KVS,SUB=(LATER)' --job KVCLIENT
check 'which belongs to no process' is "$(grep -c PRE whole)" 0

# ---- JSON
display ',COMP=KVS,SUB=(NET)' --json
check 'JSON has the same facts' is "$(json '[(t["component"], t["job"], t["mode"], t["buffer"]["rounded"], t["writer"], t["writer_active"]) for t in d["traces"]][1]')" \
	"('KVS.NET', 'KVSERVER', 'ON', 8388608, 'CTW', False)"

# ---- writers
display ',WTR=ALL'
check 'a writer that is named and does not run: who waits for it; it fails' is "$status $out" '1   WRITER              STATUS      MODE    SINCE
 -------------------------------------------------------
  CTW                 NOT ACTIVE
     WAITING    ASID=0001 JOBNAME=KVSERVER PID=1001
                KVS.NET'
printf 'TRCOUT01 PATH=%s/kvs1 PRIMARY=4M\nMODE=NOWRAP\n' "$PWD" >proclib/CTW
operate 'TRACE CT,WTRSTART=CTW'
connected() {
	for _ in $(seq 3000); do
		display ',WTR=CTW' --json
		[ "$(json 'len(d["writers"][0].get("connected", []))')" = 1 ] && return
		sleep 0.02
	done
	false
}
check 'it is started: the trace connects to it' connected
display ',WTR=(CTW)'
# The path of the test's room goes on in the next line somewhere.
check 'and is shown, with its data set and who is connected' is "$status $(grep -E '^ *(CTW|TRCOUT01|TRACES|WAITING|USED)' <<<"${out//$PWD/ROOM}" | sed -E 's/USED.*OF/USED n OF/; s/TRCOUT01.*/TRCOUT01/; s/, [0-9]+ RINGS?$//')" \
	'0   CTW                 ACTIVE      NOWRAP  yyyy-mm-dd hh.mm.ss
     TRCOUT01
                USED n OF 0004M, 0 EVENTS
     TRACES     ASID=0001 JOBNAME=KVSERVER PID=1001, 0 EVENTS'
display ',COMP=KVS,SUB=(NET)' --job KVSERVER
check 'the trace shows it as a writer that runs' is "$(grep WRITER whole)" '     WRITER     CTW'

# A writer that says nothing costs the timeout, and the others are shown all the same.
python3 -c '
import os, socket, sys, time
os.chdir(sys.argv[1])
s = socket.socket(socket.AF_UNIX)
s.bind("CTSILENT"[:7])
s.listen()
print("listens", flush=True)
time.sleep(1000)' "$CTRACE_RUN_DIR/writer" >silent &
silent=$!
for _ in $(seq 3000); do
	[ -s silent ] && break
	sleep 0.02
done
display ',WTR=ALL' --timeout 3
check 'a writer that does not answer is reported of' is "$status $err$said $(grep -c '^  CTW ' whole) $(grep '^  CTSILEN ' whole)" '1 CTR028I Writer CTSILEN did not answer in time 1   CTSILEN             NO ANSWER'
kill "$silent"
wait "$silent" 2>wait.err
display ',WTR=CTSILEN'
check 'a socket that nobody listens at is no writer' is "$status $err $(tail -n 1 whole)" '1    CTSILEN             NOT ACTIVE'
operate 'TRACE CT,WTRSTOP=CTW'

for name in client server; do # the one that was started last has the other's line, too
	# shellcheck disable=SC2093,SC1083 # descriptors by name
	exec {to[$name]}>&- {from[$name]}<&-
	wait "${pid[$name]}"
done
end
