       01  CUSTOMER-RECORD.
           05  CUST-NAME            PIC X(20).
           05  CUST-CLASS           PIC X.
               88  CUST-IS-GOOD     VALUE "A".
               88  CUST-IS-KNOWN    VALUE "A" "B".
           05  CUST-NUMBER          PIC 9(6).
           05  CUST-ORDERS          PIC 9(4) COMP.
           05  CUST-BALANCE         PIC S9(5)V99 COMP-3.
           05  CUST-MONTHS.
               10  CUST-MONTH       PIC 99 OCCURS 3.
           05  FILLER               PIC X.
