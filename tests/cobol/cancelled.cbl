      *> cancelled.cbl - calls, cancels and calls again a program with a
      *> callback, in a module of its own (listening.cbl).
       identification division.
       program-id. cancelled.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 level           cblt-x4-comp5.
       procedure division.
           move 1 to level
           perform set-level
           call "listening" using by content "install"
           display "installed " return-code
           perform set-level
           cancel "listening"
           display "cancelled"
           perform set-level
           call "listening" using by content "install"
           display "installed " return-code
           perform set-level
           call "listening" using by content "install"
           display "installed " return-code
           perform set-level
           call "listening" using by content "remove "
           display "removed " return-code
           perform set-level
           cancel "listening"
           perform set-level
           call "listening" using by content "remove "
           display "removed " return-code
           move 0 to return-code
           stop run.
       set-level.
           add 1 to level
           if level > 4 move 1 to level end-if
           call "CBL_CTF_LEVEL"
               using by value 0 by value level by value 0.
