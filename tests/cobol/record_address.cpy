           05  :TAG:-ADDRESS.
               10  OLD-:TAG:-X           PIC X.
               10  :TAG:-STREET-LINE     PIC X(SIZE).
               10  :TAG:-ZIP             PIC 9(5).
