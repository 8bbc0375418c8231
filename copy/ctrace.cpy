      *> ctrace.cpy - component trace: constants and types of the
      *> CBL_CTRACE_ routines.  docs/cobol.md explains them.
      *>
      *> Types: a level number, a name and one of
      *>    cblt-ctrace-define    for CBL_CTRACE_DEFINE
      *>    cblt-ctrace-delete    for CBL_CTRACE_DELETE
      *>    cblt-ctrace-outcome   results of these and of TRACE_CT
      *>    cblt-ctrace-trace-ct  for CBL_CTRACE_TRACE_CT
      *>    cblt-ctrace-display   for CBL_CTRACE_DISPLAY
      *>    cblt-ctrace-ctss      the parameter of a routine
      *> followed by a period; levels 01 to 48.  With OCCURS write
      *>    03 t occurs n.  05 e cblt-ctrace-outcome.
      *>
      *> Input groups have VALUE clauses: such a group in
      *> WORKING-STORAGE is complete.  INITIALIZE ... WITH FILLER ALL
      *> TO VALUE completes it again; MOVE LOW-VALUES does not.
      *>
      *> cblt-ctrace-ctss is struct ctrace_ctss of ctrace/component.h:
      *>      0 size           40 buffer-size    200 asid-count
      *>      4 flags          48 buffer-granted 204 asid (16)
      *>      8 mode           56 console        236 jobname-count
      *>     12 show           64 cart           240 jobname (16)
      *>     16 call-subs      72 token          368 options-size
      *>     20 reason         80 name           372 options
      *>     24 userdata       88 writer        1396 minops-size
      *>                       96 sub-count     1400 minops
      *>                      100 sub (5)       1656 the end
      *>
      *> Lines stay in columns 8-72: fixed and free format read alike.
      *>
      *> Copyright The ctrace authors.
      *> SPDX-License-Identifier: Apache-2.0

      *> ctrace-rc, RETURN-CODE
       78 78-CTRACE-RC-OK                  value 0.
       78 78-CTRACE-RC-EXISTS              value 4.
       78 78-CTRACE-RC-SYSTEM              value 8.
       78 78-CTRACE-RC-REFUSED             value 12.
       78 78-CTRACE-RC-ABEND               value 16.

      *> ctrace-abend
       78 78-CTRACE-ABEND-VERSION          value 257.
       78 78-CTRACE-ABEND-NAME             value 258.
       78 78-CTRACE-ABEND-DEFINE           value 769.
       78 78-CTRACE-ABEND-DELETE           value 770.
       78 78-CTRACE-ABEND-SERVICE          value 1025.
       78 78-CTRACE-ABEND-MINOPS           value 1281.

      *> ctrace-reason, with RC 8
       78 78-CTRACE-RSN-STORAGE            value 6.
       78 78-CTRACE-RSN-RECOVERY           value 7.

      *> ctrace-reason, with RC 12
       78 78-CTRACE-RSN-NO-HEAD            value 1.
       78 78-CTRACE-RSN-LIKEHEAD-OPTIONS   value 2.
       78 78-CTRACE-RSN-NOT-A-HEAD         value 3.
       78 78-CTRACE-RSN-MEMBER-NOT-FOUND   value 4.
       78 78-CTRACE-RSN-MEMBER-IO          value 5.
       78 78-CTRACE-RSN-MEMBER-SYNTAX      value 6.
       78 78-CTRACE-RSN-LIKEHEAD-NO-OPTS   value 7.
       78 78-CTRACE-RSN-NOT-ACTIVE         value 8.
       78 78-CTRACE-RSN-LIKEHEAD-DIFFERS   value 9.
       78 78-CTRACE-RSN-LIKEHEAD-PARM      value 10.
       78 78-CTRACE-RSN-HEADOPTS-PARM      value 11.
       78 78-CTRACE-RSN-LIKEHEAD-HEADOPTS  value 12.
       78 78-CTRACE-RSN-NO-STARTNAM        value 13.
       78 78-CTRACE-RSN-NAME-NOT-ALLOWED   value 14.
       78 78-CTRACE-RSN-MEMBER-SUB         value 15.
       78 78-CTRACE-RSN-MEMBER-PRESET      value 16.
       78 78-CTRACE-RSN-ROUTINE-REFUSED    value 17.
       78 78-CTRACE-RSN-NO-BUFFER          value 18.
       78 78-CTRACE-RSN-BUFSIZE-LIMITS     value 19.
       78 78-CTRACE-RSN-NO-ASIDS           value 20.
       78 78-CTRACE-RSN-NO-JOBS            value 21.
       78 78-CTRACE-RSN-BUFMIN-BUFMAX      value 22.
       78 78-CTRACE-RSN-BUFDFLT-BUFMIN     value 23.
       78 78-CTRACE-RSN-BUFDFLT-BUFMAX     value 24.
       78 78-CTRACE-RSN-ROUTINE-NOT-LOADED value 25.
       78 78-CTRACE-RSN-SUB-NAME           value 26.
       78 78-CTRACE-RSN-PARMLIB            value 27.
       78 78-CTRACE-RSN-ASID-NOT-HEX       value 28.
       78 78-CTRACE-RSN-MEMBER-TOO-LARGE   value 29.
       78 78-CTRACE-RSN-MEMBER-UNREADABLE  value 31.
       78 78-CTRACE-RSN-MEMBER-ALLOCATION  value 32.
       78 78-CTRACE-RSN-ASID-TOO-LONG      value 33.
       78 78-CTRACE-RSN-ASID-ZERO          value 34.
       78 78-CTRACE-RSN-TOO-MANY-ASIDS     value 35.
       78 78-CTRACE-RSN-JOBNAME-TOO-LONG   value 36.
       78 78-CTRACE-RSN-TOO-MANY-JOBNAMES  value 37.
       78 78-CTRACE-RSN-BUFSIZE-TOO-LONG   value 38.
       78 78-CTRACE-RSN-BUFSIZE-UNIT       value 39.
       78 78-CTRACE-RSN-BUFSIZE-NOT-DEC    value 40.
       78 78-CTRACE-RSN-OPTIONS-TOO-LONG   value 41.
       78 78-CTRACE-RSN-MEMBER-NAME        value 42.
       78 78-CTRACE-RSN-HAS-SUBS           value 43.
       78 78-CTRACE-RSN-NO-WTR             value 44.
       78 78-CTRACE-RSN-WTR-NAME           value 45.
      *> ctrace-reason, with RC 12, of TRACE CT only
       78 78-CTRACE-RSN-NOT-DEFINED        value 129.
       78 78-CTRACE-RSN-NOT-MODIFIABLE     value 130.
       78 78-CTRACE-RSN-HEAD-NO-OPTIONS    value 131.
       78 78-CTRACE-RSN-BUFDEFIN           value 132.
       78 78-CTRACE-RSN-NO-STATE           value 133.
       78 78-CTRACE-RSN-NOT-A-SUBLEVEL     value 134.
       78 78-CTRACE-RSN-NOT-ALL            value 135.

      *> ctrace-service, ctrace-del-service; set by the types
       78 78-CTRACE-SERVICE-DEFINE         value 1.
       78 78-CTRACE-SERVICE-DELETE         value 2.

      *> ctrace-ct-state
       78 78-CTRACE-CT-NONE                value 0.
       78 78-CTRACE-CT-ON                  value 1.
       78 78-CTRACE-CT-OFF                 value 2.
       78 78-CTRACE-CT-LIKEHEAD            value 3.
       78 78-CTRACE-CT-PRESET-PUT          value 4.
       78 78-CTRACE-CT-PRESET-DELETE       value 5.

      *> ctrace-ctss-flags
       78 78-CTRACE-CTSS-START             value 128.
       78 78-CTRACE-CTSS-STOP              value 64.
       78 78-CTRACE-CTSS-DISPLAY           value 32.
      *> ctrace-ctss-show
       78 78-CTRACE-CTSS-SHOW-ON           value 128.
       78 78-CTRACE-CTSS-SHOW-OFF          value 64.
       78 78-CTRACE-CTSS-SHOW-MIN          value 32.
      *> ctrace-ctss-call-subs
       78 78-CTRACE-NO                     value 0.
       78 78-CTRACE-YES                    value 1.
      *> ctrace-ctss-mode, ctrace-disp-mode
       78 78-CTRACE-MODE-OFF               value 0.
       78 78-CTRACE-MODE-MIN               value 1.
       78 78-CTRACE-MODE-ON                value 2.

      *> SSRC and SSRSNC of a routine called on another thread
       78 78-CTRACE-SSRC-THREAD            value 8.
       78 78-CTRACE-SSRSNC-THREAD          value 49329.

      *> Types, by text replacement from here to the end of the source.
      *> ALSO keeps a REPLACE of the program in force.
       replace also
          ==cblt-ctrace-define== by ==.
          49 ctrace-plistver           pic x(4) comp-5 value 2.
          49 ctrace-service            pic x(4) comp-5 value 1.
          49 ctrace-bufmin             pic x(4) comp-5 value 0.
          49 ctrace-bufmax             pic x(4) comp-5 value 0.
          49 ctrace-bufdflt            pic x(4) comp-5 value 0.
          49 ctrace-name               pic x(8) value spaces.
          49 ctrace-sub                pic x(110) value spaces.
          49 ctrace-startnam           pic x(8) value spaces.
          49 ctrace-dispnam            pic x(8) value spaces.
          49 ctrace-parm               pic x(8) value spaces.
          49 ctrace-fmttab             pic x(8) value spaces.
          49 ctrace-minops             pic x(257) value spaces.
          49 ctrace-userdata           pic x(16) value low-values.
          49 ctrace-asids              pic x(8) value spaces.
          49 ctrace-jobs               pic x(8) value spaces.
          49 ctrace-mod                pic x(8) value spaces.
          49 ctrace-head               pic x(8) value spaces.
          49 ctrace-headopts           pic x(8) value spaces.
          49 ctrace-likehead           pic x(8) value spaces.
          49 ctrace-manysubs           pic x(8) value spaces.
          49 ctrace-buffer             pic x(8) value spaces.
          49 ctrace-bufdefin           pic x(8) value spaces.
          49 ctrace-wtr                pic x(8) value spaces.
          49 ctrace-wtrmode            pic x(8) value spaces==
          ==cblt-ctrace-delete== by ==.
          49 ctrace-del-plistver       pic x(4) comp-5 value 2.
          49 ctrace-del-service        pic x(4) comp-5 value 2.
          49 ctrace-del-name           pic x(8) value spaces.
          49 ctrace-del-sub            pic x(110) value spaces.
          49 ctrace-delsubs            pic x(8) value spaces.
          49 ctrace-ifnosubs           pic x(8) value spaces==
          ==cblt-ctrace-outcome== by ==.
          49 ctrace-rc                 pic x(4) comp-5 value 0.
          49 ctrace-rsncode            pic x(4) comp-5 value 0.
          49 ctrace-reason             pic x(4) comp-5 value 0.
          49 ctrace-ss-rc              pic x(4) comp-5 value 0.
          49 ctrace-ss-rsncode         pic x(4) comp-5 value 0.
          49 ctrace-abend              pic x(4) comp-5 value 0.
          49 ctrace-message            pic x(236) value spaces==
          ==cblt-ctrace-trace-ct== by ==.
          49 ctrace-ct-state           pic x(4) comp-5 value 0.
          49 ctrace-ct-bufsize         pic x(4) comp-5 value 0.
          49 ctrace-ct-name            pic x(8) value spaces.
          49 ctrace-ct-sub             pic x(110) value spaces.
          49 ctrace-ct-parm            pic x(8) value spaces.
          49 ctrace-ct-asid            pic x(80) value spaces.
          49 ctrace-ct-jobname         pic x(144) value spaces.
          49 ctrace-ct-options         pic x(1025) value spaces.
          49 ctrace-ct-wtr             pic x(16) value spaces==
          ==cblt-ctrace-display== by ==.
          49 ctrace-disp-mode          pic x(4) comp-5.
          49 ctrace-disp-subs          pic x(4) comp-5.
          49 ctrace-disp-buf-asked     pic x(8) comp-5.
          49 ctrace-disp-buf-rounded   pic x(8) comp-5.
          49 ctrace-disp-buf-granted   pic x(8) comp-5.
          49 ctrace-disp-defined       pic x(8).
          49 ctrace-disp-filtered      pic x(8).
          49 ctrace-disp-head          pic x(8).
          49 ctrace-disp-headopts      pic x(8).
          49 ctrace-disp-likehead      pic x(8).
          49 ctrace-disp-asids         pic x(8).
          49 ctrace-disp-jobs          pic x(8).
          49 ctrace-disp-wtr           pic x(8).
          49 ctrace-disp-buffer        pic x(8).
          49 ctrace-disp-mod           pic x(8).
          49 ctrace-disp-startnam      pic x(8).
          49 ctrace-disp-dispnam       pic x(8).
          49 ctrace-disp-fmttab        pic x(8).
          49 ctrace-disp-writer        pic x(8).
          49 ctrace-disp-asid-count    pic x(4) comp-5.
          49 ctrace-disp-asid          pic x(2) comp-5 occurs 16.
          49 ctrace-disp-jobname-count pic x(4) comp-5.
          49 ctrace-disp-jobname       pic x(8) occurs 16.
          49 ctrace-disp-options       pic x(1024).
          49 ctrace-disp-minops        pic x(256).
          49 ctrace-disp-userdata      pic x(16)==
          ==cblt-ctrace-ctss== by ==.
          49 ctrace-ctss-size          pic x(4) comp-5.
          49 ctrace-ctss-flags         pic x(4) comp-5.
          49 ctrace-ctss-mode          pic x(4) comp-5.
          49 ctrace-ctss-show          pic x(4) comp-5.
          49 ctrace-ctss-call-subs     pic x(4) comp-5.
          49 ctrace-ctss-reason        pic x(4) comp-5.
          49 ctrace-ctss-userdata      pic x(16).
          49 ctrace-ctss-buffer-size   pic x(8) comp-5.
          49 ctrace-ctss-buffer-granted pic x(8) comp-5.
          49 ctrace-ctss-console       pic x(8) comp-5.
          49 ctrace-ctss-cart          pic x(8) comp-5.
          49 ctrace-ctss-token         pic x(8) comp-5.
          49 ctrace-ctss-name          pic x(8).
          49 ctrace-ctss-writer        pic x(8).
          49 ctrace-ctss-sub-count     pic x(4) comp-5.
          49 ctrace-ctss-sub           pic x(20) occurs 5.
          49 ctrace-ctss-asid-count    pic x(4) comp-5.
          49 ctrace-ctss-asid          pic x(2) comp-5 occurs 16.
          49 ctrace-ctss-jobname-count pic x(4) comp-5.
          49 ctrace-ctss-jobname       pic x(8) occurs 16.
          49 ctrace-ctss-options-size  pic x(4) comp-5.
          49 ctrace-ctss-options       pic x(1024).
          49 ctrace-ctss-minops-size   pic x(4) comp-5.
          49 ctrace-ctss-minops        pic x(256)==.
