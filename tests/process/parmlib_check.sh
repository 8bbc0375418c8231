#!/bin/sh
# parmlib_check.sh - `ctrace parmlib`: errors with their places and codes, members that can be read back, where a member is looked for.
set -u

n=0
check() { # NAME STATUS
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}

mkdir first second
export CTRACE_PARMLIB="$PWD/none:$PWD/first:$PWD/second"

cat >second/CTAPP00 <<'END'
/* what the application traces on a usual day */
traceopts
  wtrstart(ctw) nowrap
  on asid=(1, 2f) jobname ( payroll , a.out )
     bufsize(64k) options=(server,userid=(johndoe), 'it''s')
  SUB('net_in'.ASID(05) /* one process */ .X) PRESET(PUT) WTR(DISCONNECT)
  wtrstop(ctw)
END
cat >wanted <<'END'
TRACEOPTS
    WTRSTART(CTW) NOWRAP
    ON
    ASID(1,2F)
    JOBNAME(PAYROLL,A.OUT)
    BUFSIZE(64K)
    OPTIONS('server,userid=(johndoe),it''s')
    SUB('net_in'.ASID(5).X) PRESET(PUT)
    WTR(DISCONNECT)
    WTRSTOP(CTW)
END
ctrace parmlib check CTAPP00 >out 2>err && test ! -s out && test ! -s err
check 'a clean member: status 0, and no word' $?
ctrace parmlib print CTAPP00 >out 2>err && cmp -s out wanted && test ! -s err
check 'what was understood is printed' $?
ctrace parmlib print ./out >again 2>err && cmp -s out again
check 'what is printed can be read back' $?

printf 'TRACEOPTS\n  OFN\n  ON ASID(XY) BUFSIZE(64)\n' >first/CTBAD
ctrace parmlib check CTBAD >out 2>err
test $? -eq 1 && test ! -s out
check 'errors: status 1' $?
sed "s|^$PWD/||" err >places
cat >wanted <<'END'
first/CTBAD:2:3: "OFN" is not a keyword (did you mean OFF?); expected ON, OFF, LIKEHEAD, PRESET, SUB, ASID, JOBNAME, BUFSIZE, OPTIONS, WTR, WTRSTART or WTRSTOP (reason 0C 06)
first/CTBAD:3:11: "XY" is not hexadecimal; expected 1 to 4 hexadecimal digits, 1 to FFFF (reason 0C 1C)
first/CTBAD:3:23: "64" does not end with K or M; expected 1K to 9999K or 1M to 2047M (reason 0C 27)
END
cmp -s places wanted
check 'each with its place and code' $?
ctrace parmlib print CTBAD >out 2>err
test $? -eq 1 && test ! -s out && cmp -s wanted places && grep -q 'OFN' err
check 'a member with errors is not printed' $?

ctrace parmlib check CTAPP00 CTBAD CTAPP00 >out 2>err
test $? -eq 1 && test "$(wc -l <err)" -eq 3
check 'several members: status 1 when one has an error' $?
ctrace parmlib check CTAPP00 ./second/CTAPP00 2>err
check 'several members without one: status 0' $?

printf 'TRACEOPTS OFF\n' >CTAPP00
ctrace parmlib print CTAPP00 >out 2>err && grep -q 'PAYROLL' out
check 'a member goes before a file of its name' $?
ctrace parmlib print ./CTAPP00 >out 2>err && grep -qx '    OFF' out
check 'a path is a file' $?
printf 'TRACEOPTS LIKEHEAD\n' >CTFILE
ctrace parmlib print CTFILE >out 2>err && grep -qx '    LIKEHEAD' out
check 'what is no member is a file' $?
cp CTFILE first/lower
ctrace parmlib check lower >out 2>err
test $? -eq 1 && grep -q '^ctrace parmlib: cannot read lower: ' err
check 'no member, whose name is not one' $?
printf 'TRACEOPTS OFF\n' >first/CTLOWER && (cd second && CTRACE_PARMLIB=. ctrace parmlib check CTLOWER 2>/dev/null)
test $? -eq 1
check 'nothing is looked for elsewhere' $?

ctrace parmlib check CTNONE >out 2>err
test $? -eq 1 && grep -q '^ctrace parmlib: cannot read CTNONE: .*(reason 0C 04)$' err
check 'no such member: status 1' $?
(unset CTRACE_PARMLIB && ctrace parmlib check CTNONE 2>err)
test $? -eq 1 && grep -q '^ctrace parmlib: cannot read CTNONE: .*(reason 0C 20)$' err
check 'no directories' $?
mkdir first/CTFOLDER
ctrace parmlib check CTFOLDER 2>err
test $? -eq 1 && grep -q "^ctrace parmlib: cannot read $PWD/first/CTFOLDER: .*(reason 0C 1F)$" err
check 'a directory is no member' $?
head -c 65537 /dev/zero | tr '\0' ' ' >first/CTLARGE
ctrace parmlib check CTLARGE 2>err
test $? -eq 1 && grep -q "^ctrace parmlib: cannot read $PWD/first/CTLARGE: .*(reason 0C 1D)$" err
check 'a member that is too large' $?
ctrace parmlib check first/CTLARGE 2>err
test $? -eq 1 && grep -q '^first/CTLARGE:1:65537: the member is too large; expected .*(reason 0C 1D)$' err
check 'a file that is too large' $?

printf 'TRACEOPTS \033[2J\n' >first/CTESC
ctrace parmlib check CTESC 2>err
test $? -eq 1 && grep -qF '"\u{1B}[2J" is not a keyword' err
check 'terminal sequences are not passed on' $?

ctrace parmlib 2>/dev/null
test $? -eq 2
check 'no action: status 2' $?
ctrace parmlib chek CTAPP00 2>/dev/null
test $? -eq 2
check 'an unknown action: status 2' $?
ctrace parmlib check 2>/dev/null
test $? -eq 2
check 'no member: status 2' $?
ctrace parmlib print CTAPP00 CTBAD 2>/dev/null
test $? -eq 2
check 'two members to print: status 2' $?
ctrace parmlib --help >out && grep -q 'PRESET(PUT)' out
check 'help has the grammar' $?
ctrace help >out && grep -q '^  parmlib ' out
check 'the list of verbs has it' $?
echo "1..$n"
