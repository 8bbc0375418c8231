*> Allocates and frees memory until a signal ends it.  Not by ALLOCATE and FREE: the handler of
*> libcob frees what these have, and a block that FREE has just freed twice.
identification division.
program-id. rtalloc.
data division.
working-storage section.
01 blocks.
    03 block-pointer pointer occurs 64.
01 n pic s9(9) comp-5.
01 bytes pic s9(9) comp-5.
procedure division.
main-line.
    display "allocates" upon syserr
    perform until 1 = 2
        perform varying n from 1 by 1 until n > 64
            compute bytes = 1100 + n
            call "malloc" using by value bytes returning block-pointer (n)
        end-perform
        perform varying n from 1 by 1 until n > 64
            call "free" using by value block-pointer (n)
        end-perform
    end-perform
    stop run.
