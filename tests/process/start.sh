#!/usr/bin/env bash
# What a process pays for being traced before it has traced much: system calls of a whole short process, threads and blocks of an idle one.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

skip_all() {
	echo "ok 1 - a short process # SKIP $1"
	echo 1..1
	exit 0
}
# Without the dynamic loader every call is the program's or ours.
gcc -std=gnu17 -D_GNU_SOURCE -I"$CTRACE_SOURCE/include" -static-libgcc -o steps "$CTRACE_SOURCE/tests/process/steps.c" "$CTRACE_BUILD/libctrace.a" \
	-static -pthread 2>err || skip_all "cannot link: $(tail -1 err)"

# System calls of all threads, the file's waits for each other left out: how many those are depends on the machine's other work.
count_calls() { # STEP...
	strace -f -qq -o strace.out ./steps "$@" >out 2>&1 || return 1
	grep -cvE '^[0-9]+ +(<\.\.\. |\+\+\+|---|futex\()' strace.out
}
within() { # LIMIT STEP...
	local limit=$1 calls
	shift
	calls=$(count_calls "$@") || { cat out; return 1; }
	echo "$calls system calls, of which an empty process makes $empty"
	[ $((calls - empty)) -le "$limit" ]
}

configure() { # DESTINATION
	cat >cfg <<-END
		mftrace.level = debug
		mftrace.dest = $1
		mftrace.emitter.textfile#file = x.log
		mftrace.emitter.binfile#file = x.ctb
	END
	export MFTRACE_CONFIG=$PWD/cfg
}

if strace -f -qq -o strace.out ./steps say traced >out 2>err; then
	empty=$(count_calls)
	check "a short process that is not configured" within 200 trace a 1 1
	configure textfile
	check "a short process that writes a TEXTFILE" within 380 trace a 1 1
	configure binfile
	check "a short process that writes a BINFILE" within 450 trace a 1 1
	unset MFTRACE_CONFIG
fi

mkfifo go
mkdir logs
MFTRACE_LOGS=$PWD/logs ./steps trace a 1 1 say ready pause trace a 1 1 flush <go >said 2>&1 &
idle=$!
exec 3>go
until grep -q ready said; do
	kill -0 $idle || break
done

blocks() { find "$CTRACE_RUN_DIR" -type f -printf '%b\n' | awk '{ sum += $1 } END { print sum + 0 }'; }
few_blocks() {
	echo "$(($(blocks) / 2)) KiB"
	find "$CTRACE_RUN_DIR" -type f -printf '%k KiB %P\n'
	[ "$(blocks)" -le 128 ]
}
one_thread() {
	ls -l /proc/$idle/task
	[ "$(find /proc/$idle/task -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]
}
check "the files of an idle process take 64 KiB at most" few_blocks
check "an idle process has one thread of the library" one_thread
check "an operator turns tracing on in it" ctrace level a debug
echo >&3
exec 3>&-
wait $idle
check "and its next event is in the output" grep -r step logs
end
