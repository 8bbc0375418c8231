      *> dpkg-report.cbl - a batch program on real data: totals the
      *> packages of this Debian machine by section, and traces how.
      *>
      *>    cobc -x $(pkg-config --variable=cobc_flags ctrace) \
      *>         dpkg-report.cbl
      *>    MFTRACE_CONFIG=dpkg-report.cfg ./dpkg-report size
      *>
      *> The argument is "section" (the default) or "size": the order of
      *> the report.  DPKG_STATUS names another file to read.
      *>
      *>    component    id       level  what
      *>    DPKG.READ    10, 11   INFO   entering, leaving read-packages
      *>    DPKG.READ    20, 21   DEBUG  entering, leaving end-package
      *>    DPKG.READ    100      INFO   a package: name, KB, pkg-record
      *>    DPKG.READ    101      DEBUG  a line: field name, value
      *>    DPKG.READ    200      WARN   an oddity: package, what is odd
      *>    DPKG.REPORT  30, 31   INFO   entering, leaving print-report
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. dpkg-report.
       environment division.
       input-output section.
       file-control.
           select status-file assign to dynamic status-name
               organization is line sequential
               file status is io-status.
       data division.
       file section.
       fd  status-file record is varying in size from 1 to 32000
           depending on line-length.
       01 status-line            pic x(32000).

       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 status-name            pic x(255) value spaces.
       01 io-status              pic xx.
       01 line-length            pic x(4) comp-5.
       01 report-order           pic x(10) value spaces.

      *> What is known of the package that is being read
       01 pkg-record.
          03 pkg-name            pic x(40).
          03 pkg-section         pic x(30).
          03 pkg-state           pic x(40).
          03 pkg-size            pic 9(9) comp-3.
       01 pkg-kb                 pic x(4) comp-5.
       01 name-length            pic x(4) comp-5.
       01 field-name             pic x(40).
       01 field-length           pic x(4) comp-5.
       01 field-value            pic x(80).
       01 value-start            pic x(4) comp-5.
       01 oddity                 pic x(40).
       01 installed              pic 9.

       01 section-count          pic 9(4) value 0.
       01 sections.
          03 per-section occurs 1 to 500 depending on section-count
                         indexed by sx.
             05 sec-name         pic x(30).
             05 sec-packages     pic 9(6).
             05 sec-kb           pic 9(12).
       01 all-packages           pic 9(6)  value 0.
       01 all-kb                 pic 9(12) value 0.
       01 report-line.
          03 rl-name             pic x(30).
          03 rl-packages         pic z(9)9.
          03 rl-kb               pic z(13)9.

      *> Tracing: one event, at most three items
       01 read-tracer            pic x(4) comp-5.
       01 report-tracer          pic x(4) comp-5.
       01 tracer                 pic x(4) comp-5.
       01 trace-record           cblt-trc-event.
       01 item-lengths.
          03 item-length         pic x(4) comp-5 occurs 3.
       01 item-types.
          03 item-type           pic x(4) comp-5 occurs 3.
       01 item-pointers.
          03 item                pointer occurs 3.

       procedure division.
       main.
           perform set-up
           perform read-packages
           perform print-report
           move 0 to return-code
           stop run.

       set-up.
           accept report-order from command-line
           accept status-name from environment "DPKG_STATUS"
           if status-name = spaces
               move "/var/lib/dpkg/status" to status-name
           end-if
           call "CBL_CTF_TRACER_GET"
               using by value 0 by reference "DPKG.READ " read-tracer
           call "CBL_CTF_TRACER_GET"
               using by value 0 by reference "DPKG.REPORT "
                     report-tracer
           move low-values to trace-record
           set cblte-trcevt-event-len to address of item-lengths
           set cblte-trcevt-event-type to address of item-types
           set cblte-trcevt-event-data to address of item-pointers
           initialize pkg-record.

       read-packages.
           move read-tracer to tracer
           move 10 to cblte-trcevt-event-id
           move 1 to cblte-trcevt-data-count
           move 78-TRACE-EVENT-TYPE-TEXT to item-type(1)
           set item(1) to address of status-name
           move 0 to item-length(1)
           inspect status-name tallying item-length(1)
               for characters before initial space
           perform trace-info
           open input status-file
           if io-status not = "00"
               display "Cannot read " status-name(1:item-length(1))
                   ": file status " io-status upon syserr
               move 1 to return-code
               stop run
           end-if
           perform until exit
               read status-file at end exit perform end-read
               if line-length = 0 or status-line(1:1) = low-value
                   perform end-package
               else
                   if status-line(1:1) not = space
                       perform take-field
                   end-if
               end-if
           end-perform
           perform end-package
           close status-file
           move 11 to cblte-trcevt-event-id
           move 1 to cblte-trcevt-data-count
           move 78-TRACE-EVENT-TYPE-TEXT to item-type(1)
           set item(1) to address of all-packages
           move length of all-packages to item-length(1)
           perform trace-info.

      *> "Name: value"; lines that begin with a blank continue the last.
       take-field.
           move 0 to field-length
           inspect status-line(1:line-length) tallying field-length
               for characters before initial ":"
           if field-length >= line-length
               exit paragraph
           end-if
           move status-line(1:field-length) to field-name
           compute value-start = field-length + 3
           move spaces to field-value
           if value-start <= line-length
               move status-line(value-start:
                   line-length - value-start + 1) to field-value
           end-if
           move 101 to cblte-trcevt-event-id
           move 2 to cblte-trcevt-data-count
           move 78-TRACE-EVENT-TYPE-TEXT to item-type(1)
           set item(1) to address of field-name
           move field-length to item-length(1)
           move 78-TRACE-EVENT-TYPE-UTF8 to item-type(2)
           set item(2) to address of status-line(value-start:1)
           move 0 to item-length(2)
           if value-start <= line-length
               compute item-length(2) = line-length - value-start + 1
           end-if
           perform trace-debug
           evaluate field-name
               when "Package"        move field-value to pkg-name
               when "Section"        move field-value to pkg-section
               when "Status"         move field-value to pkg-state
               when "Installed-Size"
                   compute pkg-size = function numval(field-value)
           end-evaluate.

       end-package.
           if pkg-name = spaces
               exit paragraph
           end-if
           move 20 to cblte-trcevt-event-id
           move 0 to cblte-trcevt-data-count
           perform trace-debug
           move 0 to name-length
           inspect pkg-name tallying name-length
               for characters before initial space
           if pkg-section = spaces
               move "(none)" to pkg-section
               move "no section" to oddity
               perform trace-oddity
           end-if
           if pkg-size = 0
               move "no installed size" to oddity
               perform trace-oddity
           end-if
           if pkg-state not = "install ok installed"
               move pkg-state to oddity
               perform trace-oddity
           end-if
           move pkg-size to pkg-kb
           move 100 to cblte-trcevt-event-id
           move 3 to cblte-trcevt-data-count
           perform name-is-first-item
           move 78-TRACE-EVENT-TYPE-COMP5 to item-type(2)
           set item(2) to address of pkg-kb
           move length of pkg-kb to item-length(2)
           move 78-TRACE-EVENT-TYPE-BINARY to item-type(3)
           set item(3) to address of pkg-record
           move length of pkg-record to item-length(3)
           perform trace-info
           perform add-to-section
           initialize pkg-record
           move 21 to cblte-trcevt-event-id
           move 0 to cblte-trcevt-data-count
           perform trace-debug.

      *> The report counts what is installed, whatever is wanted of it.
       add-to-section.
           move 0 to installed
           inspect pkg-state tallying installed for all " installed "
           if installed = 0
               exit paragraph
           end-if
           set sx to 1
           perform until sx > section-count
               if sec-name(sx) = pkg-section exit perform end-if
               set sx up by 1
           end-perform
           if sx > section-count
               if section-count = 500
                   display "Too many sections" upon syserr
                   move 1 to return-code
                   stop run
               end-if
               add 1 to section-count
               move pkg-section to sec-name(sx)
               move 0 to sec-packages(sx) sec-kb(sx)
           end-if
           add 1 to sec-packages(sx) all-packages
           add pkg-size to sec-kb(sx) all-kb.

       print-report.
           move report-tracer to tracer
           move 30 to cblte-trcevt-event-id
           move 0 to cblte-trcevt-data-count
           perform trace-info
           if report-order = "size"
               sort per-section on descending key sec-kb
           else
               sort per-section on ascending key sec-name
           end-if
           display "Section                         Packages"
               "  Installed KB"
           perform varying sx from 1 by 1 until sx > section-count
               move sec-name(sx) to rl-name
               move sec-packages(sx) to rl-packages
               move sec-kb(sx) to rl-kb
               display report-line
           end-perform
           move "Total" to rl-name
           move all-packages to rl-packages
           move all-kb to rl-kb
           display report-line
           move 31 to cblte-trcevt-event-id
           perform trace-info.

       trace-oddity.
           move 200 to cblte-trcevt-event-id
           move 2 to cblte-trcevt-data-count
           perform name-is-first-item
           move 78-TRACE-EVENT-TYPE-TEXT to item-type(2)
           set item(2) to address of oddity
           move 0 to item-length(2)
           inspect oddity tallying item-length(2)
               for characters before initial "  "
           perform trace-warn.

       name-is-first-item.
           move 78-TRACE-EVENT-TYPE-TEXT to item-type(1)
           set item(1) to address of pkg-name
           move name-length to item-length(1).

       trace-debug.
           move 78-CTF-FLAG-LEVEL-DEBUG to cblte-trcevt-level
           perform trace-event.
       trace-info.
           move 78-CTF-FLAG-LEVEL-INFO to cblte-trcevt-level
           perform trace-event.
       trace-warn.
           move 78-CTF-FLAG-LEVEL-WARN to cblte-trcevt-level
           perform trace-event.

      *> The status is not looked at: a report must not fail because it
      *> cannot be traced.
       trace-event.
           call "CBL_CTF_TRACE" using by value 0
                                      by reference tracer trace-record.
