*> Records that are larger than an item of an event.
identification division.
program-id. rtlarge.
environment division.
input-output section.
file-control.
    select large-file assign to "large.dat" organization is sequential.
data division.
file section.
fd large-file.
01 large-record pic x(100000).
procedure division.
main.
    open output large-file
    move all "large" to large-record
    write large-record
    close large-file
    stop run.
end program rtlarge.
