# shellcheck shell=bash disable=SC2154,SC2034 # sourced by demo.sh, whose functions and variables are used here
# demo-cluster.sh - the demo's section about many machines: two hosts, three servers of which one is killed, one stream.
#
# Each host is a namespace with a name and a network of its own, connected with the one that has the servers.  Nothing of it is in
# the machine's network, and all of it disappears with its processes.  Where namespaces may not be made, the hosts are two
# directories, whose forwarders name different clusters.  Nothing here waits for time to pass: until_true asks until it is so.

hosts='batch1 batch2'
declare -A holders=() # a process in each namespace
cluster_processes=()
hub_address=10.9.0.1 # of the servers, in their namespace
ports='4222 4223 4224'
selects=host

cluster_ends() {
	{ kill -KILL "${cluster_processes[@]}" "${holders[@]}" && wait; } 2>/dev/null || :
}
trap cluster_ends EXIT

# at NAME COMMAND... - runs it where that host is; the servers and the operator are at "hub"
at() {
	prefix_set "$1"
	"${prefix[@]}" "${@:2}"
}
# at_background NAME OUTPUT COMMAND... - its process is in $!, and ends with the demo
at_background() {
	prefix_set "$1"
	"${prefix[@]}" "${@:3}" >"$2" 2>&1 &
	cluster_processes+=($!)
}
prefix_set() {
	prefix=(env)
	[ "${#holders[@]}" = 0 ] || prefix=(nsenter -t "${holders[$1]}" "${enters[@]}" env)
}
# until_true SECONDS COMMAND... - a limit that only ends what hangs
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "this does not become so: $* ($(tail -n 2 forward.*.log 2>/dev/null | tr '\n' ' '))"
		sleep 0.1
	done
}
holder_make() { # NAME COMMAND... - a process that only holds a namespace, which has that host name
	local name=$1 line
	shift
	mkfifo "holder.$name"
	# shellcheck disable=SC2016 # the inner shell's
	"$@" sh -c 'hostname "$1" && ip link set lo up && echo ready && exec sleep infinity' sh "$name" >"holder.$name" 2>/dev/null &
	holders[$name]=$!
	read -r line <"holder.$name" && [ "$line" = ready ]
}
namespaces_drop() { # status 1
	cluster_ends
	holders=()
	rm -f holder.*
	return 1
}
# namespaces_make - status 1: this machine does not allow them
namespaces_make() {
	local as_user=() number=0 name
	enters=(-n -u)
	if [ "$(id -u)" != 0 ]; then
		as_user=(-r)
		enters=(-U --preserve-credentials -n -u)
	fi
	holder_make hub unshare "${as_user[@]}" -n -u || namespaces_drop || return
	at hub ip address add "$hub_address/32" dev lo 2>/dev/null || namespaces_drop || return
	for name in $hosts; do
		number=$((number + 1))
		holder_make "$name" nsenter -t "${holders[hub]}" "${enters[@]}" unshare -n -u &&
			at hub ip link add "$name" type veth peer name eth0 netns "${holders[$name]}" 2>/dev/null &&
			at hub ip address add "10.9.$number.1/24" dev "$name" && at hub ip link set "$name" up &&
			at "$name" ip address add "10.9.$number.2/24" dev eth0 && at "$name" ip link set eth0 up &&
			at "$name" ip route add default via "10.9.$number.1" || namespaces_drop || return
	done
}
# ports_find - three ports for clients, where nobody listens to them nor to those 2,000 above, which the servers use among themselves
ports_find() {
	local base
	for base in $(seq 4222 10 5222); do
		if ! (for port in $base $((base + 1)) $((base + 2)) $((base + 2000)) $((base + 2001)) $((base + 2002)); do
			! (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null || exit 1
		done); then continue; fi
		ports="$base $((base + 1)) $((base + 2))"
		sed -i "s/422\([234]\)/${base%?}\1/; s/622\([234]\)/$((base / 10 + 200))\1/g" n?.conf
		return
	done
	fail 'no ports are free from 4222 to 5222'
}

mkdir cluster
cd cluster || exit
cp "$source"/examples/cluster/n?.conf .
if namespaces_make; then
	say "Three servers, and two hosts with names and networks of their own ($hosts):"
else
	hub_address=127.0.0.1 selects=cluster
	ports_find
	say 'Three servers, and two hosts; they are directories, because this machine allows no namespaces:'
fi
address=nats://$(for port in $ports; do printf '%s:%s,' "$hub_address" "$port"; done)
address=${address%,}

show 'cat n1.conf'
grep -v '^#' n1.conf | indent
declare -A servers=()
for name in n1 n2 n3; do
	at_background hub "$name.log" nats-server -c "$name.conf" -a "$hub_address"
	servers[$name]=$!
done
show 'for name in n1 n2 n3; do nats-server -c $name.conf & done'

# ---- each host has a program that traces, a forwarder and a responder
declare -A programs=() loads=()
for name in $hosts; do
	mkdir -p "$name/run"
	chmod 700 "$name/run"
	cp ../CTKVSRV0 "$name"
	{ cat ../kvserver.cfg; echo 'ctrace.block.timeout = 60s'; } >"$name/kvserver.cfg"
	mkfifo "$name/server"
	environment=("CTRACE_RUN_DIR=$demo/cluster/$name/run" CTRACE_PARMLIB=. MFTRACE_CONFIG=kvserver.cfg)
	at_background "$name" "$name/server" -C "$name" "${environment[@]}" "$demo/kvserver" kv.socket CTKVSRV0
	programs[$name]=$!
	exec {from}<"$name/server"
	read -r line <&"$from" || fail "the server of $name does not start"
	forwards="$address/TRACES?replicas=3"
	[ "$selects" = host ] || forwards+="&cluster=$name"
	at_background "$name" "forward.$name.log" ctrace forward --follow "$name" "$forwards"
	at_background "$name" "respond.$name.log" "${environment[@]}" ctrace respond --name="$name" "$address"
done
show 'kvserver kv.socket CTKVSRV0 &                    # on each host'
show "ctrace forward --follow . '$address/TRACES?replicas=3' &"
show "ctrace respond $address &"

head -n 100 ../packages.txt >some.txt
pairs=$(wc -l <some.txt)
# rounds_load HOST - loads its server again and again, until it shall stop; counts the rounds that are complete
rounds_load() {
	local rounds=0
	until [ -e stop ]; do
		../kvload "$1/kv.socket" 4 <some.txt >"load.$1.txt" || return
		rounds=$((rounds + 1))
		echo "$rounds" >"rounds.$1.new" && mv "rounds.$1.new" "rounds.$1"
		sleep 0.3 # the programs shall leave the processors to the servers
	done
}
for name in $hosts; do
	rounds_load "$name" &
	loads[$name]=$!
	cluster_processes+=($!)
done
counted() { at hub ctrace show --count "$address/TRACES?$selects=$1" "${@:2}" 2>/dev/null || :; } # HOST [FILTER]
has_events() { [ "$(counted "$1")" -gt 0 ] 2>/dev/null; }
has_rounds() { [ "$(cat "rounds.$1" 2>/dev/null || echo 0)" -ge "$2" ]; }
for name in $hosts; do until_true 300 has_events "$name"; done

# ---- the server that leads the stream dies while both send
leader_find() {
	leader=$(grep -l 'stream leader for .* > TRACES' n?.log | head -n 1)
	leader=${leader%.log}
	[ -n "$leader" ]
}
until_true 300 leader_find
good "$(counted batch1) events of batch1 and $(counted batch2) of batch2 are in the stream; programs and forwarders go on"
victim=${servers[$leader]}
{ kill -KILL "$victim" && wait "$victim"; } 2>/dev/null || :
show "kill -KILL $victim    # $leader, which leads the stream"
for name in $hosts; do
	rounds=$(cat "rounds.$name")
	until_true 300 has_rounds "$name" $((rounds + 3))
done
export CTRACE_NATS=$address
show "ctrace op 'ROUTE *ALL,D TRACE'"
both_answer() {
	at hub ctrace op 'ROUTE *ALL,D TRACE' >answer.txt 2>&1 || :
	[ "$(grep -cE '^== batch[12] ==$' answer.txt)" = 2 ] && [ "$(grep -c '^ *KVSERVER  *ON ' answer.txt)" = 2 ]
}
until_true 300 both_answer
grep -E '^==|IEE843I|^ *KVSERVER ' answer.txt | indent
unset CTRACE_NATS

# ---- all of both hosts is in the stream
: >stop
for name in $hosts; do
	wait "${loads[$name]}" || fail "$(cat "load.$name.txt")"
	kill -TERM "${programs[$name]}" && wait "${programs[$name]}" || fail "the server of $name"
done
has_all() { [ "$(counted "$1" 'component == "KVSERVER" && (event == 16 || event == 17)')" = "$2" ]; }
for name in $hosts; do
	emitted=$((2 * pairs * $(cat "rounds.$name")))
	until_true 300 has_all "$name" "$emitted"
	good "GET and PUT that the program of $name traced, and that are in the stream: $emitted"
done
show "ctrace stats $address/TRACES"
at hub ctrace stats "$address/TRACES" >answer.txt 2>&1 || fail "$(cat answer.txt)"
grep . answer.txt | head -n 4 | indent
show "ctrace report -o cluster.html $address/TRACES"
at hub ctrace report --title 'Two hosts' -o cluster.html "$address/TRACES" >answer.txt 2>&1 || fail "$(cat answer.txt)"
indent <answer.txt
for name in $hosts; do
	same "events that $name lost" "$(at hub ctrace stats -j "$address/TRACES?$selects=$name" | sed -n '1s/.*"lost":\([0-9]*\).*/\1/p')" 0
done
cluster_ends
trap - EXIT
cd .. || exit
