      *> items.cbl - every type of item, from COBOL's own storage.
       identification division.
       program-id. items.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 tracer          cblt-x4-comp5.
       01 trace-event     cblt-trc-event.
       01 lengths.
          03 len          cblt-x4-comp5 occurs 8.
       01 types.
          03 typ          cblt-x4-comp5 occurs 8.
       01 items.
          03 item         cblt-pointer occurs 8.
       01 n               cblt-x4-comp5.
       01 x1              pic x(1) comp-5 value 200.
       01 x2              pic x(2) comp-5 value 65000.
       01 x3              pic x(3) comp-5 value 70000.
       01 x4              pic x(4) comp-5 value 4000000000.
       01 x5              pic x(5) comp-5 value 5000000000.
       01 x8              pic x(8) comp-5 value 18446744073709551615.
       01 b1              pic x(1) comp-x value 200.
       01 b2              pic x(2) comp-x value 65000.
       01 b3              pic x(3) comp-x value 70000.
       01 b4              pic x(4) comp-x value 4000000000.
       01 b5              pic x(5) comp-x value 5000000000.
       01 b8              pic x(8) comp-x value 18446744073709551615.
       01 s2              pic s9(4) comp-5 value -2.
       01 s4              pic s9(9) comp-5 value -3.
       01 s8              pic s9(18) comp-5 value -4.
       01 t2              pic s9(4) comp value -2.
       01 t4              pic s9(9) comp value -3.
       01 t8              pic s9(18) comp value -4.
       01 packed          pic s9(5) comp-3 value -12345.
       01 text-item       pic x(8) value 'say "x"'.
       01 utf8-item       pic x(3) value x"E282AC".
       01 a-group.
          03 g-name       pic x(4) value "GRP1".
          03 g-size       pic 9(4) comp-5 value 513.
       procedure division.
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "items " tracer
           move low-values to trace-event
           set cblte-trcevt-event-len to address of lengths
           set cblte-trcevt-event-type to address of types
           set cblte-trcevt-event-data to address of items
           move 78-CTF-FLAG-LEVEL-WARN to cblte-trcevt-level
           perform varying n from 1 by 1 until n > 6
               move 78-TRACE-EVENT-TYPE-COMP5 to typ(n)
           end-perform
           set item(1) to address of x1  move length of x1 to len(1)
           set item(2) to address of x2  move length of x2 to len(2)
           set item(3) to address of x3  move length of x3 to len(3)
           set item(4) to address of x4  move length of x4 to len(4)
           set item(5) to address of x5  move length of x5 to len(5)
           set item(6) to address of x8  move length of x8 to len(6)
           move 6 to cblte-trcevt-data-count
           perform trace-items
           perform varying n from 1 by 1 until n > 6
               move 78-TRACE-EVENT-TYPE-COMPX to typ(n)
           end-perform
           set item(1) to address of b1  move length of b1 to len(1)
           set item(2) to address of b2  move length of b2 to len(2)
           set item(3) to address of b3  move length of b3 to len(3)
           set item(4) to address of b4  move length of b4 to len(4)
           set item(5) to address of b5  move length of b5 to len(5)
           set item(6) to address of b8  move length of b8 to len(6)
           perform trace-items
           set item(1) to address of s2  move length of s2 to len(1)
           set item(2) to address of s4  move length of s4 to len(2)
           set item(3) to address of s8  move length of s8 to len(3)
           set item(4) to address of t2  move length of t2 to len(4)
           set item(5) to address of t4  move length of t4 to len(5)
           set item(6) to address of t8  move length of t8 to len(6)
           move 78-TRACE-EVENT-TYPE-COMP5S to typ(1) typ(2) typ(3)
           move 78-TRACE-EVENT-TYPE-COMPXS to typ(4) typ(5) typ(6)
           perform trace-items
           set item(1) to address of text-item
           move length of text-item to len(1)
           move 78-TRACE-EVENT-TYPE-TEXT to typ(1)
           set item(2) to address of utf8-item
           move length of utf8-item to len(2)
           move 78-TRACE-EVENT-TYPE-UTF8 to typ(2)
           set item(3) to address of packed
           move length of packed to len(3)
           move 78-TRACE-EVENT-TYPE-BINARY to typ(3)
           set item(4) to address of a-group
           move length of a-group to len(4)
           move 1234 to typ(4)
           set item(5) to null
           move 100 to len(5)
           move 78-TRACE-EVENT-TYPE-TEXT to typ(5)
           set item(6) to null
           move 78-TRACE-EVENT-TYPE-ADDRESS to typ(6)
           perform trace-items
           move 0 to return-code
           stop run.
       trace-items.
           add 1 to cblte-trcevt-event-id
           call "CBL_CTF_TRACE" using by value 0
               by reference tracer trace-event
           if return-code not = 78-CTF-RET-SUCCESS
               display "CBL_CTF_TRACE: " return-code
           end-if.
