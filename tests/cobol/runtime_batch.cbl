*> A batch that works as long as it is asked to, while an operator switches its trace.
identification division.
program-id. rtbatch.
environment division.
input-output section.
file-control.
    select work-file assign to "batch.txt" organization is line sequential.
data division.
file section.
fd work-file.
01 work-record pic x(20).
working-storage section.
01 request pic x(10).
procedure division.
main.
    accept request
    perform until request = "end"
        perform do-work
        display "done " request
        accept request
    end-perform
    stop run.
do-work.
    open output work-file
    move request to work-record
    write work-record
    close work-file.
end program rtbatch.
