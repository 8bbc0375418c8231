#!/usr/bin/env bash
# ctrace op and ctrace console: every operand, prompts and replies across calls, errors with their places, members, both faces, and
# several processes, on programs that tests/process/operated.c makes.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
operated=$CTRACE_BUILD/tests/operated
mkdir parmlib proclib
export CTRACE_PARMLIB=$PWD/parmlib CTRACE_PROCLIB=$PWD/proclib
all='ITT038I ALL OF THE TRANSACTIONS REQUESTED VIA THE TRACE CT COMMAND WERE SUCCESSFULLY EXECUTED.'
some=${all/ALL OF/SOME OF} none=${all/ALL OF/NONE OF}
asks='ITT006A SPECIFY OPERAND(S) FOR TRACE CT COMMAND'

# ---- programs, each with a line to it: start NAME JOBNAME; order NAME ORDER: its answer
declare -A to from pid
start() {
	mkfifo "to.$1" "from.$1"
	CTRACE_JOBNAME=$2 "$operated" <"to.$1" >"from.$1" 2>/dev/null &
	pid[$1]=$!
	exec {fd}>"to.$1"
	to[$1]=$fd
	exec {fd}<"from.$1"
	from[$1]=$fd
}
order() {
	printf '%s\n' "$2" >&"${to[$1]}"
	IFS= read -r answer <&"${from[$1]}"
}
finish() {
	kill "${pid[$1]}"
	wait "${pid[$1]}" 2>/dev/null
}

# ---- the tool: op ARGUMENT...; its answer in $out and $err, its status in $status
op() {
	ctrace op "$@" >out 2>err </dev/null
	status=$?
	out=$(<out) err=$(<err)
}
is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
# shellcheck disable=SC2053 # a pattern
like() { [[ $1 == $2 ]] || { printf '<%s>\nis not like\n<%s>\n' "$1" "$2"; false; }; }
# STATUS OUT: all of it, as patterns; nothing on stderr
says() {
	like "$out" "$2" && is "$status" "$1" && is "$err" ''
}
# STATUS ERR
reports() {
	like "$err" "$2" && is "$status" "$1" && is "$out" ''
}
# NAME ORDER ANSWER
answers() {
	order "$1" "$2" && like "$answer" "$3"
}

# ---- nobody there
op 'TRACE CT,OFF,COMP=OPR' --reply ''
check 'no process: it says so, NONE' says 1 "CTR011I No traced process is running
$none"
op 'D R'
check 'no prompt is outstanding' says 0 'CTR007I No reply is outstanding'

op 'R,END'
check 'a reply to nothing fails' says 1 'CTR019I No reply is outstanding*'
op --json 'D R'
check 'no prompt is outstanding, as JSON' says 0 '{"format_version":1,"time_ns":*,"replies":\[\]}'
ln -s "$CTRACE_RUN_DIR" link
CTRACE_RUN_DIR=$PWD/link op 'T CT,ON,COMP=OPR'
check 'a run directory that cannot be used is named' says 1 "CTR008I Outstanding replies cannot be kept in the run directory CTRACE_RUN_DIR=$PWD/link: *"
check 'so it is when nobody is there' is "$(CTRACE_RUN_DIR=$PWD/link ctrace level x 2>&1)" \
	"ctrace level: no traced process is running
ctrace level: the run directory $PWD/link is refused: it is a symbolic link of user 0; remove it"
check 'or when there is none' is "$(CTRACE_RUN_DIR=$PWD/none ctrace stats 2>&1)" \
	"ctrace stats: nothing is traced; the run directory CTRACE_RUN_DIR=$PWD/none cannot be found"
# What follows the options is printed as it is, if no line is too long.
check 'help has whole lines' is "$( (ctrace --help && ctrace op --help) | sed -n '/^\(Verbs\|Commands\):/,/^$/p' | grep -vE '^(  |Verbs:|Commands:|$)')" ''

# ---- one process
start a OPRA
order a 'define OPR head headopts mod asids jobs buffer wtr'
check 'the program defines its trace' is "$answer" ok
order a 'define OPR.SUB likehead'
check 'and a sublevel' is "$answer" ok
order a 'define OPR.OWN mod'
check 'and another' is "$answer" ok

op 'TRACE CT,ON,COMP=OPR' --reply 'ASID=(1,2F),JOBNAME=(OPRA,X),OPTIONS=(GET,KEYS),WTR=CTW'
check 'ON with every operand, answered at once' says 0 "*$all"
check 'all of them are there' answers a 'show OPR' 'ON OPTIONS=(GET,KEYS) ASID=(1,2F) JOBNAME=(OPRA,X) BUFFER=0K WTR=CTW'
check 'the sublevel that is LIKEHEAD follows' answers a 'show OPR.SUB' 'ON LIKEHEAD*'
op 't ct,64k,comp=opr' --reply 'asid=(),jobname=(),wtr=disconnect,end'
check 'a size, in lower case' says 0 "$all"
check 'empty lists clear filters, DISCONNECT the writer; the options are replaced too' answers a 'show OPR' \
	'ON OPTIONS=() ASID=() JOBNAME=() BUFFER=64K WTR='
op 'TRACE CT,OFF,COMP=OPR' --reply ''
check 'OFF' says 0 "$all"
check 'it is off' answers a 'show OPR' 'OFF *'
op 'TRACE CT,ON,COMP=OPR,SUB=(OWN)' --reply 'OPTIONS=(A(B,C),LEVEL=255)'
check 'SUB' says 0 "$all"
check 'only the sublevel is on' answers a 'show OPR.OWN' 'ON OPTIONS=(A(B,C),LEVEL=255) *'
check 'its head is not' answers a 'show OPR' 'OFF *'

op 'TRACE CT,ON,COMP=OPR' --reply 'OPTIONS=(REFUSE)'
check "the routine's refusal: who, codes and message" says 1 "CTR012I COMP=OPR process ${pid[a]} ASID 0001 JOBNAME OPRA: RC 0C reason 11: *; the routine's RC 08 reason 00000021; OPRMSG1I the option REFUSE is refused
$none"
check 'nothing has changed' answers a 'show OPR' 'OFF *'
op 'TRACE CT,ON,COMP=OPR' --reply 'OPTIONS=SPEAK'
check "the routine's message when it works; it cannot forge a line" says 0 "CTR010I COMP=OPR process ${pid[a]} ASID 0001 JOBNAME OPRA: OPRMSG2I spoken*as asked
$all"
op 'TRACE CT,ON,COMP=OPR,SUB=(OWN)' --reply 'ASID=5'
check 'what the trace does not support' says 1 "CTR012I COMP=OPR SUB=(OWN) process ${pid[a]} *: RC 0C reason 14: *
$none"

# ---- names
op 'TRACE CT,ON,COMP=ORP' --reply ''
check 'no such trace: the nearest' says 1 "CTR014I No running process has COMP=ORP*COMP=OPR
$none"
op 'TRACE CT,ON,COMP=OPR,SUB=(OWM)' --reply ''
check 'no such sublevel: the nearest' says 1 "CTR014I No running process has COMP=OPR SUB=(OWM); the nearest is COMP=OPR SUB=(OWN)
$none"
op 'TRACE CT,ON,COMP=OPR,SUB=(ZZZZZZ)' --reply ''
check 'no such sublevel: those that there are' says 1 "CTR014I No running process has COMP=OPR SUB=(ZZZZZZ); it has SUB=(OWN), (SUB)
$none"
op 'TRACE CT,OFF,COMP=OP*' --reply ''
check 'a glob of one level' says 0 "$all"
check 'does not go below' answers a 'show OPR.OWN' 'ON *'
op 'TRACE CT,OFF,COMP=OPR.?WN' --reply ''
check 'a glob with a dot' says 0 "$all"
check 'reaches the level below' answers a 'show OPR.OWN' 'OFF *'
op 'TRACE CT,ON,COMP=OPR,SUB=(?wn)' --reply ''
check 'a glob in SUB' says 0 "$all"
check 'reaches the level below, too' answers a 'show OPR.OWN' 'ON *'
op 'TRACE CT,OFF,COMP=OPR,SUB=(O*)' --reply ''
check 'and OFF' says 0 "$all"
op 'D TRACE,COMP=OPR,SUB=(O*)'
check 'DISPLAY has none in SUB' reports 2 'CTR001E Column 23: *'
op 'TRACE CT,OFF,COMP=Q*' --reply ''
check 'a glob that nothing fits' says 1 "CTR014I No running process has a trace that fits Q\*
$none"

# ---- the other face
order a 'tracer mf.rts'
op 'TRACE CT,ON,COMP=MF,SUB=(RTS)' --reply "OPTIONS=('LEVEL=WARN')"
check 'a tracer of the COBOL-callable facility' says 0 "$all"
check 'has its level' answers a 'level mf.rts' 2
op 'TRACE CT,OFF,COMP=mf.rts' --reply ''
check 'by its dotted name' says 0 "$all"
check 'it is off' answers a 'level mf.rts' 4294967295
op 'TRACE CT,ON,COMP=MF,SUB=(RTS)' --reply 'OPTIONS=(SHOUT)'
check 'an option that it does not know' says 1 "CTR012I COMP=MF SUB=(RTS) process *: RC 0C reason 11: *SHOUT is not LEVEL=*
$none"

# ---- prompts across calls
op 'TRACE CT,ON,COMP=OPR'
check 'a prompt has number 1' says 0 "\*01 $asks"
check 'it is a file that only the user can read' is "$(stat -c %a "$CTRACE_RUN_DIR/reply/1")" 600
check 'nothing is done yet' answers a 'show OPR' 'OFF *'
op 'TRACE CT,OFF,COMP=OPR,SUB=(OWN)'
check 'the next has number 2' says 0 "\*02 $asks"
op 'D R'
check 'D R lists both' says 0 'CTR006I Reply 01 is outstanding for 00.0?.??: TRACE CT,ON,COMP=OPR
CTR006I Reply 02 is outstanding for 00.0?.??: TRACE CT,OFF,COMP=OPR,SUB=(OWN)'
op 'R 1,ASID=(1,2),OPTIONS=(GET),CONT'
check 'CONT prompts again' says 0 "IEE600I REPLY TO 01 IS;ASID=(1,2),OPTIONS=(GET),CONT
\*01 $asks"
op 'r 01,options=(put)'
check 'so does neither' says 0 "IEE600I REPLY TO 01 IS;OPTIONS=(PUT)
\*01 $asks"
op 'D R'
check 'D R has what was replied' says 0 'CTR006I Reply 01 *; ASID=(1,2),OPTIONS=(PUT*'
op --json 'D R'
check 'D R as JSON' is "$status $(python3 -c 'import json
for r in json.load(open("out"))["replies"]: print(r["number"], r["command"], r["operands"] != "", r["pid"], r["asid"], r["job"], r["asked_ns"] > 0)' 2>&1)" \
	'0 1 TRACE CT,ON,COMP=OPR True None None None True
2 TRACE CT,OFF,COMP=OPR,SUB=(OWN) False None None None True'
op 'R 1,ASDI=(1)'
check 'an error in a reply: its column; the prompt comes again' like "$err/$out/$status" "CTR002E Reply, column 5: \"ASDI\" *did you mean ASID*/\*01 $asks/2"
op 'R'
check 'without a number' says 1 'CTR004I A reply needs its number: 2 are outstanding'
op 'R 2,CANCEL'
check 'CANCEL withdraws' says 0 'CTR005I Reply 02 is withdrawn; nothing is done of: TRACE CT,OFF,COMP=OPR,SUB=(OWN)'
op 'R 2,END'
check 'it is not outstanding any more' says 1 'CTR003I Reply 02 is not outstanding'
op 'R,END'
check 'END carries it out; one prompt needs no number' says 0 "IEE600I REPLY TO 01 IS;END
$all"
check 'with all that was replied' answers a 'show OPR' 'ON OPTIONS=(PUT) ASID=(1,2) *'
op 'R 1,END'
check 'once' says 1 'CTR003I Reply 01 is not outstanding'
op 'R 0,END'
check '0 is never outstanding' says 1 'CTR003I Reply 00 is not outstanding'
op 'TRACE CT,ON,COMP=NEVER' -p 1
op 'R 1,END'
check 'a reply is for whom the command was' says 1 "IEE600I REPLY TO 01 IS;END
CTR011I No traced process matches --job, --asid or --pid
$none"

numbers() {
	local operators=()
	for _ in $(seq 20); do
		ctrace op 'T CT,ON,COMP=OPR' >>prompts &
		operators+=($!)
	done
	wait "${operators[@]}"
	is "$(sort -u prompts | wc -l) $(grep -c "$asks" prompts)" '20 20'
}
check '20 operators at once get 20 numbers' numbers
op 'R 7,CANCEL' 'T CT,ON,COMP=OPR' 'D R'
check 'the lowest free number is taken' like "$out" "*\*07 $asks*"
replies() {
	local operators=()
	for _ in $(seq 8); do
		ctrace op 'R 3,END' >>answers &
		operators+=($!)
	done
	wait "${operators[@]}"
	is "$(grep -c "$all" answers) $(grep -c 'CTR003I Reply 03' answers)" '1 7'
}
check 'a prompt is answered once, however many try' replies
printf 'R %d,CANCEL\n' $(seq 20) | ctrace op - >/dev/null
printf 'something else\n' >"$CTRACE_RUN_DIR/reply/5"
chmod 600 "$CTRACE_RUN_DIR/reply/5"
op 'R 5,END'
check 'a file that is none of ours' says 1 "CTR027I Reply 05 cannot be used: $CTRACE_RUN_DIR/reply/5: *"
printf 'ctrace-reply 1\ntime 1\nprocess 0 0\njob \ncommand \033[2Jforged\noperands \n' >"$CTRACE_RUN_DIR/reply/5"
op 'D R'
check 'what a file holds cannot reach the terminal as it is' is "${out##*: }" '\u{1B}[2Jforged'
rm "$CTRACE_RUN_DIR/reply/5"
chmod 777 "$CTRACE_RUN_DIR/reply"
op 'TRACE CT,ON,COMP=OPR'
check 'a directory that others may write to' says 1 'CTR008I *'
chmod 700 "$CTRACE_RUN_DIR/reply"

# ---- errors
op 'TRACE CT,OM,COMP=OPR'
check 'an unknown state: its column' reports 2 'CTR001E Column 10: "OM" is not a state; expected ON, OFF, *'
op 'TRACE CT,ON,CMP=OPR'
check 'an unknown operand' reports 2 'CTR001E Column 13: "CMP" *did you mean COMP*'
op 'TRACE CT,ON'
check 'COMP is missing' reports 2 'CTR001E Column 12: *COMP=*'
op 'HELP'
check 'an unknown command' reports 2 'CTR001E Column 1: "HELP" is not a command; expected TRACE CT, *'
op 'TRACE CT,ON,COMP=OPR' --reply 'OPTIONS='
check 'an error in --reply' reports 2 'CTR002E Reply, column 9: *'
op '* a comment' '# another' '' '/* and one'
check 'comments' says 0 ''
op 'NONSENSE' 'TRACE CT,OFF,COMP=OPR' --reply ''
check 'the commands after an error are carried out' like "$status/$out" "2/$all"
printf '# a file\nTRACE CT,OFF,COMP=OPR,SUB=(OWN)\r\n\nR 1,END\nD R\n' >commands
op --file commands
check 'commands from a file' says 0 "\*01 $asks
IEE600I REPLY TO 01 IS;END
$all
CTR007I No reply is outstanding"
check 'and from stdin' is "$(printf 'D R' | ctrace op - 2>&1)" 'CTR007I No reply is outstanding'
op --file none
check 'no such file' reports 1 'ctrace op: cannot read none: *'
op
check 'no command' like "$status/$err" '2/*expected: a command*'
op 'D R' --reply '' --reply ''
check 'two --reply' like "$status/$err" '2/*one --reply*'
if script --version >/dev/null 2>&1; then
	check 'on a terminal the place is marked' like "$(script -qec "ctrace op 'TRACE CT,OM,COMP=OPR'" /dev/null </dev/null | tr -d '\r')" '*
TRACE CT,OM,COMP=OPR
         ^'
fi

# ---- members
cat >parmlib/CTOPR00 <<'END'
TRACEOPTS
  ON OPTIONS('ONE') ASID(2F)
  SUB(OWN) ON OPTIONS('TWO')
  SUB(SUB) OFF
END
op 'TRACE CT,,COMP=OPR,PARM=CTOPR00'
check 'a member with several statements' says 0 "CTR010I CTOPR00:2:3 COMP=OPR process *: in force; the filters leave this process* out
$all"
check 'the first' answers a 'show OPR' 'ON OPTIONS=(ONE) ASID=(2F) *'
check 'the second' answers a 'show OPR.OWN' 'ON OPTIONS=(TWO) *'
check 'the third' answers a 'show OPR.SUB' 'OFF *'
printf 'TRACEOPTS\n ON\n SUB(OWN) OFF\n' >parmlib/CTOPR08
op 'TRACE CT,,COMP=OPR,SUB=(OWN),PARM=CTOPR08'
check 'SUB in both' says 1 'CTR017I CTOPR08:3:2: SUB is in the command and in the member: RC 0C reason 0F
'"$some"
printf 'TRACEOPTS\n OPTIONS(%s)\n' "'MINE'" >parmlib/CTOPR01
op 'TRACE CT,OFF,COMP=OPR,PARM=CTOPR01'
check "the command's state where the member has none" says 0 "$all"
check 'it is off' answers a 'show OPR' 'OFF *'
op 'TRACE CT,8K,COMP=OPR,PARM=ctopr01'
check "the command's size, too" says 0 "$all"
check 'it is on with that' answers a 'show OPR' 'ON OPTIONS=(MINE) * BUFFER=8K *'
op 'TRACE CT,,COMP=OPR,PARM=CTOPR01'
check 'neither says a state: told once, no process is asked' says 1 "CTR026I CTOPR01:2:2: neither the command nor the member says *: RC 0C reason 85
$none"
printf 'TRACEOPTS\n ON\n SUB(NONE) ON\n SUB(OWN) ON ASID(1)\n' >parmlib/CTOPR02
op 'TRACE CT,,COMP=OPR,PARM=CTOPR02'
check 'some fail: each with its place' says 1 "CTR012I CTOPR02:4:2 COMP=OPR SUB=(OWN) process *: RC 0C reason 14: *
CTR014I CTOPR02:3:2 No running process has COMP=OPR SUB=(NONE)*
$some"
printf 'TRACEOPTS\n SUB(LATER) PRESET(PUT) OPTIONS(%s)\n' "'KEPT'" >parmlib/CTOPR03
op 'TRACE CT,,COMP=OPR,PARM=CTOPR03'
check 'a preset' says 0 "$all"
check 'is kept in the run directory' grep -q KEPT "$CTRACE_RUN_DIR/preset/OPR.LATER"
printf 'TRACEOPTS\n OFN\n ON BUFSIZE(64)\n' >parmlib/CTBAD
op 'TRACE CT,,COMP=OPR,PARM=CTBAD'
check "a member's errors: all, with their places" says 1 "CTR016I $PWD/parmlib/CTBAD:2:2: \"OFN\" *did you mean OFF* (reason 0C 06)
CTR016I $PWD/parmlib/CTBAD:3:13: \"64\" * (reason 0C 27)
$none"
op 'TRACE CT,,COMP=OPR,PARM=CTNONE'
check 'no such member: where it was looked for' says 1 "CTR015I Member CTNONE cannot be used: * (reason 0C 04): CTRACE_PARMLIB=$PWD/parmlib
$none"
op 'TRACE CT,,COMP=OPR,PARM=OPR00'
check 'no name of a member' says 1 "CTR015I Member OPR00 cannot be used: * (reason 0C 2A)
$none"
printf 'TRACEOPTS\n' >parmlib/CTEMPTY
op 'TRACE CT,ON,COMP=OPR,PARM=CTEMPTY'
check 'a member that says nothing' like "$status/$out" '1/CTR01?I *CTEMPTY*'
printf 'TRACEOPTS\n SUB(OWN) OFF\n' >parmlib/CTOPR04
op 'TRACE CT,,COMP=O*,PARM=CTOPR04'
check 'a member for a glob' says 0 "$all"

# ---- several processes
start b OPRB
start c OTHER
order b 'define OPR head headopts mod'
order c 'define ELSE mod'
op 'TRACE CT,ON,COMP=OPR' --reply 'OPTIONS=(BOTH)'
check 'two of three have it: ALL' says 0 "$all"
check 'the first' answers a 'show OPR' 'ON OPTIONS=(BOTH) *'
check 'the second' answers b 'show OPR' 'ON OPTIONS=(BOTH) *'
op 'TRACE CT,ON,COMP=OPR' --reply 'ASID=(9)'
check 'one refuses: SOME' says 1 "CTR010I *JOBNAME OPRA: in force*
CTR012I COMP=OPR process ${pid[b]} ASID 0002 JOBNAME OPRB: RC 0C reason 14: *
$some"
check 'the other has done it' answers a 'show OPR' 'ON * ASID=(9) *'
op 'TRACE CT,ON,COMP=OPR' --reply 'OPTIONS=REFUSE'
check 'both refuse: NONE' says 1 "CTR012I *JOBNAME OPRA*
CTR012I *JOBNAME OPRB*
$none"
op --job 'oprb' 'TRACE CT,OFF,COMP=OPR' --reply ''
check '--job' says 0 "$all"
check 'only that' answers b 'show OPR' 'OFF *'
check 'not the other' answers a 'show OPR' 'ON *'
op --asid 1 'TRACE CT,OFF,COMP=OPR' --reply ''
check '--asid' says 0 "$all"
check 'only that' answers a 'show OPR' 'OFF *'
op --pid "${pid[c]}" 'TRACE CT,OFF,COMP=OPR' --reply ''
check '--pid: it has none' says 1 "CTR014I No running process has COMP=OPR*
$none"
op 'TRACE CT,ON,COMP=*' --reply ''
check 'a glob over all' says 0 "$all"
check 'reaches each' answers c 'show ELSE' 'ON *'
printf 'TRACEOPTS\n SUB(LATER) PRESET(DELETE)\n' >parmlib/CTOPR05
op 'TRACE CT,,COMP=OPR,PARM=CTOPR05'
check 'a preset is deleted once for all processes' says 0 "$all"
kill -STOP "${pid[c]}"
# Until every thread stands: the signal alone has only been sent.
for _ in $(seq 1000); do
	if ! grep -h '^State:' /proc/"${pid[c]}"/task/*/status | grep -qv 'T (stopped)'; then break; fi
	sleep 0.01
done
until [ "$(sed 's/.*) //; s/ .*//' "/proc/${pid[c]}/stat")" = T ]; do kill -0 "${pid[c]}" || break; sleep 0.01; done
op --timeout 3 'D TRACE,COMP=OPR'
check 'DISPLAY fails when a process does not answer, and shows the others' like "$status $err $out" "1  CTR013I process ${pid[c]} ASID 0003 JOBNAME OTHER did not answer in time*JOBNAME=OPRA*"
op --timeout 3 'TRACE CT,OFF,COMP=OPR' --reply ''
kill -CONT "${pid[c]}"
check 'a process that does not answer: the others are done: SOME' says 1 "CTR013I process ${pid[c]} ASID 0003 JOBNAME OTHER did not answer in time
$some"
op 'D TRACE'
check 'D TRACE shows them' like "$status/$out" '0/*OPR*'
op --json 'D TRACE,COMP=ELSE'
check 'as JSON' like "$status/$(python3 -c 'import json,sys; json.load(open("out")); print("json")' 2>&1)" '0/json'
op 'TRACE CT,ON,COMP=OPR'
kill -KILL "${pid[b]}"
wait "${pid[b]}" 2>/dev/null
op 'R 1,END'
check 'a process that has died meanwhile is not missed' says 0 "IEE600I REPLY TO 01 IS;END
$all"

# ---- writers
op 'TRACE CT,WTRSTOP=CTW'
check 'WTRSTOP: it does not run' says 1 'CTR022I Writer CTW is not running'
op 'TRACE CT,WTRSTART=CTW'
check 'WTRSTART: no procedure' says 1 'CTR021I Writer CTW was not started: *ctrace writer --check CTW says why'
printf 'TRCOUT01 PATH=%s/ctw.data PRIMARY=1M\n' "$PWD" >proclib/CTW
op 'TRACE CT,WTRSTART=ctw,NOWRAP'
check 'WTRSTART' says 0 'ITT110I INITIALIZATION OF CTRACE WRITER CTW COMPLETE.'
op 'TRACE CT,WTRSTART=CTW'
check 'it runs already' says 1 'CTR020I Writer CTW is running already'
op 'TRACE CT,WTRSTOP=CTW,NOFLUSH'
check 'WTRSTOP' says 0 'ITT111I CTRACE WRITER CTW TERMINATED BECAUSE OF A WTRSTOP REQUEST.'
op 'TRACE CT,WTRSTOP=CTW'
check 'it has ended' says 1 'CTR022I Writer CTW is not running'
printf 'TRACEOPTS\n WTRSTART(CTW)\n ON WTR(CTW)\n WTRSTOP(CTW)\n' >parmlib/CTOPR06
op 'TRACE CT,,COMP=OPR,PARM=CTOPR06' -p "${pid[a]}"
check 'a member with its writer: started, connected, stopped' says 0 "ITT110I *
$all
ITT111I *"
printf 'TRACEOPTS\n WTRSTART(NOPROC)\n ON OPTIONS(%s)\n' "'UNSEEN'" >parmlib/CTOPR07
op 'TRACE CT,,COMP=OPR,PARM=CTOPR07'
check 'a writer that cannot be started: nothing is done' says 1 "CTR021I Writer NOPROC *
$none"
check 'indeed' answers a 'show OPR' 'ON OPTIONS=(* WTR=CTW'

# ---- the console
cat >lines <<'END'
HELP
help itt038i
TRACE CT,OFF,COMP=OPR
R 1,END
TRACE CT,OFF,CMP=OPR
QUIT
D R
END
ctrace console <lines >out 2>err
status=$? out=$(<out) err=$(<err)
stamp='[0-2][0-9].[0-5][0-9].[0-6][0-9]'
check 'the console on a pipe: messages with the time, until QUIT' says 0 "TRACE CT,ON*
ITT038I ... OF THE TRANSACTIONS*
$stamp \*01 $asks
$stamp IEE600I REPLY TO 01 IS;END
$stamp $all
$stamp CTR001E Column 14: *did you mean COMP*)*"
check 'nothing behind QUIT' is "$(grep -c CTR007I out)" 0
op 'TRACE CT,OFF,COMP=OPR'
check "the console shows another operator's prompt" like "$(ctrace console </dev/null)" "$stamp \*01 $asks"
op 'R 1,CANCEL'
logs() {
	mkfifo keys
	ctrace console <keys >shown 2>&1 &
	exec {keys}>keys
	printf 'D R\n' >&"$keys"
	for _ in $(seq 3000); do grep -q CTR007I shown && break; sleep 0.02; done
	printf '12.13.14 ITT120I \033[2Jlost\nand more\n' >>"$CTRACE_RUN_DIR/writer/CTW.log"
	printf '\n' >&"$keys"
	exec {keys}>&-
	wait $!
	grep -qF '12.13.14 CTW: ITT120I \u{1B}[2Jlost' shown && grep -q "^$stamp CTW: and more" shown || cat shown
	! grep -q 'INITIALIZATION' shown
}
check "the console shows what is new in writers' logs" logs

if python3 -c 'import pty' 2>/dev/null; then
	cat >terminal.py <<'END'
import atexit, os, pty, re, select, signal, sys, time
child, fd = pty.fork()
if child == 0:
    os.execvp('ctrace', ['ctrace', 'console'])
PATIENCE = 60 # for what hangs; no test of speed
seen = whole = b''
def fail(what):
    sys.exit('%s, after %r, in the terminal\'s whole text:\n%s' % (what, seen, whole.decode('utf-8', 'backslashreplace')))
def take():
    global seen, whole
    text = os.read(fd, 4096)
    seen += text
    whole += text
def expect(pattern):
    global seen
    end = time.monotonic() + PATIENCE
    while not re.search(pattern, seen):
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            fail('no %r' % pattern)
        try:
            take()
        except OSError:
            fail('ended before %r' % pattern)
    seen = seen[re.search(pattern, seen).end():]
def put(text):
    os.write(fd, text)
def stat(path):
    """The state and the parent."""
    try:
        return open('/proc/%s/stat' % path).read().rsplit(')', 1)[1].split()[:2]
    except OSError:
        return ['', '']
def until(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            fail(what)
        time.sleep(0.01)
expect(rb'ctrace> ')
put(b'TRACE CT,OM,COMP=OPR\n')
expect(rb'CTR001E Column 10: .*\n *TRACE CT,OM,COMP=OPR\r\n {9}\^')
expect(rb'ctrace> ')
put(b'this is thrown away\x03')
expect(rb'\r\n.*ctrace> ')
put(b'TRACE CT,OFF,CO\tOPR\n')
expect(rb'\*01 ITT006A')
expect(rb'\[1 reply outstanding: 1\].*ctrace> ')
put(b'R 1,CANC\t\n')
expect(rb'CTR005I Reply 01 is withdrawn')
expect(rb'ctrace> ')
put(b'\x10\x10\n') # two lines back in the history
expect(rb'\*01 ITT006A')
put(b'R 1,CANCEL\n')
expect(rb'CTR005I')
expect(rb'ctrace> ')
# Ctrl-C while a command waits for a process that is stopped.
stopped = int(sys.argv[1])
atexit.register(os.kill, stopped, signal.SIGCONT)
os.kill(stopped, signal.SIGSTOP)
# Its control thread answers until each thread has stopped.
until('it does not stop', lambda: all(stat('%d/task/%s' % (stopped, t))[0] == 'T' for t in os.listdir('/proc/%d/task' % stopped)))
put(b'D TRACE\n')
# The terminal may echo the line before the console has read it, and Ctrl-C would take it away.
until('no command is on its way', lambda: any(stat(p)[1] == str(child) for p in os.listdir('/proc') if p.isdigit()))
put(b'\x03')
expect(rb'CTR025I The command was interrupted')
expect(rb'ctrace> ')
os.kill(stopped, signal.SIGCONT)
put(b'HELP CTR999I\n')
expect(rb'There is no message CTR999I; ')
expect(rb'ctrace> ')
end = time.monotonic() + PATIENCE
while True:
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
        break
    try:
        put(b'\x15\x04') # again, on an empty line: the terminal may not have been set for editing yet
        if select.select([fd], [], [], 0.2)[0]:
            take()
    except OSError:
        pass
    if time.monotonic() > end:
        fail('Ctrl-D does not end it')
if status:
    fail('its status is %d' % status)
END
	check 'the console on a terminal: marks, Ctrl-C, Tab, history, Ctrl-D' env TERM=vt100 python3 terminal.py "${pid[c]}"
	check 'its history is a file that only the user can read' is "$(stat -c %a .ctrace_history)" 600
	check 'and has the commands' grep -q 'CT,OFF,COMP=OPR' .ctrace_history
fi

# ---- more traces than one table of names used to hold
many=4200
start m MANY
for ((i = 1; i <= many; i++)); do printf 'define MANY%d mod\n' "$i"; done >&"${to[m]}" &
ok=0
for ((i = 1; i <= many; i++)); do IFS= read -r answer <&"${from[m]}" && [ "$answer" = ok ] && ((ok++)); done
check 'so many traces are defined' is "$ok" "$many"
op 'TRACE CT,ON,COMP=MANY*' --timeout 60 --reply END
check 'a glob reaches all of them' says 0 "$all"
check 'the first' answers m 'show MANY1' '*ON*'
check 'and the last' answers m "show MANY$many" '*ON*'
check 'and one that the former limit left out' answers m 'show MANY999' '*ON*'
finish m

# ---- the hardcopy log
printf 'ctrace.log = %s/hardcopy\n' "$PWD" >operator.cfg
MFTRACE_CONFIG=$PWD/operator.cfg op 'T CT,ON,COMP=NOSUCH' --reply 'END' 'D TRACE,COMP=OPR'
check 'the log has commands and answers, with time and user' bash -c '
	[ "$(stat -c %a hardcopy)" = 600 ] && id="[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}\.[0-9]{2}\.[0-9]{2} $(id -un) [0-9]+" &&
	grep -qxE "$id > T CT,ON,COMP=NOSUCH" hardcopy && grep -qE "^$id   ITT038I NONE" hardcopy && grep -qE "^$id    IEE843I" hardcopy &&
	! grep -qvE "^$id " hardcopy'
MFTRACE_CONFIG=$PWD/operator.cfg ctrace console <<<"D R" >/dev/null
check 'so has a console' grep -qE '> D R$' hardcopy
printf 'ctrace.log = /nosuch/log\n' >operator.cfg
MFTRACE_CONFIG=$PWD/operator.cfg op 'D R'
check 'a log that cannot be written is reported, and the command goes on' like "$status $out $err" '0 CTR007I* commands are not logged: ctrace.log = /nosuch/log: No such file*'

# ---- every message has its line in the manual page
check 'every message is in ctrace-op(1)' is "$(grep -oE '^	\[[A-Z0-9]+\]' "$CTRACE_SOURCE/src/operator/wto.c" | tr -d '\t[]' | while read -r code; do
	grep -qx "\.It Li $code" "$CTRACE_SOURCE/man/ctrace-op.1" || echo "$code"
done)" ''
check 'every option of op is in its page' is "$(ctrace op --help | grep -oE -- '--[a-z][a-z-]+' | grep -vE -- '--(help|usage|version)$' | while read -r option; do
	grep -q -- "Fl -${option#--}" "$CTRACE_SOURCE/man/ctrace-op.1" || echo "$option"
done)" ''

finish a
finish c
end
