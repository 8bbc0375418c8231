      *> callbacks.cbl - a callback in a program of its own that changes
      *> what it hears of, and uninstalls itself.
       identification division.
       program-id. callbacks.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 tracer          cblt-x4-comp5 external.
       01 install-block   cblt-trc-notif-install.
       procedure division.
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "call.back " tracer
           move low-values to install-block
           move tracer to cblte-tni-handle
           set cblte-tni-callback to entry "ON-CHANGE"
           call "CBL_CTF_TRACER_NOTIFY" using by value 0
               by reference install-block
           call "CBL_CTF_LEVEL" using by value 0 by value 2
               by reference tracer
           display "level set"
           call "CBL_CTF_COMP_PROPERTY_SET" using by value 0
               by reference tracer "Last " "yes "
           display "property set"
           call "CBL_CTF_LEVEL" using by value 0 by value 4
               by reference tracer
           move 0 to return-code
           stop run.
       end program callbacks.
       identification division.
       program-id. ON-CHANGE.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 tracer          cblt-x4-comp5 external.
       01 install-block   cblt-trc-notif-install.
       linkage section.
       01 lk-handle         cblt-x4-comp5.
       01 lk-kind           cblt-x4-comp5.
       01 lk-level          cblt-x4-comp5.
       01 lk-change         cblt-trc-notif-prop-change.
       01 prop-name       pic x(20).
       01 prop-value      pic x(20).
       procedure division using by value lk-handle by value lk-kind
                                by reference lk-level.
           if lk-handle not = tracer display "handle " lk-handle end-if
           if lk-kind = 78-TRC-NOTIF-TYPE-LEVEL-CHANGE
               display "told level " lk-level
               if lk-level = 2
                   call "CBL_CTF_LEVEL" using by value 0 by value 3
                       by reference tracer
               end-if
           else
               set address of lk-change to address of lk-level
               set address of prop-name to cblte-tnpc-name
               set address of prop-value to cblte-tnpc-value
               display "told " prop-name(1:cblte-tnpc-namelen) "="
                   prop-value(1:cblte-tnpc-vallen) " "
                   cblte-tnpc-valint " " cblte-tnpc-flags
               move low-values to install-block
               move tracer to cblte-tni-handle
               set cblte-tni-callback to entry "ON-CHANGE"
               call "CBL_CTF_TRACER_NOTIFY"
                   using by value 78-TRC-NOTIF-UNINSTALL
                   by reference install-block
               display "uninstalled " return-code
           end-if
           move 0 to return-code
           goback.
       end program ON-CHANGE.
