      *> runtime_missing.cbl - a file that was closed is opened by a name that there is not.
       identification division.
       program-id. rtreopen.
       environment division.
       input-output section.
       file-control.
           select f assign to fname organization line sequential
               file status fs.
           select g assign to gname organization line sequential
               file status gs.
           select h assign to hname organization line sequential
               file status hs.
       data division.
       file section.
       fd f.
       01 r pic x(80).
       fd g.
       01 rec-g pic x(80).
       fd h.
       01 rec-h pic x(80).
       working-storage section.
       01 fname pic x(40).
       01 gname pic x(40) value "g.txt".
       01 hname pic x(40) value "h.txt".
       01 fs pic xx.
       01 gs pic xx.
       01 hs pic xx.
       01 i pic 9(4).
       procedure division.
           perform varying i from 1 by 1 until i > 200
             move "exists.txt" to fname
             open output f
             open output g
             open output h
             write r from "x"
             close h
             close g
             close f
             move "missing.txt" to fname
             open input f
             display "status " fs
             move "exists.txt" to fname
             open input f
             open input g
             open input h
             close f close g close h
           end-perform
           display "end"
           stop run.
