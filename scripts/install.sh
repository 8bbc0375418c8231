#!/bin/sh
# install.sh DIRECTORY PREFIX DESTDIR - builds for PREFIX and puts everything there, under DESTDIR when that is not empty.
set -eu
cd "$(dirname "$0")/.."
directory=$1 prefix=$2 destdir=$3
case $destdir in
'' | /*) ;;
*) destdir=$PWD/$destdir ;;
esac

scripts/configure.sh "$directory" -Dprefix="$prefix"
ninja -C "$directory" programs
DESTDIR=$destdir meson install -C "$directory" --no-rebuild --quiet
if [ -z "$destdir" ] && [ "$(id -u)" = 0 ]; then
	ldconfig # the new library's name is known from here on
fi
echo "ctrace is in $destdir$prefix.  Try: man ctrace"
