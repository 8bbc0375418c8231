#!/usr/bin/env bash
# What the shells offer for the words of the tool, while a traced process runs: bash's COMPREPLY, and lines as somebody types them in bash
# and zsh, on a terminal.
set -u
. "$CTRACE_SOURCE/tests/tap.sh"
bash_file=$CTRACE_SOURCE/completion/ctrace.bash
zsh_file=$CTRACE_SOURCE/completion/_ctrace
zsh=$(command -v zsh)

skip() { # WHAT WHY
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# A dormant process answers no question about properties.
echo 'mftrace.level = fatal' >awake.cfg
coproc subject { MFTRACE_CONFIG=$PWD/awake.cfg CTRACE_JOBNAME=KVSERVER exec "$CTRACE_BUILD/tests/tool_subject" 1; }
# shellcheck disable=SC2154 # coproc sets it
pid=$subject_PID
read -r ready <&"${subject[0]}"
check 'a traced process runs' [ "$ready" = ready ]

mkdir directory proclib parmlib
touch directory/ours.cfg directory/other.txt proclib/CTW proclib/KVSW proclib/readme parmlib/CTIKVS00 'parmlib/no member'
export CTRACE_PROCLIB=$PWD/none:$PWD/proclib CTRACE_PARMLIB=$PWD/parmlib

# ---- bash: what COMPREPLY holds, one a line
# shellcheck source=/dev/null
. "$bash_file"
offered() { # LINE: the cursor is at its end
	local word rest=$1 before
	COMP_WORDS=()
	# As readline does it: blanks separate, "=" and ":" are words of their own.
	while [ -n "$rest" ]; do
		rest=${rest#"${rest%%[! ]*}"}
		case $rest in
		'') break ;;
		=*) word='=' ;;
		:*) word=':' ;;
		*) word=${rest%%[ =:]*} ;;
		esac
		COMP_WORDS+=("$word")
		rest=${rest#"$word"}
	done
	case $1 in *' ') COMP_WORDS+=('') ;; esac
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$1 COMP_POINT=${#1}
	before=
	[ "$COMP_CWORD" -eq 0 ] || before=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	_ctrace ctrace "${COMP_WORDS[COMP_CWORD]}" "$before" 2>errors
	[ ! -s errors ] || cat errors
	[ "${#COMPREPLY[@]}" -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}
is() { # LINE WORD...: exactly these are offered, in any order
	local line=$1 got wanted
	shift
	got=$(offered "$line" | sort | tr '\n' ' ')
	wanted=$([ $# -eq 0 ] || printf '%s\n' "$@" | sort | tr '\n' ' ')
	[ "$got" = "$wanted" ] || { echo "$line: $got; wanted: $wanted"; return 1; }
}
has() { # LINE WORD...: these are among what is offered
	local line=$1 got word
	shift
	got=$(offered "$line")
	for word; do
		grep -qxF -e "$word" <<<"$got" || { echo "$line: no $word in: $got"; return 1; }
	done
}
has_not() { # LINE PATTERN
	! offered "$1" | grep -e "$2"
}

verbs=$(ctrace --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
check 'the tool tells its verbs' [ "$(wc -l <<<"$verbs")" -gt 10 ]
sources=$(cd "$CTRACE_SOURCE/src/tools" && printf '%s\n' cmd_*.c | sed 's/^cmd_//; s/\.c$//' | grep -v '_' | sort)
check 'they are those that have a source' [ "$(printf '%s\n' help $sources | sort)" = "$(sort <<<"$verbs")" ]
# shellcheck disable=SC2086 # a list of words
check 'every verb' is 'ctrace ' $verbs
check 'a verb that is begun' is 'ctrace lev' level
check 'the options of the tool' is 'ctrace --h' --help
check 'no verb' is 'ctrace no-such-verb '
every_option() {
	local verb option
	for verb in $verbs; do
		ctrace "$verb" --help | grep -oE '^ +(-.,)? +--[a-z-]+' | grep -oE -- '--[a-z-]+' | while read -r option; do
			offered "ctrace $verb --" | grep -qE "^$option=?$" || { echo "$verb: $option"; return 1; }
		done || return 1
	done
}
check 'every option of every verb' every_option
# "ctrace VERB [OPTION...] WORD ARGUMENT..." in the help: WORD is to be typed as it is.
fixed_words() { # VERB
	ctrace "$1" --help | sed -nE "s/^(Usage: +| +or: +)ctrace $1 (\[OPTION\.\.\.\] )?([a-z]+)( .*)?$/\3/p"
}
every_word() {
	local verb words
	for verb in $verbs; do
		words=$(fixed_words "$verb")
		# shellcheck disable=SC2086 # a list of words
		[ -z "$words" ] || is "ctrace $verb " $words || return 1
	done
}
check 'every word that a verb begins with' every_word
# Verbs whose arguments nobody can offer are left out.
every_argument() {
	local verb
	for verb in $verbs; do
		ctrace "$verb" --help | grep -qE "^(Usage: +| +or: +)ctrace $verb \[OPTION\.\.\.\] +[^ ]" || continue
		case $verb in
		op) ;;
		tail) ;; # an expression
		respond | top) ;; # an address
		*) offered "ctrace $verb " | grep -q . || { echo "$verb"; return 1; } ;;
		esac
	done
}
check 'something for the arguments of every verb that has any' every_argument
check 'an option that takes a value ends with =' is 'ctrace level --pi' --pid=
check 'help of verbs' is 'ctrace help expl' explain

check 'components of running processes' is 'ctrace level tool.' tool.main tool.main.part
check 'in any case of letters' is 'ctrace level TOOL.MAIN.' tool.main.part
check 'no name that could change the terminal' has_not 'ctrace level ' evil
check 'a component behind an option and its value' is "ctrace level --pid $pid tool.main.p" tool.main.part
check 'a component behind an option with =' is "ctrace level --pid=$pid tool.main.p" tool.main.part
check 'a component behind a letter and its value' is "ctrace level -p $pid -j tool.main.p" tool.main.part
check 'levels behind the component' is 'ctrace level tool.main ' none debug info warn error fatal
check 'a level that is begun' is 'ctrace level -j tool.main w' warn
check 'nothing behind the level' is 'ctrace level tool.main warn '
check 'process ids' is 'ctrace level --pid ' "$pid"
check 'process ids behind =' is 'ctrace level --pid=' "$pid"
check 'a process id that is begun, behind =' is "ctrace level --pid=${pid:0:1}" "$pid"
check 'process ids behind the letter' is 'ctrace flush -p ' "$pid"
check 'job names' is 'ctrace flush --job=kv' KVSERVER
check 'job names behind the letter' is 'ctrace flush -J ' KVSERVER
check 'levels as the value of an option' is 'ctrace show --level=e' error
check 'components as the value of an option' is 'ctrace show -c tool.main.' tool.main.part
check 'a value that may be left out takes no word' has 'ctrace show --color ' "$pid"
check 'values of one that may be left out' is 'ctrace list --names=j' jobs

check 'what doctor looks at: processes, programs, files' eval 'has "ctrace doctor " "$pid" directory && has "ctrace doctor bas" bash'
check 'what run starts: programs and files' eval 'has "ctrace run " directory && has "ctrace run bas" bash'
check 'options of run' is 'ctrace run --su' --summary=
check 'a file for the program of run' is 'ctrace run bash directory/ou' directory/ours.cfg
check 'options of doctor' is 'ctrace doctor --j' --json
check 'a file for the program that doctor runs' is 'ctrace doctor bash directory/ou' directory/ours.cfg
check 'components that have properties' is 'ctrace prop tool.main.p' tool.main.part
ctrace prop tool.main SAMPLE 10 >/dev/null
check 'properties of a component' is 'ctrace prop tool.main ' SAMPLE
check 'properties of an emitter' has 'ctrace prop emitter:TEXTFILE ' FORMAT MAXFILESIZE
check 'emitters that have properties' is 'ctrace prop emitter:TEX' TEXTFILE
check 'the word before them' is 'ctrace prop emi' emitter:
check 'return codes' is 'ctrace explain 0' 04 08 0C 00D
check 'emitters to add' is 'ctrace dest tool.main +TE' +TEXTFILE
check 'emitters to remove' is 'ctrace dest tool.main -TE' -TEXTFILE
check 'emitters' is 'ctrace dest tool.main j' JOURNAL
check 'emitters behind others' is 'ctrace dest tool.main +TEXTFILE bin' BINFILE
check 'options of dest' is 'ctrace dest tool.main --jo' --job=
check 'an emitter to rotate' is 'ctrace rotate tex' TEXTFILE
check 'procedures of external writers' is 'ctrace writer ' CTW KVSW
check 'a procedure behind an option' is 'ctrace writer --nowrap k' KVSW
check 'what parmlib does' is 'ctrace parmlib ' check print
check 'members' has 'ctrace parmlib check CT' CTIKVS00
check 'files' is 'ctrace config check directory/o' directory/ours.cfg directory/other.txt
check 'a file to reload' is 'ctrace reload directory/ou' directory/ours.cfg
check 'directories' is 'ctrace recover di' directory
check 'traces: processes' has 'ctrace show ' "$pid" directory
check 'traces of every verb that reads them' eval 'for verb in show ipcs report open export stats; do has "ctrace $verb " "$pid" directory || exit; done'
check 'traces to compare: files' has 'ctrace diff directory ' directory
check 'a directory to repair into' is 'ctrace repair directory --output=di' directory
check 'what catalog does' is 'ctrace catalog ' check header copybook doc import draft
check 'a catalogue' is 'ctrace catalog check directory/o' directory/ours.cfg directory/other.txt
check 'a catalogue as the value of an option' is 'ctrace show --catalog=directory/ou' directory/ours.cfg
check 'formats of exports' is 'ctrace export --format=c' common-trace-format chrome csv
check 'formats of exports, behind the letter' is 'ctrace export -f p' perfetto
check 'formats of lines are no words' is 'ctrace show --format=c'
check 'tables of traces' is 'ctrace stats --by=' component event file paragraph program section thread
check 'what runs are compared by' is 'ctrace diff --by=' component event file paragraph program section
check 'columns to sort by' is 'ctrace stats --sort=p' p95 p99
check 'columns of the screen' is 'ctrace top --sort=' events bytes lost total name pid
check 'every verb has its arguments or none' is 'ctrace top '
check 'nothing behind --' is 'ctrace level -- --'
check 'a component behind --' is 'ctrace level -- tool.main.' tool.main.part

# Names are words of somebody's program: nothing of them may run.
export CTRACE_PARMLIB=$PWD/hostile
mkdir hostile
# shellcheck disable=SC2016 # so they are to be
touch 'hostile/$(touch ran)' 'hostile/`touch ran`' 'hostile/A;touch ran'
nothing_runs() { offered 'ctrace parmlib check ' >/dev/null && [ ! -e ran ]; }
check 'a hostile name does not run' nothing_runs
check 'a tool that is not there offers nothing' eval 'PATH=/nowhere is "ctrace level "' 

# ---- on a terminal
cat >type.py <<'EOF'
"""type.py KEYS SHELL ARGUMENT... - starts a shell on a terminal, types, and prints what the line has become."""
import os, pty, re, select, sys, time

def wait_for(pattern, seconds=30):
    global seen
    end = time.monotonic() + seconds
    while not (found := re.search(pattern, seen)):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        try:
            data = os.read(terminal, 65536) if ready else b''
        except OSError:
            data = b''
        if not data:
            sys.exit('waited in vain for ' + pattern.decode() + ' in ' + repr(seen))
        seen += data
    seen = seen[found.end():]
    return found

seen = b''
child, terminal = pty.fork()
if child == 0:
    os.environ['TERM'] = 'dumb'
    os.execvp(sys.argv[2], sys.argv[2:])
os.write(terminal, os.environ['SETUP'].encode() + b'; echo set-"up"\n')
wait_for(rb'set-up\r?\n')
wait_for(b'ready> ')
# The line is not run but shown: ^A is its start.
os.write(terminal, sys.argv[1].encode().decode('unicode_escape').encode() + b"\x01echo 'LINE'\" \x05\"\n")
print(wait_for(rb"\nLINE (.*?)\r?\n").group(1).decode())
EOF
typed() { # KEYS LINE SHELL...
	local keys=$1 wanted=$2 got
	shift 2
	got=$(timeout 120 python3 type.py "$keys" "$@") || { echo "$got"; return 1; }
	# zsh takes the blank back that it has added when another one is typed, or none.
	[ "$(tr -s ' ' <<<"${got% }")" = "$wanted" ] || { echo "$got; wanted: $wanted"; return 1; }
}
in_bash() { SETUP=". '$bash_file'; PS1='ready> '" typed "$1" "$2" bash --norc --noprofile -i; }
check 'typed in bash: a verb, a component, a level' in_bash 'ctrace lev\ttool.main.p\twa\t' 'ctrace level tool.main.part warn'
check 'typed in bash: a value behind =' in_bash 'ctrace flush --pi\t\t --jo\tkv\t' "ctrace flush --pid=$pid --job=KVSERVER"
check 'typed in bash: a file' in_bash 'ctrace reload directory/ou\t' 'ctrace reload directory/ours.cfg'

in_zsh() {
	SETUP="fpath=('${zsh_file%/*}' \$fpath); autoload -U compinit; compinit -D -u; PS1='ready> '" \
		typed "$1" "$2" zsh -f -i
}
# The same in zsh, without a terminal: what its functions find in the help.
in_zsh_functions() { # COMMAND...
	zsh -f -c 'setopt extended_glob; _arguments() { : }; _describe() { print -l -- ${(P)4} }; words=(ctrace); _ctrace_tool=ctrace
		. "$1"; shift; eval "$@"' zsh "$zsh_file" "$@"
}
zsh_verbs() {
	local got
	got=$(in_zsh_functions '_ctrace_verbs' | sed 's/:.*//' | sort)
	[ "$got" = "$(sort <<<"$verbs")" ] || { diff <(echo "$got") <(sort <<<"$verbs"); return 1; }
}
zsh_described() { ! in_zsh_functions '_ctrace_verbs' | grep -vE '^[a-z]+:[a-zA-Z]'; }
zsh_options() {
	local verb
	for verb in $verbs; do
		in_zsh_functions "_ctrace_options $verb; print -l -- \$reply" | grep -oE '(^|\))--[a-z-]+' | tr -d ')' | sort -u >zsh.options
		ctrace "$verb" --help | grep -oE '^ +(-.,)? +--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u >help.options
		cmp -s zsh.options help.options || { echo "$verb"; diff zsh.options help.options; return 1; }
	done
}
zsh_words() {
	local verb words
	for verb in $verbs; do
		words=$(fixed_words "$verb" | tr '\n' ' ')
		[ -z "$words" ] || in_zsh_functions "_ctrace_arguments $verb; print -l -- \$reply" | grep -qF "_ctrace_words what ${words% }" ||
			{ echo "$verb: $words"; return 1; }
	done
}
for test in 'every verb|zsh_verbs' 'what each verb does|zsh_described' 'every option of every verb|zsh_options' \
	'every word that a verb begins with|zsh_words'; do
	if [ -n "$zsh" ]; then
		check "zsh: ${test%|*}" "${test#*|}"
	else
		skip "zsh: ${test%|*}" 'zsh is not here'
	fi
done
for test in 'a verb, a component, a level|ctrace lev\ttool.main.p\twa\t|ctrace level tool.main.part warn' \
	"a value behind =|ctrace flush --pi\t\t --jo\tkv\t|ctrace flush --pid=$pid --job=KVSERVER" \
	'an emitter|ctrace dest tool.main +te\t|ctrace dest tool.main +TEXTFILE' \
	'a procedure|ctrace writer --now\tk\t|ctrace writer --nowrap KVSW' \
	'a component that has properties, and one|ctrace pro\ttool.main.p\t|ctrace prop tool.main.part' \
	'a property|ctrace prop tool.main SAM\t|ctrace prop tool.main SAMPLE' \
	'an emitter that has properties|ctrace prop emitter:TEX\t|ctrace prop emitter:TEXTFILE' \
	'a program to look at|ctrace doc\tfolder/ou\t|ctrace doctor directory/ours.cfg' \
	'a file|ctrace reload directory/ou\t|ctrace reload directory/ours.cfg' \
	'what catalog does, and with what|ctrace cat\the\tfolder/ou\t|ctrace catalog header directory/ours.cfg' \
	'a format|ctrace expo\t--form\tper\t|ctrace export --format=perfetto'; do
	IFS='|' read -r what keys line <<<"$test"
	if [ -n "$zsh" ]; then
		check "typed in zsh: $what" in_zsh "$keys" "$line"
	else
		skip "typed in zsh: $what" 'zsh is not here'
	fi
done

to=${subject[1]}
exec {to}>&-
wait "$pid" 2>/dev/null
end
