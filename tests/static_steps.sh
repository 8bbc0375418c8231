# shellcheck shell=bash
# static_steps.sh - sourced by test scripts that count system calls or make them fail: links steps.c without the dynamic loader, so that
# every call is the program's or ours.  Skips the test where that cannot be linked.

skip_all() {
	echo "ok 1 - $1 # SKIP $2"
	echo 1..1
	exit 0
}
link_steps() { # WHAT
	gcc -std=gnu17 -D_GNU_SOURCE -I"$CTRACE_SOURCE/include" -static-libgcc -o steps "$CTRACE_SOURCE/tests/process/steps.c" \
		"$CTRACE_BUILD/libctrace.a" -static -pthread 2>err || skip_all "$1" "cannot link: $(tail -1 err)"
}
