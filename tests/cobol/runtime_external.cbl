*> An EXTERNAL file that one program opens, and another one closes when the first is gone.
identification division.
program-id. rtexternal.
procedure division.
main.
    call "rtopens"
    cancel "rtopens"
    call "rtcloses"
    stop run.
end program rtexternal.
