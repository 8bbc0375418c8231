#!/usr/bin/env bash
# Each system call that tracing makes fails in turn, once and for good: the program never notices, and every event is delivered, recovered
# later, or counted.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

# shellcheck source=tests/static_steps.sh
source "$CTRACE_SOURCE/tests/static_steps.sh"

link_steps "system calls that fail"
strace -f -qq -o strace.out -e trace=openat ./steps say traced >out 2>err ||
	skip_all "system calls that fail" "strace does not work here: $(tail -1 err)"

cat >cfg <<END
mftrace.level = debug
mftrace.dest = textfile, binfile
mftrace.emitter.textfile#file = x.log
mftrace.emitter.binfile#file = x.ctb
mftrace.emitter.textfile#format = \$(DATA)
END
export MFTRACE_CONFIG=$PWD/cfg
program=(./steps trace a 1 300 flush trace a 1 300 flush stats say alive)

# Stops at the one call only, where strace and the kernel can do that.
filter=()
strace --seccomp-bpf -f -qq -o strace.out -e trace=openat ./steps say traced >out 2>err && filter=(--seccomp-bpf)

# Keeps what a run left, for judge: its number is that of a directory.
keep() { # NUMBER WHAT STATUS
	mkdir "kept/$1"
	# Without a ring's file in the run directory nobody can recover what the process could not write.
	find "$CTRACE_RUN_DIR" -path '*/[0-9]*/ring.*' >"kept/$1/rings" 2>/dev/null
	for _ in 1 2 3; do ctrace recover >"kept/$1/recovered" 2>&1 && break; done
	: >"kept/$1/viewed"
	[ ! -e x.ctb ] || babeltrace2 x.ctb >"kept/$1/viewed" 2>"kept/$1/diagnostics"
	[ ! -e x.log ] || mv x.log "kept/$1/"
	mv said "kept/$1/"
	echo "$2: status $3" >"kept/$1/what"
}

# What is true whatever failed, of all that is kept: one Python for all of them.
judge() {
	python3 - <<'END'
import os, re

def read(number, name):
    with open(f'kept/{number}/{name}', errors='replace') as file:
        return file.read()

def judge(number):
    said = read(number, 'said')
    assert re.search(r': status 0$', read(number, 'what')) and re.search(r'^alive$', said, re.M)
    assert 'kept' not in read(number, 'recovered'), read(number, 'recovered')
    emitted, delivered, pending, lost = map(int, re.search(r'emitted (\d+) delivered (\d+) pending (\d+) lost (\d+)', said).groups())
    assert emitted == delivered + pending + lost
    assert emitted in (0, 600) # 0: the configuration could not be read
    gone = lost if read(number, 'rings') else lost + pending
    for name, pattern in (('x.log', r'^ (\d+) "step"$'), ('viewed', r'data1 = (\d+), data2_len = 4, data2 = "step"')):
        try:
            found = [int(digits) for digits in re.findall(pattern, read(number, name), re.M)]
        except FileNotFoundError:
            found = []
        traced, at = list(range(1, 301)) * 2, 0
        for one in found: # nothing twice, nothing out of order
            at = traced.index(one, at) + 1
        assert len(found) + gone >= emitted, (name, len(found), gone, emitted)

bad = 0
for number in sorted(os.listdir('kept'), key=int):
    try:
        judge(number)
    except Exception as wrong:
        bad += 1
        print(read(number, 'what'), repr(wrong), read(number, 'said'), sep='\n')
raise SystemExit(bad > 0)
END
}

# Each call of each thread, once and from there on: strace counts a thread's calls.  The last turn is the one in which nothing fails.
fail() { # CALL ERROR...
	local call=$1 error turn runs=0 forever is_met
	shift
	rm -rf kept
	mkdir kept
	for error; do
		is_met=yes
		for ((turn = 1; turn <= 40 && ${#is_met} > 0; turn++)); do
			is_met=''
			for forever in '' +; do
				rm -rf x.* "$CTRACE_RUN_DIR"
				timeout 60 strace "${filter[@]}" -f -qq -o strace.out -e trace="$call" -e inject="$call:error=$error:when=$turn$forever" \
					"${program[@]}" >said 2>&1
				keep "$runs" "$call $error when=$turn$forever" $?
				runs=$((runs + 1))
				! grep -q '(INJECTED)$' strace.out || is_met=yes
			done
		done
	done
	check "$call fails ($*), $runs times" judge
}
fail openat EMFILE EACCES
fail pwrite64 ENOSPC EIO
fail ftruncate EIO
fail fallocate ENOSPC
fail mkdirat ENOSPC
fail mkdir EACCES
fail renameat2 EIO
fail fcntl EINVAL
fail flock ENOLCK
fail mmap ENOMEM
fail clone3 EAGAIN
fail pread64 EIO
fail fdatasync EIO
end
