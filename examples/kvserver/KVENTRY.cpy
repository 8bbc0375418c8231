      *> KVENTRY.cpy - the binary items of the server's trace, as
      *> kvserver.h has them.  Integers are in the machine's byte order.
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       01 kv-request.
          03 connection          pic x(4) comp-5.
          03 operation           pic x comp-x.
             88 op-get           value 0.
             88 op-put           value 1.
             88 op-del           value 2.
          03 outcome             pic x comp-x.
             88 outcome-ok       value 0.
             88 outcome-none     value 1.
             88 outcome-memory   value 2.
          03 key-size            pic x(2) comp-5.
          03 value-size          pic x(4) comp-5.
          03 microseconds        pic x(4) comp-5.
       01 kv-line.
          03 connection          pic x(4) comp-5.
          03 bytes-in            pic x(4) comp-5.
          03 bytes-out           pic x(4) comp-5.
       01 kv-probe.
          03 hash                pic x(4) comp-5.
          03 depth               pic x(4) comp-5.
