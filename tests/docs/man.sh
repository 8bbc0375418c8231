#!/usr/bin/env bash
# The man pages are well-formed, and each verb of the tool has one.
set -u
cd "$CTRACE_SOURCE" || exit 1
count=0 bad=0
check() { # WHAT ERRORS
	count=$((count + 1))
	if [ -z "$2" ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		sed 's/^/#   /' <<<"$2"
		bad=1
	fi
}

for page in man/*.[1-8]; do
	[ -e "$page" ] || continue
	if read -r request target <"$page" && [ "$request" = .so ]; then
		check "$page leads to a page" "$([ -e "man/${target##*/}" ] && [ "${target%%/*}" = "man${target##*.}" ] || echo "$target is not")"
		continue
	fi
	check "$page is well-formed" "$(
		mandoc -Tlint -Wwarning "$page" 2>&1 | grep -v 'referenced manual not found'
		! command -v groff >/dev/null || groff -ww -mandoc -Tutf8 "$page" 2>&1 >/dev/null
	)"
	title=${page#man/} name=${title%.*} name=${name^^}
	check "$page has the header of a manual" "$(
		head -4 "$page" | tr '\n' '|' | grep -qE "^[^|]*\|\.Dd [A-Z][a-z]+ [0-9]+, [0-9]{4}\|\.Dt ${name} ${title##*.}\|\.Os ctrace\|" || head -4 "$page"
	)"
done

missing=''
for source in src/tools/cmd_*.c; do
	verb=$(basename "$source" .c)
	verb=${verb#cmd_}
	[ -e "man/ctrace-${verb//_/-}.1" ] || missing="$missing$source has no man/ctrace-${verb//_/-}.1"$'\n'
done
[ -e man/ctrace.1 ] || missing="${missing}man/ctrace.1 is missing"$'\n'
check 'every verb of ctrace has a man page' "${missing%$'\n'}"
echo "1..$count"
exit "$bad"
