*> Refused OPENs leave what is known of a file, and a program that is cancelled closes its own.
identification division.
program-id. rtreopened.
environment division.
input-output section.
file-control.
    select again-file assign to "again.txt" organization is line sequential file status is fs.
    select optional other-file assign to "other.txt" organization is line sequential
        file status is fs.
data division.
file section.
fd again-file.
01 again-record pic x(10).
fd other-file.
01 other-record pic x(10).
working-storage section.
01 fs pic xx.
01 found pic s9(9) comp-5.
procedure division.
main.
    open output again-file
    open output again-file
    write again-record from "again"
    close again-file
    open input again-file
    close again-file
    open input other-file
    read other-file
    close other-file
    call "rterrno" returning found
    open input again-file
    read again-file
    call "rterrno" returning found
    display "errno " found
    close again-file
    call "rtclose"
    open output again-file
    write again-record from "closed"
    display fs
    stop run.
end program rtreopened.
