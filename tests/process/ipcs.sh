#!/usr/bin/env bash
# ctrace ipcs as a tool: where commands come from, which traces they read, exit statuses, and a session at a terminal.  What listings look like
# is held by tests/golden/ipcs.py.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
golden=$CTRACE_SOURCE/tests/golden/ipcs
cp -r "$golden/traces" "$golden"/*.yaml "$golden"/*.cpy .
subject=$CTRACE_BUILD/tests/tool_subject

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qE -- "$2" "$1" || { printf 'no /%s/ in:\n' "$2"; cat "$1"; false; }; }
lacks() { ! has "$1" "$2" >/dev/null || { printf '/%s/ in:\n' "$2"; cat "$1"; false; }; }
ipcs() {
	ctrace ipcs "$@" >out 2>err </dev/null
	status=$?
}
entries() { grep -cE '^ (MVS[12] +)?[^ ]+ +[0-9A-F]{8}  [0-9]{2}:' out; }

# ---- where commands come from
ipcs 'CTRACE COMP(APPXYZ) SUB((SUBA))' traces
check 'a word: status' is "$status" 0
check 'a word: entries' is "$(entries)" 9
ipcs traces/bank.ctb 'CTRACE COMP(BANK)' 'CTRACE COMP(APPXYZ) SUB((SUBA))'
check 'several words, in any order with paths' is "$(entries)" 4
ipcs --catalog BANK.yaml traces/bank.ctb 'CTRACE COMP(BANK)'
check 'a catalogue' has out '^ ORDER     00000002 '
CTRACE_CATALOG=BANK.yaml ipcs traces/bank.ctb 'CTRACE COMP(BANK)'
check 'a catalogue of the environment' has out '^ ORDER     00000002 '
ipcs --filter 'event == 2' traces/bank.ctb 'CTRACE COMP(BANK)' 'CTRACE COMP(APPXYZ) SUB((SUBA))'
check 'a filter beside the commands' is "$(entries)" 2
printf '* a file\n\nCTRACE COMP(BANK) -\n LIMIT(1)\nCTRACE COMP(BANK) WHAT\nEND\nCTRACE COMP(BANK)\n' >commands
ipcs -f commands traces/bank.ctb
check 'a file: what is right in it' is "$(entries)" 1
check 'a file: status' is "$status" 2
check 'a file: the place of an error' has err '^ctrace ipcs: line 5, column 19: "WHAT" is not an operand of CTRACE; expected '
check 'a file: the mark below it' has err '^ {22}\^$'
ctrace ipcs traces/bank.ctb <commands >out 2>err
check 'standard input' is "$(entries)" 1
ipcs -f nothing
check 'a file that is not there: status' is "$status" 2
check 'a file that is not there: said' has err '^ctrace ipcs: nothing: the commands cannot be read$'
ipcs traces/bank.ctb
check 'no command: status' is "$status" 2
check 'no command: said' has err '^ctrace ipcs: no command; expected CTRACE,'
ipcs 'CTRAEC COMP(BANK)' traces/bank.ctb
check 'a misspelt command is no trace: status' is "$status" 2
check 'a misspelt command is no trace: said' has err '^ctrace ipcs: column 1: "CTRAEC" is no subcommand \(did you mean CTRACE\?\)'
mkdir 'CTR COMP(X)'
ipcs 'CTR COMP(X)' 'CTRACE QUERY'
check 'a directory of such a name is no command' has out '^ITT10019I CTR COMP\(X\) is not a trace'

# ---- which traces
ipcs 'CTRACE COMP(BANK) DSNAME(traces/bank.ctb)' traces/shop.ctb
check "the command's own" is "$(entries)" 2
DD_TRACE=traces/bank.ctb ipcs 'CTRACE COMP(BANK) FILE(TRACE)'
check 'by ddname' is "$(entries)" 2
ipcs 'SETDEF PATH(traces/bank.ctb)' 'CTRACE COMP(BANK)' 'CTRACE COMP(BANK)' traces/shop.ctb
check 'by SETDEF, until the end' is "$(entries)" 4
ipcs 'CTRACE QUERY'
check 'none: status' is "$status" 1
check 'none: said' has out '^ITT10004I '
cat >app.cfg <<CONFIG
mftrace.level = none
mftrace.level.tool.main = info
mftrace.dest = textfile
mftrace.emitter.textfile#file = $PWD/subject.log
CONFIG
mkdir subject.log # in the place of the file: events wait in the ring
coproc SUBJECT { MFTRACE_CONFIG=$PWD/app.cfg exec "$subject" 10 2>/dev/null; }
pid=$SUBJECT_PID
read -r _ <&"${SUBJECT[0]}"
ipcs 'CTRACE QUERY(TOOL) ACTIVE' traces/bank.ctb
check 'a running process' has out '^ COMP\(tool\)SUBNAME\(\(main\)\)$'
ipcs 'CTRACE COMP(TOOL) SUB((MAIN)) FULL ACTIVE'
check 'its entries' has out '^    \+0000 '
ipcs "CTRACE COMP(TOOL) SUB((MAIN)) DSNAME($pid)"
check 'by process id' is "$status" 0
eval "exec ${SUBJECT[1]}>&-"
wait "$pid"
rmdir subject.log

# ---- what is damaged
cp -r traces/shop.ctb damaged
printf 'X' | dd of=damaged/stream.0 bs=1 seek=0 conv=notrunc status=none
ipcs 'CTRACE COMP(APPXYZ) SUB((SUBA))' damaged
check 'damage: status' is "$status" 1
check 'damage: said' has err '^ctrace ipcs: damaged/stream\.0, offset [0-9]+, [0-9]+ bytes?: '
check 'damage: the rest is listed' is "$(($(entries) >= 5))" 1
mkdir empty
ipcs 'CTRACE QUERY' empty
check 'an empty directory' has out '^ITT10019I empty is not a trace: '
ctrace ipcs 'CTRACE COMP(APPXYZ) SUB((SUBA)) FULL' traces >/dev/full 2>err
check 'a full disk' is $? 2
check 'nobody reads on' is "$(ctrace ipcs 'CTRACE COMP(APPXYZ) SUB((SUBA))' traces 2>err | head -1)" ' COMPONENT TRACE SHORT FORMAT'

# ---- a terminal
cat >session.py <<'PYTHON'
"""Types lines at ctrace ipcs on a terminal, each when it is asked for; what is shown goes to standard output."""
import os
import pty
import select
import sys

def main(arguments, typed):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ['TERM'] = 'dumb'
        os.execvp('ctrace', ['ctrace', 'ipcs'] + arguments)
    shown = b''
    seen = 0
    for prompt, keys in typed:
        while prompt not in shown[seen:]:
            if not select.select([terminal], [], [], 60)[0]:
                sys.exit(f'no {prompt} in {shown[seen:]}')
            shown += os.read(terminal, 65536)
        seen = len(shown)
        os.write(terminal, keys)
    try:
        while more := os.read(terminal, 65536):
            shown += more
    except OSError:
        pass
    sys.stdout.buffer.write(shown.replace(b'\r', b''))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

sys.exit(main(['--catalog', 'BANK.yaml', 'traces/bank.ctb'], [
    (b'IPCS ', b'CTRACE COMP(BANK) -\n'), (b'   + ', b'LIMIT(1)\n'),
    (b'IPCS ', b'CTRACE COMP(BA\x03'), (b'IPCS ', b'CTRACE COMP(BANK) SHRT\n'),
    (b'IPCS ', b'MERGE\n'), (b'MERGE ', b'CTRACE COMP(BANK) FULL\n'), (b'MERGE ', b'MERGEEND\n'),
    (b'IPCS ', b'SETDEF DSN(traces/shop.ctb)\n'), (b'IPCS ', b'QUERY\n'), (b'IPCS ', b'COPY\t\x15SETDEF LI\t\n'), (b'IPCS ', b'END\n')]))
PYTHON
python3 session.py >out 2>err </dev/null
check 'a session: status' is $? 0
check 'a session: a continued command' has out '^ START     00000001  22:13:20\.008000'
check 'a session: an error' has out '^ {22}\^$'
check 'a session: MERGE' has out '^01\.  ORDER     00000002 '
check 'a session: SETDEF is remembered' has out 'COMP\(MF\)SUBNAME\(\(RTS\)\)'
check 'a session: a keyword is completed' has out '^ SETDEF DSNAME\(traces/shop\.ctb\)'
check 'a session: lines are kept' has "$HOME/.ctrace_ipcs_history" 'MERGEEND'
check 'a session: one that was thrown away is not' lacks "$HOME/.ctrace_ipcs_history" 'COMP\(BA$'

# ---- a copy that cannot be written
ipcs 'COPYTRC OUTPATH(/proc/nosuch/x)' traces/bank.ctb
check 'a copy that cannot be written: status' is "$status" 2
check 'a copy that cannot be written: said' has err '^ctrace ipcs: /proc/nosuch/x: '
ipcs 'COPYTRC OUTPATH(copy) OPTIONS((COMP(NOSUCH)))' traces/bank.ctb
check 'a copy of nothing: status' is "$status" 1

# ---- usage
ipcs --what
check 'an option that there is not' is "$status" 2
ipcs --filter 'level >' 'CTRACE QUERY' traces
check 'a filter that is none' is "$status" 2
ipcs HELP
check 'HELP: status' is "$status" 0
check 'HELP: every operand' is "$(grep -oE '\b(COMP|SUB|SYSNAME|QUERY|SHORT|SUMMARY|FULL|TALLY|GMT|LOCAL|START|STOP|EXCEPTION|LIMIT|ENTIDLIST|USEREXIT|OPTIONS|ALL|ASIDLIST|JOBLIST|JOBNAME|CURRENT|ERROR|TCBERROR|DSNAME|DATASET|PATH|FILE|DDNAME|ACTIVE|MAIN|STORAGE|FLAG|PRINT|NOPRINT|TERMINAL|NOTERMINAL|TEST|NOTEST)\b' out | sort -u | wc -l)" 39
ipcs 'HELP ITT10016I' 'HELP WHAT'
check 'HELP on a message' has out '^ITT10016I Trace data were lost here: \.\.\. of \.\.\.\.$'
check 'HELP on nothing' has out '^There is no help on WHAT; '
end
