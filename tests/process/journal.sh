#!/usr/bin/env bash
# journal.sh - JOURNAL against a real journald, started in a mount namespace of its own and read back with journalctl.
#
# Needs root, unshare and systemd-journald; where one of them is missing it says so and skips.
module=$CTRACE_BUILD/modules/journal.so
journald=/lib/systemd/systemd-journald

skip() {
	echo "ok 1 # SKIP $1"
	echo "1..1"
	exit 0
}
if [ "${1:-}" != inside ]; then
	[ -e "$module" ] || skip "journal.so was not built: libsystemd is missing"
	[ -x "$journald" ] || skip "there is no journald here"
	command -v journalctl >/dev/null || skip "there is no journalctl here"
	[ "$(id -u)" = 0 ] || skip "only root can start a journald"
	unshare -m --propagation private mount -t tmpfs none /run 2>/dev/null || skip "there are no mount namespaces here"
	exec unshare -m --propagation private "$0" inside
fi

. "$CTRACE_SOURCE/tests/tap.sh"
driver=$CTRACE_BUILD/tests/journal_driver

# A journald that keeps to itself: its own /run, no kernel messages, nothing limited.
mount -t tmpfs none /run && mkdir -p /run/systemd/journal /run/log/journal || exit 99
printf '[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nRateLimitIntervalSec=0\nForwardToSyslog=no\nForwardToWall=no\n' >/run/journald.conf
mkdir -p /run/machine && echo 0123456789abcdef0123456789abcdef >/run/machine/id
for file in /etc/machine-id:/run/machine/id /etc/systemd/journald.conf:/run/journald.conf; do
	[ -e "${file%%:*}" ] && mount --bind "${file##*:}" "${file%%:*}"
done
entries() { # the field $1 of the entries that match the rest
	local field=$1
	shift
	journalctl --sync
	journalctl -D /run/log/journal -q -o cat --output-fields="$field" "$@"
}
is() { # expected, actual
	[ "$1" = "$2" ] || { printf 'expected: %s\nfound:    %s\n' "$1" "$2" && false; }
}
answers() { # status, command
	local expected=$1 status
	shift
	"$@"
	status=$?
	is "$expected" "$status"
}
wait_for_socket() {
	until [ -S /run/systemd/journal/socket ]; do
		kill -0 "$1" 2>/dev/null || return 1
		read -rt 0.05 <>/run/pause
	done
	return 0
}
mkfifo /run/pause

SYSTEMD_LOG_TARGET=console "$journald" >/run/journald.log 2>&1 &
pid=$!
wait_for_socket "$pid" || skip "journald does not start here: $(tail -1 /run/journald.log)"

check "with a journald it opens" answers 0 "$driver" "$module" open
check "events of every level" answers 0 "$driver" "$module" events LEVEL=0
check "MESSAGE is the line of FORMAT, without what precedes the first item" is \
	'173 "my\nprog\"\u{1B}[2JPRIORITY=0" 0102FF 0x7FFC0010 -1' "$(entries MESSAGE CTRACE_EVENT=100)"
check "an event without data is named" is 'MF.RTS 200' "$(entries MESSAGE CTRACE_EVENT=200)"
for row in 100:7:0 101:6:1 102:4:2 103:3:3 104:2:4; do
	IFS=: read -r event priority level <<<"$row"
	check "level $level is priority $priority" is "$priority $level" \
		"$(entries PRIORITY "CTRACE_EVENT=$event") $(entries CTRACE_LEVEL "CTRACE_EVENT=$event")"
done
for row in 'SYSLOG_IDENTIFIER mymain' 'CTRACE_COMPONENT MF.RTS' 'CTRACE_TID 99' 'CTRACE_TIME 1536851547993456889' \
	'CTRACE_DATA1 173' 'CTRACE_DATA2 my\nprog\"\u{1B}[2JPRIORITY=0' 'CTRACE_DATA3 0102FF' 'CTRACE_DATA4 0x7FFC0010' 'CTRACE_DATA5 -1'; do
	check "field ${row%% *}" is "${row#* }" "$(entries "${row%% *}" CTRACE_EVENT=100)"
done
check "CTRACE_PID is the process" is "$(entries _PID CTRACE_EVENT=100)" "$(entries CTRACE_PID CTRACE_EVENT=100)"
check "losses are an entry" is 1 "$(entries MESSAGE PRIORITY=4 | grep -c '^# Lost             = 3 stalled (process')"

check "FORMAT, DELIMCHAR, QUOTESTRING, HEXBLOCKSIZE" answers 0 "$driver" "$module" events LEVEL=0 'FORMAT=[$(EVENT)$(DATA)]' DELIMCHAR=, \
	QUOTESTRING=0 HEXBLOCKSIZE=1
check "are obeyed" is 1 "$(entries MESSAGE CTRACE_EVENT=104 | grep -cF '[104,173,my\nprog\"\u{1B}[2JPRIORITY=0,01-02-FF,0x7FFC0010,-1]')"
before=$(entries MESSAGE CTRACE_EVENT=102 | wc -l)
check "LEVEL is 3 by default" answers 0 "$driver" "$module" events
check "which leaves out what is below" is "$before 3" \
	"$(entries MESSAGE CTRACE_EVENT=102 | wc -l) $(entries MESSAGE CTRACE_EVENT=103 | wc -l)"

check "an event of 26 MB" answers 0 "$driver" "$module" large
journalctl --sync
journalctl -D /run/log/journal -q -o export --output-fields=MESSAGE,CTRACE_DATA1,CTRACE_DATA200,CTRACE_DATA256 CTRACE_EVENT=300 >/run/large
size=$(stat -c %s /run/large)
check "is there, shorter than what journald takes" test "$size" -gt $((15 << 20)) -a "$size" -lt $((32 << 20))
check "a MESSAGE that was cut says so" is 1 "$(grep -ac '^MESSAGE=.*x \.\.\.$' /run/large)"
check "it has the items that fit" is '1 1 0' "$(grep -ac ^CTRACE_DATA1=x /run/large) $(grep -ac ^CTRACE_DATA200=x /run/large) \
$(grep -ac ^CTRACE_DATA256=x /run/large)"
rm /run/large

# A journald that does not read: the emitter gives up in bounded time, and what was out already is not sent twice.
kill -STOP "$pid"
check "a stopped journald: OUTPUT_ERROR" answers 13 timeout 60 "$driver" "$module" stalled
mkfifo /run/said
"$driver" "$module" many >/run/said &
writer=$!
read -r said </run/said
kill -CONT "$pid"
wait "$writer"
status=$?
check "it fails while journald is stopped, and is done when it goes on" is "failed 0" "$said $status"
journalctl --sync
check "each event of it once" is 2000 "$(journalctl -D /run/log/journal -q -o cat --output-fields=CTRACE_EVENT "CTRACE_PID=$writer" | sort -u | wc -l)"
check "and only once" is 2000 "$(journalctl -D /run/log/journal -q -o cat --output-fields=CTRACE_EVENT "CTRACE_PID=$writer" | wc -l)"

kill "$pid"
wait "$pid" 2>/dev/null
for journal in 'a dead journald' 'no journald'; do
	check "with $journal it opens" answers 0 "$driver" "$module" open
	check "with $journal an event of LEVEL fails: OUTPUT_ERROR" answers 13 "$driver" "$module" events
	check "with $journal events below LEVEL are done with" answers 0 "$driver" "$module" events LEVEL=9999
	rm -rf /run/systemd
done
end
