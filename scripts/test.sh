#!/bin/sh
# test.sh DIRECTORY all|quick|compiled|threads [NAME] - builds and runs the tests in DIRECTORY; the last line is "N passed, N failed".
#
# quick leaves out the tests that start programs of ours or compile, compiled those that are scripts, threads all but the programs of tests/unit/ and
# tests/interleave/ that do not fork by themselves.  NAME picks those that have it in their name.
set -eu
cd "$(dirname "$0")/.."
directory=$1 extent=$2 name=${3#tests/}

scripts/configure.sh "$directory" -Dtests=enabled
ninja -C "$directory" programs meson-test-prereq

names=$(meson test -C "$directory" --list 2>/dev/null | sed -n 's/^.* \/ //p' | grep -F -- "$name" || :)
case $extent in
quick) names=$(echo "$names" | grep -vE '^(process|faults|bench|install|cobol)/|demo|transcripts|warnings' || :) ;;
compiled) names=$(echo "$names" | grep -vE '\.(sh|py)$' || :) ;;
threads) names=$(for test in $(echo "$names" | grep -E '^(unit|interleave)/'); do grep -q 'fork(' "tests/$test.c" || echo "$test"; done) ;;
esac
if [ -z "$names" ]; then
	echo "No test has '$name' in its name."
	exit 2
fi
# Many tests wait for processes of theirs: twice as many at once as there are processors.
export MESON_TESTTHREADS="${MESON_TESTTHREADS:-$(($(nproc) * 2))}"
# A log of its own: another run may be going on in DIRECTORY.  The report decides; Meson's status does not tell skipped from passed.
logs=$directory/meson-logs log=test.$$
status=0
# shellcheck disable=SC2086 # a list of words
meson test -C "$directory" --no-rebuild --logbase "$log" $names || :
# shellcheck disable=SC2086
scripts/report.py "$logs/$log.json" $names >"$logs/$log.report" || status=1
for kind in json txt junit.xml; do
	[ ! -f "$logs/$log.$kind" ] || mv "$logs/$log.$kind" "$logs/testlog.$kind"
done
cat "$logs/$log.report"
rm -f "$logs/$log.report"
exit "$status"
