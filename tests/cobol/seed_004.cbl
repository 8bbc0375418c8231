*> The documented example of CBL_CTF_TRACER_LEVEL_GET, in a frame.
identification division.
program-id. seed004.
data division.
working-storage section.
copy "cbltypes.cpy".
copy "mfctf.cpy".

78 78-EVENT-TYPE-A      value 1.

01 component-name       pic x(7) value "mycomp".
01 flags                pic x(4) comp-5.
01 trace-event          cblt-trc-event.
01 trace-level          pic x(4) comp-5.
01 tracer-handle        pic x(4) comp-5.
procedure division.
call "CBL_CTF_TRACER_GET" using by value 0
                                by reference component-name
                                by reference tracer-handle
call "CBL_CTF_TRACER_LEVEL_GET" using by value 0
                                      by reference component-name
                                      by reference trace-level

if 78-CTF-FLAG-LEVEL-INFO >= trace-level
      perform set-up-trace-info
      compute flags = 78-CTF-FLAG-LEVEL-INFO

      call "CBL_CTF_TRACE" using by value flags
                                 by reference tracer-handle
                                 by reference trace-event
end-if
display "level " trace-level " status " return-code
move 0 to return-code
stop run.
set-up-trace-info.
move low-values to trace-event
move 78-EVENT-TYPE-A to cblte-trcevt-event-id of trace-event
move 78-CTF-FLAG-LEVEL-INFO to cblte-trcevt-level of trace-event.
