      *> ORDER.cpy - the record of BANK 2 in traces/bank.ctb.
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       01 order-record.
          03 order-id            pic 9(6).
          03 customer            pic x(12).
          03 amount              pic s9(5)v99 comp-3.
          03 order-state         pic x.
             88 is-paid          value 'P'.
