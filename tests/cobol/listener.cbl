      *> listener.cbl - traces an event of each level for each line of
      *> its input, and tells what it hears of changes from outside.
       identification division.
       program-id. listener.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 tracer          cblt-x4-comp5.
       01 install-block   cblt-trc-notif-install.
       01 trace-event     cblt-trc-event.
       01 flags           pic x(4) comp-5.
       01 trace-level     pic x(4) comp-5.
       01 line-read       pic x(10) value spaces.
       procedure division.
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "cobol.part " tracer
           move low-values to install-block
           move tracer to cblte-tni-handle
           set cblte-tni-callback to entry "ON-CHANGE"
           call "CBL_CTF_TRACER_NOTIFY" using by value 0
               by reference install-block
           display "ready"
           perform until line-read = "end"
               accept line-read
               if line-read not = "end"
                   perform trace-all
                   display "traced"
               end-if
           end-perform
           move 0 to return-code
           stop run.
       trace-all.
           move low-values to trace-event
           perform varying trace-level from 0 by 1
                   until trace-level > 4
               move trace-level to flags
               move trace-level to cblte-trcevt-event-id of trace-event
               move trace-level to cblte-trcevt-level of trace-event
               call "CBL_CTF_TRACE" using by value flags
                   by reference tracer
                   by reference trace-event
           end-perform.
       end program listener.
       identification division.
       program-id. ON-CHANGE.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       linkage section.
       01 lk-handle       cblt-x4-comp5.
       01 lk-kind         cblt-x4-comp5.
       01 lk-level        cblt-x4-comp5.
       01 lk-change       cblt-trc-notif-prop-change.
       01 prop-name       pic x(20).
       01 prop-value      pic x(20).
       procedure division using by value lk-handle by value lk-kind
                                by reference lk-level.
           if lk-kind = 78-TRC-NOTIF-TYPE-LEVEL-CHANGE
               display "told level " lk-level
           else
               set address of lk-change to address of lk-level
               set address of prop-name to cblte-tnpc-name
               set address of prop-value to cblte-tnpc-value
               display "told " prop-name(1:cblte-tnpc-namelen) "="
                   prop-value(1:cblte-tnpc-vallen) " "
                   cblte-tnpc-valint
           end-if
           move 0 to return-code
           goback.
       end program ON-CHANGE.
