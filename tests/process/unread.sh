#!/usr/bin/env bash
# A directory of which one part cannot be read: each reading verb names the part and the reason, does the rest, and ends with 2.
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
		has err 'ctrace show: 1 part of the input could not be read at all'
}
repair_rest() {
	rm -rf copy
	run repair all -o copy
	is "$status $(head -1 out)" '2 1 trace, 1 stream, 516 events written' && has err "ctrace repair: $PWD/$1: $2" &&
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
check 'show: a directory around it' closed 0 all/bad show_rest all/bad 'permission denied'
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
check 'show: a session that is a socket' says 'a directory that holds no trace' link
check 'repair: a trace that is closed' closed 0 "$lost" repair_rest "$lost" 'permission denied'
check 'repair: metadata that may not be read' closed 0 "$lost/metadata" repair_rest "$lost/metadata" 'permission denied'
check 'repair: a directory around it' closed 0 all/bad repair_rest all/bad 'permission denied'
check 'repair: a stream' closed 0 "$lost/stream.0" repair_rest "$lost/stream.0" 'permission denied'

# The trace itself is named: nothing is read.
named() { # PATH REASON
	run show --count "$1"
	is "$status $(cat out err)" "2 ctrace show: $1: $2"
}
check 'named: metadata that may not be read' closed 0 "$lost/metadata" named "$lost" 'permission denied: its file metadata may not be read'
check 'named: a stream beside them' closed 0 "$lost/metadata" named "$lost/stream.0" 'permission denied: the file metadata beside it may not be read'
closed_to_repair() {
	rm -rf copy
	run repair "$@" -o copy
	is "$status" 2 && has err 'ermission denied'
}
check 'named: repair' closed 0 "$lost/metadata" closed_to_repair "$lost"
check 'named: repair, in a directory that is closed' closed 0 all/bad closed_to_repair "$lost"
check 'named: repair with metadata that may not be read' closed 0 "$lost/metadata" closed_to_repair -m "$lost/metadata" "$lost"
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

# ---- what stands in the place of a stream
replaced() { # FILE HOW COMMAND... - HOW makes what takes the file's place
	local file=$1 how=$2 result
	shift 2
	mv "$file" kept
	$how "$file"
	"$@"
	result=$?
	rm -rf "$file"
	mv kept "$file"
	return "$result"
}
check 'show: a pipe in the place of a stream' replaced "$lost/stream.0" mkfifo show_rest "$lost/stream.0" 'it cannot be read: it is no regular file'
check 'show: a directory in its place' replaced "$lost/stream.0" mkdir show_rest "$lost/stream.0" 'it cannot be read: it is no regular file'
check 'show: a link that leads nowhere' replaced "$lost/stream.0" 'ln -s nowhere' show_rest "$lost/stream.0" 'it cannot be read: No such file'

# ---- a ring
mkdir modules && cp "$CTRACE_BUILD/tests/libhang.so" modules/hang.so
printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = hang' >hang.cfg
coproc SUBJECT {
	MFTRACE_CONFIG=$PWD/hang.cfg CTRACE_EMITTERS=$PWD/modules BATTERY_EMITTER=stuck exec "$CTRACE_BUILD/tests/tool_subject" 10
}
pid=$SUBJECT_PID
read -r _ <&"${SUBJECT[0]}"
tail_closed() {
	run tail --limit 1 --from-start --for 0.01 "$pid"
	is "$status" 1 && has err "ctrace tail: $CTRACE_RUN_DIR/$pid.0/ring.0: it cannot be read: $1"
}
check 'tail: a ring that may not be read' closed 0 "$CTRACE_RUN_DIR/$pid.0/ring.0" tail_closed 'Permission denied'
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ring=$CTRACE_RUN_DIR/$pid.0/ring.0
show_ring() { # REASON
	run show --count "$CTRACE_RUN_DIR/$pid.0"
	is "$status $(<out)" '2 0' && has err "ctrace show: $ring: it cannot be read: $1" && has err '1 part of the input could not be read at all'
}
run show --count "$CTRACE_RUN_DIR/$pid.0"
check 'a ring can be read' is "$status $(cat out err)" '0 20'
check 'show: a ring that may not be read' closed 0 "$ring" show_ring 'Permission denied'
check 'show: a pipe in the place of a ring' replaced "$ring" mkfifo show_ring 'it is no regular file'
check 'show: a link in its place' replaced "$ring" "ln -s $PWD/kept" show_ring 'it is a link, and links are not followed'

# ---- a run directory that is refused
ln -s "$CTRACE_RUN_DIR" refused
refused() { # VERB...
	CTRACE_RUN_DIR=$PWD/refused run "$@"
	is "$status $(cat out err)" "2 ctrace $1: the run directory $PWD/refused is refused: it is a symbolic link of user 0; remove it"
}
check 'show: a run directory that is refused' refused show
check 'tail: a run directory that is refused' refused tail
check 'report: a run directory that is refused' refused report -o page.html

# ---- catalogues: each verb does the rest
mkdir catalogs
printf 'component: SHOP.ORDER\nevents: {10: ORDER}\n' >catalogs/good.yaml
printf 'component: SHOP.JOBS\nevents: {51: JOB}\n' >catalogs/lost.yaml
printf '<component name="SHOP.X"><event id="1" name="X"/></component>\n' >lost.xml
mkfifo pipe.yaml
without_catalog() { # REASON COMMAND...
	local reason=$1
	shift
	run "$@"
	is "$status" 2 && grep -q "$reason" err && is "$(grep -c "$reason" err)" 1 && [ -s out ]
}
for verb in 'show -n 1' 'stats --by=event' 'export -f csv' 'ipcs QUERY' 'report -o page.html' "diff --json $PWD/all/good"; do
	# shellcheck disable=SC2086 # words
	check "${verb%% *}: a catalogue that may not be read" closed 0 catalogs/lost.yaml \
		without_catalog 'lost.yaml: Permission denied' ${verb%% *} --catalog=catalogs/lost.yaml ${verb#* } all/good/*.ctb
done
for path in catalogs pipe.yaml nosuch.yaml nosuch.xml lost.xml; do
	reason="$path: .*\(no such\|no regular\|Permission\)"
	[ "$path" != catalogs ] || reason='lost.yaml: Permission'
	closed=catalogs/lost.yaml
	[ "$path" != lost.xml ] || closed=lost.xml
	check "show: named by an option: $path" closed 0 "$closed" without_catalog "$reason" show -n 1 --catalog="$path" all/good
	export MFTRACE_ANNOTATIONS=$path
	check "show: named by MFTRACE_ANNOTATIONS: $path" closed 0 "$closed" without_catalog "$reason" show -n 1 all/good
	unset MFTRACE_ANNOTATIONS
done
export CTRACE_CATALOG=catalogs/good.yaml:nosuch.yaml
check 'show: named by CTRACE_CATALOG' without_catalog 'nosuch.yaml: there is no such' show -n 1 all/good
run tail --for 0.01
check 'tail: named by CTRACE_CATALOG' is "$status" 2
unset CTRACE_CATALOG
check 'catalog check: a directory with an unread file' closed 0 catalogs/lost.yaml without_catalog 'lost.yaml: Permission' catalog check catalogs
check 'catalog check: has counts' is "$(<out)" 'catalogs: 1 component, 1 event, all good; 1 file cannot be read'
check 'catalog check: a file' closed 0 catalogs/lost.yaml bash -c '"$@" >out 2>err; [ $? = 2 ] && [ ! -s out ]' - \
	${as_user[@]+"${as_user[@]}"} ctrace catalog check catalogs/lost.yaml
check 'catalog check: why' is "$(<err)" 'ctrace catalog: cannot read catalogs/lost.yaml: Permission denied'
check 'catalog check --json: a file' closed 0 catalogs/lost.yaml run catalog check --json catalogs/lost.yaml
check 'catalog check --json: has no counts' is "$status $(<out)" '2 {"format_version":1,"path":"catalogs/lost.yaml","error":"Permission denied"}'
for action in header import; do
	check "catalog $action: a file" closed 0 catalogs/lost.yaml bash -c '"$@" >out 2>err; [ $? = 2 ] && grep -q "Permission" err' - \
		${as_user[@]+"${as_user[@]}"} ctrace catalog "$action" catalogs/lost.yaml
done
check 'catalog draft: a directory with an unread trace' closed 0 "$lost" without_catalog 'permission denied' catalog draft all

# ---- damage
mv "$lost/metadata" kept
check 'show: a trace without metadata' show_rest "$lost" 'a trace that lacks its file metadata'
mkfifo "$lost/metadata"
check 'show: a pipe in their place' show_rest "$lost" 'a trace that lacks its file metadata'
rm "$lost/metadata"
echo hello >"$lost/metadata"
check 'show: metadata that are none' show_rest "$lost" 'not a trace that ctrace can read'
echo garbage >"$lost/stream.0"
check 'repair: nothing of it is good' repair_rest "$lost" 'no BINFILE trace, or nothing of it can be read'
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
