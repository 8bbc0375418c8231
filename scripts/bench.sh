#!/bin/sh
# bench.sh FOLDER BUILD - measures a release build made in FOLDER; the figures go to BUILD/bench.json too.
set -eu
cd "$(dirname "$0")/.."
folder=$1 build=$2
scripts/configure.sh "$folder" -Dbuildtype=release -Db_ndebug=true -Dbench=true
ninja -C "$folder"
mkdir -p "$build"
exec bench/run "$folder" "$build/bench.json"
