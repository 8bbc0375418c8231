#!/usr/bin/env bash
# A folder of which one part cannot be read: each reading verb names the part and the reason, does the rest, and ends with 2.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qF -- "$2" "$1" || { printf 'no <%s> in:\n' "$2"; cat "$1"; false; }; }
# As somebody to whom the permissions of a file mean something: root is asked to do without its privilege.
bound=-dac_override,-dac_read_search
as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv "--bounding-set=$bound" "--inh-caps=$bound")
run() {
	timeout 60 ${as_user[@]+"${as_user[@]}"} ctrace "$@" >out 2>err </dev/null
	status=$?
}

printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' >cfg
for one in good bad; do
	mkdir -p "all/$one"
	(cd "all/$one" && MFTRACE_CONFIG=$OLDPWD/cfg "$CTRACE_BUILD/tests/orders" 100)
done
lost=$(echo all/bad/*.ctb)
run show --count all
check 'everything can be read' is "$status $(cat out err)" '0 1032'

# PATH REASON
show_rest() {
	run show --count all
	is "$status $(<out)" '2 516' && has err "ctrace show: $1: $2" &&
		has err 'ctrace show: of what was named, 1 part could not be read at all'
}
salvage_rest() {
	rm -rf copy
	run salvage all -o copy
	is "$status $(head -1 out)" '2 1 trace, 1 stream, 516 events written' && has err "ctrace salvage: $PWD/$1: $2" &&
		has out '1 part could not be read at all'
}
closed() { # MODE FILE COMMAND...
	local mode=$1 file=$2 before result
	before=$(stat -c %a "$file")
	shift 2
	chmod "$mode" "$file"
	"$@"
	result=$?
	chmod "$before" "$file"
	return "$result"
}
check 'show: a trace that is closed' closed 0 "$lost" show_rest "$lost" 'permission denied'
check 'show: a trace that may be listed, not searched' closed 644 "$lost" show_rest "$lost" 'permission denied'
check 'show: a trace that may be searched, not listed' closed 311 "$lost" show_rest "$lost" 'permission denied'
check 'show: metadata that may not be read' closed 0 "$lost/metadata" show_rest "$lost" 'permission denied: its file metadata may not be read'
check 'show: a folder around it' closed 0 all/bad show_rest all/bad 'permission denied'
check 'show: a stream' closed 0 "$lost/stream.0" show_rest "$lost/stream.0" 'it cannot be read: Permission denied'
# What is named is no part of the trace.
says() { # REASON PATH
	run show "$2"
	is "$status" 2 && has err "ctrace show: $2: $1"
}
echo remarks >"$lost/notes.txt"
check 'show: a text beside closed metadata' closed 0 "$lost/metadata" says 'a text file, no trace' "$lost/notes.txt"
check 'show: a stream beside closed metadata' closed 0 "$lost/metadata" says 'permission denied: the file metadata' "$lost/stream.0"
rm "$lost/notes.txt"
mkdir link && ln -s nowhere link/session
check 'show: a session that is a link' says 'its file session is a link' link
python3 -c 'import os, socket; os.chdir("link"); os.unlink("session"); socket.socket(socket.AF_UNIX).bind("session")'
check 'show: a session that is a socket' says 'a folder that holds no trace' link
check 'salvage: a trace that is closed' closed 0 "$lost" salvage_rest "$lost" 'permission denied'
check 'salvage: metadata that may not be read' closed 0 "$lost/metadata" salvage_rest "$lost/metadata" 'permission denied'
check 'salvage: a folder around it' closed 0 all/bad salvage_rest all/bad 'permission denied'
check 'salvage: a stream' closed 0 "$lost/stream.0" salvage_rest "$lost/stream.0" 'permission denied'

# The trace itself is named: nothing is read.
named() { # PATH REASON
	run show --count "$1"
	is "$status $(cat out err)" "2 ctrace show: $1: $2"
}
check 'named: metadata that may not be read' closed 0 "$lost/metadata" named "$lost" 'permission denied: its file metadata may not be read'
check 'named: a stream beside them' closed 0 "$lost/metadata" named "$lost/stream.0" 'permission denied: the file metadata beside it may not be read'
closed_to_salvage() {
	rm -rf copy
	run salvage "$@" -o copy
	is "$status" 2 && has err 'ermission denied'
}
check 'named: salvage' closed 0 "$lost/metadata" closed_to_salvage "$lost"
check 'named: salvage, in a folder that is closed' closed 0 all/bad closed_to_salvage "$lost"
check 'named: salvage with metadata that may not be read' closed 0 "$lost/metadata" closed_to_salvage -m "$lost/metadata" "$lost"
others() { # ARGUMENT...
	run "$@"
	is "$status" 2 && has err "$lost: permission denied"
}
check 'stats' closed 0 "$lost" others stats all
check 'export' closed 0 "$lost" others export -f csv all
check 'report' closed 0 "$lost" others report all -o page.html
check 'ipcs' closed 0 "$lost" others ipcs 'CTRACE QUERY' all
check 'diff' closed 0 "$lost" others diff all all
check 'the last ones: said once' closed 0 "$lost" bash -c '"$@" >out 2>err; test $? = 2 && test "$(grep -c "permission denied" err)" = 1' - \
	${as_user[@]+"${as_user[@]}"} ctrace show -n 3 all

# ---- damage
mv "$lost/metadata" kept
check 'show: a trace without metadata' show_rest "$lost" 'a trace that lacks its file metadata'
mkfifo "$lost/metadata"
check 'show: a pipe in their place' show_rest "$lost" 'a trace that lacks its file metadata'
rm "$lost/metadata"
echo hello >"$lost/metadata"
check 'show: metadata that are none' show_rest "$lost" 'not a trace that ctrace can read'
echo garbage >"$lost/stream.0"
check 'salvage: nothing of it is good' salvage_rest "$lost" 'no BINFILE trace, or nothing of it can be read'
mv kept "$lost/metadata"

# ---- generations of one name
mv all/good/*.ctb gen.ctb_1 && mv "$lost" gen.ctb_2
lost=gen.ctb_2
generations() {
	run show --count gen.ctb
	is "$status $(<out)" '2 516' && has err 'gen.ctb_2: permission denied'
}
check 'one of the generations' closed 0 gen.ctb_2/metadata generations
check 'one of the generations, closed' closed 0 gen.ctb_2 generations
end
