#!/bin/sh
# abi.sh DIRECTORY check|write - compares the binary interface of DIRECTORY/libctrace.so with a released one, or stores it.
#
# The interface is stored as text in packaging/libctrace.abi, so that no comparison needs an older build.  `check` takes the file of the
# newest tag v*, so that a change cannot store away its own difference; until there is a tag it takes the file of the tree.  What is
# added is compatible.  Only what include/ declares counts.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
directory=$1 action=$2
stored=packaging/libctrace.abi

interface() { # FILE: stores the interface of the build
	abidw --headers-dir include --drop-private-types --drop-undefined-syms --no-comp-dir-path --no-corpus-path --no-show-locs \
		--type-id-style hash --out-file "$1" "$directory/libctrace.so.1"
}

if [ "$action" = write ]; then
	interface "$stored"
	echo "$stored: commit it with the change of include/ or src/lib/ctrace.map that it follows from"
	exit
fi

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) || tag=''
if [ -n "$tag" ] && git show "$tag:$stored" >"$temporary/libctrace.abi" 2>/dev/null; then
	released=$tag
else
	released="the tree's $stored"
	cp "$stored" "$temporary/libctrace.abi"
fi
status=0
interface "$temporary/now.abi"
abidiff --no-added-syms --suppressions packaging/libctrace.abignore "$temporary/libctrace.abi" "$temporary/now.abi" >"$temporary/difference" || status=$?
[ "$status" != 0 ] || { echo "libctrace.so is compatible with $released"; exit 0; }
cat "$temporary/difference"
cat <<E2

libctrace.so.1 has changed: a program that was compiled with $released may no longer run with it.
Keep the old interface, and add a new one beside it: in include/, and in a node of its own in src/lib/ctrace.map.
When programs cannot notice the change, as with a struct that has its size in it, add it to packaging/libctrace.abignore with the reason.
When the change must break programs, raise the library's version in meson.build (version: '2.0.0'), and the package
libctrace1 becomes libctrace2 in packaging/.  Until 1.0 there is no promise yet: \`make abi\` stores the new interface.
E2
exit 1
