#!/usr/bin/env bash
# The component of examples/kvserver: defined by a member, loaded, changed while it is loaded, refused, switched, deleted by SIGTERM;
# and every request that its clients made is in the trace as the options said at the time.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
example=$CTRACE_SOURCE/examples/kvserver

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
# shellcheck disable=SC2053 # a pattern
like() { [[ $1 == $2 ]] || { printf '<%s>\nis not like\n<%s>\n' "$1" "$2"; false; }; }
# Starts the server and waits until it listens; $server.
begin() {
	: >said # what the one before has said is not what this one says
	./kvserver kv.socket "$@" >said 2>errors &
	server=$!
	until grep -q '^ready' said; do
		kill -0 "$server" 2>/dev/null || break
		sleep 0.01
	done
}
finish() {
	kill -TERM "$server"
	wait "$server"
}
begun=0
say() { ./kvload kv.socket say "$@"; }
# Says lines on one more connection, of which both ends are traced.
ask() {
	begun=$((begun + 1))
	answer=$(say "$@")
}
# How many entries of a component and id are in the trace; and waits until it is so many, for what happens behind an answer.
lines() { ctrace show --format '$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' kvserver.ctb; }
of() { lines | awk -v component="$1" -v id="$2" '$2 == component && $3 == id' | wc -l; }
await() {
	for _ in $(seq 1000); do
		[ "$(of "$1" "$2")" = "$3" ] && return
		sleep 0.02
	done
	false
}

# ---- built as its first lines say, and without a warning
strict=(-O2 -Wall -Wextra -Werror -I "$CTRACE_SOURCE/include")
check 'the server compiles' cc "${strict[@]}" -o kvserver "$example"/kv{server,line,trace,operator,store}.c "-L$CTRACE_BUILD" -lctrace \
	"-Wl,-rpath,$CTRACE_BUILD" -pthread
check 'the client compiles' cc "${strict[@]}" -o kvload "$example/kvload.c" -pthread
cp "$example/kvserver.cfg" .
export CTRACE_PARMLIB=$example MFTRACE_CONFIG=$PWD/kvserver.cfg

# 3,200 pairs of many sizes
awk 'BEGIN { for (i = 1; i <= 3200; i++) printf "key-%d\t%s%0*d\n", i, i % 7 ? "" : "with blanks ", i % 400 + 1, i }' >pairs

# ---- on by the member
begin CTKVSRV0
ask 'TRACE DISPLAY'
check 'the member switches the head on' is "$answer" 'KVSERVER ON HEAD OPTIONS=(GET,PUT,DEL,KEYS) BUFFER=256K'
ask 'TRACE DISPLAY SUB=NET'
check 'the sublevel that is LIKEHEAD is on with it' is "$answer" 'KVSERVER.NET ON LIKEHEAD OPTIONS=(GET,PUT,DEL,KEYS) BUFFER=256K'
ctrace ipcs "CTRACE QUERY(KVSERVER) SUB((NET))" "$server" >query.txt
check 'QUERY of the running server: the size of the buffer, what is traced, what always is' diff - <(grep -vE '^ (START|STOP ) = ' query.txt) <<'QUERY'
 COMPONENT TRACE QUERY SUMMARY
 COMP(KVSERVER)SUBNAME((NET))
 Buffer size: 0256K
 OPTIONS: GET,PUT,DEL,KEYS
 OPTIONS: *NONE*
QUERY
check 'QUERY alone lists all traces of all processes' is "$(ctrace ipcs QUERY | grep COMP)" ' COMPONENT TRACE QUERY SUMMARY
 COMP(KVSERVER)
 COMP(KVSERVER)SUBNAME((NET))
 COMP(KVSERVER)SUBNAME((STORE))'
check 'a trace that is defined and has no entries' is "$(ctrace ipcs 'CTRACE COMP(KVSERVER) SUB((STORE))' "$server" 2>/dev/null)" \
	'ITT10003I COMP(KVSERVER) SUB((STORE)) has no entries in the input.'
ask 'TRACE DISPLAY SUB=STORE'
check 'the other is off' like "$answer" 'KVSERVER.STORE OFF OPTIONS=() *'

# ---- loaded with half of the pairs; then the other half comes while the options change again and again
mkfifo feed
./kvload kv.socket 4 <feed >load.txt 2>load.err &
load=$!
exec 8>feed
head -1600 pairs >&8
check 'half of the pairs are put' await KVSERVER.NET 33 1600
ask 'TRACE ON OPTIONS=(KEYS,PUTT)'
check 'an option that there is not is refused, and the operator told' like "$answer" \
	'RC=0C REASON=11 SSRC=4 SSRSNC=1: *: unknown option "PUTT"; options are GET PUT DEL KEYS VALUES SLOW=microseconds'
ask 'TRACE ON OPTIONS=(SLOW=soon)'
check 'so is a number that is none' like "$answer" 'RC=0C REASON=11 SSRC=4 SSRSNC=2: *: not a number of microseconds: "soon"; *'
ask 'TRACE DISPLAY'
check 'the former options stay' is "$answer" 'KVSERVER ON HEAD OPTIONS=(GET,PUT,DEL,KEYS) BUFFER=256K'
ask 'TRACE DISPLAY SUB=NET'
check 'also those of the sublevel' is "$answer" 'KVSERVER.NET ON LIKEHEAD OPTIONS=(GET,PUT,DEL,KEYS) BUFFER=256K'

ask 'TRACE ON OPTIONS=(VALUES)'
check 'MOD=YES: changed while it is on' like "$answer" 'RC=00 REASON=00 SSRC=0 SSRSNC=0: *'
ask 'TRACE DISPLAY SUB=NET'
check 'the sublevel follows' is "$answer" 'KVSERVER.NET ON LIKEHEAD OPTIONS=(GET,PUT,DEL,VALUES) BUFFER=256K'
ask 'PUT marked with its value'
tail -1600 pairs >&8 &
changes=0 made=0
change() {
	ask "TRACE ON OPTIONS=($([ $((changes % 2)) = 0 ] && echo KEYS || echo VALUES))"
	changes=$((changes + 1))
	[[ $answer != RC=00* ]] || made=$((made + 1))
}
for _ in $(seq 20); do change; done
exec 8>&-
while kill -0 "$load" 2>/dev/null; do change; done
wait "$load"
check 'the client finds all that it has put' is "$? $(cat load.err load.txt)" '0 4 connections: 3200 put, 3200 read back, 0 wrong'
check 'each change under load was made' is "$made" "$changes"
begun=$((begun + 4))

# ---- some of the operations only; a sublevel of its own
ask 'TRACE ON SUB=STORE OPTIONS=(DEL)'
ask 'TRACE ON OPTIONS=(DEL)'
for key in key-1 key-2 key-3200 no-such-key; do
	ask "DEL $key"
	ask "GET $key"
done
check 'a key is gone' is "$answer" NONE
ask 'TRACE ON OPTIONS=(SLOW=999999999)'
ask 'GET key-10'
check 'a value is there' is "$answer" 'VALUE 00000000010'
ask 'TRACE DISPLAY SUB=STORE'
check 'a sublevel of its own keeps its options' like "$answer" 'KVSERVER.STORE ON OPTIONS=(DEL) *'

# ---- off and on again
check 'the ends of all connections before are in the trace' await KVSERVER.NET 41 "$begun"
ask 'TRACE OFF' 'GET key-10' 'TRACE DISPLAY SUB=NET' 'TRACE ON'
check 'off goes for the sublevel too' like "$answer" $'RC=00*\nVALUE 00000000010\nKVSERVER.NET OFF LIKEHEAD OPTIONS=() *\nRC=00*'
ask 'TRACE DISPLAY'
check 'on without options is all operations' is "$answer" 'KVSERVER ON HEAD OPTIONS=(GET,PUT,DEL) BUFFER=256K'
ask 'PUT bare entry'
ask 'GET bare'

# ---- ended while clients are connected
mkfifo idle
./kvload kv.socket 3 <idle >idle.txt 2>&1 &
client=$!
exec 8>idle
begun=$((begun + 3))
check 'each connection is in the trace while it lasts' await KVSERVER.NET 40 "$begun"
finish
check 'SIGTERM ends the server at once, also with clients connected' is "$?" 0
exec 8>&-
wait "$client"
check 'nothing is said on standard error' is "$(cat errors)" ''
check 'its socket is gone' [ ! -e kv.socket ]
emitted=$(ctrace show kvserver.ctb | wc -l)
check 'emitted = delivered = what is there' is "$(tail -1 said)" "entries: $emitted emitted, $emitted delivered, 0 lost"

# ---- each request once.  Fields of a line: time, component, id, level, the binary item, then a key and perhaps words of a value.
lines >trace.txt
check 'PUT: each pair, the marked one, the bare one' is "$(of KVSERVER 17)" 3202
check 'GET: each pair, the bare one; none with DEL, SLOW or OFF' is "$(of KVSERVER 16)" 3201
check 'DEL: four' is "$(of KVSERVER 18)" 4
check 'nothing else at the head' is "$(awk '$2 == "KVSERVER"' trace.txt | wc -l)" 6407
check 'the sublevel that follows: as many of each' is "$(of KVSERVER.NET 33) $(of KVSERVER.NET 34)" '3202 4'
check 'and GET once more: SLOW is not for it' is "$(of KVSERVER.NET 32)" 3202
check 'begun and ended connections' is "$(of KVSERVER.NET 40) $(of KVSERVER.NET 41)" "$begun $begun"
check 'the sublevel of its own: DEL only' is "$(of KVSERVER.STORE 50) $(awk '$2 == "KVSERVER.STORE"' trace.txt | wc -l)" '4 4'
texts() { awk '$2 == "KVSERVER" && $3 == 17' trace.txt | cut -d' ' -f 6-; }
check 'keys without values before the change' is "$(texts | head -1600 | grep -c '^"key-[0-9]*"$')" 1600
check 'key and value after it' is "$(texts | sed -n 1601p)" '"marked" "with its value"'
check 'each key once' is "$(texts | grep -o '^"key-[0-9]*"' | sort | uniq -c | awk '$1 == 1' | wc -l)" 3200
check 'without KEYS the header only' is "$(texts | tail -1)" ''
check 'the header is the 16 bytes of kvserver.h: connection, operation, result, sizes of key and value' \
	like "$(awk '$2 == "KVSERVER" && $3 == 17 { last = $5 } END { print last }' trace.txt)" '????????01000400-05000000????????'

# ---- lines: in pieces, several at once, too long; bytes that no text has
begin
cat >lines.py <<'END_OF_PYTHON'
import socket
client = socket.socket(socket.AF_UNIX)
client.connect('kv.socket')
answers = client.makefile('rb')
def expect(wanted):
    got = answers.readline()
    assert got == wanted, (got, wanted)
for byte in b'PUT a \x00\xff"x\n':
    client.sendall(bytes([byte]))
expect(b'OK\n')
client.sendall(b'GET a\nGET b\nDEL a\nDEL a\nCOUNT\nnonsense\nGET\nGET a b\nPUT\nPUT empty\nGET empty\nTRACE NOW\nTRACE DISPLAY SUB=NOT\n')
for wanted in (b'VALUE \x00\xff"x\n', b'NONE\n', b'OK\n', b'NONE\n', b'COUNT 0\n', b'ERROR expected GET, PUT, DEL, COUNT or TRACE\n',
               b'ERROR expected key\n', b'ERROR expected key\n', b'ERROR expected key value\n', b'OK\n', b'VALUE \n'):
    expect(wanted)
assert answers.readline().startswith(b'ERROR "NOW" is none of ON ')
assert answers.readline().startswith(b'ERROR ')
longest = b'PUT k ' + b'v' * (4096 - 7) + b'\n'
client.sendall(longest + b'GET k\n' + b'PUT ' + b'x' * 4092 + b'\n' + b'y' * 100000 + b'\nCOUNT\n')
expect(b'OK\n')
expect(b'VALUE ' + longest[6:])
for wanted in (b'ERROR a line has at most 4096 bytes\n', b'ERROR a line has at most 4096 bytes\n', b'COUNT 2\n'):
    expect(wanted)
client.sendall(b'no end')
END_OF_PYTHON
check 'lines in pieces, many at once, too long, with any bytes' python3 lines.py
printf 'same\tone\nsame\tother\n' >twice
check 'the client sees what is not as it put it' sh -c '! ./kvload kv.socket 1 <twice >twice.txt 2>&1 && grep -x "1 connections: 2 put, 2 read back, 1 wrong" twice.txt'
check 'without a member nothing is traced' is "$(say 'TRACE DISPLAY')" 'KVSERVER OFF HEAD OPTIONS=() BUFFER=0K'
mkdir members
printf "TRACEOPTS ON OPTION('GET')" >members/CTSYNTAX
printf "TRACEOPTS ON OPTIONS('GET,NOW')" >members/CTREFUSE
finish

# ---- a member with errors: told, and the server serves all the same
export CTRACE_PARMLIB=$PWD/members
for case in CTSYNTAX=06 CTREFUSE=11 CTNONE=04; do
	member=${case%=*}
	begin "$member"
	check "$member: told" grep -E "^kvserver: DEFINE KVSERVER: RC 0C reason ${case#*=}: .+: .+" errors
	check "$member: defined without it" is "$(say 'TRACE DISPLAY')" 'KVSERVER OFF HEAD OPTIONS=() BUFFER=0K'
	finish
done
check 'a socket that is taken is told' sh -c 'touch kv.socket; ! ./kvserver kv.socket >out 2>&1 && grep "kv.socket: Address already in use" out'
end
