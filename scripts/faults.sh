#!/bin/sh
# faults.sh FOLDER [NAME] - every test in its long form (CTRACE_TEST_LONG=1), under AddressSanitizer and UndefinedBehaviorSanitizer.
set -eu
cd "$(dirname "$0")/.."
export CTRACE_TEST_LONG=1
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=1:verify_asan_link_order=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
scripts/configure.sh "$1" -Db_sanitize=address,undefined -Dtests=enabled
exec scripts/test.sh "$1" all "${2:-}"
