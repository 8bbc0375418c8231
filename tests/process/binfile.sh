#!/usr/bin/env bash
# BINFILE and its readers from end to end: a traced program, babeltrace2 and ctrace show, with and without a sudden death.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
subject=$CTRACE_BUILD/tests/tool_subject

configure() { # LINE...
	printf '%s\n' "$@" >cfg
	export MFTRACE_CONFIG=$PWD/cfg
}
lines() { [ "$(wc -l <"$1")" = "$2" ] || { echo "$(wc -l <"$1") lines, not $2"; false; }; }
silent() { [ ! -s "$1" ] || { cat "$1"; false; }; }
run() { # WANTED-STATUS COMMAND... : its output in out and err
	local wanted=$1 status
	shift
	"$@" >out 2>err </dev/null
	status=$?
	[ "$status" = "$wanted" ] || { echo "status $status, not $wanted: $(tail -3 err)"; false; }
}
show() { run 0 ctrace show "$@"; }

# ---- both destinations say the same
configure 'mftrace.level = debug' 'mftrace.dest = textfile, binfile'
"$subject" 500 </dev/null >/dev/null
trace=$(echo *.ctb) log=$(echo *.log)
check 'one trace, one log' test -d "$trace" -a -f "$log"
babeltrace2 --fields=loglevel "$trace" >viewed 2>diagnostics
check 'babeltrace2 reads every event' lines viewed 1000
check 'babeltrace2 has nothing to report of' silent diagnostics
check 'names, levels and items as the viewer shows them' grep -qE \
	'TRACE_WARNING \(4\) tool\.main\.part:2: \{ pid = [0-9]+, tid = [0-9]+ \}, \{ data1_len = 4, data1 = "part" \}' viewed
# shellcheck disable=SC2016 # the tool's
check 'show reads it' show --format '$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' "$trace"
check 'show prints the lines of the text file' diff <(grep -v '^#' "$log") out
check 'show is silent about a whole trace' silent err
check 'one stream file' show "$trace/stream.0"
check 'the directory that it is in' show .
check 'gives the same events' lines out 1000

# ---- filters
show "$trace" --level warn && check '--level' lines out 500
show "$trace" --component '*.PART' && check '--component' lines out 500
show "$trace" --event 1,7-9 && check '--event' lines out 500
run 1 ctrace show "$trace" --event 3 && check 'no event matches' grep -q 'no events match' err
show "$trace" --since -1h --until 23:59:59.999999999 && check '--since and --until' lines out 1000
check 'nothing since tomorrow' run 1 ctrace show "$trace" --since 2200-01-01
show "$trace" --format '$(PID)/$(LEVEL)' --level warn && check '--format' grep -qxE '[0-9]+/2' out
show "$trace" --color=always --level warn && check '--color=always' grep -q $'^\033\\[33m.*\033\\[0m$' out
show "$trace" --color=never && check 'no colour into a file' bash -c '! grep -qP "\x1b" out'
check '--color=auto is none into a file' bash -c '! ctrace show "$1" --color=auto | grep -qP "\x1b"' - "$trace"
check 'an unknown colour' run 2 ctrace show --color=blue "$trace"
show "$trace" --json
check '--json' python3 - <<'END'
import json
events = [json.loads(line) for line in open('out')]
assert len(events) == 1000
assert [e['data'][0]['value'] for e in events if e['component'] == 'tool.main'] == list(range(500))
assert all(e['level'] == 'WARN' and [(d['type'], d['value']) for d in e['data']] == [('text', 'part')] for e in events if e['event'] == 2)
assert [e['time_ns'] for e in events] == sorted(e['time_ns'] for e in events)
assert all(set(e) >= {'time', 'time_ns', 'component', 'event', 'level', 'pid', 'tid', 'host', 'job', 'asid', 'data'} for e in events)
END
check 'a reader that stops early stops it' bash -c 'ctrace show "$1" "$1" "$1" | head -1 | grep -q tool.main' - "$trace"
for arguments in show stats 'stats --json' 'export -f csv' 'export -f json' 'ipcs QUERY' "diff --json $trace" 'report -o -' 'catalog draft'; do
	# shellcheck disable=SC2016,SC2086 # words
	check "a full disk is no success: ${arguments% "$trace"}" bash -c '
		timeout 60 ctrace "$@" >/dev/full 2>err </dev/null
		[ $? = 2 ] && [ "$(grep -c "No space left on device" err)" = 1 ] && [ "$(wc -l <err)" = 1 ] || { cat err; false; }' - $arguments "$trace"
done

# ---- damage
cp -r "$trace" hurt.ctb
truncate -s -7 hurt.ctb/stream.0
run 1 ctrace show hurt.ctb
check 'a cut trace: status 1, and everything before the cut' lines out 999
check 'a cut trace: said where' grep -qE '^ctrace show: hurt.ctb/stream.0, offset [0-9]+, [0-9]+ bytes?: the file ends inside a packet$' err
cp "$trace/stream.0" hurt.ctb
dd if=/dev/zero of=hurt.ctb/stream.0 bs=1 seek=$(($(stat -c %s hurt.ctb/stream.0) - 300)) count=300 conv=notrunc 2>dd.err
run 1 ctrace show --format '[$(COMPONENT)]' hurt.ctb
check 'zeros where events were are none' bash -c '! grep -qxF "[]" out && grep -qxF "[tool.main]" out'
check 'zeros: said' grep -q 'this is no event of the trace' err
head -c 100000 /dev/urandom >hurt.ctb/stream.0
check 'noise instead of a stream' run 1 ctrace show hurt.ctb
echo '/* CTF 1.8 */ trace {' >hurt.ctb/metadata
run 1 ctrace show hurt.ctb
check "another tracer's trace" grep -q 'not a trace that' err
rm -r ./*.ctb *.log

# ---- sudden death: every event whose call had returned, once
mkfifo order
"$subject" 3000 <order >said & pid=$!
exec 3>order
until grep -q ready said; do kill -0 $pid || break; sleep 0.01; done
echo 70000 >&3
until [ "$(wc -l <said)" = 2 ]; do kill -0 $pid || break; sleep 0.01; done
kill -KILL $pid
wait $pid 2>/dev/null
exec 3>&-
show .  "$CTRACE_RUN_DIR" || true
# What was being delivered is in both, and the two readings of the clocks may date it differently: two events have one number only when half a ms is between them.
python3 -c '
numbered, others = {}, set()
for line in open("out"):
    time, rest = line.split(" ", 1)
    if rest.startswith("tool.main 1 "):
        h, m, s = time.split(":")
        numbered.setdefault(rest, []).append(int(h) * 3600 + int(m) * 60 + float(s))
    else:
        others.add(line)
for times in numbered.values():
    times.sort()
count = sum(1 + sum(next - time > 0.0005 for time, next in zip(times, times[1:])) for times in numbered.values())
print("\n" * (count + len(others)), end="")' >distinct
check 'before recovery: trace and rings together have everything' lines distinct 76000
rm distinct
check 'recover' run 0 ctrace recover
babeltrace2 ./*.ctb >viewed 2>diagnostics
check 'after recovery: every event, once' lines viewed 76000
check 'after recovery: nothing to report of' silent diagnostics
show --event 1 --json ./*.ctb
check 'in order' python3 -c '
import json
values = [json.loads(line)["data"][0]["value"] for line in open("out")]
assert values == list(range(3000)) + list(range(70000)), len(values)'
# Two clocks' lines date an event to 1 us: one at the end of a millisecond may be in the next one.
ctrace show --format '$(TIME) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' ./*.ctb >binary
check 'as the text file has it' python3 -c '
import glob
def read(name): return [line.split(" ", 1) for line in open(name) if not line.startswith("#")]
def ms(time): h, m, s = time.split(":"); return round((int(h) * 3600 + int(m) * 60 + float(s)) * 1000)
key = lambda line: (line[1], line[0])
text = sorted((line for name in glob.glob("*.log") for line in read(name)), key=key)
binary = sorted(read("binary"), key=key)
assert len(text) == len(binary)
for a, b in zip(text, binary):
    assert a[1] == b[1] and abs(ms(a[0]) - ms(b[0])) <= 1, (a, b)'
rm -r ./*.ctb *.log

# ---- the line that a trace is shown by
shown='$(EVENT)|$(MNEMONIC) "\\"$(DATA)'
configure 'mftrace.level = debug' 'mftrace.dest = binfile' "mftrace.emitter.binfile#format = $shown"
"$subject" 5 </dev/null >/dev/null
check 'a reader'"'"'s variables are known' bash -c '! ctrace config check "$MFTRACE_CONFIG" 2>&1 | grep "no such variable"'
check 'by FORMAT' diff <(ctrace show ./*.ctb) <(ctrace show --format "$shown" ./*.ctb)
check 'which is not the usual one' bash -c '! diff <(ctrace show ./*.ctb) <(ctrace show --format=default ./*.ctb) >/dev/null'
check 'the usual one' bash -c 'ctrace show --format=default ./*.ctb | grep -qE "^[0-9:.]+ .*tool.main 1 INFO"'
check 'another one' diff <(ctrace show --format x ./*.ctb | sort -u) <(echo x)
cp -r ./*.ctb hostile
sed -i 's/^\tformat = .*/\tformat = "\\u{1B}[31m$(EVENT)";/' hostile/metadata
check 'one with a code in it that a terminal obeys' grep -q 'u{1B}' hostile/metadata
check 'is not used' diff <(ctrace show hostile) <(ctrace show --format=default hostile)
check 'and costs no event' diff <(ctrace show hostile | wc -l) <(ctrace show ./*.ctb | wc -l)
rm -r hostile
check 'babeltrace2 opens it' bash -c 'test "$(babeltrace2 ./*.ctb | wc -l)" = "$(ctrace show --count ./*.ctb)"'
ctrace export --format common-trace-format -o exported ./*.ctb
check 'an export keeps it' diff <(ctrace show ./*.ctb) <(ctrace show exported)
mkdir other
mv ./*.ctb other
configure 'mftrace.level = debug' 'mftrace.dest = binfile'
"$subject" 5 </dev/null >/dev/null
check 'two that differ: the usual one' diff <(ctrace show other ./*.ctb) <(ctrace show --format=default other ./*.ctb)
rm -r ./*.ctb other exported

# ---- losses travel in the data
configure 'mftrace.level = debug' 'mftrace.dest = binfile' 'ctrace.overflow = discard' 'ctrace.buffer = 64K'
"$subject" 300000 </dev/null >/dev/null
babeltrace2 ./*.ctb >viewed 2>diagnostics
check 'delivered + discarded = traced' python3 - <<'END'
import re
delivered = sum(1 for line in open('viewed'))
discarded = sum(int(n) for n in re.findall(r'discarded (\d+) event', open('diagnostics').read()))
assert delivered + discarded == 600000, (delivered, discarded)
END
show ./*.ctb || true
check 'show counts the same' python3 - <<'END'
import re
found = re.findall(r'^ctrace show: (\d+) events? w', open('err').read(), re.M)
assert sum(1 for line in open('out')) + (int(found[-1]) if found else 0) == 600000, found
END
rm -r ./*.ctb

# ---- below LEVEL
configure 'mftrace.level = debug' 'mftrace.dest = binfile' 'mftrace.emitter.binfile#level = warn'
"$subject" 100 </dev/null >/dev/null
show ./*.ctb
check 'events below LEVEL are not written' lines out 100
check 'the others are' bash -c '! grep -v " WARN " out'
rm -r ./*.ctb

# ---- generations
configure 'mftrace.level = debug' 'mftrace.dest = binfile' 'mftrace.emitter.binfile#maxgeneration = 3' 'mftrace.emitter.binfile#maxfilesize = 100'
"$subject" 30000 </dev/null >/dev/null
check 'three generations' test "$(echo *.ctb_* | wc -w)" = 3
check 'of about the size asked for' test "$(du -ck ./*.ctb_* | tail -1 | cut -f1)" -lt 450
babeltrace2 ./*.ctb_* >viewed 2>diagnostics
check 'that viewers read' test "$(wc -l <viewed)" -gt 5000 -a ! -s diagnostics
show ./*.ctb_*
check 'and ours too' lines out "$(wc -l <viewed)"
end
