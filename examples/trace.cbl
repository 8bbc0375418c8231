      *> trace.cbl - traces four events: with a handle and by name, with
      *> data and without.  Follow it with docs/cobol.md, chapter 1.
      *>
      *>    cobc -x $(pkg-config --variable=cobc_flags ctrace) trace.cbl
      *>    MFTRACE_CONFIG=trace.cfg ./trace && cat trace.log
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. trace.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       78 78-EVENT-TYPE-A      value 1.
       78 78-EVENT-TYPE-B      value 2.
       01 component-id         pic x(7) value "mycomp ".
       01 flags                pic x(4) comp-5.
       01 trace-event          cblt-trc-event.
       01 trace-event-lengths  pic x(4) comp-5 occurs 1.
       01 trace-event-pointers pointer occurs 1.
       01 trace-event-types    pic x(4) comp-5 occurs 1.
       01 trace-info           pic x(10) value "some info ".
       01 tracer-handle        pic x(4) comp-5.
       01 status-code          pic x(4) comp-5.
       procedure division.
       move low-values to trace-event
       set cblte-trcevt-event-len of trace-event to
           address of trace-event-lengths(1)
       set cblte-trcevt-event-type of trace-event to
           address of trace-event-types(1)
       set cblte-trcevt-event-data of trace-event
           to address of trace-event-pointers(1)

      *> 1) Acquire a tracer handle to trace "mycomp" component events,
      *>    then output two informational events; one with event data,
      *>    one without.
       call "CBL_CTF_TRACER_GET" using by value 0
                                       by reference component-id
                                       by reference tracer-handle
       move 0 to flags
       move 78-CTF-FLAG-LEVEL-INFO to cblte-trcevt-level of trace-event
       move 78-EVENT-TYPE-A to cblte-trcevt-event-id of trace-event
       move 1 to cblte-trcevt-data-count of trace-event
       move length of trace-info to trace-event-lengths(1)
       move 78-TRACE-EVENT-TYPE-TEXT to trace-event-types(1)
       set trace-event-pointers(1) to address of trace-info
       call "CBL_CTF_TRACE" using by value flags
                                  by reference tracer-handle
                                  by reference trace-event
                                     returning status-code
       evaluate status-code
           when 78-CTF-RET-SUCCESS
               display "Traced."
           when 78-CTF-RET-NOT-TRACE-ENABLED
               display "Tracing is off: set MFTRACE_CONFIG=trace.cfg."
           when other
               display "CBL_CTF_TRACE answered " status-code
       end-evaluate
       move 78-EVENT-TYPE-B to cblte-trcevt-event-id of trace-event
       move 0 to cblte-trcevt-data-count of trace-event
       call "CBL_CTF_TRACE" using by value flags
                                  by reference tracer-handle
                                  by reference trace-event

      *> 2) Output two informational events for the "mycomp" component
      *>    without acquiring a tracer handle
       move 78-CTF-FLAG-COMPID-STRING to flags
       move 78-CTF-FLAG-LEVEL-INFO to cblte-trcevt-level of trace-event
       move 78-EVENT-TYPE-A to cblte-trcevt-event-id of trace-event
       move 1 to cblte-trcevt-data-count of trace-event
       move length of trace-info to trace-event-lengths(1)
       move 78-TRACE-EVENT-TYPE-TEXT to trace-event-types(1)
       set trace-event-pointers(1) to address of trace-info
       call "CBL_CTF_TRACE" using by value flags
                                  by reference component-id
                                  by reference trace-event
       move 78-EVENT-TYPE-B to cblte-trcevt-event-id of trace-event
       move 0 to cblte-trcevt-data-count of trace-event
       call "CBL_CTF_TRACE" using by value flags
                                  by reference component-id
                                  by reference trace-event

      *> The last routine's status is in RETURN-CODE, too, and would be
      *> this program's exit status.
       move 0 to return-code
       stop run.
