#!/bin/sh
# sources.sh PATTERN... - the files that match, one a line, in an order that does not depend on the locale.
cd "$(dirname "$0")/.." || exit 1
for pattern; do
	# shellcheck disable=SC2086 # the pattern is to be expanded
	for file in $pattern; do
		[ ! -f "$file" ] || echo "$file"
	done
done | LC_ALL=C sort
