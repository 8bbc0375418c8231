#!/bin/sh
# lint.sh DIRECTORY - the compilers' warnings as errors, clang-tidy, cppcheck, shellcheck, and the format.  Builds in DIRECTORY/gcc and DIRECTORY/clang.
set -u
cd "$(dirname "$0")/.." || exit 1
directory=$1
bad=0
check() {
	echo "== $1"
	shift
	"$@" || bad=1
}

for compiler in gcc clang; do
	CC=$compiler scripts/configure.sh "$directory/$compiler" -Dwerror=true -Dtests=enabled -Dbench=true >/dev/null || exit 1
	check "$compiler" ninja -C "$directory/$compiler" all meson-test-prereq
done
sources=$(scripts/sources.sh 'src/*/*.c' 'src/*/*/*.c' 'modules/*.c' 'modules/*/*.c')
# shellcheck disable=SC2086 # lists of words
{
	check clang-tidy xargs -n 1 -P "$(nproc)" clang-tidy --quiet -p "$directory/clang" <<-END
		$sources
	END
	check cppcheck cppcheck --quiet --error-exitcode=1 --enable=warning,portability --inline-suppr --std=c11 \
		--suppress=missingIncludeSystem -D__x86_64__ -Iinclude -Isrc $sources
}
check shellcheck sh -c 'shellcheck --severity=warning scripts/*.sh tests/*/*.sh tests/run .ci/run'
check format scripts/format.sh --check
exit $bad
