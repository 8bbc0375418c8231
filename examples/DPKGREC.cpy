      *> DPKGREC.cpy - what dpkg-report.cbl knows of a package, as it
      *> traces it: the binary item of DPKG.READ 100.
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       01 pkg-record.
          03 pkg-name            pic x(40).
          03 pkg-section         pic x(30).
          03 pkg-state           pic x(40).
          03 pkg-size            pic 9(9) comp-3.
