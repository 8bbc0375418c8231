# shellcheck shell=bash
# ctrace.bash - completes the words of the ctrace tool in bash.
#
# Verbs and options are those that the tool itself tells (`ctrace --help`, `ctrace VERB --help`), names are those of the running
# processes (`ctrace list --names`).  Words that came from another program are never evaluated, and such as would need quotation marks or
# hold what a terminal does not show are left out.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0

# Runs the tool that the command line names.
_ctrace_run() { # ARGUMENT...
	command "${_ctrace_tool/#\~\//$HOME/}" "$@" 2>/dev/null </dev/null
}

_ctrace_verbs() {
	_ctrace_run --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'
}

# The options of a verb, one a line: "letter|long|=|VALUE"; "=" is "[=" when the value may be left out.
_ctrace_options() { # VERB
	_ctrace_run "$1" --help | sed -nE 's/^ +(-([A-Za-z?]), )? *--([a-z][a-z-]*)((\[?=)([A-Z-]+)\]?)?( .*)?$/\2|\3|\5|\6/p'
}

# Files in the directories of a search path, whose names may be those of members and procedures.
_ctrace_members() { # DIRECTORIES
	local directory file
	local -a directories

	IFS=: read -ra directories <<<"$1"
	for directory in "${directories[@]}"; do
		for file in "$directory"/*; do
			[ ! -f "$file" ] || echo "${file##*/}"
		done
	done | LC_ALL=C grep -xE '[A-Z@#$][A-Z0-9@#$]{0,7}'
}

# Adds each line of the input that begins with the current word, in any case of letters.
_ctrace_offer() { # [BEFORE-EACH]
	local word

	while IFS= read -r word; do
		case $word in
		'' | *[!A-Za-z0-9_.@#$+-]*) continue ;;
		esac
		word=${1-}$word
		if [[ ${word,,} == "${_ctrace_word,,}"* ]]; then
			printf -v word %q "$word"
			COMPREPLY+=("$word")
		fi
	done
}

_ctrace_offer_words() { # WORD...
	_ctrace_offer < <(printf '%s\n' "$@")
}

_ctrace_offer_files() { # [-d: only directories]
	compopt -o filenames 2>/dev/null
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "${1:--f}" -- "$_ctrace_word")
}

_ctrace_offer_names() { # components|destinations|jobs|pids
	_ctrace_offer < <(_ctrace_run list --names="$1")
}

_ctrace_offer_emitters() { # [BEFORE-EACH]
	_ctrace_offer "${1-}" < <({ printf '%s\n' TEXTFILE BINFILE STDERR JOURNAL OTLP NATS ES; _ctrace_run list --names=destinations; } | sort -u)
}

# The properties that the running processes have of a component or emitter; "PID JOB  OWNER  PROPERTY  VALUE" is a line of the tool.
_ctrace_offer_properties() { # COMPONENT|emitter:NAME
	[[ $1 != -* ]] || return 0
	_ctrace_offer < <(_ctrace_run prop "$1" | awk -F '  +' '{ print $3 }' | sort -u)
}

# emitter:NAME; readline separates words at ":", too, and then replaces what is behind it.
_ctrace_offer_owners() {
	local before=emitter:

	if [[ $_ctrace_word == emitter:* ]]; then
		[[ $COMP_WORDBREAKS != *:* ]] || before=
		_ctrace_word=$before${_ctrace_word#emitter:}
		_ctrace_offer_emitters "$before"
		return
	fi
	_ctrace_offer_names components
	[[ $_ctrace_word != e* ]] || COMPREPLY+=($(compgen -W emitter: -- "$_ctrace_word"))
	[[ ${COMPREPLY[*]-} != emitter: ]] || compopt -o nospace 2>/dev/null
}

_ctrace_offer_value() { # LONG-OPTION METAVARIABLE: of $verb
	case $verb:$1 in
	export:format)
		_ctrace_offer_words common-trace-format chrome perfetto speedscope csv json otlp otlp-protobuf
		return
		;;
	export:signals)
		_ctrace_offer_words logs traces logs,traces
		return
		;;
	stats:by | diff:by)
		_ctrace_offer_words component event program section paragraph file
		[ "$verb" = diff ] || _ctrace_offer_words thread
		return
		;;
	show:split)
		_ctrace_offer_words thread
		return
		;;
	stats:sort)
		_ctrace_offer_words events bytes name total median p95 p99 max self
		return
		;;
	top:sort)
		_ctrace_offer_words events bytes lost total name pid
		return
		;;
	top:component) return ;; # a text within names
	esac
	case $1 in
	component) _ctrace_offer_names components ;;
	pid) _ctrace_offer_names pids ;;
	job) _ctrace_offer_names jobs ;;
	level) _ctrace_offer_words debug info warn error fatal ;;
	color) _ctrace_offer_words auto always never ;;
	names) _ctrace_offer_words components destinations jobs pids ;;
	*)
		case $2 in
		FILE | PATH) _ctrace_offer_files ;;
		DIRECTORY) _ctrace_offer_files -d ;;
		esac
		;;
	esac
}

_ctrace_offer_argument() { # VERB NUMBER: of those that are no options, from 1
	case $1:$2 in
	help:1) _ctrace_offer < <(_ctrace_verbs) ;;
	level:1 | dest:1) _ctrace_offer_names components ;;
	prop:1) _ctrace_offer_owners ;;
	prop:2) _ctrace_offer_properties "${_ctrace_arguments[0]}" ;;
	level:2) _ctrace_offer_words none debug info warn error fatal ;;
	dest:*) case $_ctrace_word in [+-]*) _ctrace_offer_emitters "${_ctrace_word:0:1}" ;; *) _ctrace_offer_emitters ;; esac ;;
	rotate:1) _ctrace_offer_emitters ;;
	config:1) _ctrace_offer_words check ;;
	trigger:1) _ctrace_offer_words add list enable disable remove ;;
	parmlib:1) _ctrace_offer_words check print ;;
	parmlib:*)
		_ctrace_offer < <(_ctrace_members "${CTRACE_PARMLIB-}")
		_ctrace_offer_files
		;;
	writer:1) _ctrace_offer < <(_ctrace_members "${CTRACE_PROCLIB:-/etc/ctrace/proclib}") ;;
	show:* | ipcs:* | report:* | open:* | export:* | stats:*)
		_ctrace_offer_names pids
		_ctrace_offer_files
		;;
	catalog:1) _ctrace_offer_words check header copybook doc import draft ;;
	explain:1) _ctrace_offer_words 04 08 0C 00D ;;
	run:1)
		[[ $_ctrace_word == */* || -z $_ctrace_word ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$_ctrace_word" | sort -u)
		_ctrace_offer_files
		;;
	doctor:1)
		_ctrace_offer_names pids
		[[ $_ctrace_word == */* || -z $_ctrace_word ]] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$_ctrace_word" | sort -u)
		_ctrace_offer_files
		;;
	run:* | doctor:*) _ctrace_offer_files ;;
	reload:1 | config:2 | catalog:* | diff:* | repair:*) _ctrace_offer_files ;;
	recover:* | forward:* | archive:*) _ctrace_offer_files -d ;;
	esac
}

# Where the current word stands, from the words before it: the option whose value it is in $value_of ("long|VALUE"), else its number among
# the arguments in $number, and the arguments before it in $_ctrace_arguments.
_ctrace_place() { # WORD...: behind the verb
	local word letter long equals metavariable ended=

	for word; do
		if [ -n "$value_of" ]; then
			value_of=
			continue
		fi
		if [ -n "$ended" ] || [[ $word != -?* ]]; then
			number=$((number + 1))
			_ctrace_arguments+=("$word")
			continue
		fi
		[ "$word" != -- ] || ended=yes
		while IFS='|' read -r letter long equals metavariable; do
			if [ "$equals" = = ] && { [ "$word" = "--$long" ] || { [ -n "$letter" ] && [ "$word" = "-$letter" ]; }; }; then
				value_of="$long|$metavariable"
			fi
		done <<<"$options"
	done
	options_ended=$ended
}

# A long option, its value behind "=" included.
_ctrace_offer_option() {
	local letter long equals metavariable name=${_ctrace_word%%=*}

	if [[ $_ctrace_word == --*=* ]]; then
		while IFS='|' read -r letter long equals metavariable; do
			if [ "--$long" != "$name" ] || [ -z "$equals" ]; then
				continue
			fi
			_ctrace_word=${_ctrace_word#*=}
			_ctrace_offer_value "$long" "$metavariable"
			# What readline replaces begins behind "=" where that separates words.
			[[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/$name=}")
			return
		done <<<"$options"
		return
	fi
	while IFS='|' read -r letter long equals metavariable; do
		if [[ -n $long && --$long == "$_ctrace_word"* ]]; then
			COMPREPLY+=("--$long${equals:+=}")
		fi
	done <<<"$options"
	if [ "${#COMPREPLY[@]}" -eq 1 ] && [[ ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace 2>/dev/null
	fi
}

_ctrace() {
	local _ctrace_tool=$1 _ctrace_word
	local -a words=() _ctrace_arguments=()
	local i verb options value_of='' number=1 options_ended=

	# readline separates words at "=" and ":": put --name = value and emitter : name together again.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if [ "${#words[@]}" -gt 0 ] && [[ ${words[-1]} == --*([^=]) && ${COMP_WORDS[i]} == = ]]; then
			words[-1]+='='
		elif [ "${#words[@]}" -gt 0 ] && [[ ${words[-1]} == --*([^=])= && ${COMP_WORDS[i - 1]} == = ]]; then
			words[-1]+=${COMP_WORDS[i]}
		elif [ "${#words[@]}" -gt 0 ] && { [[ ${words[-1]} == emitter && ${COMP_WORDS[i]} == : ]] ||
			[[ ${words[-1]} == emitter: && ${COMP_WORDS[i - 1]} == : ]]; }; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}")
		fi
	done
	_ctrace_word=${words[-1]-}
	COMPREPLY=()

	if [ "${#words[@]}" -le 1 ]; then
		case $_ctrace_word in
		-*) _ctrace_offer_words --help --version --usage ;;
		*) _ctrace_offer < <(_ctrace_verbs) ;;
		esac
		return
	fi
	verb=${words[0]}
	[[ $verb == [a-z]* ]] || return
	options=$(_ctrace_options "$verb")
	_ctrace_place "${words[@]:1:${#words[@]}-2}"
	if [ -n "$value_of" ]; then
		_ctrace_offer_value "${value_of%%|*}" "${value_of#*|}"
	elif [[ $_ctrace_word == -* && -z $options_ended ]]; then
		[[ $verb == dest && $number -gt 1 && $_ctrace_word != --* ]] && _ctrace_offer_argument "$verb" "$number"
		_ctrace_offer_option
	else
		_ctrace_offer_argument "$verb" "$number"
	fi
}

complete -F _ctrace ctrace
