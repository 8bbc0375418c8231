*> Two processes more: a child, and a COBOL program that a shell runs.
identification division.
program-id. rtparent.
data division.
working-storage section.
01 child pic s9(9) comp-5.
01 child-status pic s9(9) comp-5.
01 command-text pic x(200).
procedure division.
main.
    accept command-text from command-line
    display "before"
    call "CBL_GC_FORK" returning child
    if child = 0
        display "child"
        stop run returning 6
    end-if
    call "CBL_GC_WAITPID" using child returning child-status
    display "child ended with " child-status
    call "SYSTEM" using command-text
    display "after " return-code
    move 0 to return-code
    stop run.
end program rtparent.
