*> A program that calls itself, for runtime_calls.cbl.
identification division.
program-id. rtagain is recursive.
data division.
linkage section.
01 depth pic 9.
procedure division using depth.
    display "depth " depth
    if depth > 1
        subtract 1 from depth
        call "rtagain" using depth
    end-if
    goback.
end program rtagain.
