       identification division.
       program-id. record_nested.
       environment division.
       input-output section.
       file-control.
           select record-file assign to "records.bin"
           organization sequential.
       data division.
       file section.
       fd record-file.
       01  file-record pic x(38).
       working-storage section.
       copy "record_nested.cpy".
       01  i pic 9.
       01  j pic 9.
       01  h pic 9.
       procedure division.
       main.
           open output record-file
           perform varying h from 1 by 1 until h > 3
               move h to outer-count
               perform fill-row varying i from 1 by 1
                   until i > outer-count
               move "last" to behind
               perform put-record
           end-perform
           close record-file
           stop run.
       fill-row.
           move "r" to row-name(i)
           compute inner-count(i) = h + 1
           perform varying j from 1 by 1 until j > inner-count(i)
               compute cell(i, j) = (10 * i + j) * -1
           end-perform.
       put-record.
           display "outer-count=" outer-count
           perform varying i from 1 by 1 until i > outer-count
               display "row-name(" i ")=" row-name(i)
               display "inner-count(" i ")=" inner-count(i)
               perform varying j from 1 by 1 until j > inner-count(i)
                   display "cell(" i "," j ")=" cell(i, j)
               end-perform
           end-perform
           display "behind=" behind
           move spaces to file-record
           move deep-record to file-record
           write file-record.
