      *> bench_batch.cbl - a batch as many are: it reads records, looks at their parts in paragraphs, and counts.
      *> Compiled with -ftrace.  The environment says what it does, and how often: WORK=batch, read or paragraphs; COUNT.
      *> The calls of libcob are what is measured, so nothing here traces.
      *>
      *> Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. bench_batch.
       environment division.
       input-output section.
       file-control.
           select package-file assign to "records.dat"
               organization line sequential file status file-status.
       data division.
       file section.
       fd package-file.
       01 package-record            pic x(80).
       working-storage section.
       01 file-status               pic xx.
       01 work                      pic x(12).
       01 repeated                  pic 9(9) comp-5.
       01 at-record                 pic 9(9) comp-5.
       01 at-section                pic 9.
       01 paragraph-count           pic 9(9) comp-5.
       01 package-name              pic x(30).
       01 package-section           pic x(12).
       01 package-size              pic 9(9).
       01 size-text                 pic x(12).
       01 total-size                pic s9(15) comp-3 value 0.
       01 mean-size                 pic s9(13)v99 comp-3 value 0.
       01 name-length               pic 9(4) comp-5.
       01 digit-count               pic 9(4) comp-5.
       01 upper-name                pic x(30).
       01 line-out                  pic x(60).
       01 edited-size               pic zzz,zzz,zz9.
       01 section-table.
          03 section-entry occurs 8 indexed by section-index.
             05 section-name        pic x(12).
             05 section-count       pic 9(9) comp-5 value 0.
             05 section-size        pic s9(15) comp-3 value 0.
       procedure division.
       begin.
           accept work from environment "WORK"
           accept repeated from environment "COUNT"
           evaluate work
               when "write" perform write-records
               when "paragraphs"
                   perform empty-paragraph repeated times
               when other perform read-records
           end-evaluate
           stop run.
       empty-paragraph.
           add 1 to paragraph-count.
       write-records.
           open output package-file
           perform varying at-record from 1 by 1
               until at-record > repeated
               move at-record to package-size
               compute at-section = function mod(at-record, 8)
               move spaces to package-record
               string "package-" package-size " section-" at-section
                   " " package-size " a description of the package"
                   delimited by size into package-record
               write package-record
           end-perform
           close package-file.
       read-records.
           open input package-file
           perform until file-status not = "00"
               read package-file at end continue end-read
               if file-status = "00" and work = "batch"
                   perform split-record thru write-line
               end-if
           end-perform
           close package-file.
       split-record.
           unstring package-record delimited by all spaces
               into package-name package-section size-text.
       convert-size.
           compute package-size = function numval(size-text).
       measure-name.
           move 0 to name-length
           inspect package-name tallying name-length
               for characters before initial space.
       count-digits.
           move 0 to digit-count
           inspect package-name tallying digit-count for all "0".
       fold-name.
           move function upper-case(package-name) to upper-name.
       find-section.
           set section-index to 1
           search section-entry
               at end set section-index to 1
               when section-name(section-index) = package-section
                   continue
               when section-name(section-index) = low-values
                   move package-section to section-name(section-index)
           end-search.
       add-section.
           add 1 to section-count(section-index)
           add package-size to section-size(section-index).
       add-total.
           add package-size to total-size.
       compute-mean.
           compute mean-size rounded =
               total-size / section-count(section-index).
       write-line.
           move package-size to edited-size
           move spaces to line-out
           string upper-name delimited by space " "
               edited-size delimited by size into line-out.
       end program bench_batch.
