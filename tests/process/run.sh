#!/usr/bin/env bash
# ctrace run: the program's streams, signals and exit status are its own; the trace, the page, the configuration; what is refused.
#
# COBOL programs where cobc and libctrace-cobol.so are; without them what does not need them.
# shellcheck disable=SC2016,SC2317 # called by name, through eval
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qF -- "$2" "$1" || { head -30 "$1"; printf 'does not have <%s>\n' "$2"; false; }; }
lacks() { ! grep -F -m 3 -- "$2" "$1" || { printf 'has <%s>\n' "$2"; false; }; }
# Waits until a condition holds, a minute at most.
await() {
	for _ in $(seq 3000); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.02
	done
	"$@"
}
skip() { # WHAT WHY
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}
export TMPDIR=$PWD/tmp
mkdir tmp
empty() { is "$(ls -A tmp)" ''; }
run() { # WANTED-STATUS ARGUMENT...: output in out, messages in err
	local wanted=$1
	shift
	ctrace run "$@" >out 2>err </dev/null
	is $? "$wanted" || { cat err; false; }
}

# ---- what does not need COBOL
cat >any.sh <<'PROGRAM'
#!/bin/bash
echo "out $*"; echo "err $*" >&2; read -r line; echo "in $line"; exit "${1:-0}"
PROGRAM
chmod +x any.sh
if [ ! -f "$CTRACE_BUILD/libctrace-cobol.so" ]; then
	skip 'ctrace run' 'libctrace-cobol.so was not built'
	end
fi
streams() {
	./any.sh 7 'a b' --help <<<typed >alone.out 2>alone.err
	ctrace run --summary=never ./any.sh 7 'a b' --help <<<typed >run.out 2>run.err
	is $? 7 && cmp alone.out run.out && cmp alone.err run.err
}
check 'streams, arguments and exit status are the program'\''s' streams
check 'and nothing of the run is left' empty
check 'no trace where nothing was traced' test ! -e any.sh.ctb
check 'why nothing was traced: a script' run 0 ./any.sh
check 'its message' has err 'any.sh: nothing of a COBOL run time was traced: no COBOL program that it started could be.'
check 'why: a program without libcob' run 1 -o other false
check 'its message' has err 'false: nothing of a COBOL run time was traced: the program does not need libcob.so.'
check 'no such program' run 127 ./nosuch
check 'its message' is "$(<err)" 'ctrace run: ./nosuch: No such file or directory'
check 'no such program in PATH' run 127 nosuch-program
echo text >text
check 'a file that is no program' run 126 ./text
check 'its message' is "$(<err)" 'ctrace run: ./text: Permission denied'
check 'a directory' run 126 ./tmp
printf 'nothing\n' >bad && chmod +x bad && printf '\177ELF\2\1\1' >elf && chmod +x elf
check 'a file that is an ELF file in name only, which the shell takes' run 127 ./elf
check 'a program without #!' run 127 ./bad
check 'nothing of them is left' eval 'empty && [ ! -e nosuch.ctb ] && [ ! -e text.ctb ]'
check 'no program' run 2
check 'an unknown option' run 2 --filse ./any.sh
check 'a level that is none' run 2 --level loud ./any.sh
check 'a process id' run 2 -p 1
check 'the reason, and what to do' eval 'has err "a running program cannot be traced afterwards" && has err "Start it with ctrace run"'
echo 'int main(void) { return 3; }' >static.c
if gcc -static static.c -o static 2>/dev/null; then
	check 'a static program runs untraced' run 3 ./static
	check 'its message' has err 'it is linked statically, so that no library can be loaded before its libcob; link it again, without -static; the program runs untraced'
else
	skip 'a static program runs untraced' 'no static libc'
fi
if [ "$(id -u)" = 0 ]; then
	cp "$(type -P true)" setuid && chown 1 setuid && chmod 4755 setuid
	check 'a set-uid program runs untraced' run 0 ./setuid
	check 'its message' has err 'it is set-uid, set-gid or has capabilities'
fi
closed() {
	echo 'ls -l /proc/self/fd | grep -c " [0-2] -> "; exit 0' >closed.sh
	is "$(bash closed.sh 0<&- 2>/dev/null)" "$(ctrace run --summary=never bash closed.sh 0<&- 2>/dev/null)"
}
check 'a descriptor that is closed stays so' closed

# ---- signals
cat >signals.sh <<'PROGRAM'
#!/bin/bash
for name in INT TERM HUP QUIT USR1 CONT TSTP ALRM ABRT VTALRM PROF IO PWR WINCH; do trap "echo got $name" $name; done
trap 'exit 9' USR2
echo ready $$
while :; do read -rt 0.05 <> <(:); done
PROGRAM
chmod +x signals.sh
sent() { # a job has a process group of its own
	set -m
	ctrace run --summary=never ./signals.sh >signals 2>signals.err &
	local tool=$! name child
	await has signals ready
	child=$(sed -n 's/ready //p' signals)
	for name in INT TERM HUP QUIT USR1 CONT TSTP ALRM ABRT VTALRM PROF IO PWR WINCH; do
		kill -"$name" $tool
		await has signals "got $name"
		kill -"$name" -- -$tool
		await eval "[ \"\$(grep -c 'got $name' signals)\" -ge 2 ]"
	done
	kill -STOP -- -$tool
	await eval 'jobs %% | grep -q Stopped'
	kill -CONT -- -$tool
	kill -USR2 "$child"
	wait $tool
	is $? 9
}
sent >sent.out 2>&1
check 'each signal reaches the program once, alone or with its group; job control works' eval "is $? 0 || { cat sent.out; false; }"
check 'no signal came twice' is "$(grep 'got ' signals | grep -vc CONT)" 26
set +m
check 'nothing of it is left' empty
continued() { # without a terminal
	setsid ctrace run --summary=never bash -c 'echo ready $$; kill -STOP $$; exit 8' >stopping 2>&1 </dev/null &
	local tool=$! child
	await has stopping ready
	child=$(sed -n 's/ready //p' stopping)
	await grep -q '^State:.T' "/proc/$child/status"
	kill -CONT "$(ps -o ppid= -p "$child")"
	wait $tool
	is $? 8
}
check 'a program that has stopped itself is continued by the tool' continued
died() {
	ctrace run --summary=never bash -c 'kill -TERM $$' 2>/dev/null
	is $? 143 && python3 -c "
import subprocess, sys
sys.exit(subprocess.run(['ctrace', 'run', '--summary=never', 'bash', '-c', 'kill -KILL \$\$']).returncode != -9)"
}
check 'the tool dies of the signal of the program' died
killed() {
	ctrace run --summary=never ./signals.sh >signals 2>/dev/null &
	local tool=$! child
	await has signals ready
	child=$(sed -n 's/ready //p' signals)
	kill -KILL $tool
	wait $tool
	await empty
	kill -USR2 "$child"
}
check 'the configuration goes with a tool that is killed' killed 2>/dev/null
limited() { # under a limit of no byte for a file
	(ulimit -f 0; exec ctrace run --report x.html ./any.sh 2>&1 </dev/null) | cat >err
	is "${PIPESTATUS[0]}" 125 && has err 'ctrace run: any.sh.ctb: File too large' && [ ! -e any.sh.ctb ]
}
check 'a file size limit is reported, not deadly' limited
check 'and leaves nothing' empty
dispositions() {
	grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status >alone.out
	ctrace run --summary=never grep -E 'Sig(Blk|Ign|Cgt)' /proc/self/status >run.out
	cmp alone.out run.out
}
check 'the program has the dispositions and the mask that the tool was given' dispositions
check 'also those that are not the usual ones' eval '(trap "" XFSZ PIPE USR1 HUP; dispositions)'
early() { # a signal between the files and the program
	strace -qq -o strace.out -e trace=mkdir -e inject=mkdir:delay_exit=300000 ctrace run --summary=never bash -c 'sleep 60' 2>/dev/null &
	local tool=$!
	await eval '[ -d bash.ctb ]'
	kill -TERM "$(pgrep -P $tool -x ctrace)"
	wait $tool
	is $? 143 && [ ! -e bash.ctb ]
}
overtaken() { # another run takes the directory between its mkdir() and its lock
	strace -qq -o strace.out -e trace=mkdir -e inject=mkdir:delay_exit=500000 ctrace run --summary=never -o both.ctb true 2>late.err &
	local late=$! quick status
	mkfifo both.go
	await [ -d both.ctb ]
	ctrace run --summary=never -o both.ctb sh -c 'read -r line <both.go' 2>/dev/null &
	quick=$!
	wait $late
	is $? 125 && has late.err 'both.ctb: another ctrace run writes to it' && [ -f both.ctb/.ctrace-run ]
	status=$?
	timeout 60 bash -c ': >both.go'
	wait $quick
	[ ! -e both.ctb ] && return $status
}
if command -v strace >/dev/null && strace -qq -e inject=mkdir:delay_exit=1 true 2>/dev/null; then
	check 'a signal before the program starts ends it' early
	check 'and leaves nothing' empty
	check 'of two runs that begin at once, one has the directory' overtaken
	check 'and leaves nothing' empty
else
	skip 'a signal before the program starts' 'no strace'
	skip 'two runs that begin at once' 'no strace'
fi
# A reader sees the end of the output when the program closes it, not when it ends.
check 'the output is the program'\''s alone' is "$(timeout 60 bash -c '{ ctrace run --summary=never bash -c "echo x; exec >&-; read -r < go" 2>/dev/null & } | cat; echo end; : >go' 2>&1 & mkfifo go; wait)" $'x\nend'

if ! command -v cobc >/dev/null; then
	skip 'COBOL programs' 'no cobc'
	end
fi

# ---- COBOL
cat >shop.cob <<'COBOL'
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOP.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT CUSTOMER ASSIGN TO "customer.dat"
               ORGANIZATION IS LINE SEQUENTIAL FILE STATUS IS FS.
           SELECT MISSING ASSIGN TO "missing.dat"
               ORGANIZATION IS LINE SEQUENTIAL FILE STATUS IS FS.
       DATA DIVISION.
       FILE SECTION.
       FD CUSTOMER.
       01 CUST-REC.
          COPY "custrec.cpy".
       FD MISSING.
       01 MISS-REC PIC X(80).
       WORKING-STORAGE SECTION.
       01 FS PIC XX.
       01 N PIC 9(4) VALUE 0.
       PROCEDURE DIVISION.
       BEGIN-IT.
           PERFORM WRITE-ALL.
           PERFORM READ-ALL.
           OPEN INPUT MISSING.
           DISPLAY "STATUS " FS.
           DISPLAY "TO STDERR" UPON SYSERR.
           STOP RUN RETURNING 3.
       WRITE-ALL.
           OPEN OUTPUT CUSTOMER.
           PERFORM WRITE-ONE 100 TIMES.
           CLOSE CUSTOMER.
       WRITE-ONE.
           ADD 1 TO N.
           MOVE N TO CUST-ID.
           MOVE "ADA" TO CUST-NAME.
           CALL "PRICE" USING N.
           WRITE CUST-REC.
       READ-ALL.
           OPEN INPUT CUSTOMER.
           PERFORM UNTIL FS = "10"
              READ CUSTOMER
           END-PERFORM.
           CLOSE CUSTOMER.
COBOL
cat >custrec.cpy <<'COBOL'
           05 CUST-ID PIC 9(4).
           05 CUST-NAME PIC X(10).
COBOL
printf '       01 CUST-REC.\n' | cat - custrec.cpy >whole.cpy
cat >PRICE.cob <<'COBOL'
       IDENTIFICATION DIVISION.
       PROGRAM-ID. PRICE.
       DATA DIVISION.
       LINKAGE SECTION.
       01 N PIC 9(4).
       PROCEDURE DIVISION USING N.
       WORK-IT.
           IF N = 5 DISPLAY "FIVE" END-IF.
           GOBACK.
COBOL
check 'the programs are compiled' eval 'cobc -x -ftrace shop.cob && cobc -m -ftrace PRICE.cob'
same() {
	./shop >alone.out 2>alone.err
	local status=$?
	mv customer.dat alone.dat
	ctrace run --summary=never "$@" ./shop >run.out 2>run.err
	is $? $status && is $status 3 && cmp alone.out run.out && cmp alone.err run.err && cmp alone.dat customer.dat
}
check 'a COBOL program: output, files and status are as without' same
check 'the trace is one' eval 'is "$(ctrace show shop.ctb --json | wc -l)" "$(babeltrace2 shop.ctb | wc -l)" || ! command -v babeltrace2'
check 'for its owner alone' is "$(stat -c %a shop.ctb)" 700
ctrace show shop.ctb >shown
check 'programs, paragraphs and files are in it' eval 'has shown "ENTRY INFO" && has shown "paragraph=\"WRITE-ONE\"" && has shown "WRITE DEBUG select=\"CUSTOMER\""'
check 'but no records and no texts' eval 'lacks shown "record=" && lacks shown DISPLAY'
run 3 --summary=always ./shop
check 'the page' eval 'grep -qE "^PRICE +100 +[0-9.]+ .?s +[0-9.]+ .?s$" err && grep -qE "^WRITE-ONE +SHOP +100 " err && grep -qE "^CUSTOMER +101 +100 +2.05 KiB .* 10 " err'
check 'its errors' has err 'OPEN of MISSING: status 35'
check 'where the trace is' eval 'has err "ctrace show shop.ctb"'
check 'the earlier trace has another name' eval '[ -d shop.ctb.old ] && is "$(ctrace show shop.ctb.old | wc -l)" "$(wc -l <shown)"'
check 'and the next one takes its place' eval 'run 3 --summary=never ./shop && [ -d shop.ctb.old ] && [ ! -e shop.ctb.old.old ]'
check 'no page without a terminal' eval 'run 3 ./shop && is "$(cat err)" "TO STDERR"'

# ---- what is in the way
mkdir mine && touch mine/file
check 'a directory that is no trace stays' eval 'run 125 -o mine ./shop && has err "it is a directory, but no trace" && [ -f mine/file ]'
check 'and a file' eval 'run 125 -o text ./shop && has err "it is no trace, and stays"'
mkdir -p good.old && touch good.old/file
run 3 -o good ./shop
check 'and one that has the name of the earlier trace' eval '[ ! -d good.old/good ] && run 125 -o good ./shop && has err "good.old: it is no trace" && [ -f good.old/file ] && ctrace show good >again'
rm good.old/file
run 3 -o good ./shop
touch good.old/note
check 'files that belong to no trace stay' eval 'run 125 -o good ./shop && has err "it has files that belong to no trace" && [ -f good.old/note ]'
check 'a trace needs a directory' run 125 -o nowhere/trace ./shop
check 'a name that a configuration cannot have' run 125 -o "a\$b" ./shop
check 'a report in the place of a directory' eval 'run 125 --report mine ./shop && has err "mine: it is a directory; name a file in it" && is "$(<out)" ""'
check 'an empty name of the trace' eval 'run 2 -o "" ./shop && has err "-o has an empty name"'
check 'of the report' eval 'run 2 --report= ./shop && has err "--report has an empty name"'
check 'of the configuration' eval 'run 2 --config= ./shop && has err "--config has an empty name"'
check 'no directory for the configuration' eval 'TMPDIR=$PWD/nowhere run 3 ./shop && has err "$PWD/nowhere: the configuration of the run cannot be written there: No such file or directory; set TMPDIR"'
check 'the report cannot be written' eval 'run 125 --report nowhere/x.html ./shop && has err "nowhere/x.html: No such file"'

# ---- options
traced() { # OPTION...: the events, by name
	run 3 --summary=never -o some "$@" ./shop && ctrace show some >shown
}
check 'calls alone' eval 'traced --calls && has shown ENTRY && lacks shown PARAGRAPH && lacks shown READNEXT'
check 'with errors of files' has shown 'OPEN ERROR select="MISSING"'
page() { # OPTION...: the page
	run 3 --summary=always -o some "$@" ./shop
}
check 'its page says what was not traced, and which option traces it' eval 'page --calls && has err "Paragraphs were not traced: add --paragraphs." && has err "Files were not traced: add --files." && has err "OPEN of MISSING: status 35" && lacks err "No paragraph"'
check 'and of paragraphs' eval 'page --paragraphs && has err "Programs were not traced: add --calls." && has err WRITE-ONE'
check 'and of a level' eval 'page --level=info && has err "Paragraphs were not traced: their level is debug, which --level excludes." && grep -qE "^CUSTOMER +- +- +- " err'
check 'and of a level that leaves only errors' eval 'page --level=warn && has err "Programs were not traced: their level is info, which --level excludes." && has err "Files were not traced" && has err "OPEN of MISSING"'
check 'and of both' eval 'page --calls --level=info && has err "Paragraphs were not traced: add --paragraphs and --level=debug."'
check 'its page has one file, and the errors of all' eval 'page --files=customer && grep -qE "^CUSTOMER +101 " err && ! grep -qE "^MISSING " err && has err "OPEN of MISSING: status 35"'
check 'its page of one that failed' eval 'page --files=nosuch,missing && grep -qE "^MISSING " err && ! grep -qE "^CUSTOMER " err'
check 'its page of none' eval 'page --files=nosuch && has err "The trace has none of the files that --files names."'
check 'files alone' eval 'traced --files && has shown READNEXT && lacks shown ENTRY'
check 'one file' eval 'traced --files=missing && has shown "OPEN ERROR" && lacks shown CUSTOMER'
check 'paragraphs alone' eval 'traced --paragraphs && has shown PARAGRAPH && lacks shown ENTRY'
check 'statements, which the compiler has left out' eval 'traced --statements && lacks shown STATEMENT'
check 'a level' eval 'traced --level info && has shown ENTRY && lacks shown PARAGRAPH && lacks shown "READNEXT DEBUG"'
check 'texts' eval 'traced --io && has shown "DISPLAY INFO text=\"FIVE\""'
check 'records' eval 'traced --records && has shown "record=3030303141444120"'
check 'records beside another part: their files are traced' eval 'traced --records --calls && has shown "record=3030303141444120"'
cat >files.yaml <<'YAML'
component: mf.mffh.xfh
records: {CUSTOMER: whole.cpy}
YAML
check 'records by their copybook' eval 'ctrace show --catalog files.yaml some >shown && has shown "CUST-ID=0001" && has shown READNEXT'
check 'and in JSON' eval 'ctrace show --catalog files.yaml --json some >json && has json "\"CUST-NAME\":\"ADA\""'
check 'a report' eval 'run 3 --summary=never --report out.html ./shop && has out.html "</html>"'
check 'the report does not go to the program'\''s output' is "$(<out)" "$(<alone.out)"
tail_all() {
	ctrace run --summary=never --tail ./shop >out 2>err
	is $? 3 && is "$(grep -c ' mf\.' err)" "$(ctrace show shop.ctb | wc -l)" && cmp out alone.out
}
check 'all events as they come' tail_all

# ---- configuration
cat >user.cfg <<'CONFIG'
mftrace.application = (shop)
mftrace.level.mf.rts = none
mftrace.comp.mf.rts#exceptions = true
mftrace.emitter.binfile#file = elsewhere.ctb
mftrace.level.mf.rts.io = info
CONFIG
check 'a file for another program is left out' eval 'run 3 --config user.cfg ./shop && ctrace show shop.ctb >shown && lacks shown EXCEPTION && has shown ENTRY'
sed -i 's/(shop)/shop/' user.cfg
check 'another one inside has the trace' is "$(ctrace run --summary=auto -o outer.ctb ctrace run --summary=never ./shop 2>&1 >/dev/null </dev/null | grep ^ctrace)" \
	'ctrace run: ctrace: the ctrace run inside has the trace'
check 'a file of the user'\''s goes before' eval 'run 3 --config user.cfg ./shop && ctrace show shop.ctb >shown && has shown EXCEPTION && has shown ENTRY && has shown DISPLAY'
check 'also by the environment' eval 'MFTRACE_CONFIG=user.cfg run 3 ./shop && ctrace show shop.ctb >shown && has shown EXCEPTION && [ ! -e elsewhere.ctb ]'
printf '%s\n' 'mftrace.dest.mf.rts = (textfile)' "mftrace.emitter.textfile#file = $PWD/other.log" >other.cfg
check 'other destinations do not take events from the trace' eval 'run 3 --config other.cfg ./shop && ctrace show shop.ctb >shown && has shown ENTRY && has other.log " mf.rts 6 "'
printf 'mftrace.level = loud\nmftrace.comp.mf.rts#exceptions = true\nnonsense\n' >wrong.cfg
wrong() {
	ctrace config check wrong.cfg 2>checked >/dev/null
	run 3 --config wrong.cfg ./shop
	is "$(wc -l <checked)" 2 && is "$(head -2 err)" "$(<checked)" && ctrace show shop.ctb >shown && has shown EXCEPTION
}
check 'lines with errors are reported as by ctrace config check, and the others count' wrong
sed -i 1i'mftrace.application = another' wrong.cfg
check 'not in a file for another program' eval 'run 3 --config wrong.cfg ./shop && lacks err wrong.cfg'
check 'one that is missing' eval 'run 125 --config nosuch.cfg ./shop && has err "nosuch.cfg: No such file" && [ ! -e nosuch.cfg ]'
check 'the program finds the libraries that it had' eval 'LD_PRELOAD=libSegFault-none.so:$CTRACE_BUILD/libctrace.so.1 ctrace run --summary=never bash -c "echo \$LD_PRELOAD" 2>/dev/null >out; has out "libctrace-cobol.so:libSegFault-none.so"'

# ---- several processes
cat >both.sh <<'PROGRAM'
#!/bin/bash
./shop; cobcrun PRICE 2>&1; exit 0
PROGRAM
chmod +x both.sh
check 'all programs of a script have one trace' eval 'run 0 ./both.sh && is "$(ls both.sh.ctb | wc -l)" 2'
check 'a module' eval 'run 0 cobcrun PRICE; ctrace show cobcrun.ctb >shown; has shown "program=\"PRICE\""'
cat >calls.cob <<'COBOL'
       IDENTIFICATION DIVISION.
       PROGRAM-ID. CALLS.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 N PIC 9(4) VALUE 1.
       PROCEDURE DIVISION.
           CALL "PRICE" USING N.
           CALL "PRICE" USING N.
COBOL
cobc -x -ftraceall calls.cob
stats_rows() { # OF BY: the rows of one name, without times
	ctrace stats --by="$2" "$1" | awk -v OFS=' ' 'NR > 3 && NF > 0 { print $1, $2 }'
}
check 'stats: a program has one row, without its search' eval 'run 0 ./calls && is "$(stats_rows calls.ctb program | sort)" "$(printf "CALLS 1\nPRICE 2")"'
check 'its search is another name' eval 'is "$(stats_rows calls.ctb called)" "PRICE 1"'
check 'stats: statements' eval 'run 0 --statements ./calls && stats_rows calls.ctb statement | grep -x "CALL STATEMENT"'
check 'stats: another word' eval '! ctrace stats --by=verb calls.ctb 2>err && has err "as program, paragraph, statement, select or file"'
cat >slow.cob <<'COBOL'
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SLOW.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT GO-ON ASSIGN TO "go-on"
               ORGANIZATION IS LINE SEQUENTIAL.
       DATA DIVISION.
       FILE SECTION.
       FD GO-ON.
       01 GO-REC PIC X(80).
       PROCEDURE DIVISION.
       BEGIN-IT.
           OPEN INPUT GO-ON.
           CLOSE GO-ON.
COBOL
cobc -x slow.cob && mkfifo go-on
printf '#!/bin/bash\n./slow & for i in {1..500}; do ls -d background.sh.ctb/slow.* 2>/dev/null && break; sleep 0.02; done; echo $! >background.pid; exit 4\n' >background.sh
printf '#!/bin/bash\nread -r < go-on & echo $! >background.pid; exit 4\n' >waiting.sh
chmod +x background.sh waiting.sh
background() {
	run 4 --summary=always ./background.sh
	is "$(head -1 err)" "ctrace run: process $(<background.pid) (slow): it still runs and traces into background.sh.ctb; the page has what was there so far" &&
		: >go-on && await eval 'ctrace show background.sh.ctb | grep ENVEXIT'
}
check 'a program in the background traces on, and its process is reported' background
waiting() {
	run 4 ./waiting.sh
	is "$(<err)" "ctrace run: process $(<background.pid) (waiting.sh): it still runs; a COBOL program that it starts from now on is not traced" &&
		[ ! -e waiting.sh.ctb ] && : >go-on
}
check 'so is another process, in place of a reason why nothing was traced' waiting
cat >fail.cob <<'COBOL'
       IDENTIFICATION DIVISION.
       PROGRAM-ID. FAIL.
       PROCEDURE DIVISION.
           CALL "NOWHERE".
COBOL
cobc -x -g fail.cob
failing() {
	./fail >alone.out 2>alone.err
	local status=$?
	ctrace run --summary=always ./fail >run.out 2>run.err
	is $? $status && cmp alone.out run.out && has run.err 'NOWHERE' && has run.err 'in FAIL'
}
check 'a run-time error' failing
little_memory() {
	(ulimit -v 70000 && run 3 -o little.ctb ./shop) || return
	has err './shop: its limit of 70000 KiB of address space (ulimit -v) has no room for tracing, which is from 262144 KiB on; the program runs untraced'
}
check 'little memory: the program runs, and the limit is the reason' little_memory
doctor() {
	local version
	version=$(cobcrun --version | sed -n '1s/.* \([0-9]*\.[0-9]*\).*/\1/p')
	ctrace doctor ./shop >out 2>err
	grep -qE "^cobol +/.*/libcob\.so[.0-9]* is ${version}[0-9.]*; $CTRACE_BUILD/libctrace-cobol\.so is for $version, and was not loaded: ctrace run loads it; without it no run-time error is traced or dumped$" out || { cat out; return 1; }
	LD_PRELOAD=$CTRACE_BUILD/libctrace-cobol.so ctrace doctor --json ./shop 2>/dev/null >json
	has json '"loaded":true' && has json "\"built_for\":\"$version\"" && ctrace doctor true | { ! grep '^cobol'; }
}
check 'ctrace doctor reports the run time, and the library for it' doctor
few() { # LIMIT WANTED-STATUS
	(ulimit -n "$1" && for fd in $(seq 3 "$1"); do eval "exec $fd>&-"; done; run "$2" ./shop)
}
check 'few descriptors: the program works' few 20 3
check 'and what they are needed for is reported' has err './shop: tracing takes some 8 of its 20 descriptors (ulimit -n)'
check 'too few: the program runs untraced' eval 'few 6 3 && has err "Too many open files; the program runs untraced"'
check 'and so with each number below that at which it can' eval 'for n in 7 8 9 10 11 12; do few $n 3 || break; done; is $n 12'
check 'nothing is left' empty
end
