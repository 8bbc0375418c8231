#!/bin/sh
# configure.sh DIRECTORY [-DOPTION=VALUE...] - has Meson set DIRECTORY up, when there is something new to set up.
#
# That is: the first time, an option that DIRECTORY was not given before, or a file that came or went (meson.build names
# sources by pattern, and Ninja only sees files that it knows).
set -eu
cd "$(dirname "$0")/.."
directory=$1
shift

seen=$directory/.configured
now=$(
	{ [ ! -f "$seen" ] || grep '^-D' "$seen" || :; printf '%s\n' "$@"; } | awk -F= '/^-D/ { last[$1] = $0 } END { for (key in last) print last[key] }' | sort
	scripts/sources.sh 'src/*/*.c' 'src/*/*/*.c' 'tests/*/*' 'tests/unit/*/*' 'tests/interleave/*/*' 'bench/*' 'bench/*/*' 'fuzz/*' 'man/*' 'copy/*' 'catalog/*' 'include/*' 'include/ctrace/*'
)
if [ ! -f "$directory/build.ninja" ]; then
	# Debian's library directory is named after the machine; Meson asks dpkg-dev for it, which need not be there, and takes lib64 then.
	machine=$(gcc -print-multiarch 2>/dev/null) || machine=''
	meson setup "$directory" ${machine:+-Dlibdir="lib/$machine"} "$@"
elif [ "$now" != "$(cat "$seen" 2>/dev/null)" ]; then
	meson setup --reconfigure "$directory" "$@"
fi
printf '%s\n' "$now" >"$seen"
