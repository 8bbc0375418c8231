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

strace -f -qq -o strace.out "${program[@]}" >out 2>&1
calls() { grep -cE "^[0-9]+ +$1\(" strace.out; }

# What is true whatever failed.
whole() { # STATUS
	local rings
	[ "$1" = 0 ] && grep -qx alive said || { echo "status $1"; return 1; }
	# Without a ring's file in the run directory nobody can recover what the process could not write.
	rings=$(find "$CTRACE_RUN_DIR" -path '*/[0-9]*/ring.*' 2>/dev/null | wc -l)
	for _ in 1 2 3; do ctrace recover >recovered 2>&1 && break; done
	grep kept recovered && return 1
	: >viewed
	[ ! -e x.ctb ] || babeltrace2 x.ctb >viewed 2>diagnostics
	python3 - "$rings" <<'END'
import re, sys
said = open('said').read()
emitted, delivered, pending, lost = map(int, re.search(r'emitted (\d+) delivered (\d+) pending (\d+) lost (\d+)', said).groups())
assert emitted == delivered + pending + lost
assert emitted in (0, 600) # 0: the configuration could not be read
gone = lost if sys.argv[1] != '0' else lost + pending
for path, pattern in (('x.log', r'^ (\d+) "step"$'), ('viewed', r'data1 = (\d+), data2_len = 4, data2 = "step"')):
    try:
        found = [int(number) for number in re.findall(pattern, open(path).read(), re.M)]
    except FileNotFoundError:
        found = []
    traced, at = list(range(1, 301)) * 2, 0
    for number in found: # nothing twice, nothing out of order
        at = traced.index(number, at) + 1
    assert len(found) + gone >= emitted, (path, len(found), gone, emitted)
END
}

fail() { # CALL ERROR...
	local call=$1 total error turn good=yes runs=0 status
	shift
	total=$(calls "$call")
	for error; do
		for ((turn = 1; turn <= total + 1 && turn <= 40; turn++)); do
			for forever in '' +; do
				rm -rf x.* "$CTRACE_RUN_DIR"
				timeout 60 strace -f -qq -o /dev/null -e inject="$call:error=$error:when=$turn$forever" "${program[@]}" >said 2>&1
				status=$?
				runs=$((runs + 1))
				whole $status >why 2>&1 || { good=''; break 3; }
			done
		done
	done
	check "$call fails ($*), $runs times" bash -c "[ -n '$good' ] || { echo '$call $error when=$turn$forever'; cat why said; false; }"
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
