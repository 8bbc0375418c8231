#!/usr/bin/env bash
# ctrace catalog: errors with their places; a header that C and C++ take, a copybook that cobc takes in both formats, a page; what stands in
# texts breaks out of none of them.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qF -- "$2" "$1" || { printf 'no <%s> in:\n' "$2"; cat "$1"; false; }; }
catalog() {
	ctrace catalog "$@" >out 2>err </dev/null
	status=$?
}

# ---- the example
cp "$CTRACE_SOURCE/examples/dpkg-report.yaml" "$CTRACE_SOURCE/examples/DPKGREC.cpy" .
catalog check dpkg-report.yaml
check 'the example is good: status' is "$status" 0
check 'the example is good: said' is "$(cat out err)" 'dpkg-report.yaml: 2 components, 9 events, all good'
catalog doc dpkg-report.yaml
check 'a page says what its record is' has out '| 2 | record | record of DPKGREC.cpy: pkg-record, 115 bytes |'

cat >files.yaml <<'YAML'
component: mf.mffh.xfh
records:
  PKG: DPKGREC.cpy
  a|b: {copybook: DPKGREC.cpy, encoding: ebcdic-037}
YAML
catalog doc files.yaml
check 'a page lists the records that values choose' has out '| PKG | record of DPKGREC.cpy: pkg-record, 115 bytes |'
check 'with their encodings' has out '| a\|b | record of DPKGREC.cpy: pkg-record, 115 bytes, ebcdic-037 |'

# ---- errors
cat >bad.yaml <<'YAML'
component: A
descripton: what
events:
  1: {mnemonic: X, severity: inof}
  2: {mnemonic: Y, exit: 3}
  4: Z
YAML
catalog check bad.yaml
check 'errors: status' is "$status" 1
check 'errors: all of them, with line, column and what was expected' is "$(cat err)" \
	'bad.yaml:2:1: "descripton" is no key of a catalogue (did you mean description?); expected component, description, encoding, dialect, odoslide, formatter, filter, copybooks, records or events
bad.yaml:4:30: "inof" is none of these words (did you mean info?); expected debug, info, warn, error or fatal
bad.yaml:5:26: "3" is no event of this component; expected the id of the event that ends what this one begins'
check 'errors: how many events are good' is "$(cat out)" 'bad.yaml: 1 of 3 events is good, 3 errors'
catalog check dpkg-report.yaml bad.yaml nothing.yaml
check 'several files, and one that is not there: status' is "$status" 2
check 'several files: each is counted' is "$(cat out)" 'dpkg-report.yaml: 2 components, 9 events, all good
bad.yaml: 1 of 3 events is good, 3 errors'
check 'one that is not there' has err 'ctrace catalog: cannot read nothing.yaml: there is no such file or directory'
for action in header copybook doc; do
	echo old >old
	catalog "$action" -o old bad.yaml
	check "$action of a file with errors: status" is "$status" 1
	check "$action of a file with errors: nothing is written" is "$(cat old out)" old
done
printf '       01 rec.\n          03 a pic q(3).\n' >BAD.cpy
printf 'component: A\nevents: {1: {mnemonic: X, arguments: [{name: a, copybook: BAD.cpy}]}}\n' >book.yaml
catalog check book.yaml
check 'a copybook with an error, in the catalogue' has err 'book.yaml:2:59: "BAD.cpy" has an error on line 2;'
check 'a copybook with an error, in the copybook' grep -qE '^\./BAD\.cpy:2:[0-9]+: |^BAD\.cpy:2:[0-9]+: ' err

# ---- a directory
mkdir directory
cp dpkg-report.yaml DPKGREC.cpy directory
printf 'component: dpkg.read\n' >directory/x.yaml
catalog check directory
check 'a component twice: status' is "$status" 1
check 'a component twice: said' has err 'directory/x.yaml:1:12: "dpkg.read" is described already, by another file'

# ---- C and C++; names that are hard, texts that want out
cat >hard.yaml <<'YAML'
component: 7-App."x\
description: "*/ #error /* ??/ \\"
events:
  10:
    mnemonic: OPEN
    description: "ends with \\"
    severity: info
    exit: 11
    arguments:
      - {name: mode, print: flags, values: {READ: 1, WRITE: 0x2, ALL: 0xFFFFFFFFFFFFFFFF}}
      - name: state
        values: {"*/ x": -5, GOOD: 0, a rather long name for a value: 7, a rather long name for a value too: 8}
  11: {mnemonic: OPENED, description: "*/ int broken = ; /*"}
  0xFFFFFFFF: o-pen
  12: o_pen
---
component: Other
description: several components in one file
events: {1: A, 2: component}
YAML
ctrace catalog header -o hard.h hard.yaml
check 'a header is written' is $? 0
cat >hard.c <<'C'
#include "hard.h"
#include "hard.h"
#include <stdio.h>
int main(void)
{
	printf("%s %u %u %u %u\n", C_7_APP_X_COMPONENT, C_7_APP_X_OPEN, C_7_APP_X_OPENED, C_7_APP_X_O_PEN, C_7_APP_X_O_PEN_4294967295);
	printf("%u %u %llx %lld %u\n", C_7_APP_X_OPEN_MODE_READ, C_7_APP_X_OPEN_MODE_WRITE,
	       (unsigned long long)C_7_APP_X_OPEN_MODE_ALL, (long long)C_7_APP_X_OPEN_STATE_X, C_7_APP_X_OPEN_STATE_GOOD);
	printf("%s %u %u\n", OTHER_COMPONENT, OTHER_A, OTHER_COMPONENT_2);
	return 0;
}
C
cp hard.c hard.cc
wanted='7-App."x\ 10 11 12 4294967295
1 2 ffffffffffffffff -5 0
Other 1 2'
check 'C takes the header' cc -std=c99 -Wall -Wextra -Werror -o hard-c hard.c
check 'C has the values' is "$(./hard-c)" "$wanted"
if command -v c++ >/dev/null; then
	check 'C++ takes the header' c++ -std=c++11 -Wall -Wextra -Werror -o hard-cc hard.cc
	check 'C++ has the values' is "$(./hard-cc)" "$wanted"
fi

# ---- COBOL
if command -v cobc >/dev/null; then
	ctrace catalog copybook -o hard.cpy hard.yaml
	check 'a copybook is written' is $? 0
	check 'its lines end in column 72' is "$(awk 'length > 72' hard.cpy)" ''
	cat >hard.cbl <<'COBOL'
       identification division.
       program-id. hard.
       data division.
       working-storage section.
       copy "hard.cpy".
       01 state pic s9(9) comp-5 value 78-7-APP-X-OPEN-STATE-X.
       procedure division.
           display "[" 78-7-APP-X-COMPONENT "]"
           display 78-7-APP-X-OPEN " " 78-7-APP-X-OPENED " "
               78-7-APP-X-O-PEN " " 78-7-APP-X-O-PEN-4294967295
           display 78-7-APP-X-OPEN-MODE-WRITE " "
               78-7-APP-X-OPEN-MODE-ALL " " state
           display 78-OTHER-COMPONENT 78-OTHER-A
               78-OTHER-COMPONENT-2
           stop run.
COBOL
	wanted='[7-App."x\ ]
10 11 12 4294967295
2 18446744073709551615 -0000000005
Other 12'
	for format in fixed free; do
		for dialect in default mf; do
			check "cobc -$format -std=$dialect takes the copybook" cobc -x "-$format" "-std=$dialect" -o hard hard.cbl
			check "and has the values" is "$(./hard)" "$wanted"
			rm -f hard
		done
	done
fi

# ---- usage
for arguments in '' 'check' 'chekc x.yaml' 'header' 'check -o x dpkg-report.yaml' 'doc -x dpkg-report.yaml'; do
	# shellcheck disable=SC2086 # words
	catalog $arguments
	check "refused: $arguments" is "$status" 2
done
catalog --help
check 'help' has out 'man 5 ctrace-catalog'
catalog header -o nowhere/x.h dpkg-report.yaml
check 'a directory that is not there: status' is "$status" 2
check 'a directory that is not there: said' has err 'ctrace catalog: cannot write nowhere/x.h: No such file or directory'
catalog header -o /dev/full dpkg-report.yaml
check 'a full disk' is "$status" 2
ctrace catalog header dpkg-report.yaml >/dev/full 2>err
check 'a full disk behind standard output' is $? 2
printf 'component: "A\\e[2J"\n\033[31m: x\n' >$'evil\033[2J.yaml'
catalog check $'evil\033[2J.yaml'
check 'names and texts can do nothing to a terminal' is "$(grep -c $'\033' out err | tr '\n' ' ')" 'out:0 err:0 '
end
