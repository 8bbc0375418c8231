*> An indexed file is opened many times, while a thread opens and closes another file.
identification division.
program-id. rtchurned.
environment division.
input-output section.
file-control.
    select idx-file assign to "idx.dat" organization is indexed record key is idx-id.
data division.
file section.
fd idx-file.
01 idx-record.
   03 idx-id pic 9(4).
procedure division.
main.
    call "rtchurn"
    perform 200 times
        open output idx-file
        close idx-file
    end-perform
    stop run.
end program rtchurned.
