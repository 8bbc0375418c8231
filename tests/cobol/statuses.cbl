      *> statuses.cbl - each status from its own cause, by its names, in
      *> RETURNING and in RETURN-CODE.  Prints what is not as it should.
       identification division.
       program-id. statuses.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 flags           cblt-x4-comp5.
       01 tracer          cblt-x4-comp5.
       01 no-tracer       cblt-x4-comp5 value 305419896.
       01 level           cblt-x4-comp5.
       01 got             cblt-x4-comp5.
       01 wanted          cblt-x4-comp5.
       01 checks          pic 99 value 0.
       01 buffer          pic x(10).
       01 size-of-value   cblt-x4-comp5.
       01 trace-event     cblt-trc-event.
       01 install-block   cblt-trc-notif-install.
       01 long-name       pic x(300) value all "n".
       procedure division.
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference "stat " tracer returning got
           move 78-CTF-RET-SUCCESS to wanted
           perform check-status
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference " " tracer returning got
           move 78-CTF-RET-INVALID-COMPONENT-NAME to wanted
           perform check-status
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference long-name tracer returning got
           move 78-CTF-RET-INVALID-COMP-NAME to wanted
           perform check-status
           call "CBL_CTF_DEST" using by value 0 by value 0
               by reference " " returning got
           move 78-CTF-RET-INVALID-EMITTER-NAME to wanted
           perform check-status
           call "CBL_CTF_DEST" using by value 0 by value 0
               by reference "NoSuchEmitter " returning got
           move 78-CTF-RET-EMITTER-NOT-FOUND to wanted
           perform check-status
           call "CBL_CTF_COMP_PROPERTY_SET" using by value 0
               by reference tracer " " "value " returning got
           move 78-CTF-RET-INVALID-PROP-NAME to wanted
           perform check-status
           move 78-CTF-RET-INVALID-PROPERTY-NAME to wanted
           perform check-status
           call "CBL_CTF_COMP_PROPERTY_GET" using by value 0
               by reference tracer "unset " size-of-value buffer
               returning got
           move 78-CTF-RET-PROPERTY-NOT-FOUND to wanted
           perform check-status
           call "CBL_CTF_COMP_PROPERTY_SET" using by value 0
               by reference tracer "color " "green " returning got
           move 78-CTF-RET-SUCCESS to wanted
           perform check-status
           move 5 to size-of-value
           call "CBL_CTF_COMP_PROPERTY_GET" using by value 0
               by reference tracer "COLOR " size-of-value buffer
               returning got
           move 78-CTF-RET-BUFFER-TOO-SMALL to wanted
           perform check-status
           if size-of-value not = 6 display "size " size-of-value end-if
           move length of buffer to size-of-value
           move all "#" to buffer
           call "CBL_CTF_COMP_PROPERTY_GET" using by value 0
               by reference tracer "COLOR " size-of-value buffer
               returning got
           move 78-CTF-RET-SUCCESS to wanted
           perform check-status
           if buffer not = "green" or size-of-value not = 5
               display "value " buffer size-of-value
           end-if
      *>   An integer's length is not set: programs pass BY VALUE 0.
           move 4711 to level
           call "CBL_CTF_COMP_PROPERTY_SET"
               using by value 78-CTF-FLAG-PROP-INT-VALUE
               by reference tracer "number " level returning got
           perform check-status
           move 0 to level
           call "CBL_CTF_COMP_PROPERTY_GET"
               using by value 78-CTF-FLAG-PROP-INT-VALUE
               by reference tracer "number " by value 0
               by reference level returning got
           perform check-status
           if level not = 4711 display "number " level end-if
           call "CBL_CTF_EMITTER_PROPERTY_SET" using by value 0
               by reference "TextFile " "HexBlockSize " "4 "
               returning got
           perform check-status
           call "CBL_CTF_EMITTER_PROPERTY_GET"
               using by value 78-CTF-FLAG-PROP-INT-VALUE
               by reference "TEXTFILE " "HEXBLOCKSIZE " by value 0
               by reference level returning got
           perform check-status
           if level not = 4 display "block " level end-if

           move low-values to trace-event
           call "CBL_CTF_TRACE" using by value 0
               by reference no-tracer trace-event returning got
           move 78-CTF-RET-INVALID-TRACE-HANDLE to wanted
           perform check-status
           call "CBL_CTF_TRACE" using by value 0
               by reference tracer trace-event returning got
           move 78-CTF-RET-NOT-TRACE-ENABLED to wanted
           perform check-status
           call "CBL_CTF_LEVEL" using by value 0
               by value 78-LEVFLGS-LEVEL-WARN
               by reference tracer returning got
           move 78-CTF-RET-SUCCESS to wanted
           perform check-status
           call "CBL_CTF_TRACE" using by value 0
               by reference tracer trace-event returning got
           move 78-CTF-RET-NOT-TRACING-LEVEL to wanted
           perform check-status
           call "CBL_CTF_TRACE"
               using by value 78-CTF-FLAG-FORCE-OUTPUT
               by reference tracer trace-event returning got
           move 78-CTF-RET-SUCCESS to wanted
           perform check-status
           call "CBL_CTF_LEVEL" using by value 0 by value 5
               by reference tracer returning got
           move 78-CTF-RET-INVALID-TRACE-LEVEL to wanted
           perform check-status
           move 4097 to cblte-trcevt-data-count
           move 78-CTF-FLAG-LEVEL-FATAL to cblte-trcevt-level
           call "CBL_CTF_TRACE" using by value 0
               by reference tracer trace-event returning got
           move 78-CTF-RET-NOT-ENOUGH-MEMORY to wanted
           perform check-status
           move low-values to install-block
           move tracer to cblte-tni-handle
           call "CBL_CTF_TRACE_NOTIFY"
               using by value 78-TRC-NOTIF-UNINSTALL
               by reference install-block returning got
           move 78-CTF-RET-FAILURE to wanted
           perform check-status
      *>   A destination that cannot be written.
           call "CBL_CTF_EMITTER_PROPERTY_SET" using by value 0
               by reference "TextFile " "FILE " "/proc/no/such "
               returning got
           move 0 to cblte-trcevt-data-count
           move 78-CTF-RET-OUTPUT-ERROR to wanted
           perform 5000 times
               call "CBL_CTF_TRACE" using by value 0
                   by reference tracer trace-event returning got
               if got = wanted exit perform end-if
               call "usleep" using by value 1000
           end-perform
           perform check-status
      *>   Without RETURNING, and RETURNING does not disturb it.
           call "CBL_CTF_TRACE" using by value 0
               by reference no-tracer trace-event
           if return-code not = 78-CTF-RET-INVALID-TRACE-HANDLE
               display "return-code " return-code
           end-if
      *>   The effective level, and the constant for "none".
           move 78-CTF-FLAG-LEVEL-NONE to wanted
           call "CBL_CTF_TRACER_LEVEL_GET" using by value 0
               by value 0 by reference got
           perform check-status
           display checks " checked"
           move 0 to return-code
           stop run.
       check-status.
           add 1 to checks
           if got not = wanted
               display "check " checks ": " got " is not " wanted
           end-if.
