#!/bin/sh
# config_check.sh - `ctrace config check`: mistakes with their places, settings that can be read back, exit statuses.
set -u

n=0
check() { # NAME STATUS
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}

cat >good.cfg <<'END'
mftrace.level = info
mftrace.level.MF.Rts = debug
mftrace.dest = textfile binfile
mftrace.dest.mf.rts.mem = (es)
mftrace.dest.mf.rts = stderr
mftrace.comp.mf.rts#all = true
mftrace.emitter.textfile#format = $(TIME) $(THREAD) :$(DATA)
ctrace.buffer = 100K
ctrace.buffer.mf = 2M
ctrace.overflow.mf = discard
ctrace.block.timeout = 2 s
ctrace.flight.level.mf = debug
ctrace.flight.trigger = error
ctrace.run.directory = /run/x y
END
cat >wanted <<'END'
mftrace.level = INFO
mftrace.dest = TEXTFILE, BINFILE
ctrace.buffer = 128K
ctrace.overflow = auto
ctrace.block.timeout = 2000 ms
ctrace.flight.trigger = ERROR
ctrace.flight.buffer = 1M
ctrace.attach = on
ctrace.run.directory = /run/x y
ctrace.buffer.MF = 2M
ctrace.overflow.MF = discard
ctrace.flight.level.MF = DEBUG
mftrace.level.MF.Rts = DEBUG
mftrace.dest.MF.Rts = (TEXTFILE, BINFILE, STDERR)
mftrace.comp.MF.Rts#all = true
mftrace.dest.mf.rts.mem = (ES)
mftrace.emitter.TEXTFILE#format = $(TIME) $(THREAD) :$(DATA)
END
ctrace config check good.cfg >out 2>err
check 'a clean file: status 0' $?
cmp -s out wanted
check 'the settings in force are printed' $?
test ! -s err
check 'nothing on standard error' $?
ctrace config check out >again 2>err && cmp -s out again
check 'what is printed can be read back' $?

printf 'mftrace.levle = info\n\nmftrace.dest = textfile, binfle\nmftrace.level.x = inof\n' >bad.cfg
ctrace config check bad.cfg >out 2>err
test $? -eq 1
check 'mistakes: status 1' $?
grep -q '^bad.cfg:1:1: unknown key "mftrace.levle" (did you mean mftrace.level?); expected mftrace.level, ' err
check 'an unknown key' $?
grep -q '^bad.cfg:3:26: unknown emitter "binfle" (did you mean BINFILE?); expected TEXTFILE, ' err
check 'an unknown emitter' $?
grep -q '^bad.cfg:4:19: unknown level "inof" (did you mean info?); expected none, debug, info, warn, error or fatal$' err
check 'an unknown level' $?
grep -qx 'mftrace.dest = TEXTFILE' out
check 'a line with a mistake changes nothing' $?

printf 'mftrace.emitter.textfile#formta = x\nmftrace.application = some\n' >notes.cfg
ctrace config check notes.cfg >out 2>err
check 'notes are no mistakes' $?
grep -q '^notes.cfg:1:26: note: TEXTFILE has no property "formta" (did you mean FORMAT?)$' err
check 'a property that the emitter does not know' $?
grep -q '^notes.cfg:2:1: note: programs other than some ' err
check 'an application' $?

cat >values.cfg <<'END'
mftrace.emitter.textfile#maxfilesize = 100K
mftrace.emitter.textfile#maxgeneration = three
mftrace.emitter.textfile#multiproc = treu
mftrace.emitter.textfile#level = eror
mftrace.emitter.textfile#format = $(TIME) $(COMPONNET)$(DATA)
mftrace.emitter.textfile#file = $(APPNMAE).$(PID).log
mftrace.emitter.textfile#location = C:\CTF\TXT
mftrace.emitter.textfile#encoding = klingon
END
ctrace config check values.cfg >out 2>err
check 'odd values are no mistakes' $?
cat >wanted <<'END'
values.cfg:1:40: note: this is no number (decimal, or hexadecimal behind 0x), it counts as 0
values.cfg:2:42: note: this is no number (decimal, or hexadecimal behind 0x), it counts as 0
values.cfg:3:38: note: this is no switch (on or off, yes or no, true or false), it counts as off
values.cfg:4:34: note: this is no level, it counts as 0 (debug)
values.cfg:5:43: note: there is no such variable, it stays in the line (did you mean COMPONENT?)
values.cfg:6:33: note: there is no such variable, it stays in the name (did you mean APPNAME?)
values.cfg:7:37: note: this is a path of Windows; here it is the name of one folder or file
values.cfg:8:37: note: this is no encoding that is known, texts stay as they are
END
diff err wanted
check 'each is told' $?
cat >fine.cfg <<'END'
mftrace.emitter.textfile#maxfilesize = 0x00002800
mftrace.emitter.textfile#maxgeneration = 3
mftrace.emitter.textfile#multiproc = Yes
mftrace.emitter.textfile#quotestring = 1
mftrace.emitter.textfile#level = Warn
mftrace.emitter.stderr#level = 9999
mftrace.emitter.textfile#format = $(time) $(COMPONENT) $(EVENT) $(LEVEL)$(DATA) $5 (x) $(
mftrace.emitter.textfile#file = $(appname).$(GEN).log
mftrace.emitter.textfile#location = /var/tmp/x
mftrace.emitter.textfile#encoding = IBM1141
END
ctrace config check fine.cfg >out 2>err && test ! -s err
check 'nothing is said of good values' $?
MFTRACE_CONFIG=values.cfg ctrace config check >out 2>err
diff err wanted
check 'without a file it is MFTRACE_CONFIG' $?

ctrace config check /nonexistent >out 2>err
test $? -eq 1 && grep -q '/nonexistent' err
check 'no such file: status 1' $?
ctrace config check . >out 2>err
test $? -eq 1
check 'a folder: status 1' $?
ctrace config 2>/dev/null
test $? -eq 2
check 'no action: status 2' $?
ctrace config check 2>/dev/null
test $? -eq 2
check 'no file: status 2' $?
ctrace config check a b 2>/dev/null
test $? -eq 2
check 'two files: status 2' $?
ctrace config --help >out && grep -q 'mftrace.comp.COMPONENT#PROPERTY = TEXT' out
check 'help lists the keys' $?
echo "1..$n"
