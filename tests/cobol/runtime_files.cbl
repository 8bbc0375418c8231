*> Each statement on files of each organization, and the statuses that they end with.
identification division.
program-id. rtfiles.
environment division.
input-output section.
file-control.
    select seq-file assign to "data/seq.dat" organization is sequential file status is fs.
    select varying-file assign to "data/varying.dat" organization is sequential file status is fs.
    select line-file assign to "data/line.txt" organization is line sequential file status is fs.
    select rel-file assign to "data/rel.dat" organization is relative access mode is dynamic
        relative key is slot file status is fs.
    select idx-file assign to "data/idx.dat" organization is indexed access mode is dynamic
        record key is idx-id
        alternate record key is idx-name with duplicates
        lock mode is manual
        file status is fs.
    select idx-seq-file assign to "data/idxseq.dat" organization is indexed
        access mode is sequential record key is seq-id file status is fs.
    select optional optional-file assign to "data/optional.dat" organization is sequential
        file status is fs.
    select missing-file assign to "data/missing.dat" organization is sequential
        file status is fs.
    select stdin-file assign to keyboard organization is line sequential file status is fs.
    select stdout-file assign to display organization is line sequential file status is fs.
data division.
file section.
fd seq-file.
01 seq-record pic x(20).
fd varying-file record is varying in size from 1 to 50 depending on seq-size.
01 varying-record pic x(50).
fd line-file.
01 line-record pic x(30).
fd rel-file.
01 rel-record pic x(12).
fd idx-file.
01 idx-record.
   03 idx-id pic 9(4).
   03 idx-name pic x(10).
fd idx-seq-file.
01 idx-seq-record.
   03 seq-id pic 9(4).
fd optional-file.
01 optional-record pic x(5).
fd missing-file.
01 missing-record pic x(5).
fd stdin-file.
01 stdin-record pic x(20).
fd stdout-file.
01 stdout-record pic x(20).
working-storage section.
01 fs pic xx.
01 slot pic 9(4).
01 seq-size pic 99.
procedure division.
main section.
begin.
    perform sequential-files
    perform relative-files
    perform indexed-files
    perform other-files
    stop run.
shown.
    display fs.
sequential-files section.
sequential-begin.
    open output seq-file perform shown
    rewrite seq-record perform shown
    write seq-record from "first" perform shown
    write seq-record from "second" perform shown
    read seq-file perform shown
    open input seq-file perform shown
    close seq-file perform shown
    close seq-file perform shown
    open i-o seq-file perform shown
    rewrite seq-record perform shown
    read seq-file perform shown
    rewrite seq-record from "changed" perform shown
    write seq-record from "third" perform shown
    read seq-file perform shown
    read seq-file perform shown
    read seq-file perform shown
    close seq-file perform shown
    open extend seq-file perform shown
    write seq-record from "third" perform shown
    close seq-file with lock perform shown
    open input seq-file perform shown
    open input missing-file perform shown
    read missing-file perform shown
    open input optional-file perform shown
    read optional-file perform shown
    close optional-file perform shown
    open output varying-file perform shown
    move 5 to seq-size write varying-record from "12345" perform shown
    move 7 to seq-size write varying-record from "1234567" perform shown
    close varying-file perform shown
    open i-o varying-file perform shown
    read varying-file perform shown
    move 9 to seq-size rewrite varying-record from "123456789" perform shown
    read varying-file perform shown
    close varying-file perform shown
    open output line-file perform shown
    write line-record from "one line" perform shown
    write line-record from "after" after advancing 2 lines perform shown
    close line-file perform shown
    open input line-file perform shown
    read line-file perform shown
    write line-record from "denied" perform shown
    close line-file perform shown.
relative-files section.
relative-begin.
    open output rel-file perform shown
    move 3 to slot write rel-record from "three" perform shown
    move 7 to slot write rel-record from "seven" perform shown
    write rel-record from "twice" perform shown
    close rel-file perform shown
    open i-o rel-file perform shown
    move 3 to slot read rel-file perform shown
    rewrite rel-record from "THREE" perform shown
    move 5 to slot read rel-file perform shown
    start rel-file key is greater than slot perform shown
    read rel-file next record perform shown
    delete rel-file record perform shown
    delete rel-file record perform shown
    move 9 to slot start rel-file key is equal to slot perform shown
    close rel-file perform shown.
indexed-files section.
indexed-begin.
    open output idx-file perform shown
    move 10 to idx-id move "ten" to idx-name write idx-record perform shown
    move 20 to idx-id move "twenty" to idx-name write idx-record perform shown
    move 30 to idx-id move "ten" to idx-name write idx-record perform shown
    write idx-record perform shown
    close idx-file perform shown
    open i-o idx-file perform shown
    move 20 to idx-id read idx-file key is idx-id perform shown
    move "twelve" to idx-name rewrite idx-record perform shown
    move "ten" to idx-name read idx-file key is idx-name perform shown
    read idx-file next record perform shown
    move 99 to idx-id read idx-file perform shown
    move 20 to idx-id start idx-file key is not less than idx-id perform shown
    read idx-file next record perform shown
    read idx-file previous record perform shown
    move 99 to idx-id start idx-file key is greater than idx-id perform shown
    move 20 to idx-id delete idx-file record perform shown
    delete idx-file record perform shown
    move 10 to idx-id read idx-file with lock perform shown
    unlock idx-file records perform shown
    commit
    rollback
    close idx-file perform shown
    open output idx-seq-file perform shown
    move 20 to seq-id write idx-seq-record perform shown
    move 10 to seq-id write idx-seq-record perform shown
    close idx-seq-file perform shown
    open i-o idx-seq-file perform shown
    delete idx-seq-file record perform shown
    close idx-seq-file perform shown.
other-files section.
other-begin.
    open input stdin-file perform shown
    read stdin-file perform shown
    display stdin-record
    close stdin-file perform shown
    open output stdout-file perform shown
    write stdout-record from "on the output" perform shown
    close stdout-file perform shown
    delete file varying-file perform shown
    delete file missing-file perform shown.
end program rtfiles.
