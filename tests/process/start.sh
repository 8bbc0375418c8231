#!/usr/bin/env bash
# What a process pays for being traced before it has traced much: system calls of a whole short process, threads and blocks of an idle one.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

# shellcheck source=tests/static_steps.sh
source "$CTRACE_SOURCE/tests/static_steps.sh"

link_steps "a short process"
unset MALLOC_PERTURB_ # touches what is allocated

# What a run costs: system calls of the main thread, and of the other threads; their waits for each other are left out, as those depend on
# the machine's other work; threads; page faults.  Each run makes its output anew: one that finds the output of another run looks at that first.
count_costs() { # STEP...
	local main
	rm -rf x.log x.ctb
	strace -f -qq -o strace.out ./steps "$@" >out 2>&1 || return 1
	main=$(sed -n '1s/ .*//p' strace.out)
	grep -vE '^[0-9]+ +(<\.\.\. |\+\+\+|---|futex\()' strace.out >calls.out
	calls=$(grep -c "^$main " calls.out)
	others=$(grep -vc "^$main " calls.out)
	threads=$(grep -cE '^[0-9]+ +clone3?\(' strace.out)
	rm -rf x.log x.ctb
	faults=$(python3 -c 'import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
print(os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet), 0)[2].ru_minflt)' ./steps "$@") || return 1
}
# Where the kernel's clock is not the processor's counter, nine calls compare the costs of the two.
[ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>err)" = tsc ] && compared=0 || compared=9
# One run of many: how far the other threads get before the process ends, and what they wait for, depends on the machine's other work.
within() { # CALLS CALLS-OF-OTHERS THREADS FAULTS STEP...
	local most=("$1" "$2" "$3" "$4") tries is_cheap='' least=''
	shift 4
	for ((tries = 0; tries < 200; tries++)); do
		count_costs "$@" || { cat out; return 1; }
		[ "${least:-$faults}" -ge "$faults" ] && least=$faults
		echo "$calls system calls and $others of other threads, $threads threads, $faults page faults; an empty process: ${empty[*]}"
		[ $((calls - empty[0] - compared)) -le "${most[0]}" ] && [ "$others" -le "${most[1]}" ] && [ $((threads - empty[1])) -le "${most[2]}" ] && is_cheap=1
		[ -n "$is_cheap" ] && [ $((least - empty[2])) -le "${most[3]}" ] && return 0
	done
	return 1
}

# What each of a thousand sublevels costs: whatever else the process does, it does once.
few_calls_a_sublevel() {
	local before
	count_costs define 1 || { cat out; return 1; }
	before=$((calls + others))
	count_costs define 1001 || { cat out; return 1; }
	echo "$((calls + others - before)) system calls to define and delete 1000 sublevels"
	[ $((calls + others - before)) -le 10500 ]
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
	count_costs
	empty=("$calls" "$threads" "$faults")
	check "a sublevel is defined and deleted with ten system calls" few_calls_a_sublevel
	check "a short process that is not configured" within 45 0 0 40 trace a 1 1
	configure textfile
	check "a short process that writes a TEXTFILE" within 189 90 3 120 trace a 1 1
	configure binfile
	check "a short process that writes a BINFILE" within 189 175 3 130 trace a 1 1
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
	[ "$(blocks)" -le 144 ]
}
one_thread() {
	ls -l /proc/$idle/task
	[ "$(find /proc/$idle/task -mindepth 1 -maxdepth 1 | wc -l)" = 1 ]
}
check "the files of an idle process take 72 KiB at most" few_blocks
check "an idle process has no thread of the library" one_thread
check "an operator turns tracing on in it" ctrace level a debug
echo >&3
exec 3>&-
wait $idle
check "and its next event is in the output" grep -r step logs
end
