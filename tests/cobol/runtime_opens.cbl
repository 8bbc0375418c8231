*> For runtime_external.cbl.
identification division.
program-id. rtopens.
environment division.
input-output section.
file-control.
    select shared-file assign to "shared.txt" organization is line sequential.
data division.
file section.
fd shared-file is external.
01 shared-record pic x(10).
procedure division.
main.
    open output shared-file
    write shared-record from "opens"
    goback.
end program rtopens.
