       identification division.
       program-id. record_order.
       environment division.
       input-output section.
       file-control.
           select record-file assign to "records.bin"
           organization sequential.
       data division.
       file section.
       fd record-file.
       01  file-record pic x(178).
       working-storage section.
      >>source format is free
       copy "record_order.cpy".
01 i pic 9.
procedure division.
main.
    open output record-file
    move 0 to line-count
    perform clear-record
    perform put-record
    move 5 to line-count
    perform clear-record
    move 4294967295 to order-id
    move all "te" to order-name
    move -123456789.01 to total-net
    move 9999999.99 to total-tax
    move -7 to total-text
    move "a" to a1 a3 a5 a7
    move -9999 to a2
    move 0.5 to a4
    set a6 to null
    set a8 to 3
    move -2147483648 to b2(1) move 2147483647 to b2(2)
    move "b" to b1(1) b1(2) b3(1) b3(2)
    move -32768 to a0
    move -98765.43 to amount
    perform varying i from 1 by 1 until i > 5
        move "it" to item(i)
        compute quantity(i) = 11111 * i
        compute price(i) = -1234.5 * i + 1234.5
    end-perform
    move -1 to price(3)
    perform put-record
    move 2 to line-count
    move "Fred" to order-name
    perform put-record
    move high-values to order-name
    perform put-record
    close record-file
    stop run.
clear-record.
    move 0 to order-id total-net total-tax total-text a2 a4 a0 amount
    move space to order-name a1 a3 a5 a7
    set a6 to null
    set a8 to 0
    perform varying i from 1 by 1 until i > 2
        move space to b1(i) b3(i) move 0 to b2(i)
    end-perform
    perform varying i from 1 by 1 until i > line-count
        move space to item(i) move 0 to quantity(i) price(i)
    end-perform.
put-record.
    display "order-id=" order-id
    display "order-name=" order-name
    if order-test display "order-name IS order-test" end-if
    if order-early display "order-name IS order-early" end-if
    display "total-net=" total-net
    display "total-tax=" total-tax
    display "total-text=" total-text
    display "a1=" a1
    display "a2=" a2
    display "a3=" a3
    display "a4=" a4
    display "a5=" a5
    display "a6=" a6
    display "a7=" a7
    display "a8=" a8
    perform varying i from 1 by 1 until i > 2
        display "b1(" i ")=" b1(i)
        display "b2(" i ")=" b2(i)
        display "b3(" i ")=" b3(i)
    end-perform
    display "a0=" a0
    display "amount=" amount
    display "FILLER=  "
    display "FILLER= "
    display "line-count=" line-count
    perform varying i from 1 by 1 until i > line-count
        display "item(" i ")=" item(i)
        display "quantity(" i ")=" quantity(i)
        display "price(" i ")=" price(i)
        if gratis(i) display "price(" i ") IS gratis" end-if
        if not-priced(i) display "price(" i ") IS not-priced" end-if
    end-perform
    move spaces to file-record
    move order-record to file-record
    write file-record.
