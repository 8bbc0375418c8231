      *> copybook.cbl - where the types may stand: at any level, in
      *> LINKAGE, in several programs of one file, after a REPLACE.
       identification division.
       program-id. copybook.
       data division.
       working-storage section.
       replace ==A-FIELD== by ==pic x(4)==.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 own             A-FIELD.
       01 ev-a            cblt-trc-event.
       01 wrapper.
          03 w-id         cblt-x4-comp5.
          03 ev-n         cblt-trc-event.
       01 table-of-events.
          03 rows occurs 3.
             05 ev-t      cblt-trc-event.
       01 ni              cblt-trc-notif-install.
       01 pc              cblt-trc-notif-prop-change.
       01 fl              cblt-x4-comp5.
       procedure division.
           move 5 to cblte-trcevt-level of ev-a
           move 6 to cblte-trcevt-level of ev-t(2)
           compute fl = 78-CTF-FLAG-DEST-NOINHERIT b-or
                        78-CTF-FLAG-COMPID-STRING
           display length of own " " length of ev-a " "
               length of wrapper " " length of table-of-events " "
               length of ni " " length of pc " " fl
           call "copybook2" using ev-a
           move 0 to return-code
           stop run.
       end program copybook.
       identification division.
       program-id. copybook2.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       linkage section.
       01 lk-ev           cblt-trc-event.
       procedure division using lk-ev.
           display "level " cblte-trcevt-level of lk-ev
           goback.
       end program copybook2.
