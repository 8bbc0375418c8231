      *> component.cbl - component trace: DEFINE with a member, routines
      *> in COBOL, TRACE CT, entries, DISPLAY, DELETE, each abend.
       identification division.
       program-id. component.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       copy "ctrace.cpy".
       01 ctrace-define   cblt-ctrace-define.
       01 ctrace-delete   cblt-ctrace-delete.
       01 ctrace-outcome  cblt-ctrace-outcome.
       01 ctrace-command  cblt-ctrace-trace-ct.
       01 shown           cblt-ctrace-display.
       01 pp              procedure-pointer.
       01 tracer          cblt-x4-comp5.
       01 got             cblt-x4-comp5.
       01 some-data       pic x(10) value "some data".
       01 said            pic x(40).
       linkage section.
       01 lk-ctss         cblt-ctrace-ctss.
       procedure division.
           display "defined with a member"
           move "APPXYZ" to ctrace-name
           move "APPXYZSS" to ctrace-startnam
           move "APP#DISP" to ctrace-dispnam
           move "CTAPPXYZ" to ctrace-parm
           move "YES" to ctrace-head ctrace-headopts ctrace-mod
                         ctrace-buffer
           move "NO" to ctrace-asids
           move 5000 to ctrace-bufdflt
           move "from the program" to ctrace-userdata
           perform define-it
           perform show-message
           display "userdata " ctrace-userdata
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "APPXYZ " tracer
           perform trace-an-entry

           display "refused by its routine"
           move "REFUSED" to ctrace-name
           move "CTBAD" to ctrace-parm
           perform define-it
           call "CBL_CTRACE_DISPLAY" using "REFUSED" by value 0
               by reference shown
           display "rc " return-code

           display "changed while it is on"
           move "APPXYZ" to ctrace-ct-name
           move 78-CTRACE-CT-ON to ctrace-ct-state
           move "SECOND" to ctrace-ct-options
           perform command-it

           display "a bad option"
           move "BAD" to ctrace-ct-options
           perform command-it
           perform show-message

           display "displayed"
           call "CBL_CTRACE_DISPLAY" using "APPXYZ" by value 0
               by reference shown
           display "rc " return-code " mode " ctrace-disp-mode
               " options " ctrace-disp-options(1:12)
               " head " ctrace-disp-head "."
           call "CBL_CTRACE_DISPLAY" using "NONESUCH" by value 0
               by reference shown
           display "rc " return-code

           display "deleted"
           move "APPXYZ" to ctrace-del-name
           perform delete-it
           perform delete-it
           perform trace-an-entry

           display "a routine that is registered"
           initialize ctrace-define with filler all to value
           move "REGISTER" to ctrace-name
           move "REGSS" to ctrace-startnam
           perform define-it
           set pp to entry "no-such-name"
           call "CBL_CTRACE_ROUTINE" using "REGSS" by value pp
           display "status " return-code
           perform define-it
           move "REGISTER" to ctrace-ct-name ctrace-del-name
           move "THIRD" to ctrace-ct-options
           perform command-it
           perform delete-it
           call "CBL_CTRACE_ROUTINE" using "REGSS" by value 0
           display "status " return-code
           perform define-it
           call "CBL_CTRACE_ROUTINE" using "regss" by value pp
           display "status " return-code

           display "abends"
           initialize ctrace-define with filler all to value
           move "ABENDS" to ctrace-name
           move "APPXYZSS" to ctrace-startnam
           move 3 to ctrace-plistver
           perform define-it
           move 2 to ctrace-plistver
           move "1ABENDS" to ctrace-name
           perform define-it
           move "ABENDS" to ctrace-name
           move "MAYBE" to ctrace-head
           perform define-it
           perform show-message
           move "no" to ctrace-head
           move "DISK" to ctrace-wtrmode
           perform define-it
           perform show-message
           move spaces to ctrace-wtrmode
           move 65537 to ctrace-service
           perform define-it
           move 78-CTRACE-SERVICE-DEFINE to ctrace-service
           move all "M" to ctrace-minops
           perform define-it
           call "CBL_CTRACE_DEFINE" using by value 0
               by reference ctrace-outcome
           perform show-outcome
           move "PERHAPS" to ctrace-ifnosubs
           perform delete-it
           perform show-message

           move 0 to return-code
           stop run.
       define-it.
           call "CBL_CTRACE_DEFINE" using ctrace-define ctrace-outcome
           perform show-outcome.
       delete-it.
           call "CBL_CTRACE_DELETE" using ctrace-delete ctrace-outcome
           perform show-outcome.
       command-it.
           call "CBL_CTRACE_TRACE_CT" using ctrace-command
               ctrace-outcome
           perform show-outcome.
       show-outcome.
           if return-code not = ctrace-rc
               display "return-code " return-code
           end-if
           display "rc " ctrace-rc " reason " ctrace-reason
               " routine " ctrace-ss-rc "," ctrace-ss-rsncode
               " abend " ctrace-abend.
       show-message.
           move ctrace-message to said
           display "said: " said ".".
       trace-an-entry.
           call "CBL_CTRACE_ENTRY" using by value tracer by value 33
               by reference some-data by value length of some-data
               returning got
           display "entry " got.

       say-it.
           call "CBL_CTRACE_WTO" using ctrace-ctss-console said
               by value length of said
               returning got.

       routines.
           entry "APPXYZSS" using lk-ctss.
           if ctrace-ctss-flags = 78-CTRACE-CTSS-STOP
               display "  APPXYZSS stops"
               move 0 to return-code
               goback
           end-if
           display "  APPXYZSS flags " ctrace-ctss-flags
               " mode " ctrace-ctss-mode
               " name " ctrace-ctss-name
               " userdata " ctrace-ctss-userdata
               " buffer " ctrace-ctss-buffer-size
           display "  options "
               ctrace-ctss-options(1:ctrace-ctss-options-size)
           if ctrace-ctss-options(1:3) = "BAD"
               move "BAD is not an option.   " to said
               move 99 to ctrace-ctss-reason
               move 4 to return-code
           else
               move "Tracing." to said
               move "from the routine" to ctrace-ctss-userdata
               move 0 to return-code
           end-if
           perform say-it
           goback.

           entry "no-such-name" using lk-ctss.
           display "  REGSS flags " ctrace-ctss-flags
               " name " ctrace-ctss-name
           move 0 to return-code
           goback.
       end program component.

       identification division.
       program-id. "APP#DISP".
       data division.
       working-storage section.
       copy "ctrace.cpy".
       linkage section.
       01 lk-ctss         cblt-ctrace-ctss.
       procedure division using lk-ctss.
           display "  APP#DISP flags " ctrace-ctss-flags
           move 78-CTRACE-CTSS-SHOW-MIN to ctrace-ctss-show
           move "FROM DISPLAY" to ctrace-ctss-options
           move 12 to ctrace-ctss-options-size
           move 0 to return-code
           goback.
       end program "APP#DISP".
