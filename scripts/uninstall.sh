#!/bin/sh
# uninstall.sh DIRECTORY PREFIX DESTDIR - removes what install.sh with the same words has put there, and the directories that only it had.
#
# What that is, an installation into an empty directory tells.
set -eu
cd "$(dirname "$0")/.."
directory=$1 prefix=$2 destdir=$3
case $destdir in
'' | /*) ;;
*) destdir=$PWD/$destdir ;;
esac

scripts/configure.sh "$directory" -Dprefix="$prefix"
ninja -C "$directory" programs
list=$(mktemp -d)
trap 'rm -rf "$list"' EXIT
DESTDIR=$list meson install -C "$directory" --no-rebuild --quiet
(cd "$list" && find . ! -type d) | while read -r path; do rm -f "$destdir/$path"; done
(cd "$list" && find . -depth -path '*/ctrace*' -type d) | while read -r path; do
	[ ! -d "$destdir/$path" ] || rmdir --ignore-fail-on-non-empty "$destdir/$path"
done
[ -n "$destdir" ] || [ "$(id -u)" != 0 ] || ldconfig
echo "ctrace is no longer in $destdir$prefix."
