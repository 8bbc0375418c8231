       identification division.
       program-id. record_shapes.
       environment division.
       input-output section.
       file-control.
           select record-file assign to "records.bin"
           organization sequential.
       data division.
       file section.
       fd record-file.
       01  file-record pic x(68).
       working-storage section.
       copy "record_shapes.cpy".
       procedure division.
       main.
           open output record-file
           move low-values to shapes
           perform put-record
           move "abcd" to v1
           move -54321 to v2
           move "EUR" to currency-code
           move -99999999 to cents
           move -12.34 to rate rates(1)
           move 999.99 to rates(2)
           move 7 to cblte-trcevt-version
           move 4294967295 to cblte-trcevt-level
           move "!" to last-one
           perform put-record
           move x"757677780001" to view-2
           perform put-record
           close record-file
           stop run.
       put-record.
           display "kind=" kind
           display "v1=" v1
           display "v2=" v2
           display "view-2=" view-2
           display "currency-code=" currency-code
           display "cents=" cents
           if rate is numeric
               display "rate=" rate
               display "rates(1)=" rates(1)
               display "rates(2)=" rates(2)
           else
               display "rate=!000000"
               display "rates(1)=!000000"
               display "rates(2)=!000000"
           end-if
           display "cblte-trcevt-version=" cblte-trcevt-version
           display "cblte-trcevt-flags=" cblte-trcevt-flags
           display "cblte-trcevt-event-id=" cblte-trcevt-event-id
           display "cblte-trcevt-level=" cblte-trcevt-level
           display "cblte-trcevt-data-count=" cblte-trcevt-data-count
           display "cblte-trcevt-event-len=" cblte-trcevt-event-len
           display "cblte-trcevt-event-type=" cblte-trcevt-event-type
           display "cblte-trcevt-event-data=" cblte-trcevt-event-data
           display "last-one=" last-one
           move shapes to file-record
           write file-record.
