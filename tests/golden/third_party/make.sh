#!/usr/bin/env bash
# tests/golden/third_party/make.sh - makes the traces of other tracers that stand here, anew, with what babeltrace2 prints of them.
#
# Needs lttng-tools and liblttng-ust-dev (2.13), python3-barectf (3.1), babeltrace2 (2.0), and no other session daemon.  Run by hand: which
# process ids and times are in the traces of LTTng cannot be the same twice.
#
#     lttng-uid    one set of buffers for all processes of a user: who an event is of stands in its context; a header of 16-bit ids
#     lttng-pid    buffers for each process, as its environment says; header of 5-bit ids and 27-bit times; a context of an address
#     lttng-lost   more events than the buffers hold: packets say how many were discarded
#     barectf      bit-fields, arrays of arrays, times of 27 bits that go round
#
# What tracers rarely do is in odd.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LTTNG_HOME=$work HOME=$work

keep() { # NAME DIRECTORY: of the trace in the directory
	rm -rf "${here:?}/$1"
	mkdir -p "$here/$1/trace"
	find "$2" -maxdepth 1 -type f -exec install -m 644 -t "$here/$1/trace" {} +
	babeltrace2 "$here/$1/trace" >"$here/$1/babeltrace2.txt" 2>"$here/$1/babeltrace2.err" || true
	sed -i "s|$here/||" "$here/$1/babeltrace2.err"
}

record() { # NAME BUFFERS HEADER "CONTEXTS" "EVENTS" [ARGUMENT]
	local name=$1 context event
	lttng create "$name" --output="$work/$name"
	# shellcheck disable=SC2086 # several words
	lttng enable-channel --userspace --session="$name" --num-subbuf=2 --subbuf-size=4096 $2 chan
	for event in $4; do
		lttng enable-event --userspace --session="$name" --channel=chan "$event"
	done
	for context in $3; do
		lttng add-context --userspace --session="$name" --channel=chan --type="$context"
	done
	lttng start "$name"
	"$work/shop" ${5:+"$5"}
	lttng stop "$name"
	lttng destroy "$name"
	keep "$name" "$(dirname "$(find "$work/$name" -name metadata)")"
}

cd "$here/source"
cc -O1 -I. shop.c shop_points.c -o "$work/shop" -llttng-ust -ldl -lpthread
lttng-sessiond --no-kernel --daemonize
record lttng-uid --buffers-uid 'vpid vtid procname' 'shop:* lttng_ust_trace*'
record lttng-pid --buffers-pid 'vtid ip pthread_id' 'shop:*'
record lttng-lost --buffers-pid 'vtid' 'shop:*' 400
kill "$(cat /var/run/lttng/lttng-sessiond.pid)"

mkdir -p "$work/barectf/trace"
(cd "$work/barectf" && barectf generate --metadata-dir trace "$here/source/barectf.yaml" && cc -I. -O1 "$here/source/barectf_main.c" barectf.c -o main &&
	./main trace/stream)
keep barectf "$work/barectf/trace"
