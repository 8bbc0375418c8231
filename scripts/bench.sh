#!/bin/sh
# bench.sh DIRECTORY BUILD [OPTION...] - measures a release build made in DIRECTORY; the figures go to BUILD/bench.json too.
#
# The options are those of bench/bench.py.  What other tracers are installed is looked at anew each time.
set -eu
cd "$(dirname "$0")/.."
directory=$1 build=$2
shift 2
state() {
	if "$@" >/dev/null 2>&1; then echo enabled; else echo disabled; fi
}
has_spdlog() {
	pkg-config --exists spdlog && command -v g++
}
scripts/configure.sh "$directory" -Dbuildtype=release -Db_ndebug=true -Dbench=true \
	-Dlttng="$(state pkg-config --exists lttng-ust)" -Dspdlog="$(state has_spdlog)"
ninja -C "$directory"
mkdir -p "$build"
exec bench/bench.py "$directory" --json "$build/bench.json" "$@"
