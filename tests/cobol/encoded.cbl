      *> encoded.cbl - one event with a text of bytes that are given in
      *> hexadecimal: J U-umlaut R G E N in Latin-1.
       identification division.
       program-id. encoded.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 tracer          cblt-x4-comp5.
       01 ev              cblt-trc-event.
       01 lens            cblt-x4-comp5.
       01 types           cblt-x4-comp5.
       01 item            cblt-pointer.
       01 the-text        pic x(6) value x"4ADC5247454E".
       procedure division.
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "ENCODED " tracer
           move low-values to ev
           move 78-CTF-FLAG-LEVEL-INFO to cblte-trcevt-level
           move 1 to cblte-trcevt-data-count cblte-trcevt-event-id
           move length of the-text to lens
           move 78-TRACE-EVENT-TYPE-TEXT to types
           set item to address of the-text
           set cblte-trcevt-event-len to address of lens
           set cblte-trcevt-event-type to address of types
           set cblte-trcevt-event-data to address of item
           call "CBL_CTF_TRACE" using by value 0
               by reference tracer ev
           move 0 to return-code
           stop run.
