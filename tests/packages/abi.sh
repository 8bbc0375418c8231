#!/usr/bin/env bash
# Programs that were compiled with the released libctrace.so run with this one (scripts/abi.sh).
set -u
. "$CTRACE_SOURCE/tests/tap.sh"

skip() { echo "ok 1 - the interface of libctrace.so # SKIP $1"; echo '1..1'; exit 0; }
command -v abidiff >/dev/null || skip 'no abidiff (abigail-tools)'
readelf -S "$CTRACE_BUILD/libctrace.so.1" | grep -q '\.debug_info' || skip 'the build has no debug information'
! readelf -d "$CTRACE_BUILD/libctrace.so.1" | grep -qE 'lib(a|t|ub)san' || skip 'a build with sanitizers exports more'

check 'the interface of libctrace.so' "$CTRACE_SOURCE/scripts/abi.sh" "$CTRACE_BUILD" check
end
