      *> notify.cbl - hears of every change to a component: of its own
      *> level, its parent's and the default one, and of its properties.
      *>
      *>    cobc -x $(pkg-config --variable=cobc_flags ctrace) \
      *>         notify.cbl
      *>    ./notify
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. notify-example.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 component-name       pic x(20) value "graphics.glyphs".
       01 parent-name          pic x(20) value "graphics".
       01 property-name        pic x(20) value "GLYPH_SHAPING".
       01 property-value       pic x(20) value "ON".
       01 flags                pic x(4) comp-5.
       01 status-code          pic x(4) comp-5.
       01 tracer-handle        pic x(4) comp-5.
       01 install-block        cblt-trc-notif-install.
       linkage section.
       01 lk-handle            pic x(4) comp-5.
       01 lk-type              pic x(4) comp-5.
       01 lk-param             pic x.
       01 lk-level             redefines lk-param pic x(4) comp-5.
       01 lk-change            cblt-trc-notif-prop-change.
       01 lk-name              pic x(255).
       procedure division.
       call "CBL_CTF_TRACER_GET" using by value 0
                                       by reference component-name
                                       by reference tracer-handle
       move low-values to install-block
       move tracer-handle to cblte-tni-handle of install-block
       set cblte-tni-callback of install-block to entry "on-change"
       call "CBL_CTF_TRACER_NOTIFY"
           using by value 78-TRC-NOTIF-INSTALL
                 by reference install-block
                 returning status-code
       display "installed: " status-code

       display "the default level:"
       call "CBL_CTF_LEVEL" using by value 0
                                  by value 78-CTF-FLAG-LEVEL-INFO
                                  by value 0
       move 78-CTF-FLAG-COMPID-STRING to flags
       display "the parent's level:"
       call "CBL_CTF_LEVEL" using by value flags
                                  by value 78-CTF-FLAG-LEVEL-WARN
                                  by reference parent-name
       display "the component's own level:"
       call "CBL_CTF_LEVEL" using by value flags
                                  by value 78-CTF-FLAG-LEVEL-DEBUG
                                  by reference component-name
       display "a property:"
       call "CBL_CTF_COMP_PROPERTY_SET"
           using by value flags
                 by reference component-name property-name
                              property-value
       display "another component's property: nothing is told"
       call "CBL_CTF_COMP_PROPERTY_SET"
           using by value flags
                 by reference parent-name property-name property-value
       call "CBL_CTF_TRACER_NOTIFY"
           using by value 78-TRC-NOTIF-UNINSTALL
                 by reference install-block
                 returning status-code
       display "uninstalled: " status-code
       call "CBL_CTF_LEVEL" using by value flags
                                  by value 78-CTF-FLAG-LEVEL-ERROR
                                  by reference component-name
       move 0 to return-code
       stop run.

       change-of-trace-settings.
       entry "on-change" using by value lk-handle
                               by value lk-type
                               by reference lk-param.
       evaluate lk-type
           when 78-TRC-NOTIF-TYPE-LEVEL-CHANGE
               display "   level is now " lk-level
           when 78-TRC-NOTIF-TYPE-PROP-CHANGE
               set address of lk-change to address of lk-param
               set address of lk-name
                   to cblte-tnpc-name of lk-change
               display "   " lk-name(1:cblte-tnpc-namelen of lk-change)
                   " is now " cblte-tnpc-valint of lk-change
       end-evaluate
       move 0 to return-code
       goback.
