      *> groups.cbl - the types of ctrace.cpy: their sizes, with those
      *> of mfctf.cpy, in LINKAGE, after a REPLACE, in a table.
       identification division.
       program-id. groups.
       data division.
       working-storage section.
       replace ==A-FIELD== by ==pic x(4)==.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       copy "ctrace.cpy".
       01 own             A-FIELD.
       01 def             cblt-ctrace-define.
       01 del             cblt-ctrace-delete.
       01 outcome         cblt-ctrace-outcome.
       01 command         cblt-ctrace-trace-ct.
       01 shown           cblt-ctrace-display.
       01 ctss            cblt-ctrace-ctss.
       01 ev              cblt-trc-event.
       01 table-of-outcomes.
          03 rows occurs 3.
             05 row-outcome cblt-ctrace-outcome.
       procedure division.
           display length of def " " length of del " "
               length of outcome " " length of command " "
               length of shown " " length of ctss " "
               length of table-of-outcomes " " length of own " "
               length of ev
           display ctrace-plistver ctrace-service ctrace-bufmin
               ctrace-bufmax ctrace-bufdflt "[" ctrace-name "]"
           display ctrace-del-plistver ctrace-del-service
               "[" ctrace-delsubs "]"
           move low-values to def
           initialize def with filler all to value
           display ctrace-service "[" ctrace-wtrmode "]"
           move 1 to ctrace-reason of row-outcome(2)
           move low-values to ctss
           move 64 to ctrace-ctss-minops-size
           call "groups2" using ctss
           display "reason " ctrace-ctss-reason
           move 0 to return-code
           stop run.
       end program groups.
       identification division.
       program-id. groups2.
       data division.
       working-storage section.
       copy "ctrace.cpy".
       copy "mfctf.cpy".
       01 tracer          cblt-x4-comp5.
       linkage section.
       01 lk-ctss         cblt-ctrace-ctss.
       procedure division using lk-ctss.
           move ctrace-ctss-minops-size to tracer
           move tracer to ctrace-ctss-reason
           goback.
       end program groups2.
