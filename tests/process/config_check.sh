#!/bin/sh
# config_check.sh - `ctrace config check`: errors with their places, settings that can be read back, exit statuses.
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
ctrace.keep = 36h
ctrace.log = /var/log/x y
ctrace.trigger.T = when event = 1 && data1 == 'a  b' do wto
ctrace.trigger.U = when event = 2 do run:/bin/true
ctrace.trigger.V = when event = 2 do run:/bin/true
ctrace.trigger.V = off
ctrace.trigger.U = disable
ctrace.run.programs = on
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
ctrace.clock = auto
ctrace.command.line = on
ctrace.keep = 36h
ctrace.log = /var/log/x y
ctrace.run.programs = on
ctrace.trigger.T = when event = 1 && data1 == 'a  b' do wto
ctrace.trigger.U = disabled when event = 2 do run:/bin/true
ctrace.dump.keep = 10
ctrace.dump.size = 1024M
ctrace.dump.on = off
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
check 'errors: status 1' $?
grep -q '^bad.cfg:1:1: unknown key "mftrace.levle" (did you mean mftrace.level?); expected mftrace.level, ' err
check 'an unknown key' $?
grep -q '^bad.cfg:3:26: unknown emitter "binfle" (did you mean BINFILE?); expected TEXTFILE, ' err
check 'an unknown emitter' $?
grep -q '^bad.cfg:4:19: unknown level "inof" (did you mean info?); expected none, debug, info, warn, error or fatal$' err
check 'an unknown level' $?
printf 'mftrace.level = warning\nmftrace.level.x = 5\nmftrace.emitter.stderr#level = Critical\nmftrace.level.y = Error\n' >levels.cfg
ctrace config check levels.cfg >levels.out 2>levels.err
grep -q '^levels.cfg:1:17: unknown level "warning" (did you mean warn?)' levels.err && grep -q '^levels.cfg:2:19: unknown level "5" (did you mean none?)' levels.err &&
	grep -q '^levels.cfg:3:32: unknown level "Critical" (did you mean fatal?)' levels.err && [ "$(wc -l <levels.err)" -eq 3 ]
check 'levels of other logging systems' $?
grep -qx 'mftrace.dest = TEXTFILE' out
check 'a line with an error changes nothing' $?

printf 'mftrace.emitter.textfile#formta = x\nmftrace.application = some\n' >notes.cfg
ctrace config check notes.cfg >out 2>err
check 'notes are no errors' $?
grep -q '^notes.cfg:1:26: note: TEXTFILE has no property "formta" (did you mean FORMAT?)$' err
check 'a property that the emitter does not know' $?
grep -q '^notes.cfg:2:1: note: programs other than some ' err
check 'an application' $?

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

ctrace config check none.cfg >out 2>err
test $? -eq 1 && grep -q 'none\.cfg' err
check 'no such file: status 1' $?
ctrace config check . >out 2>err
test $? -eq 1
check 'a directory: status 1' $?
ctrace config 2>/dev/null
test $? -eq 2
check 'no action: status 2' $?
env -u MFTRACE_CONFIG ctrace config check 2>err
test $? -eq 2 && grep -q 'MFTRACE_CONFIG' err
check 'no file: status 2' $?
MFTRACE_CONFIG=bad.cfg ctrace config check 2>err
test $? -eq 1 && grep -q '^bad.cfg:1:1: ' err
check 'without a file that of MFTRACE_CONFIG' $?

# ---- triggers
cat >triggers.cfg <<'END'
ctrace.trigger.A = when event = 1 do run:/bin/true
ctrace.trigger.B = when event = 1 do run:/bin/true
ctrace.trigger.B = when event = 1 do wto
ctrace.trigger.C = off
ctrace.trigger.D = when event = 1 once limit 3 do wto
END
cat >wanted <<'END'
triggers.cfg:1:20: note: the trigger runs no program: ctrace.run.programs is off
triggers.cfg:4:16: no line before sets the trigger "C"; expected when FILTER do ACTION, in this line or one before
triggers.cfg:5:40: one condition too many: "limit"; expected each of them once, and either once or limit
END
ctrace config check triggers.cfg >out 2>err
test $? -eq 1 && diff wanted err
check 'triggers that do nothing are named' $?

# ---- values
cat >values.cfg <<'END'
mftrace.emitter.textfile#maxfilesize = 100K
mftrace.emitter.textfile#maxgeneration = three
mftrace.emitter.binfile#multiproc = treu
mftrace.emitter.stderr#level = eror
mftrace.emitter.textfile#flushevery = 4294967296
mftrace.emitter.textfile#hexblocksize = 0xFFFFFFFF
mftrace.emitter.binfile#location = C:\CTF\TXT
mftrace.emitter.binfile#mode = 0644
mftrace.emitter.textfile#level = warn
mftrace.emitter.es#level = 9999
mftrace.level.mf.rts#all = true
mftrace.emitter.stderr#encoding = klingon
mftrace.encoding = klingon
END
ctrace config check values.cfg >out 2>err
test $? -eq 1
check 'wrong values: status 1' $?
cat >wanted <<'END'
values.cfg:1:40: not a number: "100K"; expected decimal digits, or 0x and hexadecimal ones; no unit behind them
values.cfg:2:42: not a number: "three"; expected decimal digits, or 0x and hexadecimal ones; no unit behind them
values.cfg:3:37: neither on nor off: "treu" (did you mean TRUE?); expected ON, YES, TRUE or 1; OFF, NO, FALSE or 0
values.cfg:4:32: unknown level "eror" (did you mean error?); expected debug, info, warn, error, fatal, none or a number
values.cfg:5:39: too large: "4294967296"; expected a number up to 4294967295, of 32 bits
values.cfg:7:36: a path of Windows: "C:\\CTF\\TXT"; expected a directory's path, such as /var/tmp/traces
values.cfg:8:32: not a mode: "0644"; expected 0600, or 0640 for the group to read; others never may
values.cfg:11:14: wrong form of key "mftrace.level.mf.rts#all"; expected mftrace.level[.COMPONENT]; properties are set by mftrace.comp.COMPONENT#PROPERTY
values.cfg:12:35: unknown encoding "klingon"; expected ascii, utf-8, ebcdic-037, -273, -297, -500, -870, -1047, -1140 or -1141, latin-1, latin-9, cp1252 or shift-jis
values.cfg:13:20: unknown encoding "klingon"; expected ascii, utf-8, ebcdic-037, -273, -297, -500, -870, -1047, -1140 or -1141, latin-1, latin-9, cp1252 or shift-jis
END
diff wanted err
check 'wrong values are named' $?
grep '^mftrace.emitter' out >found
printf 'mftrace.emitter.%s\n' 'TEXTFILE#level = warn' 'TEXTFILE#hexblocksize = 0xFFFFFFFF' 'ES#level = 9999' >wanted
diff wanted found
check 'a wrong value changes nothing' $?

cat >odd.cfg <<'END'
mftrace.emitter.textfile#format = $(TIME) $(COMPONNET)$(DATA)
mftrace.emitter.textfile#file = $(APPNMAE).log
mftrace.emitter.binfile#location = /var/tmp/$(APPNAME
mftrace.comp.app#id = 99999999999
END
ctrace config check odd.cfg >out 2>err
check 'variables that there are not: no error' $?
cat >wanted <<'END'
odd.cfg:1:43: note: no such variable: "COMPONNET" (did you mean COMPONENT?); it stays in the text as it is
odd.cfg:2:33: note: no such variable: "APPNMAE" (did you mean APPNAME?); it stays in the text as it is
odd.cfg:4:23: note: too large for a number of 32 bits: a program that asks for the number gets 4294967295
END
diff wanted err
check 'variables that there are not: a note' $?

printf 'mftrace.dest = binfle, stderr, txtfile\n' >list.cfg
ctrace config check list.cfg >out 2>err
test $? -eq 1 && test "$(cut -d: -f1-3 err | tr '\n' ' ')" = 'list.cfg:1:16 list.cfg:1:32 ' && grep -qx 'mftrace.dest = STDERR' out
check 'an unknown emitter costs itself only, and each is named' $?

long=$(printf '$(DATA)%505s' x | tr ' ' x) # 512 bytes
printf 'mftrace.emitter.binfile#format = %s\nmftrace.emitter.binfile#format = %s\nmftrace.emitter.textfile#format = %s\n' "$long" "${long%x}" "$long" >format.cfg
ctrace config check format.cfg >out 2>err
test $? -eq 0 && test "$(wc -l <err)" -eq 1 &&
	grep -q '^format.cfg:1:34: note: too long: ".*"; a FORMAT of more than 511 bytes is not kept: ctrace show prints its own line$' err
check 'a FORMAT that is too long for the metadata' $?

# ---- directories
mkdir -p there
cat >directories.cfg <<END
mftrace.emitter.textfile#file = $PWD/missing/app.log
END
ctrace config check directories.cfg >out 2>err
test $? -eq 1 && grep -q "^directories.cfg:1:33: no such directory: \"$PWD/missing\"; expected a directory that is there; below LOCATION" err
check 'a FILE in a directory that is missing' $?
echo "mftrace.emitter.textfile#location = $PWD" >>directories.cfg
ctrace config check directories.cfg >out 2>err && ! test -s err
check 'a FILE below LOCATION' $?
printf 'mftrace.emitter.textfile#file = ../missing/app.log\n' >directories.cfg
ctrace config check directories.cfg >out 2>err && grep -qx 'directories.cfg:1:33: note: a FILE with ".." in it is traced to only where its directory is there: none is made' err
check 'a FILE that leads out of the directory' $?
printf 'mftrace.emitter.binfile#file = ../missing/app.ctb\n' >directories.cfg
ctrace config check directories.cfg >out 2>err && ! test -s err
check 'BINFILE makes that one' $?
printf 'mftrace.emitter.textfile#group = nosuch\nmftrace.emitter.binfile#group = %s\nmftrace.emitter.textfile#group = 4711\n' "$(id -gn)" >group.cfg
ctrace config check group.cfg >out 2>err
test $? -eq 0 && test "$(cat err)" = 'group.cfg:1:34: note: no such group: "nosuch"; nobody but their owner may read the files then'
check 'a GROUP that there is not' $?
ctrace config check there >out 2>err
test $? -eq 1 && test "$(cat err)" = 'ctrace config: cannot read there: it is no file'
check 'a directory is no file' $?
ctrace config check --json there >out 2>err
python3 -c 'import json; assert json.load(open("out"))["error"] == "it is no file"'
check 'a directory is no file, in JSON' $?
ctrace config check nosuch.cfg >out 2>err
test $? -eq 1 && test "$(cat err)" = 'ctrace config: cannot read nosuch.cfg: No such file or directory'
check 'a file that is not there' $?
printf 'mftrace.emitter.textfile#file = %s\n' "$PWD/there/x.log" >directories.cfg
ctrace config check directories.cfg >out 2>err && ! test -s err
check 'a FILE in a directory that is there' $?
printf 'mftrace.emitter.binfile#location = %s\n' "$PWD/good.cfg/traces" >directories.cfg
ctrace config check directories.cfg >out 2>err && grep -q '^directories.cfg:1:36: note: you cannot write to the directory .*good.cfg/traces": Not a directory; where' err
check 'a LOCATION that cannot be made' $?

printf 'mftrace.emitter.binfile#location = /proc/x\n' >directories.cfg
ctrace config check directories.cfg >out 2>err && grep -q '^directories.cfg:1:36: note: you cannot write to the directory "/proc/x": Read-only file system; where' err
check 'a LOCATION that the kernel does not let make' $?

# A name that is taken.
ln -s good.cfg link
mkfifo pipe
touch two && ln two too
touch closed && chmod 400 closed
taken() { # EMITTER FILE REASON; "": nothing is said
	as=
	[ "$(id -u)" != 0 ] || as='setpriv --bounding-set=-dac_override --inh-caps=-dac_override'
	printf 'mftrace.emitter.%s#file = %s\n' "$1" "$2" >taken.cfg
	# shellcheck disable=SC2086 # words
	$as ctrace config check taken.cfg >out 2>err
	if [ -n "$3" ]; then
		grep -qF "taken.cfg:1:$((${#1} + 25)): note: \"${2%/}\" $3" err && grep -q 'nothing is traced there; ' err
	else
		! test -s err
	fi
	check "$1: FILE = $2" $?
}
taken textfile there 'is a directory'
taken textfile there/ 'is a directory'
taken textfile link 'is a link, and links are not followed'
taken textfile pipe 'is no regular file'
taken textfile /dev/null 'is no regular file'
taken textfile two 'has another name too (a hard link)'
taken textfile closed 'may not be written to'
taken textfile good.cfg ''
[ "$(id -u)" = 0 ] || taken textfile /etc/passwd "is another user's"
if [ "$(id -u)" = 0 ]; then
	touch theirs && chown 65534 theirs && mkdir their && chown 65534 their
	taken textfile theirs "is another user's"
	taken binfile their "is another user's"
fi
taken binfile link 'is a link, and links are not followed'
taken binfile good.cfg 'is there, and is no directory'
taken binfile there ''

# ---- for programs
ctrace config check --json values.cfg >out 2>err
test $? -eq 1 && ! test -s err
check 'JSON: status 1, and nothing on standard error' $?
python3 - <<'END'
import json
document = json.load(open('out'))
assert document['path'] == 'values.cfg' and document['errors'] == 10, document
first = document['diagnostics'][0]
assert (first['line'], first['column'], first['kind'], first['message']) == (1, 40, 'error', 'not a number: "100K"'), first
assert 'decimal digits' in first['expected']
assert {'key': 'mftrace.emitter.TEXTFILE#level', 'value': 'warn'} in document['settings']
END
check 'JSON: errors and settings' $?
ctrace config check --json nosuch.cfg >out 2>err
test $? -eq 1 && python3 -c 'import json; assert json.load(open("out"))["error"]'
check 'JSON: a file that cannot be read' $?

ctrace config check a b 2>/dev/null
test $? -eq 2
check 'two files: status 2' $?
ctrace config --help >out && grep -q 'mftrace.comp.COMPONENT#PROPERTY = TEXT' out
check 'help lists the keys' $?
echo "1..$n"
