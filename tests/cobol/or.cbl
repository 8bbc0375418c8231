      *> or.cbl - B-OR of two items: 8, or nothing that compiles.
       identification division.
       program-id. or-items.
       data division.
       working-storage section.
       copy "cbltypes.cpy".
       copy "mfctf.cpy".
       01 a               cblt-x4-comp5 value 8.
       01 b               cblt-x4-comp5 value 8.
       01 fl              cblt-x4-comp5.
       procedure division.
           compute fl = a b-or b
           display fl
           move 0 to return-code
           stop run.
