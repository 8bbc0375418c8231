#!/usr/bin/env bash
# Named groups of events, options that stand in a file, and a file for each thread.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }

printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' >cfg
MFTRACE_CONFIG=$PWD/cfg "$CTRACE_BUILD/tests/orders" 100
trace=$(echo orders*.ctb)
count() { ctrace show --count "$@" "$trace" 2>err; }
all=$(count)

# ---- groups
cat >shop.groups <<'EOF'
# what the shop does
odd    = event == 40
loud   = level >= warn &&
         event < 100
orders = component ~ "shop.*" and event in (10..20)
EOF
export CTRACE_GROUPS=$PWD/shop.groups
check 'a group' is "$(count --group odd)" "$(count 'event == 40')"
check 'a group of two lines' is "$(count --group LOUD)" "$(count 'level >= warn && event < 100')"
check 'it has some events, not all' test "$(count --group orders)" -gt 0 -a "$(count --group orders)" -lt "$all"
check 'one of two' is "$(count --group odd,orders)" "$(count 'event == 40 || (component ~ "shop.*" && event in (10..20))')"
check 'all others' is "$(($(count --group '!odd,orders') + $(count --group odd,orders)))" "$all"
check 'two options hold both' is "$(count --group orders --group '!loud')" "$(count 'component ~ "shop.*" && event in (10..20) && !(level >= warn && event < 100)')"
check 'and what else is asked' is "$(count --group orders 'level >= warn')" "$(count 'component ~ "shop.*" && event in (10..20) && level >= warn')"
check 'export' is "$(ctrace export -f json --lines --group orders "$trace" | wc -l)" "$(count --group orders)"
printf 'odd = event == 10\n' >other.groups
check 'a file by its option, behind the name' is "$(count --group odd --groups other.groups)" "$(count 'event == 10')"
refused() { # MESSAGE ARGUMENT...
	local message=$1
	shift
	ctrace show "$@" "$trace" >out 2>err
	is $? 2 && is "$(cat out)" '' && is "$(head -1 err)" "ctrace show: $message"
}
check 'no such group' refused "--group: $PWD/shop.groups has no group \"nope\"" --group nope
check 'no such file' refused '--group: nosuch: there is no such file' --groups nosuch --group odd
check 'no file' env -u CTRACE_GROUPS bash -c 'ctrace show --group odd . 2>&1 | grep -q "no file of groups is named; expected --groups=FILE, or CTRACE_GROUPS"'
printf 'odd == 3\n' >bad.groups
check 'no expression' refused '--group: bad.groups:1: group odd, column 1 of the expression: "=" is not expected here; expected a field, ! or (' --groups bad.groups --group odd
printf '\nodd event\n' >bad.groups
check 'no group' refused '--group: bad.groups:2: expected NAME = EXPRESSION' --groups bad.groups --group odd

# ---- options in a file
cat >daily <<'EOF'
# every day
--level=warn   --count # how many
'event < 100' --filter "event != 40"
EOF
check 'a file of options' is "$(ctrace show --options=daily "$trace")" "$(count --level=warn 'event < 100 && event != 40')"
check 'two words' is "$(ctrace show "$trace" --options daily)" "$(count --level=warn 'event < 100 && event != 40')"
sed '2d' daily >weekly
check 'stats' is "$(ctrace stats "$trace" --options weekly | head -1)" "$(ctrace stats 'event < 100 && event != 40' "$trace" | head -1)"
check 'behind -- it is a word as others' bash -c 'ctrace show --count -- --options=daily 2>&1 | grep -q "^ctrace show: filter, column 1"'
check 'a file that is not there' refused 'nosuch: there is no such file' --options=nosuch
printf -- '--count\n"event' >bad
check 'a quotation mark' refused 'bad:2: a quotation mark is not closed' --options=bad
mkfifo pipe && mkdir -p directory && printf -- '--count\n--level=warn\0 --limit=1\n' >nul
check 'a pipe' refused 'pipe: no regular file, as a file of options has to be: not a pipe, a device or a socket' --options=pipe
check 'a directory' refused 'directory: a directory; a file of options is expected' --options=directory
check 'a NUL' refused 'nul:2: a NUL byte is in this line: no file of options' --options=nul
head -c 2000000 /dev/zero | tr '\0' '#' >large
printf '\xef\xbb\xbf--count\n' >marked
check 'a byte order mark' is "$(ctrace show --options=marked "$trace")" "$(count)"
printf '\xef\xbb\xbfodd = event == 10\n' >marked
check 'a byte order mark before groups' is "$(count --groups marked --group odd)" "$(count 'event == 10')"
check 'groups from a pipe' refused '--group: pipe: no regular file, as a file of groups has to be: not a pipe, a device or a socket' --groups pipe --group odd
check 'groups from a directory' refused '--group: directory: a directory; a file of groups is expected' --groups directory --group odd
check 'groups with a NUL' refused '--group: nul:2: a NUL byte is in this line: no file of groups' --groups nul --group odd
check 'a file that is too large' bash -c '! ctrace show --options=large . >out 2>err && grep -q "^ctrace show: large: " err'
printf -- '--options=daily\n' >bad
check 'a file within a file' refused '--options=FILE is written in full, and not within such a file' --options=bad

# ---- a file for each thread
printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' >cfg
MFTRACE_CONFIG=$PWD/cfg "$CTRACE_BUILD/tests/spans_subject" 20 quick
trace=$(echo spans*.ctb)
all=$(count)
printf 'odd = event == 3\n' >shop.groups
ctrace show --split=thread -o threads "$trace" >out
threads=$(ctrace show --format '$(THREAD)' "$trace" | sort -u | wc -l)
check 'what is said' is "$(cat out)" "threads: $all events of $threads thread$([ "$threads" = 1 ] || echo s)"
check 'there are several' test "$threads" -gt 1
check 'a file a thread' is "$(find threads -name 'spans_subject.*.log' | wc -l)" "$threads"
check 'every line once' is "$(cat threads/* | cut -d' ' -f1 | sort | md5sum)" "$(ctrace show "$trace" | cut -d' ' -f1 | sort | md5sum)"
ctrace show --split=thread --format '$(THREAD)' -o ids "$trace" >out
check 'of its thread' is "$(for file in ids/*; do sort -u "$file" | paste -sd' ' | diff - <(echo "$file" | cut -d. -f3); done)" ''
ctrace show --split=thread --json --group odd -o json "$trace" >out
check 'as JSON, and filtered' is "$(cat json/*.json | python3 -c 'import json, sys; print(sum(json.loads(line)["event"] == 3 for line in sys.stdin))')" "$(count --group odd)"
check 'a directory that holds something' bash -c 'ctrace show --split=thread -o threads "$1" 2>&1 >out | grep -q "^ctrace show: threads: Directory not empty$" && test ! -s out' - "$trace"
unwritten() { # DIRECTORY
	ctrace show --split=thread -o "$1" "$trace" >out 2>err
	is $? 2
}
check 'a directory that holds something: status' unwritten threads
check 'a directory that cannot be made: status' unwritten /proc/nosuch/x
mkdir small
check 'a file that cannot be written: status' bash -c 'trap "" XFSZ; ulimit -f 1; ctrace show --split=thread -o small "$1" >/dev/null 2>&1; [ $? -eq 2 ]' - "$trace"
check 'one without the other' refused '--split=thread and --output=DIRECTORY go together' --split=thread
check 'with what it cannot do' refused '--split does not go with --before, --after, --tail, --reverse and --count' --split=thread -o x --count
check 'nothing was made' test ! -e x

end
