*> DISPLAY and ACCEPT.
identification division.
program-id. rtterm.
environment division.
configuration section.
special-names.
    decimal-point is comma.
data division.
working-storage section.
01 zoned pic 9(5) value 42.
01 zoned-signed pic s9(5) value -42.
01 zoned-separate pic s9(3)v99 sign leading separate value -1,5.
01 packed pic s9(5)v99 comp-3 value -12,5.
01 binary-number pic s9(9) comp value -123.
01 native-number pic 9(4) comp-5 value 65535.
01 short-float comp-1 value 1,5.
01 long-float comp-2 value -0,25.
01 edited pic z.zz9,99- value "1.234,50-".
01 text-field pic x(10) value "text".
01 group-field.
   03 part-1 pic x(3) value "abc".
   03 part-2 pic 9(3) value 7.
01 long-text pic x(5000) value all "0123456789".
01 answer pic x(10).
01 amount pic 9(5).
01 today pic 9(6).
procedure division.
main.
    display "zoned " zoned " " zoned-signed " " zoned-separate
    display "packed " packed
    display "binary " binary-number " " native-number
    display "float " short-float " " long-float
    display edited "|" text-field "|" group-field
    display "no line end " with no advancing
    display "to the error output" upon syserr
    display long-text
    display spaces
    display x"00ff"
    accept answer
    accept amount
    accept today from date
    accept answer
    display "end"
    stop run.
end program rtterm.
