      *> mfctf.cpy - the Consolidated Tracing Facility: constants and
      *> types of the CBL_CTF_ routines.  docs/cobol.md explains them.
      *>
      *> Types: a level number, a name and one of
      *>    cblt-trc-event             an event for CBL_CTF_TRACE, of at
      *>                               most half of its ring, 512 KiB
      *>                               by default, more with a larger
      *>                               ctrace.buffer
      *>    cblt-trc-notif-install     for CBL_CTF_TRACER_NOTIFY
      *>    cblt-trc-notif-prop-change the parameter of a callback
      *> followed by a period; levels 01 to 48.  With OCCURS write
      *>    03 t occurs n.  05 e cblt-trc-event.
      *>
      *> "b-or" with a flag of this file behind it becomes "+", because
      *> GnuCOBOL 3.1 reserves the word and has no such operator.  The
      *> result is the same while the flag is not set yet.  Any other
      *> b-or stays: use CBL_OR where the compiler refuses it.
      *>
      *> Lines stay in columns 8-72: fixed and free format read alike.
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0

      *> Levels, of events and as thresholds; NONE only as a threshold
       78 78-CTF-FLAG-LEVEL-DEBUG            value 0.
       78 78-CTF-FLAG-LEVEL-INFO             value 1.
       78 78-CTF-FLAG-LEVEL-WARN             value 2.
       78 78-CTF-FLAG-LEVEL-WARNING          value 2.
       78 78-CTF-FLAG-LEVEL-ERROR            value 3.
       78 78-CTF-FLAG-LEVEL-FATAL            value 4.
       78 78-CTF-FLAG-LEVEL-NONE             value 4294967295.
       78 78-LEVFLGS-LEVEL-DEBUG             value 0.
       78 78-LEVFLGS-LEVEL-INFO              value 1.
       78 78-LEVFLGS-LEVEL-WARN              value 2.
       78 78-LEVFLGS-LEVEL-WARNING           value 2.
       78 78-LEVFLGS-LEVEL-ERROR             value 3.
       78 78-LEVFLGS-LEVEL-FATAL             value 4.
       78 78-LEVFLGS-LEVEL-NONE              value 4294967295.

      *> Flags: how names are given
       78 78-CTF-FLAG-COMPID-STRING          value 2147483648.
       78 78-CTF-FLAG-COMP-NAME-NULL-TERM    value 1073741824.
       78 78-CTF-FLAG-PROP-NAME-NULL-TERM    value 536870912.
       78 78-CTF-FLAG-EMITTER-NAME-NULL-TERM value 268435456.

      *> Flags of CBL_CTF_TRACE
       78 78-CTF-FLAG-FORCE-OUTPUT           value 4096.
       78 78-CTF-FLAG-ARRAY-DATA             value 8192.

      *> Flags of the property routines
       78 78-CTF-FLAG-PROP-STRING-VALUE      value 0.
       78 78-CTF-FLAG-PROP-INT-VALUE         value 1.
       78 78-CTF-FLAG-PROP-VALUE-NULL-TERM   value 2.

      *> Flags of CBL_CTF_DEST
       78 78-CTF-FLAG-DEST-ADD               value 0.
       78 78-CTF-FLAG-DEST-REMOVE            value 1.
       78 78-CTF-FLAG-DEST-NOINHERIT         value 2.

      *> Types of an event's items
       78 78-TRACE-EVENT-TYPE-BINARY         value 0.
       78 78-TRACE-EVENT-TYPE-TEXT           value 1.
       78 78-TRACE-EVENT-TYPE-ADDRESS        value 2.
       78 78-TRACE-EVENT-TYPE-COMP5          value 3.
       78 78-TRACE-EVENT-TYPE-COMPX          value 4.
       78 78-TRACE-EVENT-TYPE-UTF8           value 5.
       78 78-TRACE-EVENT-TYPE-COMP5S         value 6.
       78 78-TRACE-EVENT-TYPE-COMPXS         value 7.
       78 78-TRACE-EVENT-FLAGS-NONE          value 0.

      *> Notification
       78 78-TRC-NOTIF-INSTALL               value 0.
       78 78-TRC-NOTIF-UNINSTALL             value 1.
       78 78-TRC-NOTIF-TYPE-PROP-CHANGE      value 0.
       78 78-TRC-NOTIF-TYPE-LEVEL-CHANGE     value 1.

      *> Status codes
       78 78-CTF-RET-SUCCESS                 value 0.
       78 78-CTF-RET-FAILURE                 value 1.
       78 78-CTF-RET-NOT-ENOUGH-MEMORY       value 2.
       78 78-CTF-RET-INVALID-COMPONENT-NAME  value 3.
       78 78-CTF-RET-INVALID-COMP-NAME       value 3.
       78 78-CTF-RET-INVALID-EMITTER-NAME    value 4.
       78 78-CTF-RET-INVALID-PROP-NAME       value 5.
       78 78-CTF-RET-INVALID-PROPERTY-NAME   value 5.
       78 78-CTF-RET-INVALID-TRACE-HANDLE    value 6.
       78 78-CTF-RET-INVALID-TRACE-LEVEL     value 7.
       78 78-CTF-RET-EMITTER-NOT-FOUND       value 8.
       78 78-CTF-RET-PROPERTY-NOT-FOUND      value 9.
       78 78-CTF-RET-BUFFER-TOO-SMALL        value 10.
       78 78-CTF-RET-NOT-TRACE-ENABLED       value 11.
       78 78-CTF-RET-NOT-TRACING-LEVEL       value 12.
       78 78-CTF-RET-OUTPUT-ERROR            value 13.

      *> Types, by text replacement from here to the end of the source.
      *> ALSO keeps a REPLACE of the program in force.
       replace also
          ==cblt-trc-event==  by ==.
          49 cblte-trcevt-version      pic x(4) comp-5.
          49 cblte-trcevt-flags        pic x(4) comp-5.
          49 cblte-trcevt-event-id     pic x(4) comp-5.
          49 cblte-trcevt-level        pic x(4) comp-5.
          49 cblte-trcevt-data-count   pic x(4) comp-5.
          49 cblte-trcevt-event-len    pointer.
          49 cblte-trcevt-event-type   pointer.
          49 cblte-trcevt-event-data   pointer==
          ==cblt-trc-notif-install== by ==.
          49 cblte-tni-version         pic x(4) comp-5.
          49 cblte-tni-handle          pic x(4) comp-5.
          49 cblte-tni-callback        procedure-pointer==
          ==cblt-trc-notif-prop-change== by ==.
          49 cblte-tnpc-version        pic x(4) comp-5.
          49 cblte-tnpc-flags          pic x(4) comp-5.
          49 cblte-tnpc-namelen        pic x(4) comp-5.
          49 cblte-tnpc-vallen         pic x(4) comp-5.
          49 cblte-tnpc-valint         pic x(4) comp-5.
          49 cblte-tnpc-name           pointer.
          49 cblte-tnpc-value          pointer==
          ==cblte-trcevt-event-level== by ==cblte-trcevt-level==
          ==b-or 78-CTF-FLAG-COMPID-STRING==
          by ==+ 78-CTF-FLAG-COMPID-STRING==
          ==b-or 78-CTF-FLAG-COMP-NAME-NULL-TERM==
          by ==+ 78-CTF-FLAG-COMP-NAME-NULL-TERM==
          ==b-or 78-CTF-FLAG-PROP-NAME-NULL-TERM==
          by ==+ 78-CTF-FLAG-PROP-NAME-NULL-TERM==
          ==b-or 78-CTF-FLAG-EMITTER-NAME-NULL-TERM==
          by ==+ 78-CTF-FLAG-EMITTER-NAME-NULL-TERM==
          ==b-or 78-CTF-FLAG-FORCE-OUTPUT==
          by ==+ 78-CTF-FLAG-FORCE-OUTPUT==
          ==b-or 78-CTF-FLAG-ARRAY-DATA==
          by ==+ 78-CTF-FLAG-ARRAY-DATA==
          ==b-or 78-CTF-FLAG-PROP-STRING-VALUE==
          by ==+ 78-CTF-FLAG-PROP-STRING-VALUE==
          ==b-or 78-CTF-FLAG-PROP-INT-VALUE==
          by ==+ 78-CTF-FLAG-PROP-INT-VALUE==
          ==b-or 78-CTF-FLAG-PROP-VALUE-NULL-TERM==
          by ==+ 78-CTF-FLAG-PROP-VALUE-NULL-TERM==
          ==b-or 78-CTF-FLAG-DEST-ADD==
          by ==+ 78-CTF-FLAG-DEST-ADD==
          ==b-or 78-CTF-FLAG-DEST-REMOVE==
          by ==+ 78-CTF-FLAG-DEST-REMOVE==
          ==b-or 78-CTF-FLAG-DEST-NOINHERIT==
          by ==+ 78-CTF-FLAG-DEST-NOINHERIT==.
