#!/usr/bin/env bash
# clock.sh - which clock events have, and why: chosen by the key ctrace.clock; named by list, doctor and the metadata of a trace.
set -u
. "$CTRACE_SOURCE/tests/tap.sh"
subject=$CTRACE_BUILD/tests/tool_subject

is_named() { # KEY NAME: in doctor's line, in list's JSON and in the metadata
	printf 'mftrace.level = info\nmftrace.dest = binfile\nctrace.clock = %s\n' "$1" >"$1.cfg"
	rm -rf ./*.ctb
	MFTRACE_CONFIG=$1.cfg ctrace doctor "$subject" 3 >out || { cat out; return 1; }
	grep -E "^clock +$2" out && grep -E "^.description = \"$2" ./*.ctb/metadata &&
		[ "$(ctrace show ./*.ctb | wc -l)" -ge 6 ] || { cat out; return 1; }
}
has_counter() { grep -qw constant_tsc /proc/cpuinfo && grep -qw nonstop_tsc /proc/cpuinfo; }

check 'monotonic is CLOCK_MONOTONIC' is_named monotonic 'CLOCK_MONOTONIC: ctrace.clock says so'
if has_counter; then
	check 'counter is the TSC' is_named counter 'tsc: ctrace.clock says so'
else
	check 'counter, without one' is_named counter '(cntvct_el0: .|CLOCK_MONOTONIC: no invariant counter, though ctrace.clock asks)'
fi
check 'auto has a reason' is_named auto '[A-Za-z_0-9]+: (the|all|no) .'
printf 'ctrace.clock = tsc\n' >wrong.cfg
check 'another value is an error' bash -c '! ctrace config check wrong.cfg >out 2>err && grep -q "auto, counter or monotonic" out err'
end
