*> Ends in the way that its argument names.
identification division.
program-id. rterrors.
environment division.
input-output section.
file-control.
    select no-status assign to "missing.dat" organization is sequential.
    select with-declarative assign to "other.dat" organization is sequential.
data division.
file section.
fd no-status.
01 no-status-record pic x(10).
fd with-declarative.
01 declared-record pic x(10).
working-storage section.
01 way pic x(20).
01 table-of-five.
   03 element pic x occurs 5.
01 subscript pic 99 value 9.
01 short-text pic x(5) value "abcde".
01 missing pic x(8) value "rtnone".
01 zoned pic 9(3).
linkage section.
01 nowhere pic x(5).
procedure division.
declaratives.
failed section.
    use after standard error procedure on with-declarative.
failed-now.
    display "declarative".
end declaratives.
main section.
begin.
    accept way from command-line
    evaluate way
        when "subscript"
            display element(subscript)
        when "reference"
            display short-text(subscript:2)
        when "linkage"
            display nowhere
        when "file"
            open input no-status
        when "declarative"
            open input with-declarative
        when "numeric"
            move "x1y" to zoned(1:3)
            add 1 to zoned
        when "call-literal"
            call "rtnone"
        when "call-dynamic"
            call missing
        when "cancel-itself"
            cancel "rterrors"
        when "implicit-close"
            open output no-status
            move "left open" to no-status-record
            write no-status-record
        when "warning"
            display "nowhere" upon syspunch
        when "stop-0"
            stop run
        when "stop-3"
            stop run returning 3
        when "stop-300"
            stop run 300
        when "stop-code"
            move 5 to return-code
            stop run
        when "stop-error"
            stop run with error status
        when "goback"
            move 9 to return-code
            goback
        when "crash"
            call "rtcrash"
        when "wait"
            call "rtwait"
        when "abort"
            call "rtabort"
    end-evaluate
    display "went on"
    stop run.
end program rterrors.
