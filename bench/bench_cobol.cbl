      *> bench_cobol.cbl - the COBOL side of the benchmark: traces A, or T,
      *> in a loop.  Called by peer_ctrace.c, a batch a call.
      *>
      *>    by reference way    1: by handle, 2: by name, 3: an empty C
      *>                        routine in place of CBL_CTF_TRACE,
      *>                        4: T by handle
      *>    by reference count  how many times
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. benchcobol.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 is-ready             pic x(1) comp-5 value 0.
       01 component-id         pic x(10) value "BENCH.CBL ".
       01 flags                pic x(4) comp-5.
       01 trace-event          cblt-trc-event.
       01 text-event           cblt-trc-event.
       01 trace-event-lengths  pic x(4) comp-5 occurs 2.
       01 trace-event-pointers pointer occurs 2.
       01 trace-event-types    pic x(4) comp-5 occurs 2.
       01 trace-number         pic x(4) comp-5.
       01 trace-info           pic x(10).
       01 tracer-handle        pic x(4) comp-5.
       01 status-code          pic x(4) comp-5.
       01 i                    pic x(4) comp-5.
       01 k                    pic x(4) comp-5 value 1.
       01 texts.
          03 filler            pic x(20) value "first itemother item".
          03 filler            pic x(20) value "third itemlast item ".
       01 text-table redefines texts.
          03 a-text            pic x(10) occurs 4.
       linkage section.
       01 way                  pic x(4) comp-5.
       01 event-count          pic x(4) comp-5.
       procedure division using way event-count.
       if is-ready = 0
           perform set-up
       end-if
       evaluate way
           when 1
               move 0 to flags
               perform varying i from 0 by 1 until i >= event-count
                   perform next-text
                   call "CBL_CTF_TRACE" using by value flags
                                              by reference tracer-handle
                                              by reference trace-event
                                        returning status-code
               end-perform
           when 2
               move 78-CTF-FLAG-COMPID-STRING to flags
               perform varying i from 0 by 1 until i >= event-count
                   perform next-text
                   call "CBL_CTF_TRACE" using by value flags
                                              by reference component-id
                                              by reference trace-event
                                        returning status-code
               end-perform
           when 4
               move 0 to flags
               perform varying i from 0 by 1 until i >= event-count
                   perform next-text
                   call "CBL_CTF_TRACE" using by value flags
                                              by reference tracer-handle
                                              by reference text-event
                                        returning status-code
               end-perform
           when other
               move 0 to flags
               perform varying i from 0 by 1 until i >= event-count
                   perform next-text
                   call "bench_nothing" using by value flags
                                              by reference tracer-handle
                                              by reference trace-event
                                        returning status-code
               end-perform
       end-evaluate
       goback.

       next-text.
       if k = 4
           move 1 to k
       else
           add 1 to k
       end-if
       move i to trace-number
       move a-text(k) to trace-info.

       set-up.
       move low-values to trace-event
       set cblte-trcevt-event-len of trace-event to
           address of trace-event-lengths(1)
       set cblte-trcevt-event-type of trace-event to
           address of trace-event-types(1)
       set cblte-trcevt-event-data of trace-event to
           address of trace-event-pointers(1)
       move 78-CTF-FLAG-LEVEL-INFO to cblte-trcevt-level of trace-event
       move 1 to cblte-trcevt-event-id of trace-event
       move 2 to cblte-trcevt-data-count of trace-event
       move length of trace-number to trace-event-lengths(1)
       move 78-TRACE-EVENT-TYPE-COMP5 to trace-event-types(1)
       set trace-event-pointers(1) to address of trace-number
       move length of trace-info to trace-event-lengths(2)
       move 78-TRACE-EVENT-TYPE-TEXT to trace-event-types(2)
       set trace-event-pointers(2) to address of trace-info
       move trace-event to text-event
       move 3 to cblte-trcevt-event-id of text-event
       move 1 to cblte-trcevt-data-count of text-event
       set cblte-trcevt-event-len of text-event to
           address of trace-event-lengths(2)
       set cblte-trcevt-event-type of text-event to
           address of trace-event-types(2)
       set cblte-trcevt-event-data of text-event to
           address of trace-event-pointers(2)
       call "CBL_CTF_TRACER_GET" using by value 0
                                       by reference component-id
                                       by reference tracer-handle
       move 1 to is-ready.
