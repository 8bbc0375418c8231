       identification division.
       program-id. record_middle.
       environment division.
       input-output section.
       file-control.
           select record-file assign to "records.bin"
           organization sequential.
       data division.
       file section.
       fd record-file.
       01  file-record pic x(23).
       working-storage section.
       copy "record_middle.cpy".
       01  i pic 9.
       01  n pic 9.
       procedure division.
       main.
           open output record-file
           perform varying n from 1 by 1 until n > 4
               move n to how-many
               perform varying i from 1 by 1 until i > n
                   move i to slot(i)
                   compute slot-size(i) = 2000000 * i
               end-perform
               move "end" to behind
               compute beyond = - n
               perform put-record
           end-perform
           close record-file
           stop run.
       put-record.
           display "how-many=" how-many
           perform varying i from 1 by 1 until i > how-many
               display "slot(" i ")=" slot(i)
               display "slot-size(" i ")=" slot-size(i)
           end-perform
           display "behind=" behind
           display "beyond=" beyond
           move middle-record to file-record
           write file-record.
