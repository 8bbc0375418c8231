#!/bin/sh
# modules.sh - the lines of packaging/modules.list whose modules the tree has: NAME|BUILD-DEPENDS|SUMMARY.
set -eu
cd "$(dirname "$0")/.."
sed -n 's/[ \t]*|[ \t]*/|/g; /^[a-z]/p' packaging/modules.list | while IFS='|' read -r name needs summary; do
	for file in modules/"$name"*.c; do
		[ ! -e "$file" ] || { echo "$name|$needs|$summary"; break; }
	done
done
