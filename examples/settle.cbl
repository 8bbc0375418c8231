      *> settle.cbl - adds payments to the totals of nine customers, and fails: the tenth payment is
      *> one of customer 10, for whom the table has no room.
      *>
      *>     cobc -x -debug settle.cbl
      *>     MFTRACE_CONFIG=settle.cfg LD_PRELOAD=libctrace-cobol.so ./settle
      *>
      *> -debug makes the run time check subscripts, and name the paragraph and the line.
      *>
      *> Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. settle.
       data division.
       working-storage section.
       01 totals.
          03 total               pic 9(7)v99 occurs 9 times.
       01 payment-number         pic 9(5) comp-5.
       01 customer               pic 99.
       procedure division.
       main-line.
           perform clear-totals
           perform take-payment
               varying payment-number from 1 by 1
               until payment-number > 20
           stop run.
       clear-totals.
           initialize totals.
       take-payment.
           move payment-number to customer
           add 12.5 to total(customer).
       end program settle.
