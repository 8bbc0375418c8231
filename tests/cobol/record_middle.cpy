       01  middle-record.
           03  how-many          pic 9(2).
           03  slots-group.
               05  slots occurs 1 to 4 depending on how-many
                   of middle-record.
                   07  slot      pic x.
                   07  slot-size pic 9(7) comp-5.
           03  behind            pic x(3).
           03  beyond             pic s9(3) comp-3.
