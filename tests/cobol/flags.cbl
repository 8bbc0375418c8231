      *> flags.cbl - flags and names as the vendors' pages and Windows
      *> sources write them: COPY in upper case, B-OR with a flag behind
      *> it, both spellings of WARN, both names of an event's level.
       identification division.
       program-id. flags.
       data division.
       working-storage section.
       COPY CBLTYPES.
       COPY "MFCTF.CPY".
       COPY CTRACE.
       01 fl              cblt-x4-comp5.
       01 mask            cblt-x4-comp5.
       01 ev              cblt-trc-event.
       01 parent-name     pic x(7) value "MF.RTS".
       01 child-name      pic x(11) value "MF.RTS.MEM".
       01 level           cblt-x4-comp5.
       procedure division.
           compute fl = 78-CTF-FLAG-DEST-ADD b-or
                        78-CTF-FLAG-DEST-NOINHERIT B-OR
                        78-CTF-FLAG-COMPID-STRING
           display fl
           compute fl = 78-CTF-FLAG-COMPID-STRING b-or
                        78-CTF-FLAG-COMP-NAME-NULL-TERM
                        b-or 78-CTF-FLAG-PROP-NAME-NULL-TERM b-or
                        78-CTF-FLAG-PROP-INT-VALUE
           display fl
      *>   What may be set already: CBL_OR changes its second item.
           move 78-CTF-FLAG-PROP-INT-VALUE to mask
           call "CBL_OR" using mask fl by value length of fl
           call "CBL_OR" using mask fl by value length of fl
           display fl
           move 78-LEVFLGS-LEVEL-WARNING to cblte-trcevt-level
           display cblte-trcevt-event-level " "
               78-CTF-FLAG-LEVEL-WARNING " "
               78-LEVFLGS-LEVEL-WARN
      *>   A name with flags 0 sets the children's threshold too.
           call "CBL_CTF_LEVEL" using by value 0
                                by value 78-LEVFLGS-LEVEL-WARNING
                                by reference parent-name
           call "CBL_CTF_TRACER_LEVEL_GET" using by value 0
                                by reference child-name
                                by reference level
           display return-code " " level
           move 0 to return-code
           stop run.
