#!/bin/sh
# format.sh [--check] - puts every C source into the project's format, or says which are not.
set -eu
cd "$(dirname "$0")/.."
files=$(find include src modules tests bench fuzz examples -name '*.[ch]' | LC_ALL=C sort)
# shellcheck disable=SC2086 # a list of words
case ${1:-} in
--check) exec clang-format --dry-run -Werror $files ;;
*) exec clang-format -i $files ;;
esac
