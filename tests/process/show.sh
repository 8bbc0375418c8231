#!/usr/bin/env bash
# ctrace show from end to end: filters over real traces with a catalogue and COBOL records, context, the first and the last events, counting.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
subject=$CTRACE_BUILD/tests/orders

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }

printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' >cfg
MFTRACE_CONFIG=$PWD/cfg CTRACE_JOBNAME=SHOPJOB "$subject" 100
trace=$(echo orders*.ctb)
cat >CUSTREC.cpy <<'COBOL'
       01  CUSTOMER.
           05  CUST-ID         PIC 9(6).
           05  CUST-NAME       PIC X(12).
           05  CUST-STATUS     PIC X.
               88  CUST-ACTIVE     VALUE "A".
               88  CUST-CLOSED     VALUE "C".
           05  MONEY.
               10  BALANCE     PIC S9(5)V99 SIGN LEADING SEPARATE.
           05  FILLER          PIC X(4).
COBOL
cat >shop.yaml <<'YAML'
component: SHOP.ORDER
description: Orders
events:
  10: {mnemonic: ORDER, exit: 11, arguments: [number]}
  11: {mnemonic: ORDEREND, arguments: [number]}
  20: {mnemonic: READ, exit: 21, arguments: [number]}
  21: {mnemonic: READEND}
  30:
    mnemonic: CUSTOMER
    arguments:
      - {name: rec, copybook: CUSTREC.cpy}
      - change
  40:
    mnemonic: ODD
    arguments:
      - text
      - {name: mode, print: enumeration, values: {NONE: 0, ONE: 1, TWO: 2}}
      - {name: bits, print: flags, values: {READ: 1, WRITE: 2, LOCK: 4}}
---
component: SHOP.JOBS
events:
  50: {mnemonic: BEGIN, exit: 51, match: job, arguments: [job]}
  51: {mnemonic: END, arguments: [job]}
YAML
export CTRACE_CATALOG=$PWD/shop.yaml

show() { ctrace show "$@" 2>err; }
count() { show --filter "$1" --count "$trace"; }
counts() { is "$(count "$2")" "$1"; } # NUMBER EXPRESSION

check 'the catalogue is good' ctrace catalog check shop.yaml
check 'everything' is "$(show --count "$trace")" 516
check 'nothing was said' test ! -s err

# ---- the language, on real events
check 'component' counts 6 'component == "shop.JOBS"'
check 'component by pattern' counts 510 'component ~ "*.ORDER"'
check 'level' counts 10 'level > info'
check 'event' counts 210 'event in (10..11, 40)'
check 'mnemonic' counts 200 'mnemonic in ("read", "READEND")'
check 'job' counts 516 'job == "shopjob"'
check 'another job' counts 0 'job != "SHOPJOB"'
check 'asid' counts 516 "asid == $(show --format '$(ASID)' --limit 1 "$trace")"
check 'host' counts 516 "host == \"$(show --format '$(HOST)' --limit 1 "$trace")\""
check 'program' counts 516 'program ~ "orders*"'
check 'thread and process' counts 516 "thread == $(show --format '$(THREAD)' --limit 1 "$trace") && pid == $(show --format '$(PID)' --limit 1 "$trace")"
check 'seq' counts 10 'seq in (11..20)'
check 'time' counts 516 'time > "-1h" && time < "2200-01-01"'
check 'size' counts 100 'size == 35'
check 'an item by its number' counts 51 'event == 10 && data[0] in (10..60)'
check 'an item by its name' counts 5 'mnemonic == "ORDER" && data.number > 94'
check 'a signed one' counts 4 'data.change < -95'
check 'a label' counts 3 'data.mode == "two"'
check 'a flag' counts 5 'data.bits ~ "WRITE"'
check 'any item' counts 10 'data ~ "*round*"'
check 'a name that no event has' counts 0 'data.colour != 5'

check 'a field of a record: number' counts 11 'data.rec.CUST-ID in (20..30)'
check 'a field of a record: text' counts 25 'data.rec.CUST-NAME == "ADA"'
check 'a field of a record: pattern' counts 75 'data.rec.CUST-NAME ~ "*a*a*" or data.rec.CUST-NAME in ("GRACE", "ALAN")'
check 'a field in a group, signed' counts 3 'data.rec.MONEY.BALANCE < -137.99 && data[0].BALANCE != -148.5'
check 'a name of level 88' counts 34 'data.rec.CUST-STATUS == "CUST-ACTIVE"'

check 'durations' counts 203 'duration'
check 'those that slept' is "$(count 'mnemonic == "READEND" && duration >= 2ms && seq > 0')" "$(show --json 'mnemonic == "READEND"' "$trace" | python3 -c '
import json, sys
print(sum(json.loads(line)["duration_ns"] >= 2000000 for line in sys.stdin))')"
check 'all of those that slept' test "$(count 'event == 21 && duration >= 2ms')" -ge 10
check 'spans by an argument' counts 3 'component ~ "*jobs" && duration < 1h'
check 'joints' counts 20 '(level == warn || event == 50 || data.number == 5) && not (event == 11 && data[0] != 0) && !(event in (21))
	or data.rec.CUST-ID in (1..5)'

# ---- short forms, and --filter as often as one likes
check 'short forms are the same' is "$(show -c '*.order' -l info -e 10,40 --since -1h --until 2200-01-01 --count "$trace")" 110
check '--filter' is "$(show -F 'event == 10' --filter 'data[0] < 5' 'data[0] > 1' --count "$trace")" 3
check 'a process that is named is no expression' test "$(cd "$trace" && ctrace show . --count)" = 516

# ---- items and fields of records as columns
csv=$(ctrace export -f csv 'event == 30 && data.rec.CUST-ID in (1..2)' --columns=change,rec.CUST-ID,rec.MONEY.BALANCE,rec.cust-name,nothing "$trace" | tr -d '\r')
check 'columns' is "$(cut -d, -f8- <<<"$csv")" 'mnemonic,level,duration_ns,change,rec.CUST-ID,rec.MONEY.BALANCE,rec.cust-name,nothing
CUSTOMER,INFO,,-1,1,-1.50,GRACE,
CUSTOMER,INFO,,-2,2,3.00,ALAN,'

# ---- which of them, and in which order
numbers() { sed 's/.*number=//' | tr '\n' ' '; }
check '--limit' is "$(show 'event == 10' --limit 3 "$trace" | numbers)" '0 1 2 '
check '--tail' is "$(show 'event == 10' --tail 3 "$trace" | numbers)" '97 98 99 '
check '--reverse' is "$(show 'event == 10 && data[0] < 4' --reverse "$trace" | numbers)" '3 2 1 0 '
check '--reverse --limit' is "$(show 'event == 10' --reverse --limit 2 "$trace" | numbers)" '99 98 '
check '--tail --reverse' is "$(show 'event == 10' --reverse --tail 2 "$trace" | numbers)" '99 98 '
check '--tail --limit: of the last ones the first' is "$(show 'event == 10' --tail 3 --limit 2 "$trace" | numbers)" '97 98 '
check '--tail of more than there are' is "$(show --tail 100000 "$trace" | wc -l)" 516
check '--reverse of everything' diff <(show --reverse "$trace" | tac) <(show "$trace")
check '--count --limit' is "$(show --count --limit 7 "$trace")" 7
show 'event == 99' --count "$trace" >out
check 'none: status' is $? 1
check 'none: counted' is "$(<out)" 0
check 'none: said' grep -q '^ctrace show: no events match$' err

check '-n' is "$(show 'event == 10' -n 3 "$trace" | numbers)" '97 98 99 '
check 'the last ones with their durations' is "$(show 'event == 11' -n 2 "$trace" | grep -c '([0-9.]*[num]*s)$')" 2
check 'the entry is far before: it is gone back to' is "$(show 'event == 51' --tail 1 "$trace")" "$(show 'event == 51' "$trace" | tail -1)"
check '--pid and --thread' is "$(show --count --pid "$(show --format '$(PID)' --limit 1 "$trace")" --thread "$(show --format '$(THREAD)' --limit 1 "$trace")" "$trace")" 516
check 'another process' is "$(show --count --pid 1 "$trace")" 0
check 'times as people say them' is "$(show --count --since '2h ago' --since yesterday --since '-30 min' --until now "$trace")" 516
check '--utc' is "$(TZ=XYZ-5 ctrace show --utc --limit 1 "$trace")" "$(show --limit 1 "$trace")"
check 'local time' is "$(TZ=XYZ-5 ctrace show --limit 1 "$trace" | cut -c1-2)" "$(printf %02d $(((10#$(show --limit 1 "$trace" | cut -c1-2) + 5) % 24)))"
show --format '$(DURATON)' --limit 1 "$trace" >out
check 'a variable that is none' grep -q '^ctrace show: --format: $(DURATON) is no variable (did you mean $(DURATION)?), and is printed as it stands$' err
check 'and printed as it stands' is "$(<out)" '$(DURATON)'
show --format '$(TIME) $(DATA' --limit 1 "$trace" >out
check 'a variable that is not closed' is "$(<err)" 'ctrace show: --format: column 9: $(DATA lacks its ")", and is printed as it stands'
show --format '$(DATA $(TIME)' --limit 1 "$trace" >out
check 'a variable that is not closed before another' is "$(<err)" 'ctrace show: --format: column 1: $(DATA lacks its ")", and is printed as it stands'
check '$(DELTA)' is "$(show --format '$(DELTA)' --limit 2 "$trace" | grep -cE '^(-|[0-9.]+[num]?s)$')" 2

# ---- context
context() { show "$@" --format '$(SEQ)' "$trace" | tr '\n' ' '; }
check '--before' is "$(context 'seq in (10, 20)' --before 2)" '8 9 10 -- 18 19 20 '
check '--after' is "$(context 'seq in (10, 20)' --after 2)" '10 11 12 -- 20 21 22 '
check '--context' is "$(context 'seq in (10, 20)' --context 2)" '8 9 10 11 12 -- 18 19 20 21 22 '
check 'groups that touch are one' is "$(context 'seq in (10, 13)' --context 1)" '9 10 11 12 13 14 '
check 'one that is not shown parts them' is "$(context 'seq in (10, 14)' --context 1)" '9 10 11 -- 13 14 15 '
check 'at the ends' is "$(context 'seq in (1, 516)' --context 2)" '1 2 3 -- 514 515 516 '
check 'with --limit what follows is shown too' is "$(context 'seq in (10..20)' --limit 2 --after 3)" '10 11 12 13 14 '
check 'with --tail: around the last ones' is "$(context 'seq in (10, 20, 22, 40)' --tail 2 --context 1)" '21 22 23 -- 39 40 41 '
check 'with --tail of more than match' is "$(context 'seq in (10, 20)' --tail 9 --before 1)" '9 10 -- 19 20 '
check 'with --tail and --limit' is "$(context 'seq in (10, 20, 30)' --tail 2 --limit 1 --after 1)" '20 21 '
check 'with --tail what matches but does not count is context' is "$(context 'seq in (10..13)' --tail 1 --before 2)" '11 12 13 '
check 'with --reverse' is "$(context 'seq in (10, 20)' --reverse --before 1 --after 2)" '22 21 20 19 -- 12 11 10 9 '
check 'with --reverse and --limit' is "$(context 'seq in (10, 20, 30)' --reverse --limit 2 --context 1)" '31 30 29 -- 21 20 19 '
check 'with --reverse, nothing matches' is "$(context 'seq == 1000' --reverse --context 1)" ''
check 'with durations' is "$(context 'component ~ "*jobs" && duration' --before 1 --limit 1)" '513 514 '
check 'no separators in JSON' is "$(show 'seq in (10, 20)' --context 1 --json "$trace" | python3 -c '
import json, sys
print(len([json.loads(line) for line in sys.stdin]))')" 6

# ---- how they look
check '--sequence' is "$(show 'seq == 5' -s "$trace" | grep -c '^\[5\] ')" 1
check '--nesting' is "$(show 'data.number == 1 || data.rec.CUST-ID == 1' --nesting "$trace" | sed -E 's/[0-9:.]+ shop/shop/; s/ \([0-9.]+[num]?s\)$/ (took)/')" "shop.order ORDER INFO number=1
- shop.order READ INFO number=1
-- shop.order CUSTOMER INFO rec={CUST-ID=000001 CUST-NAME=\"GRACE\" CUST-STATUS=\"C\" (CUST-CLOSED) MONEY={BALANCE=-00001.50}} change=-1
shop.order ORDEREND INFO number=1 (took)"
check '--records' is "$(show 'data.rec.CUST-ID == 1' --records "$trace" | sed '1d; s/   */ | /')" ' | CUSTOMER
 | CUST-ID                         000001
 | CUST-NAME                       "GRACE"
 | CUST-STATUS                     "C" (CUST-CLOSED)
 | MONEY
 | BALANCE                       -00001.50
 | FILLER                          ""'
check '--format with a duration' is "$(show 'event == 51' --format '$(MNEMONIC) $(DURATION)' "$trace" | grep -cE '^END [0-9.]+(ns|us|ms|s)$')" 3
check '--color' test "$(show 'level == warn' --color=always "$trace" | grep -c $'^\033\\[33m.*\033\\[0m$')" = 10

# ---- output
check 'a full disk is no success' bash -c '! ctrace show "$1" >/dev/full 2>err && grep -q "^ctrace show: cannot write the output: No space left" err' - "$trace"
check 'a closed output neither' bash -c '! ctrace show "$1" >&- 2>err && grep -q "cannot write the output" err' - "$trace"
check 'a reader that goes ends it' is "$(show "$trace" "$trace" | head -1 | wc -l)" 1

# ---- errors
wrong() { # COLUMN MESSAGE EXPRESSION
	ctrace show "$3" "$trace" >out 2>err
	is "$?" 2 && test ! -s out && is "$(sed -n 1p err)" "ctrace show: filter, column $1: $2" &&
		is "$(sed -n 2p err)" "    $3" && is "$(sed -n 3p err)" "$(printf '    %*s^' $(($1 - 1)) '')"
}
check 'a type' wrong 9 '"abc" is no level; expected debug, info, warn, error, fatal or 0 to 4' 'level > "abc"'
check 'a parenthesis' wrong 14 'the expression ends here; expected &&, ||, or ) for the ( in column 1' '(level > warn'
check 'an operator' wrong 7 '"~" does not go with level; expected ==, !=, <, <=, >, >= or in' 'level ~ 5'
check 'a unit' wrong 12 '"2" has no unit of time; expected one like 2ms, 1.5s, 10us or 3m' 'duration > 2'
ctrace show -f "$trace" >out 2>err
check '-f takes no path for a format' test $? = 2 -a ! -s out
check '-f: not of files' grep -qF "ctrace show: $trace: -f follows processes, not files" err
ctrace show 'evnt == 5' "$trace" 2>err
check 'a suggestion' grep -q '^ctrace show: filter, column 1: "evnt" is no field of an event (did you mean event?); expected component, level' err
usage() { ctrace show "$@" "$trace" >out 2>err; is "$?" 2 && test ! -s out; }
for arguments in '--limit 0' '--tail 0' '--before -1' '--after x' '--context 1000001' '--count --tail 3' '--count --reverse' '--context 1 --count' \
	'--before 1 --count' '--color=blue' '--filter' '-F (' '--since soon' '--level loud' '--event 5-' '--event 1)||(event==2'; do
	# shellcheck disable=SC2086 # words
	check "refused: $arguments" usage $arguments
done

# ---- memory does not grow with what waits
printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' 'mftrace.emitter.binfile#file = many.ctb' 'ctrace.overflow = block' >cfg
MFTRACE_CONFIG=$PWD/cfg "$CTRACE_BUILD/tests/tool_subject" 600000 </dev/null >/dev/null
check 'the last three' is "$(show -n 3 many.ctb)" "$(show many.ctb | tail -3)"
check 'the last three that match' is "$(show 'level == info' -n 3 many.ctb | cut -d' ' -f1)" "$(show 'level == info' many.ctb | tail -3 | cut -d' ' -f1)"
# What is read of a file is in the process's own account.
account=$(python3 - <<'PYTHON'
import os, subprocess
reader = subprocess.Popen(['ctrace', 'show', '-n', '3', 'many.ctb'], stdout=subprocess.PIPE)
reader.stdout.read()
os.waitid(os.P_PID, reader.pid, os.WEXITED | os.WNOWAIT)
try:
    print(open(f'/proc/{reader.pid}/io').read().split()[1])
except OSError:
    print(0)
PYTHON
)
check "only the end is read ($account bytes of $(stat -c %s many.ctb/stream.0))" test "$account" -lt 2000000
check 'a million lines backward' is "$(show --reverse many.ctb | tac | cmp - <(show many.ctb) && echo same)" same
check 'and most of them from the end' is "$(show --tail 700000 many.ctb | cmp - <(show many.ctb | tail -700000) && echo same)" same
peak() { command time -f %M "$@" 2>&1 >/dev/null | tail -1; }
if command -v time >/dev/null; then
	straight=$(peak ctrace show many.ctb) waiting=$(peak ctrace show --reverse many.ctb)
	check "in bounded memory ($straight KB, $waiting KB)" test "$waiting" -lt $((straight + 65536))
fi
mkdir spool
TMPDIR=$PWD/spool show --reverse many.ctb >out
check 'lines that wait and cannot be kept: status' bash -c 'trap "" XFSZ; ulimit -f 2; ctrace show --reverse many.ctb 2>err >/dev/full; [ $? -eq 2 ]'
check 'lines that wait and cannot be kept: said' grep -qx 'ctrace show: lines that wait to be printed, in a file in TMPDIR or /tmp: File too large' err
check 'lines that wait and cannot be kept: no others are printed' is "$(wc -l <err)" 1
check 'so with lines around each' bash -c 'trap "" XFSZ; ulimit -f 2; ctrace show "level == info" --before 1 --reverse many.ctb 2>err >/dev/null; [ $? -eq 2 ]'
check 'nothing is left of the file' is "$(ls -A spool)" ''
end
