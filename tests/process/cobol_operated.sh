#!/usr/bin/env bash
# A COBOL program that only traces is operated from another process: TRACE CT reaches its start/stop routine, a change of level its callback,
# both inside its next CBL_ call.
set -u
. "$CTRACE_SOURCE/tests/tap.sh"

cat >op.cfg <<'END'
mftrace.level = error
mftrace.dest = textfile
mftrace.emitter.textfile#file = op.log
END

# said N TEXT - within a bounded time the program has said TEXT so many times in all
said() {
	for _ in $(seq 2000); do
		[ "$(grep -cx -- "$2 *" said)" = "$1" ] && return 0
		sleep 0.01
	done
	echo "not $1 times \"$2\" in:"
	cat said
	return 1
}
# answers TEXT OPTIONS - TRACE CT with these options is answered with TEXT
answers() {
	local got
	got=$(ctrace op --reply "OPTIONS=($2),END" 'TRACE CT,ON,COMP=OPERATED' 2>&1)
	grep -qF -- "$1" <<<"$got" && return 0
	printf 'not "%s" in:\n%s\n' "$1" "$got"
	return 1
}
quietly() { "$@" >/dev/null; }
shows() { ctrace op 'D TRACE,COMP=OPERATED' | tee shown | grep -qE -- "$1" || { cat shown && return 1; }; }

check 'it compiles' cobc -x -w -fixed -I "$CTRACE_SOURCE/copy" -Q "-Wl,--no-as-needed,-rpath,$CTRACE_BUILD" "-L$CTRACE_BUILD" -lctrace \
	-o operated "$CTRACE_SOURCE/tests/cobol/operated.cbl"
mkfifo input
MFTRACE_CONFIG=$PWD/op.cfg timeout 120 ./operated <input 2>said &
program=$!
exec 3>input
check 'it is ready' said 1 ready

# ---- while it reads it makes no CBL_ call
check 'a command waits for the next call, and the operator is told' answers "the routine OPSS runs in the program's next CBL_ call" EARLY
check 'so does another' answers "the routine OPSS runs in the program's next CBL_ call" SECOND
check 'nothing has happened yet' said 0 'OPSS.*'
check 'a display shows it as it is, and calls no routine in COBOL' shows '^ *(MIN|OFF) '
check 'a change of level' quietly ctrace level PLAIN debug
check 'is not heard of yet' said 0 'heard.*'

# ---- now it traces
echo go >&3
check 'the commands are carried out, in order' said 1 'OPSS flags 0000000128 mode 0000000002 option EARLY'
check 'each once' said 1 'OPSS flags 0000000128 mode 0000000002 option SECOND'
check 'the change is heard of' said 1 'heard 0000000000'
check 'the last command counts' shows 'OPTIONS +SECOND'
check 'a command has the outcome of the routine' answers 'Told the program.' THIRD
check 'it ran once' said 1 'OPSS flags 0000000128 mode 0000000002 option THIRD'
check 'the routine refuses' answers 'BAD is not an option.' BAD
check 'then nothing has changed' shows 'OPTIONS +THIRD'
check 'levels are changed' quietly ctrace level PLAIN warn
check 'and heard of inside the next call' said 1 'heard 0000000002'
check 'switched off' quietly ctrace op --reply END 'TRACE CT,OFF,COMP=OPERATED'
check 'the routine stops it' said 1 'OPSS flags 0000000064 mode 0000000000 option.*'
check 'the last' answers 'Told the program.' STOP
wait "$program"
status=$?
check 'it ends as it would have' test "$status" = 0
check 'it has traced' grep -q 'OPERATED 1 1' op.log
end
