#!/bin/sh
# fuzz.sh FOLDER SECONDS - fuzzes each reader of foreign bytes for SECONDS, starting from fuzz/corpus/.
#
# What a target finds stays in FOLDER/found/<target>/; make it a file of fuzz/corpus/<target>/ to have it replayed by every `make test`.
set -eu
cd "$(dirname "$0")/.."
folder=$1 seconds=$2

CC=clang scripts/configure.sh "$folder" -Dfuzz=true -Dbuildtype=debugoptimized -Db_sanitize=address,undefined -Db_lundef=false
ninja -C "$folder"
bad=0
for source in fuzz/fuzz_*.c; do
	target=$(basename "$source" .c)
	name=${target#fuzz_}
	mkdir -p "$folder/found/$name" "$folder/corpus/$name"
	echo "== $name"
	"$folder/fuzz/$target" -max_total_time="$seconds" -timeout=2 -rss_limit_mb=512 -print_final_stats=1 \
		-artifact_prefix="$folder/found/$name/" "$folder/corpus/$name" "fuzz/corpus/$name" || bad=1
done
exit $bad
