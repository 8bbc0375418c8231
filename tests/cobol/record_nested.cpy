       01  deep-record.
           03  outer-count      pic 9.
           03  outer-rows occurs 1 to 3 depending on outer-count.
               05  row-name     pic x(2).
               05  inner-count  pic 9(2) comp.
               05  inner-rows occurs 0 to 4 depending on inner-count.
                   07  cell     pic s9(3) comp-3.
           03  behind           pic x(4).
