000100*----------------------------------------------------------------*CUST0001
000200* A customer: fixed format, with sequence numbers and card names.*CUST0002
000300*----------------------------------------------------------------*CUST0003
000400 01  CUSTOMER.                                                    CUST0004
000500     05  CUST-KEY.                                                CUST0005
000600         10  CUST-BRANCH          PIC 9(4) COMP.                  CUST0006
000700         10  CUST-NUMBER          PIC 9(8).                       CUST0007
000800     05  CUST-NAME                PICTURE IS X(20) VALUE IS "unk  CUST0008
000900-    "nown".                                                      CUST0009
001000     05  CUST-STATUS              PIC X.                          CUST0010
001100         88  CUST-ACTIVE          VALUE "A".                      CUST0011
001200         88  CUST-OPEN            VALUES ARE "A" "S", "P" THRU    CUST0012
001300             "R".                                                 CUST0013
001400         88  CUST-UNKNOWN         VALUE SPACE LOW-VALUES.         CUST0014
001500D    05  CUST-DEBUG               PIC X(999).                     CUST0015
001600     05  CUST-BALANCE             PIC S9(7)V99 COMP-3.            CUST0016
001700         88  CUST-OVERDRAWN       VALUE -9999999.99 THRU -.01.    CUST0017
001800         88  CUST-NOTHING         VALUE ZERO.                     CUST0018
001900         88  CUST-LARGE           VALUE 100000 THRU 9999999.99.   CUST0019
002000     05  CUST-LIMIT               PIC S9(5)V9(2)                  CUST0020
002100                                  SIGN LEADING SEPARATE.          CUST0021
002200     05  FILLER                   PIC X(3).                       CUST0022
002300     05  CUST-SINCE               PIC 9(8).                       CUST0023
002400     05  CUST-SINCE-R REDEFINES CUST-SINCE.                       CUST0024
002500         10  CUST-YEAR            PIC 9(4).                       CUST0025
002600         10  CUST-MONTH           PIC 99.                         CUST0026
002700             88  CUST-SUMMER      VALUE 6 THRU 8.                 CUST0027
002800         10  CUST-DAY             PIC 99.                         CUST0028
002900     05  CUST-SINCE-X REDEFINES CUST-SINCE PIC X(8).              CUST0029
003000     COPY record_address REPLACING ==:TAG:== BY ==HOME==          CUST0030
003100          LEADING ==OLD== BY ==NEW== ==(SIZE)== BY ==(12)==.      CUST0031
003200     COPY "record_address.cpy" SUPPRESS REPLACING ==:TAG:==       CUST0032
003300          BY ==WORK== TRAILING ==-LINE== BY ==-TEXT==             CUST0033
003400          ==(SIZE)== BY ==(30)==.                                 CUST0034
003500     05  CUST-MONTHS OCCURS 3 TIMES INDEXED BY CUST-I.            CUST0035
003600         10  CUST-TURNOVER        PIC S9(5) OCCURS 2.             CUST0036
003700             88  CUST-LOSS        VALUE -99999 THRU -1.           CUST0037
003800         10  CUST-RATE            PIC V9(4) COMP-5.               CUST0038
003900     05  CUST-FLAGS               COMP-X PIC X.                   CUST0039
004000     66  CUST-ALL RENAMES CUST-KEY THRU CUST-STATUS.              CUST0040
