#!/usr/bin/env bash
# Each public header compiles alone, as C11, C17, C23 and C++17, with gcc and clang, without a warning; so does every form of CTRACE().
set -u
. "$CTRACE_SOURCE/tests/tap.sh"

include=$CTRACE_SOURCE/include
common=(-fsyntax-only -Wall -Wextra -pedantic -Werror -I"$include")

for header in $(cd "$include" && find . -name '*.h' | sed 's,^\./,,' | LC_ALL=C sort); do
	printf '#include <%s>\n#include <%s>\ntypedef int a_declaration;\n' "$header" "$header" >alone.c
	for compiler in gcc clang; do
		for std in c11 c17 c2x; do
			check "$header $compiler $std" "$compiler" -std=$std "${common[@]}" -Wconversion -Wshadow alone.c
		done
		check "$header $compiler c++17" "$compiler" -x c++ -std=c++17 "${common[@]}" alone.c
	done
done

calls=$CTRACE_SOURCE/tests/headers/calls.c
for compiler in gcc clang; do
	for std in c11 c17 c2x; do
		check "calls.c $compiler $std" "$compiler" -std=$std "${common[@]}" -Wconversion -Wshadow "$calls"
	done
	for std in c++17 c++20; do
		check "calls.c $compiler $std" "$compiler" -x c++ -std=$std "${common[@]}" "$calls"
	done
done
end
