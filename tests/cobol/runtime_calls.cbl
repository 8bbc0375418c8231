*> Programs that are called in each way, cancelled, and not found: tests/process/cobol_runtime.py.
identification division.
function-id. rtdouble.
data division.
linkage section.
01 given pic 9(4).
01 doubled pic 9(4).
procedure division using given returning doubled.
    compute doubled = given * 2
    goback.
end function rtdouble.

identification division.
program-id. rtcalls.
environment division.
configuration section.
repository.
    function rtdouble.
data division.
working-storage section.
01 by-name pic x(300) value "rtsub".
01 missing pic x(8) value "rtnone".
01 number-given pic 9(4) value 21.
01 depth pic 9 value 3.
procedure division.
main.
    call "rtsub" using by content "literal"
    call by-name using by content "dynamic"
    call "rtentry"
    call "rtinner"
    call "rtmissing" on exception display "no literal" end-call
    call missing on exception display "no dynamic" end-call
    call "rtagain" using depth
    display "doubled " function rtdouble(number-given)
    call "SYSTEM" using "true"
    call "C$SLEEP" using by content "0"
    cancel "rtsub"
    cancel by-name
    cancel "rtnever"
    call "rtsub" using by content "again  "
    move 7 to return-code
    goback.

identification division.
program-id. rtinner.
procedure division.
    display "inner"
    exit program.
end program rtinner.
end program rtcalls.
