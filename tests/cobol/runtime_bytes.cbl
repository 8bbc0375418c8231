      *> runtime_bytes.cbl - the byte stream routines, each of them, and two that fail.
      *>
      *> Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
       identification division.
       program-id. rtbytes.
       data division.
       working-storage section.
       01 n pic x(9) value "bytes.x  ".
       01 n2 pic x(9) value "bytes2.x ".
       01 acc pic x comp-x value 2.
       01 z pic x comp-x value 0.
       01 z2 pic x comp-x value 0.
       01 h pic x(4).
       01 posn pic x(8) comp-x value 0.
       01 len pic x(4) comp-x value 5.
       01 b pic x(10) value "hello".
       procedure division.
           call "CBL_CREATE_FILE" using n acc z z2 h
           call "CBL_WRITE_FILE" using h posn len z b
           call "CBL_FLUSH_FILE" using h
           call "CBL_CLOSE_FILE" using h
           move 1 to acc
           call "CBL_OPEN_FILE" using n acc z z2 h
           call "CBL_READ_FILE" using h posn len z b
           move 100 to posn
           call "CBL_READ_FILE" using h posn len z b
           call "CBL_CLOSE_FILE" using h
           call "CBL_COPY_FILE" using n n2
           call "CBL_RENAME_FILE" using n2 n
           call "CBL_DELETE_FILE" using n
           call "CBL_OPEN_FILE" using n acc z z2 h
           display "done"
           goback.
