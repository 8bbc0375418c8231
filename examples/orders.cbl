      *> orders.cbl - adds up orders by customer.  It makes its own two files first.  Nothing in it
      *> knows of ctrace:
      *>
      *>     cobc -x -ftrace orders.cbl
      *>     ctrace run ./orders
      *>
      *> Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. orders.
       environment division.
       input-output section.
       file-control.
           select customers assign to "customers.dat"
               organization indexed access dynamic
               record key customer-number
               file status customer-status.
           select order-file assign to "orders.txt"
               organization line sequential
               file status order-status.
       data division.
       file section.
       fd customers.
       01 customer.
          03 customer-number     pic 9(4).
          03 customer-name       pic x(12).
          03 customer-total      pic 9(7)v99.
       fd order-file.
       01 order-line.
          03 order-customer      pic 9(4).
          03 order-amount        pic 9(5)v99.
       working-storage section.
       01 customer-status        pic xx.
       01 order-status           pic xx.
       01 at-number              pic 9(5) comp-5.
       01 unknown-count          pic 9(5) value 0.
       01 total-out              pic z,zzz,zz9.99.
       procedure division.
       main-line.
           perform make-customers
           perform make-orders
           perform add-up-orders
           perform print-totals
           if unknown-count > 0
               display unknown-count " orders of unknown customers"
           end-if
           stop run.
       make-customers.
           open output customers
           perform varying at-number from 1 by 1 until at-number > 9
               move at-number to customer-number
               string "Customer " at-number delimited by size
                   into customer-name
               move 0 to customer-total
               write customer
           end-perform
           close customers.
       make-orders.
           open output order-file
           perform varying at-number from 1 by 1
               until at-number > 1000
               compute order-customer =
                   function mod(at-number * 7, 10)
               compute order-amount = at-number * 1.25
               write order-line
           end-perform
           close order-file.
       add-up-orders.
           open input order-file
           open i-o customers
           perform until order-status not = "00"
               read order-file at end continue end-read
               if order-status = "00" perform add-order end-if
           end-perform
           close order-file customers.
       add-order.
           move order-customer to customer-number
           read customers
               invalid key add 1 to unknown-count
               not invalid key
                   add order-amount to customer-total
                   rewrite customer
           end-read.
       print-totals.
           open input customers
           perform until customer-status not = "00"
               read customers next at end continue end-read
               if customer-status = "00"
                   move customer-total to total-out
                   display customer-number total-out
               end-if
           end-perform
           close customers.
       end program orders.
