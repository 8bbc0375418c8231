      *> cbltypes.cpy - the types of the CBL_ routines' parameters.
      *> Copy it before mfctf.cpy, as the documented programs do.
      *>
      *> GnuCOBOL has no user types without USAGE, so the names become
      *> PICTUREs by text replacement, from here to the end of the
      *> source.  ALSO keeps a REPLACE of the program in force.
      *> Lines stay in columns 8-72: fixed and free format read alike.
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0
       replace also
          ==cblt-x1-comp5==   by ==pic x(1) comp-5==
          ==cblt-x2-comp5==   by ==pic x(2) comp-5==
          ==cblt-x4-comp5==   by ==pic x(4) comp-5==
          ==cblt-x8-comp5==   by ==pic x(8) comp-5==
          ==cblt-x1-compx==   by ==pic x(1) comp-x==
          ==cblt-x2-compx==   by ==pic x(2) comp-x==
          ==cblt-x4-compx==   by ==pic x(4) comp-x==
          ==cblt-x8-compx==   by ==pic x(8) comp-x==
          ==cblt-pointer==    by ==pointer==
          ==cblt-ppointer==   by ==procedure-pointer==.
