      *> called.cbl - a called program is called back in an ENTRY of its
      *> own, and returns to its caller as if it had not been; then one
      *> fails in its callback, which is reported and ends the process.
       identification division.
       program-id. called.
       data division.
       working-storage section.
       01 what            pic x(5).
       procedure division.
           accept what from command-line
           call "SUB" using by content "first"
           call "SUB" using by content what
           display "main goes on"
           move 0 to return-code
           stop run.
       end program called.
       identification division.
       program-id. SUB.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 tracer          cblt-x4-comp5.
       01 level           cblt-x4-comp5.
       01 install-block   cblt-trc-notif-install.
       linkage section.
       01 lk-what         pic x(5).
       01 lk-handle       cblt-x4-comp5.
       01 lk-type         cblt-x4-comp5.
       01 lk-level        cblt-x4-comp5.
       procedure division using lk-what.
           if lk-what = "first"
               call "CBL_CTF_TRACER_GET" using by value 0
                   by reference "called " tracer
               move low-values to install-block
               move tracer to cblte-tni-handle
               set cblte-tni-callback to entry "sub-entry"
               call "CBL_CTF_TRACER_NOTIFY" using by value 0
                   by reference install-block
               move 1 to level
           end-if
           if lk-what = "fails"
               move 2 to level
           end-if
           call "CBL_CTF_LEVEL" using by value 0 by value level
               by reference tracer
           display "sub was told"
           goback.
           entry "sub-entry" using by value lk-handle by value lk-type
                                   by reference lk-level.
           display "level " lk-level
           if lk-level = 2
               call "no-such-program"
           end-if
           move 0 to return-code
           goback.
       end program SUB.
