*> Sections, paragraphs, statements.
identification division.
program-id. rtparas.
data division.
working-storage section.
01 turns pic 9 value 0.
procedure division.
first-section section.
begin-here.
    perform add-one 2 times
    perform second-section
    go to the-end.
add-one.
    add 1 to turns.
second-section section.
    display "turns " turns.
inside-it.
    if turns > 1
        display "more than one"
    end-if.
last-section section.
the-end.
    stop run.
end program rtparas.
