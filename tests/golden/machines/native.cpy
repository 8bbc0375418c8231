      *> Native numbers have the byte order of the machine, the others have one order everywhere.
       01 NATIVE-RECORD.
          05 NR-NAME   PIC X(8).
          05 NR-COUNT  PIC S9(9) COMP-5.
             88 NR-MINUS VALUE -999999 THRU -1.
          05 NR-CODE   PIC 9(4) COMP-5.
          05 NR-RATE   PIC 9(4) COMP.
          05 NR-RATIO  COMP-1.
          05 NR-TOTAL  COMP-2.
          05 NR-AT     POINTER.
          05 NR-PACKED PIC S9(5) COMP-3.
