       identification division.
       program-id. record_customer.
       environment division.
       input-output section.
       file-control.
           select record-file assign to "records.bin"
           organization sequential.
       data division.
       file section.
       fd record-file.
       01  file-record pic x(146).
       working-storage section.
       copy "record_customer.cpy".
       01  i pic 9.
       01  j pic 9.
       procedure division.
       main.
           open output record-file
           initialize customer
           perform put-record
           move 9999 to cust-branch
           move 87654321 to cust-number
           move "A. Customer" to cust-name
           move "A" to cust-status
           move -9999999.99 to cust-balance
           move -0.01 to cust-limit
           move 20240731 to cust-since
           move "x" to new-home-x
           move "Main street" to home-street-line
           move 12345 to home-zip
           move "Office" to work-street-text
           move -5 to cust-turnover(1, 1) cust-turnover(3, 2)
           move 99999 to cust-turnover(2, 2)
           move 0.25 to cust-rate(2)
           move 99 to cust-flags
           perform put-record
           move "Q" to cust-status
           move 9999999.99 to cust-balance
           move 99999.99 to cust-limit
           move 19991201 to cust-since
           perform put-record
           move low-values to cust-status
           move 100 to cust-balance
           perform put-record
           close record-file
           stop run.
       put-record.
           display "CUST-BRANCH=" cust-branch
           display "CUST-NUMBER=" cust-number
           display "CUST-NAME=" cust-name
           display "CUST-STATUS=" cust-status
           if cust-active display "CUST-STATUS IS CUST-ACTIVE" end-if
           if cust-open display "CUST-STATUS IS CUST-OPEN" end-if
           if cust-unknown display "CUST-STATUS IS CUST-UNKNOWN" end-if
           display "CUST-BALANCE=" cust-balance
           if cust-overdrawn
               display "CUST-BALANCE IS CUST-OVERDRAWN" end-if
           if cust-nothing display "CUST-BALANCE IS CUST-NOTHING" end-if
           if cust-large display "CUST-BALANCE IS CUST-LARGE" end-if
           display "CUST-LIMIT=" cust-limit
           display "FILLER=   "
           display "CUST-SINCE=" cust-since
           display "CUST-YEAR=" cust-year
           display "CUST-MONTH=" cust-month
           if cust-summer display "CUST-MONTH IS CUST-SUMMER" end-if
           display "CUST-DAY=" cust-day
           display "CUST-SINCE-X=" cust-since-x
           display "NEW-HOME-X=" new-home-x
           display "HOME-STREET-LINE=" home-street-line
           display "HOME-ZIP=" home-zip
           display "OLD-WORK-X=" old-work-x
           display "WORK-STREET-TEXT=" work-street-text
           display "WORK-ZIP=" work-zip
           perform varying i from 1 by 1 until i > 3
               perform varying j from 1 by 1 until j > 2
                   display "CUST-TURNOVER(" i "," j ")="
                       cust-turnover(i, j)
                   if cust-loss(i, j)
                       display "CUST-TURNOVER(" i "," j
                           ") IS CUST-LOSS"
                   end-if
               end-perform
               display "CUST-RATE(" i ")=" cust-rate(i)
           end-perform
           display "CUST-FLAGS=" cust-flags
           move customer to file-record
           write file-record.
