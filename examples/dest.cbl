      *> dest.cbl - chooses destinations while the program runs, then
      *> traces: the events of RTS go to the BinFile emitter only.
      *>
      *>    cobc -x $(pkg-config --variable=cobc_flags ctrace) dest.cbl
      *>    ./dest && ctrace show dest.binfile.*.ctb
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. dest-example.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".

       01 component-name  pic x(4).
       01 emitter-name    pic x(10).
       01 flags           pic x(4) comp-5.
       01 trace-event     cblt-trc-event.
       procedure division.
      *> 1) Add TextFile to the default trace emitter list.
       move "TextFile" to emitter-name
       compute flags = 78-CTF-FLAG-DEST-ADD

       call "CBL_CTF_DEST" using by value flags
                                by value 0
                                by reference emitter-name
       display "1) default + TextFile: " return-code

      *> 2) Remove TextFile from the default trace emitter list.  The
      *>    list is never empty: TextFile comes back by itself.
       move "TextFile" to emitter-name
       compute flags = 78-CTF-FLAG-DEST-REMOVE

       call "CBL_CTF_DEST" using by value flags
                                 by value 0
                                 by reference emitter-name
       display "2) default - TextFile: " return-code

      *> 3) Associate the ES trace emitter with the RTS component.
      *>    The RTS component will inherit the default trace emitters.
       move "RTS" to component-name
       move "ES" to emitter-name
       compute flags = 78-CTF-FLAG-DEST-ADD b-or
                       78-CTF-FLAG-COMPID-STRING

       call "CBL_CTF_DEST" using by value flags
                                 by reference component-name
                                 by reference emitter-name
       display "3) RTS + ES: " return-code

      *> 4) Make the BinFile trace emitter the only emitter the
      *>    RTS component will use, besides ES; that is, the RTS
      *>    component will not inherit the default trace emitters.
       move "RTS" to component-name
       move "BinFile" to emitter-name
       compute flags = 78-CTF-FLAG-DEST-ADD b-or
                       78-CTF-FLAG-DEST-NOINHERIT b-or
                       78-CTF-FLAG-COMPID-STRING

       call "CBL_CTF_DEST" using by value flags
                                 by reference component-name
                                 by reference emitter-name
       display "4) RTS + BinFile, not inheriting: " return-code

      *> One event of RTS, once it is enabled.
       move 78-CTF-FLAG-COMPID-STRING to flags
       call "CBL_CTF_LEVEL" using by value flags
                                  by value 78-CTF-FLAG-LEVEL-INFO
                                  by reference component-name
       move low-values to trace-event
       move 78-CTF-FLAG-LEVEL-INFO to cblte-trcevt-level of trace-event
       move 1 to cblte-trcevt-event-id of trace-event
       call "CBL_CTF_TRACE" using by value flags
                                  by reference component-name
                                  by reference trace-event
       display "An event of RTS: " return-code
       move 0 to return-code
       stop run.
