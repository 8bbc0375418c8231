#!/usr/bin/env bash
# level, dest, prop, reload, flush and rotate, on two processes that run: what the verbs say, their exit statuses and JSON, and what comes of
# it in the traces.
set -u
subject=("$CTRACE_BUILD/tests/verbs_subject")
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
# Runs the tool: its output in $out and $err, its status in $status.
tool() {
	ctrace "$@" >out 2>err </dev/null
	status=$?
	out=$(sed 's/^ *//' out) err=$(<err) # process ids are aligned on the right
}
expect_status() { [ "$status" = "$1" ] || echo "exit status $status, not $1; stdout: $out; stderr: $err"; }
expect() { [ "$1" = "$2" ] || printf 'got\n%s\nnot\n%s\n' "$1" "$2"; }
expect_in() { # TEXT PATTERN...
	local text=$1
	shift
	for pattern; do
		grep -qE -- "$pattern" <<<"$text" || echo "no /$pattern/ in: $text"
	done
}
# says STATUS OUT ERR VERB...: exactly that.
says() {
	local wanted=$1 wanted_out=$2 wanted_err=$3
	shift 3
	tool "$@"
	check "ctrace $*" "$(
		expect_status "$wanted"
		expect "$out" "$wanted_out"
		expect "$err" "$wanted_err"
	)"
}
# Each member of the rows of the last output, by a Python expression over `rows`.
json() { # EXPRESSION WANTED
	python3 -m json.tool out >/dev/null && expect "$(python3 -c "import json; rows = json.load(open('out'))['results']; print($1)")" "$2"
}

# ---- two processes
config() { # NAME
	cat <<CONFIG
mftrace.level.kvs = info
mftrace.dest = textfile
mftrace.emitter.textfile#location = $PWD
mftrace.emitter.textfile#file = $1.log
mftrace.emitter.textfile#format = \$(COMPONENT) \$(EVENT)
CONFIG
}
config kvs >kvs.cfg
config proxy >proxy.cfg
# Starts one, and waits until it is there: it gets its ASID, by which the lines are ordered.
begin() { # NAME COMPONENT...
	local name=$1
	shift
	mkfifo "$name.in" "$name.out"
	CTRACE_JOBNAME=${name^^} MFTRACE_CONFIG=$PWD/$name.cfg "${subject[@]}" "$@" <"$name.in" >"$name.out" 2>"$name.err" &
}
begin kvs kvs.store kvs.net
kvs=$!
exec {kvs_in}>kvs.in {kvs_out}<kvs.out
read -t 100 -r _ <&"$kvs_out"
begin proxy kvs.net proxy
proxy=$!
exec {proxy_in}>proxy.in {proxy_out}<proxy.out
read -t 100 -r _ <&"$proxy_out"

order() { # kvs|proxy ORDER...: $answer
	local to=${1}_in from=${1}_out
	shift
	echo "$*" >&"${!to}"
	read -t 100 -r answer <&"${!from}"
}
# Events of a component that one more trace order writes into a file of a process.
traced() { # kvs|proxy FILE COMPONENT
	local before after
	before=$(grep -c "^$3 " "$2")
	order "$1" "trace $3"
	order "$1" flush
	after=$(grep -c "^$3 " "$2")
	echo $((after - before))
}
touch kvs.log proxy.log # so that they can be counted
# The lines of both processes, with the same end.
both() { printf '%s KVS    %s\n%s PROXY  %s' "$kvs" "$1" "$proxy" "$1"; }

# ---- level
says 0 "$(both 'kvs.net  INFO')" '' level kvs.net
says 0 "$(both 'kvs.net  INFO -> DEBUG')" '' level kvs.net debug
check 'now debug events are traced in one' "$(expect "$(traced kvs kvs.log kvs.net)" 5)"
check 'and in the other' "$(expect "$(traced proxy proxy.log kvs.net)" 5)"
check 'but not of a component beside it' "$(expect "$(traced kvs kvs.log kvs.store)" 4)"
says 0 "$(both 'kvs.net  is DEBUG already')" '' level kvs.net DEBUG
says 0 "$kvs KVS  kvs.net  DEBUG -> ERROR" '' level --pid "$kvs" KVS.NET 3
check 'errors only in that process' "$(expect "$(traced kvs kvs.log kvs.net)" 2)"
check 'all in the other' "$(expect "$(traced proxy proxy.log kvs.net)" 5)"
says 0 "$proxy PROXY  kvs.net  DEBUG -> NONE" '' level --job 'p*' kvs.net none
check 'none: nothing' "$(expect "$(traced proxy proxy.log kvs.net)" 0)"
asid=$(ctrace list --json --pid "$proxy" | python3 -c 'import json, sys; print(json.load(sys.stdin)["asid"])')
says 0 "$proxy PROXY  kvs.net  NONE -> INFO" '' level --asid "$asid" kvs.net info
says 0 "$kvs KVS    kvs.net    ERROR -> WARN
$kvs KVS    kvs.store  INFO -> WARN
$proxy PROXY  kvs.net    INFO -> WARN" '' level 'kvs.*' warn
says 0 "$kvs KVS    kvs.net    WARN
$kvs KVS    kvs.store  WARN
$proxy PROXY  kvs.net    WARN
$proxy PROXY  proxy      NONE" '' level '*'
says 1 '' 'ctrace level: no running process has the component "kvs.nte"; did you mean "kvs.net"?' level kvs.nte debug
says 1 '' 'ctrace level: no running process has the component "kvs.stroe"; did you mean "kvs.store"?' level kvs.stroe
says 1 '' 'ctrace level: no running process has the component "something.else"' level something.else debug
says 1 '' 'ctrace level: no running process has a component like "x*"' level 'x*' debug
says 1 '' 'ctrace level: no running process has the component "proxy"' level --pid "$kvs" proxy debug
says 1 '' 'ctrace level: no running traced process matches' level --pid 1 kvs.net debug
check 'a name that is not there makes no component' "$(expect "$(ctrace list --all | grep -c something)" 0)"

tool level --json 'kvs.*' debug
check 'level --json' "$(
	expect_status 0
	json '[(r["pid"], r["job"], r["program"], r["component"], r["old"], r["new"]) for r in rows]' \
		"[($kvs, 'KVS', 'verbs_subject', 'kvs.net', 'WARN', 'DEBUG'), ($kvs, 'KVS', 'verbs_subject', 'kvs.store', 'WARN', 'DEBUG'), ($proxy, 'PROXY', 'verbs_subject', 'kvs.net', 'WARN', 'DEBUG')]"
	json 'all(1 <= int(r["asid"], 16) <= 0xFFFF for r in rows)' True
)"
tool level --json kvs.store
check 'level --json shows' "$(expect_status 0; json '[sorted(r.items()) for r in rows][0][-1]' "('value', 'DEBUG')")"
tool level --json kvs.nothing
check 'level --json: nothing is an empty list' "$(expect_status 1; json rows '[]'; expect_in "$err" 'no running process has')"

refuse() { # PATTERN ARGUMENT...
	local pattern=$1
	shift
	tool "$@"
	check "usage error: ctrace $*" "$(expect_status 2; expect_in "$err" "$pattern"; expect "$out" '')"
}
refuse 'unknown level "inof"; did you mean info\?' level kvs.net inof
refuse 'unknown level "warning"; did you mean warn\?' level kvs.net warning
refuse 'unknown level "loudest"; expected debug, info, warn, error, fatal or none' level kvs.net loudest
refuse 'the level of what\?' level
refuse 'one level at a time' level kvs.net info warn
refuse '"kvs\.\.net" is not a component' level kvs..net info
refuse '"x" is not a process id' level --pid x kvs.net
refuse '"G" is not an ASID' level --asid G kvs.net
refuse '"0" is not a time' level --timeout 0 kvs.net
refuse '"soon" is not a time' level --timeout soon kvs.net
refuse -- '--all and --pid contradict each other' level --all --pid 1 kvs.net

# ---- the default
says 0 "$(both 'default  NONE')" '' level ''
says 0 "$proxy PROXY  default  NONE -> ERROR" '' level -p "$proxy" '' error
check 'what has no level of its own follows the default' "$(expect "$(traced proxy proxy.log proxy)" 2)"

# ---- dest.  STDERR shows errors and worse, which are two of the five events.
says 0 "$kvs KVS  kvs.net  TEXTFILE" '' dest --pid "$kvs" kvs.net
says 0 "$kvs KVS  kvs.net  TEXTFILE -> TEXTFILE, STDERR" '' dest --pid "$kvs" kvs.net +stderr
check 'events go to both' "$(expect "$(traced kvs kvs.log kvs.net)" 5; expect "$(wc -l <kvs.err)" 2)"
says 0 "$kvs KVS  kvs.net  is TEXTFILE, STDERR already" '' dest --pid "$kvs" kvs.net +STDERR
says 0 "$kvs KVS  kvs.net  TEXTFILE, STDERR -> TEXTFILE" '' dest kvs.net -stderr --pid "$kvs"
check 'events go to one' "$(expect "$(traced kvs kvs.log kvs.net)" 5; expect "$(wc -l <kvs.err)" 2)"
says 0 "$kvs KVS  kvs.net  TEXTFILE -> STDERR" '' dest --pid "$kvs" kvs.net STDERR
check 'events go to the other' "$(expect "$(traced kvs kvs.log kvs.net)" 0; expect "$(wc -l <kvs.err)" 4)"
says 0 "$kvs KVS  kvs.net  STDERR -> TEXTFILE" '' dest --pid "$kvs" kvs.net +TEXTFILE -STDERR
check 'several changes at once' "$(expect "$(traced kvs kvs.log kvs.net)" 5; expect "$(wc -l <kvs.err)" 4)"
says 0 "$(both 'kvs.net  TEXTFILE -> STDERR, ES')" '' dest kvs.net '(STDERR, es)'
says 0 "$(both 'kvs.net  STDERR, ES')" '' dest kvs.net
says 0 "$(both 'kvs.net  STDERR, ES -> ES')" '' dest kvs.net '(' ES ')'
check 'events go nowhere' "$(expect "$(traced kvs kvs.log kvs.net)" 0; expect "$(wc -l <kvs.err)" 4)"
says 0 "$(both 'kvs.net  ES -> TEXTFILE')" '' dest kvs.net '()'
check 'and where they went at first' "$(expect "$(traced kvs kvs.log kvs.net)" 5)"
tool dest --json --pid "$kvs" 'kvs.*' TEXTFILE STDERR
check 'dest --json' "$(
	expect_status 0
	json '[(r["component"], r["old"], r["new"]) for r in rows]' "[('kvs.net', 'TEXTFILE', 'TEXTFILE, STDERR'), ('kvs.store', 'TEXTFILE', 'TEXTFILE, STDERR')]"
)"
tool dest kvs.net -BINFILE
check 'what it has not is not removed' "$(expect_status 1; expect "$out" ''; expect_in "$err" "^ctrace dest: $kvs KVS kvs.net: it has none" "^ctrace dest: $proxy PROXY kvs.net: it has none")"
tool dest kvs.net +NOSUCH
check 'an emitter that there is not is refused by the process' "$(
	expect_status 1
	expect "$out" ''
	expect_in "$err" "^ctrace dest: $kvs KVS.*: .*NOSUCH" "^ctrace dest: $proxy PROXY.*: .*NOSUCH"
)"
says 0 "$kvs KVS  kvs.net  TEXTFILE, STDERR" '' dest --pid "$kvs" kvs.net
tool dest --json kvs.store +NOSUCH
check 'dest --json has what went wrong' "$(expect_status 1; json '[(r["pid"], "NOSUCH" in r["error"], "new" in r) for r in rows]' "[($kvs, True, False)]")"
says 1 '' 'ctrace dest: no running process has the component "kvs.nte"; did you mean "kvs.net"?' dest kvs.nte +STDERR
refuse 'either names with a sign' dest kvs.net +STDERR TEXTFILE
refuse 'expected the name of one emitter behind the sign' dest kvs.net +
refuse 'expected the name of one emitter behind the sign' dest kvs.net '+STDERR,TEXTFILE'
refuse 'misplaced parenthesis' dest kvs.net '(STDERR'
refuse 'misplaced parenthesis' dest kvs.net 'STDERR)' TEXTFILE
refuse 'the destinations of what\?' dest

# ---- prop
says 1 '' "ctrace prop: $kvs KVS: property \"RATE\" was never set" prop kvs.store RATE
says 0 "$kvs KVS  kvs.store  not set -> 10" '' prop kvs.store RATE 10
says 0 "$kvs KVS  kvs.store  10" '' prop kvs.store rate
says 0 "$kvs KVS  kvs.store  is 10 already" '' prop kvs.store RATE 10
says 0 "$kvs KVS  kvs.store  10 -> \"\"" '' prop kvs.store RATE ''
says 0 "$kvs KVS  kvs.store  \"\" -> -1" '' prop kvs.store RATE -- -1
says 0 "$kvs KVS  TEXTFILE  \$(COMPONENT) \$(EVENT)" '' prop --pid "$kvs" emitter:TEXTFILE FORMAT
# shellcheck disable=SC2016 # the emitter's variables
says 0 "$kvs KVS  TEXTFILE  \$(COMPONENT) \$(EVENT) -> now \$(EVENT)" '' prop --pid "$kvs" emitter:textfile FORMAT 'now $(EVENT)'
order kvs trace kvs.store
order kvs flush
check 'the lines have the new format' "$(expect "$(grep -c '^now [0-4]$' kvs.log)" 5)"
# shellcheck disable=SC2016
says 0 "$kvs KVS  TEXTFILE  now \$(EVENT) -> \$(COMPONENT) \$(EVENT)" '' prop --pid "$kvs" emitter:textfile FORMAT '$(COMPONENT) $(EVENT)'
tool prop emitter:NOSUCH FORMAT x
check 'prop: an emitter that there is not' "$(expect_status 1; expect "$out" ''; expect_in "$err" "^ctrace prop: $kvs KVS.*NOSUCH" "^ctrace prop: $proxy PROXY.*NOSUCH")"
tool prop --json --pid "$kvs" emitter:TEXTFILE FORMAT
check 'prop --json' "$(expect_status 0; json '[(r["emitter"], r["property"], r["value"]) for r in rows]' "[('TEXTFILE', 'FORMAT', '\$(COMPONENT) \$(EVENT)')]")"
tool prop --json kvs.store OTHER 5
check 'prop --json: null is not set' "$(expect_status 0; json '[(r["component"], r["old"], r["new"]) for r in rows]' "[('kvs.store', None, '5')]")"
says 1 '' 'ctrace prop: no running process has the component "kvs.stor"; did you mean "kvs.store"?' prop kvs.stor RATE 10
says 1 '' 'ctrace prop: no running process has the component "kvs.store#RATE"; a property is a word of its own, behind it' prop kvs.store#RATE
says 1 '' 'ctrace prop: no running process has the component "textfile"; an emitter is written as emitter:NAME' prop textfile
says 1 '' "ctrace prop: no running process has the component \"$kvs\"; a process is named with --pid" prop "$kvs" kvs.store
refuse 'a property of what\?' prop
says 1 '' "ctrace prop: $kvs KVS: no property was ever set" prop --pid "$kvs" kvs.net
tool prop kvs.store ALL on
says 0 "$kvs KVS  kvs.store  ALL    on
$kvs KVS  kvs.store  OTHER  5
$kvs KVS  kvs.store  RATE   -1" '' prop kvs.store
tool prop --json --pid "$kvs" 'kvs.*'
check 'prop --json: all properties' "$(expect_status 0; json '[(r["component"], r["property"], r["value"]) for r in rows]' "[('kvs.store', 'ALL', 'on'), ('kvs.store', 'OTHER', '5'), ('kvs.store', 'RATE', '-1')]")"
tool prop --pid "$kvs" emitter:TEXTFILE
check 'prop: all properties of an emitter' "$(expect_status 0; expect_in "$out" 'TEXTFILE  DELIMCHAR  *" "$' 'TEXTFILE  FORMAT  *.*COMPONENT. .*EVENT.$' 'TEXTFILE  LOCATION ' 'TEXTFILE  MAXGENERATION  *1$')"
tool prop --pid "$kvs" emitter:TEXTFILE MAXFILESIZE 4294967296
check 'prop: a number of more than 32 bits' "$(expect_status 1; expect "$out" ''; expect "$err" "ctrace prop: $kvs KVS: too large: \"4294967296\"; expected a number up to 4294967295, of 32 bits")"
refuse 'a value with blanks wants quotation marks' prop kvs.net RATE 1 2
refuse 'expected the name of an emitter' prop emitter: FORMAT

# ---- a trace of component trace is a component as any other, but its start/stop routine is asked
order kvs define MYTRACE
check 'a trace of component trace is defined' "$(expect "$answer" 0)"
says 0 "$kvs KVS  MYTRACE  NONE -> WARN" '' level mytrace warn
check 'it traces by its level' "$(expect "$(traced kvs kvs.log MYTRACE)" 3)"
order kvs refuse WONT
says 1 '' "ctrace level: $kvs KVS WONT: stays as it is: its start/stop routine or a filter of component trace does not allow it" level wont warn
tool level --json wont warn
check 'what a routine refuses is an error in the JSON' "$(expect_status 1; json '[(r["component"], "stays as it is" in r["error"]) for r in rows]' "[('WONT', True)]")"
says 0 "$kvs KVS  WONT  NONE" '' level WONT
check 'and it traces nothing' "$(expect "$(traced kvs kvs.log WONT)" 0)"

# ---- reload
sed 's/^mftrace.level.kvs .*/mftrace.level.kvs = fatal/' kvs.cfg >quiet.cfg
says 0 "$kvs KVS  $PWD/quiet.cfg is in force" '' reload --pid "$kvs" quiet.cfg
check 'the new configuration is in force, and the former is not' "$(
	expect "$(ctrace level --pid "$kvs" kvs.net)" "$kvs KVS  kvs.net  FATAL"
	expect "$(ctrace dest --pid "$kvs" kvs.net)" "$kvs KVS  kvs.net  TEXTFILE"
	expect "$(traced kvs kvs.log kvs.net)" 1
)"
sed -i 's/^mftrace.level.kvs .*/mftrace.level.kvs = error/' kvs.cfg proxy.cfg
says 0 "$kvs KVS    $PWD/kvs.cfg is in force
$proxy PROXY  $PWD/proxy.cfg is in force" '' reload
check 'without a name each reads its own again' "$(
	expect "$(traced kvs kvs.log kvs.net)" 2
	expect "$(traced proxy proxy.log kvs.net)" 2
)"
echo 'mftrace.level = inof' >>quiet.cfg
says 1 "$kvs KVS  $PWD/quiet.cfg is in force; 1 line was not understood, line 6: ctrace config check $PWD/quiet.cfg" 'quiet.cfg:6:17: unknown level "inof" (did you mean info?); expected none, debug, info, warn, error or fatal' \
	reload -p "$kvs" quiet.cfg
check 'the other lines of a file with an error hold' "$(expect "$(traced kvs kvs.log kvs.net)" 1)"
says 1 '' 'ctrace reload: cannot read no.cfg: No such file or directory' reload no.cfg
says 1 '' 'ctrace reload: no running traced process matches' reload --pid 1
tool reload --json
check 'reload --json' "$(expect_status 0; json '[(r["pid"], r["message"]) for r in rows]' "[($kvs, '$PWD/kvs.cfg is in force'), ($proxy, '$PWD/proxy.cfg is in force')]")"
cp kvs.cfg kept.cfg
echo 'mftrace.level = inof' >>kvs.cfg
says 1 "$kvs KVS    $PWD/kvs.cfg is in force; 1 line was not understood, line $(wc -l <kvs.cfg): ctrace config check $PWD/kvs.cfg
$proxy PROXY  $PWD/proxy.cfg is in force" '' reload
mv kept.cfg kvs.cfg
refuse 'one file at a time' reload kvs.cfg proxy.cfg

# ---- flush
tool prop --pid "$kvs" emitter:TEXTFILE FLUSHEVERY 1000
order kvs trace kvs.net # the first batch after a change opens the file, and goes out with that
tool flush
before=$(grep -c '^kvs.net ' kvs.log)
order kvs trace kvs.net
check 'what an emitter gathers is not there' "$(expect "$(grep -c '^kvs.net ' kvs.log)" "$before")"
says 0 "$(printf '%s KVS    delivered\n%s PROXY  delivered' "$kvs" "$proxy")" '' flush
check 'it is after a flush' "$(expect "$(grep -c '^kvs.net ' kvs.log)" $((before + 2)))"
tool flush --json --job KVS
check 'flush --json' "$(expect_status 0; json '[(r["pid"], r["message"]) for r in rows]' "[($kvs, 'delivered')]")"
refuse 'unexpected argument "x"' flush x

# ---- rotate
mv kvs.log former.log
events=$(grep -c '^kvs.net ' former.log)
tool rotate --pid "$kvs" TEXTFILE
check 'rotate says which destination begins anew' "$(expect_status 0; expect_in "$out" "^$kvs KVS  TEXTFILE"; expect "$err" '')"
check 'events go to the new file' "$(expect "$(traced kvs kvs.log kvs.net)" 2; expect "$(grep -c '^kvs.net ' kvs.log)" 2)"
check 'the former one is as it was' "$(expect "$(grep -c '^kvs.net ' former.log)" "$events")"
says 1 "$kvs KVS  nothing to rotate: it keeps no other generation, and nobody has renamed its file" 'ctrace rotate: nothing has begun anew' \
	rotate -p "$kvs" textfile
says 1 "$kvs KVS  nothing to rotate" 'ctrace rotate: nothing has begun anew' rotate --pid "$kvs"
says 1 "$kvs KVS  nothing to rotate" 'ctrace rotate: nothing has begun anew' rotate --pid "$kvs" BINFILE
tool rotate NOSUCH
check 'rotate: an emitter that there is not' "$(expect_status 1; expect_in "$err" "^ctrace rotate: $kvs KVS.*NOSUCH")"
mv kvs.log former.log
tool rotate --json --pid "$kvs"
check 'rotate --json' "$(expect_status 0; json '[(r["pid"], r["emitter"]) for r in rows]' "[($kvs, 'TEXTFILE')]")"
refuse 'one emitter, or none for all' rotate TEXTFILE BINFILE

# ---- a process that does not answer
# Until every thread stands: the signal alone has only been sent.
stand_still() {
	kill -STOP "$1"
	for _ in $(seq 1000); do
		if ! grep -h '^State:' /proc/"$1"/task/*/status | grep -qv 'T (stopped)'; then return; fi
		sleep 0.01
	done
}
stand_still "$proxy"
tool level --timeout 3 kvs.net info
check 'a process that does not answer is told, and the others do it' "$(
	expect_status 1
	expect_in "$out" "^$kvs KVS  kvs.net  [A-Z]+ -> INFO$"
	expect "$err" "ctrace level: $proxy PROXY did not answer in time"
)"
tool level --timeout 3 kvs.store info
check 'one that it does not concern is not waited for' "$(expect_status 0; expect "$err" '')"
tool level --json --timeout 3 kvs.net warn
check 'it is in the JSON' "$(expect_status 1; json '[(r["pid"], r.get("error")) for r in rows]' "[($kvs, None), ($proxy, 'did not answer in time')]")"
tool flush --timeout 3
check 'flush tells of it' "$(expect_status 1; expect "$out" "$kvs KVS  delivered"; expect "$err" "ctrace flush: $proxy PROXY did not answer in time")"
kill -CONT "$proxy"

# ---- a process that is late: flush asks again
stand_still "$proxy"
(
	sleep 2.5 # longer than flush waits for one answer
	kill -CONT "$proxy"
) &
says 0 "$kvs KVS    delivered
$proxy PROXY  delivered" '' flush --timeout 60
wait $!

# ---- a destination that fails
says 0 "$kvs KVS  TEXTFILE  kvs.log -> /proc/no/such" '' prop -p "$kvs" emitter:TEXTFILE FILE /proc/no/such
before=$(grep -c '^kvs.net ' kvs.log)
order kvs trace kvs.net
tool flush --pid "$kvs"
check 'flush tells of a destination that fails' "$(expect_status 1; expect "$out" ''; expect_in "$err" "^ctrace flush: $kvs KVS: .*destination is failing")"
says 0 "$kvs KVS  TEXTFILE  /proc/no/such -> kvs.log" '' prop -p "$kvs" emitter:TEXTFILE FILE kvs.log
says 0 "$kvs KVS  delivered" '' flush --pid "$kvs"
check 'what waited meanwhile is delivered' "$(expect "$(grep -c '^kvs.net ' kvs.log)" $((before + 3)))"

# ---- a COBOL program: its tracer is switched from outside, and its callback hears of it in the next trace call
if command -v cobc >/dev/null; then
	sed 's/textfile#file = .*/textfile#file = cobol.log/' kvs.cfg >cobol.cfg
	cobc -x -w -fixed -I "$CTRACE_SOURCE/copy" -Q "-Wl,--no-as-needed,-rpath,$CTRACE_BUILD" "-L$CTRACE_BUILD" -lctrace \
		-o listener "$CTRACE_SOURCE/tests/cobol/listener.cbl"
	subject=(stdbuf -oL ./listener) # its lines are waited for
	begin cobol
	cobol=$!
	exec {cobol_in}>cobol.in {cobol_out}<cobol.out
	read -t 100 -r _ <&"$cobol_out"
	says 0 "$cobol COBOL  cobol.part  NONE -> INFO" '' level cobol.part info
	order cobol go
	check 'its callback hears of the level' "$(expect "$answer" 'told level 0000000001')"
	read -t 100 -r answer <&"$cobol_out"
	says 0 "$cobol COBOL  delivered" '' flush --pid "$cobol"
	check 'and it traces' "$(expect "$answer" traced; expect "$(grep -c '^cobol.part ' cobol.log)" 4)"
	says 0 "$cobol COBOL  cobol.part  not set -> 42" '' prop cobol.part Sample 42
	order cobol go
	check 'and of the property' "$(expect "$answer" 'told Sample=42 0000000042')"
	echo end >&"$cobol_in"
	exec {cobol_in}>&-
	wait "$cobol"
fi

# ---- nobody
exec {kvs_in}>&- {proxy_in}>&-
wait "$kvs" "$proxy"
says 1 '' 'ctrace level: no traced process is running' level kvs.net info
echo "1..$count"
exit "$bad"
