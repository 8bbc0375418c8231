#!/bin/sh
# modules.sh - the lines of packaging/modules.list whose modules the tree has: NAME|DEBIAN|PKG-CONFIG|SUMMARY.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
sed -n 's/[ \t]*|[ \t]*/|/g; /^[a-z]/p' packaging/modules.list | while IFS='|' read -r name rest; do
	for file in modules/"$name"*.c modules/"$name"/; do
		[ ! -e "$file" ] || { echo "$name|$rest"; break; }
	done
done
