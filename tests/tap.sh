# shellcheck shell=bash
# tap.sh - sourced by test scripts: check WHAT COMMAND..., and end.
count=0 bad=0
check() {
	count=$((count + 1))
	local what=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "ok $count - $what"
	else
		echo "not ok $count - $what"
		sed 's/^/#   /' <<<"$output"
		bad=1
	fi
}
end() {
	echo "1..$count"
	exit "$bad"
}
