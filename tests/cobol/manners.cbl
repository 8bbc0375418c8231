identification division.
program-id. manners.
*> Writes files of every organisation, reads them back, and prints their sums.  In the middle it
*> calls the C function "manner" with the first argument: what that does is the test's.
environment division.
input-output section.
file-control.
    select seq-file assign to "s.dat" organization sequential file status fs.
    select line-file assign to "l.dat" organization line sequential file status fs.
    select rel-file assign to "r.dat" organization relative access dynamic relative key rk file status fs.
    select idx-file assign to "x.dat" organization indexed access dynamic record key xk file status fs.
data division.
file section.
fd seq-file.
01 seq-rec pic x(80).
fd line-file.
01 line-rec pic x(120).
fd rel-file.
01 rel-rec pic x(64).
fd idx-file.
01 idx-rec.
   03 xk pic 9(8).
   03 xd pic 9(8).
working-storage section.
01 fs pic xx.
01 rk pic 9(6).
01 i pic 9(6).
01 most pic 9(6) value 2000.
01 how pic x(20).
01 total pic 9(12) value 0.
01 lines-read pic 9(6) value 0.
procedure division.
main-part.
    accept how from command-line
    open output seq-file line-file rel-file idx-file
    perform write-all varying i from 1 by 1 until i > most
    close seq-file line-file rel-file idx-file
    open input line-file
    perform read-line until fs not = "00"
    close line-file
    open input idx-file
    perform read-index until fs not = "00"
    close idx-file
    display "lines " lines-read ", total " total ", status " fs
    stop run.
write-all.
    if i = 200 call "manner" using by content how end-if
    move all "ab" to seq-rec
    move i to seq-rec(1:6)
    write seq-rec
    move spaces to line-rec
    string "line " i " and its text" delimited size into line-rec
    write line-rec
    move i to rk
    move i to rel-rec
    write rel-rec
    compute xk = i * 7919
    move i to xd
    write idx-rec.
read-line.
    read line-file not at end add 1 to lines-read end-read.
read-index.
    read idx-file next not at end add xd to total end-read.
