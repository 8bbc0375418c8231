#!/usr/bin/env bash
# explain.sh - `ctrace explain`: every way in which people write a code leads to it, and what is no code is told.
set -u
. "$CTRACE_SOURCE/tests/tap.sh"

says() { # FILE-OF-WHAT-IT-SAYS ARGUMENT...
	local wanted=$1
	shift
	ctrace explain "$@" >out 2>err && cmp -s "$wanted" out && [ ! -s err ]
}
refuses() { # WORDS ARGUMENT...
	local words=$1
	shift
	ctrace explain "$@" >out 2>err
	[ $? -eq 2 ] && [ ! -s out ] && grep -qF -- "$words" err
}
count_is() { # NUMBER ARGUMENT...
	local number=$1
	shift
	[ "$(ctrace explain "$@" | grep -cE '^(RC|Abend) ')" -eq "$number" ]
}

ctrace explain 0C 13 >limits
check 'a code has a name, a meaning, a cause and a cure' \
	bash -c 'head -1 limits | grep -qx "RC 0C, reason 13: BUFSIZE_LIMITS" && sed -n 2p limits | grep -q "^  The .*\.$" &&
		grep -q "^  Cause: " limits && grep -q "^  Cure:  " limits'
for code in '0c 13' '0C 00001300' '0x0C 0x13' '0xC 0X1300' 'RC=0C RSN=13' 'rc=0c,rsncode=1300' '0C/13' '0C-13' 'C 13' '0C ABCD13EF' 'RC 0C REASON 13'; do
	# shellcheck disable=SC2086 # words, as they are typed
	check "written as $code" says limits $code
done
check 'written as one word' says limits 'RC=0C RSN=00001300'

for code in '0C xxxx13xx' '12 19' '12 4864' '12,19' '0C XXXX13XX'; do
	# shellcheck disable=SC2086
	check "written as $code" says limits $code
done
check 'CTRACEWR' bash -c 'ctrace explain CTRACEWR 0C 04 | head -1 | grep -qx "CTRACEWR RC 0C, reason 04" && [ "$(ctrace explain ctracewr | grep -c ^CTRACEWR)" -eq 10 ]'
check 'CTRACEWR: no such code' refuses 'CTRACEWR has the codes 00, 04, 08' CTRACEWR 0C 07
check 'a message of an operator' bash -c 'ctrace explain CTR012I | head -1 | grep -qx "CTR012I ...: RC ...: ..."'
check 'a message of IPCS' bash -c 'ctrace explain itt10003i | head -1 | grep -q "^ITT10003I COMP("'
check 'a message that there is not' refuses 'ctrace has no message CTR999I' CTR999I
ctrace explain 00D 102 >abend
check 'an abend' grep -qx 'Abend 00D, reason 102: COMPONENT_NAME' abend
for code in 00D-102 '0D 102' 'ABEND=00D RSN=00000102' '10 102' 'S00D 102' 'S00D-102' '16 258'; do
	# shellcheck disable=SC2086
	check "written as $code" says abend $code
done
check 'storage is of RC 08' bash -c 'ctrace explain 08 06 | head -1 | grep -qx "RC 08, reason 06: STORAGE"'
check 'a low byte that counts' bash -c 'ctrace explain 0C 0E02 | grep -q DISPNAM && [ "$(ctrace explain 0C 0E02 | grep -c ^RC)" -eq 1 ]'
check 'without it: both' count_is 2 0C 0E
check 'success' bash -c 'ctrace explain 00 | grep -q "^RC 00"'

check 'RC 04 alone' count_is 1 04
check 'RC 08 alone: its 2' count_is 2 08
check 'RC 0C alone: its 52' count_is 52 0C
check 'the abend alone: its 6' count_is 6 00D
check 'no line is longer than a terminal' bash -c '! ctrace explain 0C | grep -qE "^.{79}"'

ctrace explain >all
check 'every code, one line each' bash -c '[ "$(wc -l <all)" -eq 61 ] && [ "$(cut -c1-9 all | sort -u | wc -l)" -eq 61 ]'
check '--all says the same' says all --all
check 'CTRACE_RSN_* of the header are in it' bash -c '
	sed -n "s/^#define CTRACE_RSN_\([A-Z_]*\) 0x\([0-9A-F]*\)u.*/\1 \2/p" "$CTRACE_SOURCE/include/ctrace/component.h" >names
	[ -s names ] || exit 1
	while read -r name reason; do grep -qE "^0[8C]  ${reason}(01)?  +$name  " all || { echo "$name"; exit 1; }; done <names'

check 'a reason that there is not: told with those there are' refuses '0C has no reason 1E, but 01, 02,' 0C 1E
check 'RC 04 has no reasons' refuses '04 has no reason 05' 04 05
check 'an abend that there is not' refuses '00D has no reason 103, but 101, 102, 301' 00D 103
check 'a return code that there is not' refuses 'unknown return code 14; there are 00, 04, 08, 0C and the abend 00D' 14
check 'no number' refuses 'codes are hexadecimal' 0C oops
check 'a number of nine digits' refuses 'codes are hexadecimal' 0C 000001300
check 'three numbers' refuses 'one return code and one reason code' 0C 13 14
check 'a reason code without its return code' refuses 'the return code stands before' RSN=13
check 'everything and one' refuses 'either --all or a code' --all 04
end
