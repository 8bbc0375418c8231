*> SORT and MERGE.
identification division.
program-id. rtsort.
environment division.
input-output section.
file-control.
    select unsorted assign to "unsorted.txt" organization is line sequential.
    select sorted assign to "sorted.txt" organization is line sequential.
    select merged assign to "merged.txt" organization is line sequential.
    select work-file assign to "work.tmp".
data division.
file section.
fd unsorted.
01 unsorted-record pic x(8).
fd sorted.
01 sorted-record pic x(8).
fd merged.
01 merged-record pic x(8).
sd work-file.
01 work-record.
   03 work-key pic x(3).
   03 filler pic x(5).
working-storage section.
01 is-at-end pic 9 value 0.
procedure division.
main-section section.
main.
    open output unsorted
    write unsorted-record from "ccc 1"
    write unsorted-record from "aaa 2"
    close unsorted
    sort work-file on ascending key work-key using unsorted giving sorted
    sort work-file on descending key work-key
        input procedure is put-section
        output procedure is get-section
    merge work-file on ascending key work-key using unsorted sorted giving merged
    stop run.
put-section section.
put-one.
    release work-record from "bbb 3"
    release work-record from "ddd 4".
get-section section.
get-one.
    perform until is-at-end = 1
        return work-file
            at end move 1 to is-at-end
            not at end display "sorted " work-record
        end-return
    end-perform.
end program rtsort.
