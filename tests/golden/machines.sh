#!/usr/bin/env bash
# Traces that machines of other kinds have written, read here: machines/MACHINE has a trace of tests/process/items_subject.c, and the outputs of the
# ctrace and the babeltrace2 that read it there.  `make cross` writes them anew (scripts/cross.sh) with CROSS_ACCEPT=1.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

same() { # FILE COMMAND...
	diff "$1" <("${@:2}" 2>&1)
}
export CTRACE_CATALOG=$CTRACE_SOURCE/tests/golden/machines/items.yaml
for machine in "$CTRACE_SOURCE"/tests/golden/machines/*/; do
	name=$(basename "$machine")
	cp -r "$machine" "$name"
	cd "$name" || exit 1
	check "$name: show" same show.txt ctrace show items.ctb
	check "$name: show in JSON" same show.json ctrace show --json items.ctb
	check "$name: a native number of a record in a filter" same filter.txt \
		ctrace show --filter 'data.record.NR-COUNT == -123456 && data.record.NR-RATIO < 0' items.ctb
	check "$name: stats" same stats.txt ctrace stats items.ctb
	check "$name: ipcs" same ipcs.txt ctrace ipcs 'CTRACE COMP(MACHINE.ITEMS) FULL' items.ctb
	check "$name: babeltrace2" same babeltrace.txt babeltrace2 items.ctb
	cd ..
done
end
