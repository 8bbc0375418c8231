#!/usr/bin/env bash
# ctrace repair: damaged traces of real programs, their generations and data sets; babeltrace2 opens what it writes.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
steps=$CTRACE_BUILD/tests/steps

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qE -- "$2" "$1" || { printf 'no /%s/ in:\n' "$2"; cat "$1"; false; }; }
lacks() { ! grep -qE -- "$2" "$1"; }
repair() {
	ctrace repair "$@" >out 2>err </dev/null
	status=$?
}
view() { babeltrace2 "$1" 2>diagnostics | wc -l; }
put() { printf "%b" "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; } # FILE OFFSET BYTES
heads() { LC_ALL=C grep -obUaP '\xC1\x1F\xFC\xC1' "$1" | cut -d: -f1; }

cat >cfg <<END
mftrace.level = debug
mftrace.dest = binfile
mftrace.emitter.binfile#file = $PWD/app.ctb
END
batches=() all=300
for _ in $(seq 30); do batches+=(trace A.B 1 5 emit A.B 2 text A.C 3 hello emit A.D 1 flush); done
MFTRACE_CONFIG=$PWD/cfg "$steps" "${batches[@]}" thread A.B 1 60 >/dev/null 2>&1
# The second thread's ring; a ring that is ready may have the number before it.
second=$(cd app.ctb && echo stream.* | cut -d ' ' -f 2)
check 'two streams' is "$(cd app.ctb && echo stream.*)" "stream.0 $second"
check 'of so many events' is "$(view app.ctb)" "$all"

# ---- nothing is damaged
repair app.ctb -o whole
check 'whole: status' is "$status" 0
check 'whole: nothing to tell' is "$(<err)" ''
check 'whole: the sums' has out "^1 trace, 2 streams, $all events written$"
check 'whole: as it was' diff -r app.ctb whole/app.ctb

# ---- a head, an event, the end, the metadata
cp -r app.ctb bad.ctb
mapfile -t at < <(heads bad.ctb/stream.0)
put bad.ctb/stream.0 "${at[10]}" 'xxxx'
put bad.ctb/stream.0 $((at[20] + 116)) '\0376\0376\0376\0376\0376\0376\0376\0376'
truncate -s -3 "bad.ctb/$second"
repair bad.ctb -o good
check 'damaged: status' is "$status" 1
check 'damaged: each place is told' is "$(grep -c '^ctrace repair: .*/bad.ctb/stream.[0-9]*, offset [0-9]*, [0-9]* bytes: ' err)" 3
check 'damaged: with its offset' has err "stream.0, offset ${at[10]}, $((at[11] - at[10])) bytes: this is no packet of the trace$"
check 'damaged: the sums' has out 'cut or repaired 2, lost [0-9]+ bytes in 3 places$'
kept=$(sed -n 's/.* \([0-9]*\) events written/\1/p' out)
check 'damaged: babeltrace2 reads as many' is "$(view good/bad.ctb)" "$kept"
check 'damaged: most are there' test "$kept" -ge $((all - 8 - 8 - 1)) -a "$kept" -lt "$all"
check 'damaged: the gap shows' has diagnostics 'discarded 1 packet'
check 'damaged: nothing else does' is "$(grep -vc 'discarded 1 packet' diagnostics)" 0
check 'damaged: the original is as it was' is "$(stat -c %s bad.ctb/$second)" "$(($(stat -c %s app.ctb/$second) - 3))"
repair good -o again
check 'again: nothing is left to repair' is "$status,$(<err)" 0,
check 'again: the same' diff -r good/bad.ctb again/good/bad.ctb
cp -r app.ctb meta.ctb
sed -i 's/A.C:4/A.C-4/' meta.ctb/metadata
repair meta.ctb -o meta
# A packet with nothing but events of that class is gone: when the consumer thread writes decides whether there is one.
check 'a damaged class: the others are read' is "$(view meta/meta.ctb),$(grep -vc 'discarded 1 packet' diagnostics)" "$((60 + 30 * 6)),0"
check 'a damaged class is told' has out 'and 1 class of events$'

# ---- the number of a packet, 72 bytes behind its beginning
number_is() { # WHAT NUMBER-OF-THE-PACKET BYTE
	rm -rf number.ctb numbered && cp -r app.ctb number.ctb
	put number.ctb/stream.0 $((at[$2] + 72)) "\\0$3"
	repair number.ctb -o numbered
	view numbered >/dev/null
	check "a wrong number, $1: told" has err 'its number was wrong, and is repaired$'
	check "a wrong number, $1: no packet is missing" is "$status $(<diagnostics)" '1 '
	check "a wrong number, $1: the file is as it was" cmp app.ctb/stream.0 numbered/number.ctb/stream.0
	check "a wrong number, $1: nothing is missing" lacks numbered/number.ctb/metadata 'packets are missing'
}
mapfile -t at < <(heads app.ctb/stream.0)
number_is 'the last, too high' $((${#at[@]} - 1)) 377
number_is 'the last, too low' $((${#at[@]} - 1)) 1
number_is 'in the middle, too high' 15 377
number_is 'in the middle, too low' 15 2
number_is 'the first' 0 7
# Two packets before the last but one are damaged, and the number of that one is wrong: the loss is where it was.
rm -rf number.ctb numbered && cp -r app.ctb number.ctb
put number.ctb/stream.0 "${at[11]}" 'xxxx'
put number.ctb/stream.0 "${at[12]}" 'xxxx'
put number.ctb/stream.0 $((at[13] + 72)) '\02'
repair number.ctb -o numbered
check 'a wrong number behind a gap' is "$(od -An -tu8 -j $((at[11] + 72)) -N 8 numbered/number.ctb/stream.0 | tr -d ' ')" 13
put number.ctb/stream.0 $((at[13] + 72)) '\0377'
repair number.ctb -o numbered.high
check 'a wrong number behind a gap, too high' is "$(od -An -tu8 -j $((at[11] + 72)) -N 8 numbered.high/number.ctb/stream.0 | tr -d ' ')" 13
# The gap before the last packet of a copy is true, and stays.
rm -rf number.ctb && cp -r app.ctb number.ctb
put number.ctb/stream.0 "${at[-2]}" 'xxxx'
repair number.ctb -o gap
repair gap/number.ctb -o gap.again
check 'a copy with a gap before its last packet stays as it is' is "$status $(<err)" '0 '
check 'and is the same' diff -r gap/number.ctb gap.again/number.ctb
mapfile -t at < <(heads bad.ctb/stream.0)

# ---- what the closing mark says, and is not there
says() { # STATUS LINE TRACE: each verb reports it, once
	local wanted=$1 line=$2 trace=$3 verb got
	for verb in 'show' 'stats' 'export --format=csv -o o.csv' 'report -o o.html' 'ipcs QUERY' 'repair -o kept'; do
		rm -rf o.csv o.html kept
		# shellcheck disable=SC2086 # words
		ctrace $verb "$trace" >out 2>err </dev/null
		got=$?
		is "$verb $got $(grep -c 'metadata says' err)" "$verb $wanted 1" && has err "^ctrace ${verb%% *}: (.*/)?$line\$" || return 1
	done
	ctrace diff app.ctb "$trace" >out 2>err
	is "diff $? $(grep -c 'metadata says' err)" 'diff 2 1' && has err "^ctrace diff: $line\$"
}
size=$(stat -c %s app.ctb/stream.0)
cp -r app.ctb hole.ctb && rm hole.ctb/stream.0
check 'a stream that is missing' says 2 "hole.ctb/stream.0: the file is missing; metadata says that it had $size bytes" hole.ctb
check 'the other one is shown' is "$(ctrace show --count hole.ctb 2>err)" 60
check 'a stream that is named by itself needs no other' is "$(ctrace show --count hole.ctb/$second 2>&1)" 60
repair hole.ctb -o filled
check 'its copy lacks nothing that it should have' is "$(ctrace show --count filled/hole.ctb 2>&1)" 60
: >hole.ctb/stream.0
check 'a stream that is empty' says 2 "hole.ctb/stream.0: the file is empty; metadata says that it had $size bytes" hole.ctb
mapfile -t whole < <(heads app.ctb/stream.0)
head -c "${whole[5]}" app.ctb/stream.0 >hole.ctb/stream.0
check 'a stream that ends between packets' says 1 \
	"hole.ctb/stream.0, offset ${whole[5]}, $((size - whole[5])) bytes: the file ends here; metadata says that it had $size bytes" hole.ctb
cp app.ctb/stream.0 hole.ctb/stream.0 && zstd -q --rm hole.ctb/stream.0
check 'one that is compressed is there' is "$(ctrace show --count hole.ctb 2>&1)" "$all"
rm hole.ctb/stream.0.zst && sed -i '/^.. closed$/,$d' hole.ctb/metadata
check 'without the mark nothing is said' is "$(ctrace show --count hole.ctb 2>&1)" 60

# ---- compressed, generations, a directory of traces
mkdir many && cp -r app.ctb many/app.ctb_1 && cp -r bad.ctb many/app.ctb_2
zstd -q --rm many/app.ctb_2/stream.0
repair many -o sets
check 'generations: both' is "$(cd sets/many && echo *)" 'app.ctb_1 app.ctb_2'
check 'generations: the whole one' diff -r app.ctb sets/many/app.ctb_1
check 'generations: the compressed one, unpacked' diff -r good/bad.ctb sets/many/app.ctb_2
repair many/app.ctb_1 bad.ctb -o named
check 'several paths' is "$(cd named && echo *)" 'app.ctb_1 bad.ctb'
repair "app.ctb/$second" -o single
check 'one stream file' is "$(view single/app.ctb),$status" 60,0

# ---- an output that has to do with what is read
apart() { # DIRECTORY MESSAGE PATH...
	local directory=$1 message=$2 before
	shift 2
	before=$(find many -print | sort)
	repair "$@" -o "$directory"
	is "$status $(cat out err)" "2 ctrace repair: $directory: $message; name a directory elsewhere" && is "$(find many -print | sort)" "$before"
}
into='the output is inside the input'
ln -s many/app.ctb_1 link
check 'into the trace' apart many/app.ctb_1 "$into" many/app.ctb_1
check 'within it through directories that are not there' apart "nothere/.././more/./../many/app.ctb_1/new" "$into" many/app.ctb_1
check 'which are not made' test ! -e nothere -a ! -e more
echo text >plain
repair plain -o plain.copy
check 'a file beside the output is no trace' is "$status $(<err)" '1 ctrace repair: plain: no BINFILE trace, and no directory of such; other traces cannot be repaired'
check 'within the trace' apart many/app.ctb_1/new/deep "$into" many/app.ctb_1
check 'within the trace, by a link' apart link/new "$into" many/app.ctb_1
check 'within the directory' apart many/new "$into" many
check 'within the trace of a stream' apart many/app.ctb_1/new "$into" many/app.ctb_1/$second
check 'within one of several' apart many/app.ctb_2/new "$into" bad.ctb many/app.ctb_2
check 'what holds it' apart many 'the output contains the input' many/app.ctb_1
check 'here, where it is' apart . 'the output contains the input' many
repair many/app.ctb_1 -o many.good/x
check 'a name that only begins in the same way' is "$status" 0

# ---- what cannot be done
repair bad.ctb -o good
check 'a directory that is not empty: status' is "$status" 2
check 'a directory that is not empty: said' has err '^ctrace repair: good: not an empty directory; name one that is'
repair bad.ctb
check 'without a directory' is "$status" 2
repair -o x
check 'without a trace' is "$status" 2
mkdir -p none/deep && echo 'trace { };' >none/metadata
repair none nowhere -o x
check 'no trace: status' is "$status" 1
check 'no trace: said of each' is "$(grep -c ': no BINFILE trace' err)" 2
check 'no trace: nothing is written' is "$(ls x)" ''
for round in 1 2 3 4 5 6; do
	rm -rf noise.ctb random && cp -r app.ctb noise.ctb
	for _ in $(seq $((50 * round))); do put noise.ctb/stream.0 $((RANDOM % $(stat -c %s noise.ctb/stream.0))) '\0377'; done
	repair noise.ctb -o random
	check "damage everywhere, $round: babeltrace2 opens it" is "$(view random)" "$(sed -n 's/.* \([0-9]*\) events\? written/\1/p' out)"
	check "damage everywhere, $round: without an error" is "$(grep -c ERROR diagnostics)" 0
done

# ---- the clock, which viewers go by
times() { babeltrace2 --clock-seconds "$1" | sed -E 's/^\[([0-9]+)\.([0-9]+)\].*/\1\2/'; }
near() { # TRACE TRACE: the times that babeltrace2 shows differ by less than the two readings of the clocks that they come from, 20 us each
	paste <(times "$1") <(times "$2") | awk '{ off = substr($1, 7) - substr($2, 7) } NF != 2 || off >= 40000 || off <= -40000 { bad++ } END { if (NR == 0 || bad > 0) exit 1 }'
}
# clock_is WHAT SED MESSAGE: with the metadata so changed, the copy has the same times
clock_is() {
	rm -rf clock.ctb clocked && cp -r app.ctb clock.ctb
	sed -i "$2" clock.ctb/metadata
	check "$1: they differ" bash -c '! cmp -s app.ctb/metadata clock.ctb/metadata'
	repair clock.ctb -o clocked
	check "$1: told" is "$status,$(grep -c "clock.ctb/metadata, offset [0-9]*.*: $3\$" err)" 1,1
	check "$1: the same lines" is "$(ctrace show clocked/clock.ctb)" "$(ctrace show app.ctb)"
	check "$1: babeltrace2 shows the same times" near clocked/clock.ctb app.ctb
}
clock_is 'a clock of another frequency' 's/^\tfreq = [0-9]*;/\tfreq = 12345678;/' 'its clock is not that of the packets, and is repaired'
clock_is 'a clock that is not understood' 's/^\tfreq = /\tferq = /' 'the process of the trace is not understood, and taken from the packets'
sed 's/^\toffset_s = [0-9]*;/\toffset_s = 12345;/' app.ctb/metadata >other.metadata
rm -rf clock.ctb clocked && cp -r app.ctb clock.ctb && rm clock.ctb/metadata
repair clock.ctb -o clocked --metadata other.metadata
check 'metadata of another day: babeltrace2 shows the same times' near clocked/clock.ctb app.ctb

# ---- metadata that are gone
cp -r app.ctb gen.ctb_1
cp -r app.ctb gen.ctb_2
rm gen.ctb_2/metadata
repair gen.ctb_2 -o sibling
check "metadata of another generation: status" is "$status" 1
check "metadata of another generation: told" has err 'gen.ctb_2/metadata, offset 0: cannot be read, and is taken from another generation of the same process$'
check "metadata of another generation: every event" is "$(ctrace show --count sibling/gen.ctb_2)" "$all"
check "metadata of another generation: the same lines" is "$(ctrace show sibling/gen.ctb_2)" "$(ctrace show app.ctb)"
mkdir alone && mv gen.ctb_2 alone/lonely.ctb
repair alone/lonely.ctb -o lonely
check 'no metadata at all: ten lines and a number' is "$(grep -c '^ctrace repair: .*, offset' err)" 10
check 'no metadata at all: the number' has err '^ctrace repair: [0-9]+ more like these; --verbose reports all$'
repair alone/lonely.ctb -o chosen --metadata app.ctb/metadata
check 'metadata that are named: told' has err 'cannot be read, and is taken from the file that was named$'
check 'metadata that are named: every event' is "$(ctrace show --count chosen/lonely.ctb)" "$all"

# ---- a process that runs has them open
sed "s|app.ctb|live.ctb|" cfg >live.cfg
mkfifo in
MFTRACE_CONFIG=$PWD/live.cfg "$CTRACE_BUILD/tests/tool_subject" 7 <in >ready 2>/dev/null &
pid=$!
exec 3>in
until grep -q ready ready; do kill -0 "$pid" || break; sleep 0.01; done
ctrace flush --pid "$pid" >/dev/null
wanted=$(ctrace show --count live.ctb)
check 'the process has written' test "$wanted" -gt 0
rm live.ctb/metadata
repair live.ctb -o living
check 'metadata of a process: told' has err 'live.ctb/metadata, offset 0: cannot be read, and is taken from the process, which has it open$'
check 'metadata of a process: every event' is "$(ctrace show --count living/live.ctb)" "$wanted"
check 'metadata of a process: babeltrace2 opens it' is "$(view living)" "$wanted"
exec 3>&-
wait "$pid"

# ---- metadata that are none
ctrace repair -m nosuch -o unused app.ctb >out 2>err
check 'metadata that are not there: status 2, said' test $? = 2 -a "$(<err)" = 'ctrace repair: nosuch: No such file or directory'
ctrace repair -m "$CTRACE_SOURCE/README.md" -o unused app.ctb >out 2>err
check 'a file that is no metadata: status 2' test $? = 2
check 'a file that is no metadata: said' grep -q 'README.md: no metadata of a trace; name the file metadata' err
check 'and nothing is written' test ! -e unused

# ---- the reason is what is there
touch afile
repair app.ctb -o afile
check 'a file in the place of the output' is "$status $(cat out err)" \
	'2 ctrace repair: afile: not a directory; name one that is empty, or that is not there yet'
repair app.ctb -o afile/below
check 'an output below a file' is "$status $(cat out err)" '2 ctrace repair: afile/below: Not a directory'
mkfifo pipe
repair -m pipe app.ctb -o unused
check 'metadata that are a pipe, named' is "$status $(cat out err)" '2 ctrace repair: pipe: it is no regular file'
maker() { # REASON HOW
	rm -rf alone copy
	mkdir alone && cp -r app.ctb alone/alone.ctb && rm alone/alone.ctb/metadata
	$2 alone/alone.ctb/metadata
	repair alone -o copy
	is "$status" 1 && has err "alone.ctb/metadata, offset 0: $1: the process of the trace is taken from the packets\$" &&
		is "$(grep -c 'not understood' err)" 0
}
check 'metadata that are a pipe' maker 'it is no regular file' mkfifo
check 'metadata that are a directory' maker 'it is no regular file' mkdir
check 'metadata that are missing' maker 'there is no such file' true
check 'metadata that are empty' maker 'the file is empty' touch

# ---- the part in front of the classes: read as another tracer's would be, and said so
cp -r app.ctb changed.ctb && sed -i '/^\tfreq = /d' changed.ctb/metadata
ctrace show changed.ctb >out 2>err </dev/null
check 'metadata that were changed: status' is "$?" 1
check 'metadata that were changed: where, and what to do' has err 'changed.ctb/metadata, offset [0-9]+: not as ctrace writes it.*ctrace repair'
repair changed.ctb -o copy2
ctrace show app.ctb >out 2>err </dev/null
ctrace show copy2/changed.ctb >out2 2>err </dev/null
check 'metadata that were changed: repair makes a readable copy' cmp out out2
end
