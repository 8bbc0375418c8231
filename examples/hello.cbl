      *> hello.cbl - traces event 1 of the component my.hello, with a text.
      *>
      *> Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. hello.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 component      pic x(9) value "my.hello ".
       01 tracer         pic x(4) comp-5.
       01 customer       pic x(3) value "Ada".
       01 hello-event    cblt-trc-event.
       01 item-length    pic x(4) comp-5 value 3.
       01 item-type      pic x(4) comp-5.
       01 item-pointer   pointer.
       procedure division.
           call "CBL_CTF_TRACER_GET" using by value 0
               by reference component by reference tracer
           move low-values to hello-event
           move 1 to cblte-trcevt-event-id of hello-event
           move 78-CTF-FLAG-LEVEL-INFO
               to cblte-trcevt-level of hello-event
           move 1 to cblte-trcevt-data-count of hello-event
           set cblte-trcevt-event-len of hello-event
               to address of item-length
           set cblte-trcevt-event-type of hello-event
               to address of item-type
           set cblte-trcevt-event-data of hello-event
               to address of item-pointer
           move 78-TRACE-EVENT-TYPE-TEXT to item-type
           set item-pointer to address of customer
           call "CBL_CTF_TRACE" using by value 0
               by reference tracer by reference hello-event
           move 0 to return-code
           stop run.
