*> What runtime_calls.cbl calls, a module of its own.
identification division.
program-id. rtsub.
data division.
working-storage section.
01 calls pic 9 value 0.
linkage section.
01 how pic x(7).
procedure division using how.
    add 1 to calls
    display "called " how " " calls
    exit program.
    entry "rtentry".
    display "entered"
    goback.
end program rtsub.
