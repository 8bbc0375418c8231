*> A file that another process has locked.
identification division.
program-id. rtlocked.
environment division.
input-output section.
file-control.
    select locked-file assign to "locked.dat" organization is sequential
        lock mode is exclusive file status is fs.
data division.
file section.
fd locked-file.
01 locked-record pic x(10).
working-storage section.
01 fs pic xx.
procedure division.
main.
    open i-o locked-file
    display fs
    stop run.
end program rtlocked.
