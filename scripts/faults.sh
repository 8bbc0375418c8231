#!/bin/sh
# faults.sh DIRECTORY SANITIZED [NAME] - the battery of faults in its long form (docs/faults.md) against the build in DIRECTORY, then every
# test program in its long form in SANITIZED, under AddressSanitizer and UndefinedBehaviorSanitizer, then the programs that do not fork
# in SANITIZED-threads, in their short form, under ThreadSanitizer.
#
# NAME picks what has it in its name.  The table of trials is in DIRECTORY/battery.txt, what each one wrote in DIRECTORY/battery/.
set -eu
cd "$(dirname "$0")/.."
directory=$1 sanitized=$2 name=${3#tests/}
export CTRACE_TEST_LONG=1
status=0

scripts/configure.sh "$directory" -Dtests=enabled
ninja -C "$directory" programs meson-test-prereq

logs=$directory/battery
mkdir -p "$logs"
rm -f "$logs"/*.log
for trial in tests/faults/*.py; do
	case $trial in *"$name"*) [ ! -x "$trial" ] || echo "$trial" ;; esac
done | CTRACE_SOURCE=$PWD CTRACE_BUILD=$(realpath "$directory") xargs -r -P "$(nproc)" -I '{}' sh -c '
	log=$1/$(basename "$2" .py).log
	tests/run "$2" >"$log" 2>&1 || :
	grep -q "^# battery |" "$log" || echo "# battery | $(basename "$2" .py) | 0 | FAILED: $(tail -n 1 "$log")" >>"$log"
' sh "$logs" '{}'
if ls "$logs"/*.log >/dev/null 2>&1; then
	scripts/faults-table.py "$logs"/*.log >"$directory/battery.txt" || status=1
	cat "$directory/battery.txt"
fi

case $name in
'' | unit* | process* | interleave* | fuzz*)
	# Without a signal stack of its own for each thread: when a cancelled thread ends, the sanitizer returns it through frames that
	# the cancellation has skipped, and reports itself.
	export ASAN_OPTIONS=strict_string_checks=1:abort_on_error=1:use_sigaltstack=0
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	scripts/configure.sh "$sanitized" -Db_sanitize=address,undefined -Dtests=enabled
	scripts/test.sh "$sanitized" compiled "$name" || status=1
	;;
esac
case $name in
'' | unit* | interleave*)
	unset CTRACE_TEST_LONG
	# A thread in a method that never returns is left behind at the end of the process, as documented.
	export TSAN_OPTIONS=report_thread_leaks=0:second_deadlock_stack=1
	scripts/configure.sh "$sanitized-threads" -Db_sanitize=thread -Db_lundef=false -Dtests=enabled
	scripts/test.sh "$sanitized-threads" threads "$name" || status=1
	;;
esac
exit "$status"
