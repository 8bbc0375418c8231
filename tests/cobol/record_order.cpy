*> An order: free format, constants, sizes by level 78, a usage and a
*> sign for a whole group, aligned items, a table at the end.
78 MAX-LINES value 5.
78 NAME-SIZE value 3 * (MAX-LINES - 1).
01 order-record.
   05 order-id pic x(4) comp-5. 05 order-name pic x(NAME-SIZE).
      88 order-test value all "te" high-values.
      88 order-early value "A" thru "M".
   05 totals usage comp-3 sign is leading separate.
      10 total-net pic s9(9)v99.
      10 total-tax pic s9(7)v99.
      10 total-text usage display pic s9(3).
   05 placed.
      10 a1 pic x.
      10 a2 pic s9(4) comp sync.
      10 a3 pic x.
      10 a4 comp-2 sync.
      10 a5 pic x.
      10 a6 usage pointer sync.
      10 a7 pic x.
      10 a8 index sync.
      10 a9 occurs 2.
         15 b1 pic x.
         15 b2 pic s9(9) comp-5 sync.
         15 b3 pic x.
      10 a0 binary-short sync.
   05 amount pic $$$,$$9.99-. 05 pic xx.
   05 filler pic x value space.
   05 line-count pic 99 comp-x.
   05 order-lines occurs 0 to MAX-LINES times depending on line-count
         ascending key is item indexed by line-i line-j.
      10 item pic x(6) justified right.
      10 quantity pic 9(5) comp-6.
      10 price pic s9(4)v9(4) comp.
         88 gratis value 0. 88 not-priced value -1 false is 0.
