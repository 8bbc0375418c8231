#!/bin/sh
# fuzz.sh DIRECTORY SECONDS [TARGET...] - fuzzes each reader of third-party bytes for SECONDS, starting from fuzz/corpus/.
#
# What a target finds stays in DIRECTORY/found/<target>/; make it a file of fuzz/corpus/<target>/ to have it replayed
# by every `make test`.  A target that does not get past what an empty input reaches fuzzes nothing, and fails.
set -eu
cd "$(dirname "$0")/.."
directory=$1 seconds=$2
shift 2

# The last number of covered places that a log names.
covered() {
	sed -n 's/^#.* cov: \([0-9]*\) .*/\1/p' "$1" | tail -n 1
}

CC=clang scripts/configure.sh "$directory" -Dfuzz=true -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
ninja -C "$directory"
# UndefinedBehaviorSanitizer would go on, and nobody would see what it said.
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}"
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(basename -a -s .c fuzz/fuzz_*.c | sed 's/^fuzz_//')
bad=
for name; do
	target=$directory/fuzz/fuzz_$name
	log=$directory/$name.log
	mkdir -p "$directory/found/$name" "$directory/corpus/$name"
	echo "== $name"
	"$target" -runs=0 >"$log" 2>&1 || :
	nothing=$(covered "$log")
	# A pipe would hide the status of what is before it.
	if "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=512 -print_final_stats=1 \
		-artifact_prefix="$directory/found/$name/" "$directory/corpus/$name" "fuzz/corpus/$name" >"$log" 2>&1; then
		tail -n 8 "$log"
	else
		tail -n 60 "$log"
		bad="$bad $name"
		continue
	fi
	if [ "$(covered "$log")" -le "${nothing:-0}" ]; then
		echo "$name: fuzzes nothing: an empty input covers as much"
		bad="$bad $name"
	fi
done
[ -z "$bad" ] || echo "failed:$bad"
[ -z "$bad" ]
