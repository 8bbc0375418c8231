*> ACCEPT of fields on a screen; what has no echo is secret.
identification division.
program-id. rtsecret.
data division.
working-storage section.
01 visible pic x(8).
01 secret pic x(8).
01 hidden pic x(8).
01 plain pic x(8).
procedure division.
main.
    display "screen" line 1 column 1
    accept visible line 2 column 1
    accept secret line 3 column 1 with secure
    accept hidden line 4 column 1 with no-echo
    accept plain
    stop run.
end program rtsecret.
