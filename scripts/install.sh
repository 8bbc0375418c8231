#!/bin/sh
# install.sh FOLDER PREFIX DESTDIR - builds for PREFIX and puts everything there, under DESTDIR when that is not empty.
set -eu
cd "$(dirname "$0")/.."
folder=$1 prefix=$2 destdir=$3
case $destdir in
'' | /*) ;;
*) destdir=$PWD/$destdir ;;
esac

scripts/configure.sh "$folder" -Dprefix="$prefix"
ninja -C "$folder" programs
DESTDIR=$destdir meson install -C "$folder" --no-rebuild --quiet
if [ -z "$destdir" ] && [ "$(id -u)" = 0 ]; then
	ldconfig # the new library's name is known from here on
fi
echo "ctrace is in $destdir$prefix.  Try: man ctrace"
