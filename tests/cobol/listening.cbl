      *> listening.cbl - installs and removes a callback: a module that
      *> cancelled.cbl calls and cancels.
       identification division.
       program-id. listening.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 tracer          cblt-x4-comp5.
       01 told            pic 9 value 0.
       01 ni              cblt-trc-notif-install.
       linkage section.
       01 lk-what         pic x(7).
       01 lk-handle       cblt-x4-comp5.
       01 lk-type         cblt-x4-comp5.
       01 lk-level        cblt-x4-comp5.
       procedure division using lk-what.
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "listening " tracer
           move low-values to ni
           move tracer to cblte-tni-handle
           set cblte-tni-callback to entry "listening-cb"
           if lk-what = "install"
               call "CBL_CTF_TRACER_NOTIFY"
                   using by value 78-TRC-NOTIF-INSTALL
                   by reference ni
           else
               call "CBL_CTF_TRACER_NOTIFY"
                   using by value 78-TRC-NOTIF-UNINSTALL
                   by reference ni
           end-if
           goback.
       told-of-a-change.
           entry "listening-cb" using by value lk-handle
               by value lk-type by reference lk-level.
           add 1 to told
           display "told " told " level " lk-level
           move 0 to return-code
           goback.
