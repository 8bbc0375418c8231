#!/usr/bin/env bash
# stage.sh DIRECTORY [DATE] - copies the sources into DIRECTORY, which is made anew, for a build of packages.
#
# The copy has what git tracks or would track; without git, everything but builds.  All files get the DATE, in seconds since 1970: that of
# the package's last change unless given.  So a file that is installed as it is has the same date and mode in all builds.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
directory=$1
date=${2:-$(date -d "$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -1)" +%s)}

rm -rf "$directory"
mkdir -p "$directory"
if [ -e .git ] && git rev-parse --git-dir >/dev/null 2>&1; then
	git ls-files -z --cached --others --exclude-standard
else
	find . -mindepth 1 \( -name 'build*' -o -name .git \) -prune -o ! -type d -print0
fi | while IFS= read -r -d '' file; do [ ! -e "$file" ] && [ ! -L "$file" ] || printf '%s\0' "$file"; done |
	tar --null --no-recursion --mode=u=rwX,go=rX --mtime="@$date" -cf - -T - | tar -xf - -C "$directory"
find "$directory" -type d -exec touch -d "@$date" {} +
