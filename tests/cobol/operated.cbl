      *> operated.cbl - a program that traces on and on, and is operated
      *> from outside: its start/stop routine, its callback.  Ends when
      *> an operator gives it the option STOP.  Before it traces it reads
      *> a line of its standard input.
       identification division.
       program-id. operated.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       copy "ctrace.cpy".
       01 ctrace-define   cblt-ctrace-define.
       01 ctrace-outcome  cblt-ctrace-outcome.
       01 install-block   cblt-trc-notif-install.
       01 trace-event     cblt-trc-event.
       01 tracer          cblt-x4-comp5.
       01 plain           cblt-x4-comp5.
       01 nanoseconds     pic s9(18) comp-5 value 1000000.
       01 said            pic x(40).
       01 got             cblt-x4-comp5.
       01 line-read       pic x(8).
       01 option          pic x(8) value spaces.
       linkage section.
       01 lk-ctss         cblt-ctrace-ctss.
       01 lk-handle       cblt-x4-comp5.
       01 lk-type         cblt-x4-comp5.
       01 lk-level        cblt-x4-comp5.
       procedure division.
           move "OPERATED" to ctrace-name
           move "OPSS" to ctrace-startnam
           move "OPDISP" to ctrace-dispnam
           move "YES" to ctrace-head ctrace-headopts ctrace-mod
                         ctrace-buffer
           move "NO" to ctrace-asids
           call "CBL_CTRACE_DEFINE" using ctrace-define ctrace-outcome
           display "defined " ctrace-rc upon syserr
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "OPERATED " tracer
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "PLAIN " plain
           move plain to cblte-tni-handle of install-block
           set cblte-tni-callback of install-block to entry "heard"
           call "CBL_CTF_TRACER_NOTIFY" using
               by value 78-TRC-NOTIF-INSTALL
               by reference install-block
           display "ready" upon syserr
           accept line-read
           move 1 to cblte-trcevt-event-id of trace-event
           move 78-CTF-FLAG-LEVEL-INFO
               to cblte-trcevt-level of trace-event
           perform until option = "STOP"
               call "CBL_CTF_TRACE" using by value 0
                   by reference tracer trace-event
               call "CBL_OC_NANOSLEEP" using nanoseconds
           end-perform
           display "stops" upon syserr
           move 0 to return-code
           stop run.

       routines.
           entry "OPSS" using lk-ctss.
           move spaces to option
           if ctrace-ctss-options-size > 0
               move ctrace-ctss-options(1:ctrace-ctss-options-size)
                   to option
           end-if
           display "OPSS flags " ctrace-ctss-flags " mode "
               ctrace-ctss-mode " option " option upon syserr
           if option = "BAD"
               move "BAD is not an option." to said
           else
               move "Told the program." to said
           end-if
           call "CBL_CTRACE_WTO" using ctrace-ctss-console said
               by value length of said
               returning got
           if option = "BAD"
               move 4 to return-code
           else
               move 0 to return-code
           end-if
           goback.

           entry "OPDISP" using lk-ctss.
           move "FROM DISPLAY" to ctrace-ctss-options
           move 12 to ctrace-ctss-options-size
           move 78-CTRACE-CTSS-SHOW-ON to ctrace-ctss-show
           move 0 to return-code
           goback.

           entry "heard" using by value lk-handle by value lk-type
               by reference lk-level.
           display "heard " lk-level upon syserr
           move 0 to return-code
           goback.
       end program operated.
