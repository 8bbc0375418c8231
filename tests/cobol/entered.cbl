      *> entered.cbl - a routine is an ENTRY of an active program: of
      *> the one that gives the command, or one further up.  Afterwards
      *> each has its parameters, and the list of programs has an end.
       identification division.
       program-id. entered.
       data division.
       working-storage section.
       copy "ctrace.cpy".
       01 ctrace-define   cblt-ctrace-define.
       01 ctrace-outcome  cblt-ctrace-outcome.
       01 where-it-fails  pic x(7).
       linkage section.
       01 lk-ctss         cblt-ctrace-ctss.
       procedure division.
           accept where-it-fails from command-line
           move "ABOVE" to ctrace-name
           move "ABOVESS" to ctrace-startnam
           call "CBL_CTRACE_DEFINE" using ctrace-define ctrace-outcome
           call "COMMAND" using by content "ABOVE" where-it-fails
           move "OWN" to ctrace-name
           move "OWNSS" to ctrace-startnam
           call "CBL_CTRACE_DEFINE" using ctrace-define ctrace-outcome
           call "COMMAND" using by content "OWN  " where-it-fails
           display "main goes on"
           if where-it-fails = "main"
               call "no-such-program"
           end-if
           move 0 to return-code
           stop run.

       routines.
           entry "ABOVESS" using lk-ctss.
           display "ABOVESS"
           if where-it-fails = "routine"
               call "no-such-program"
           end-if
           move 0 to return-code
           goback.
       end program entered.
       identification division.
       program-id. COMMAND.
       data division.
       working-storage section.
       copy "ctrace.cpy".
       01 ctrace-command  cblt-ctrace-trace-ct.
       01 ctrace-outcome  cblt-ctrace-outcome.
       01 parameters      pic 9.
       linkage section.
       01 lk-name         pic x(5).
       01 lk-where        pic x(7).
       01 lk-ctss         cblt-ctrace-ctss.
       procedure division using lk-name lk-where.
           move lk-name to ctrace-ct-name
           move 78-CTRACE-CT-ON to ctrace-ct-state
           call "CBL_CTRACE_TRACE_CT" using ctrace-command
               ctrace-outcome
           call "C$NARG" using parameters
           display lk-name " rc " ctrace-rc " parameters " parameters
           if lk-where = "command"
               call "no-such-program"
           end-if
           goback.
           entry "OWNSS" using lk-ctss.
           display "OWNSS"
           move 0 to return-code
           goback.
       end program COMMAND.
