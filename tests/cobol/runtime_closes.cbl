*> For runtime_external.cbl.
identification division.
program-id. rtcloses.
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
    write shared-record from "closes"
    close shared-file
    goback.
end program rtcloses.
