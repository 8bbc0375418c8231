#!/usr/bin/env bash
# gcc and clang see nothing to warn of in our sources.
set -u
. "$CTRACE_SOURCE/tests/tap.sh"
cd "$CTRACE_SOURCE" || exit 1

flags=(-std=gnu17 -D_GNU_SOURCE -DCT_VERSION='"0"' -DCT_MODULE_DIR='"/"' -Iinclude -Isrc -I"$CTRACE_BUILD" -Wall -Wextra -Wconversion -Wshadow -Werror)
for compiler in gcc clang; do
	for directory in src/* tools; do
		compgen -G "$directory/*.c" >/dev/null || continue
		check "$directory $compiler" "$compiler" -fsyntax-only "${flags[@]}" "$directory"/*.c
	done
	check "examples $compiler" "$compiler" -fsyntax-only -std=gnu17 -Iinclude -Wall -Wextra -Werror examples/*.c examples/*/*.c
done
end
