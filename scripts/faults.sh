#!/bin/sh
# faults.sh FOLDER [NAME] - every test program in its long form (CTRACE_TEST_LONG=1), under AddressSanitizer and UndefinedBehaviorSanitizer.
set -eu
cd "$(dirname "$0")/.."
export CTRACE_TEST_LONG=1
export ASAN_OPTIONS=strict_string_checks=1:abort_on_error=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
scripts/configure.sh "$1" -Db_sanitize=address,undefined -Dtests=enabled
exec scripts/test.sh "$1" compiled "${2:-}"
