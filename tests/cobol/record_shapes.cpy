      $set sourceformat(fixed)
      * What the mf dialect takes: a redefinition that is larger than
      * what it redefines, a chain of them, types, and the types of
      * mfctf.cpy.
       copy "mfctf.cpy".
       01  money typedef.
           03  currency-code     pic x(3).
           03  cents             pic s9(9) comp.
       01  percent is typedef pic s9(3)v99 comp-3.
       01  shapes.
           03  kind              pic x(2).
           03  view-1 redefines kind.
               05  v1            pic x(4).
               05  v2            pic s9(5) comp.
           03  view-2 redefines view-1 pic x(6).
           03  price             usage money.
           03  rate              usage percent.
           03  rates             usage percent occurs 2.
           03  traced            cblt-trc-event.
           03  last-one          pic x.
