# shellcheck shell=bash disable=SC2154,SC2034 # sourced by demo.sh, whose functions and variables are used here
# demo-storage.sh - section 10 of the demo: what two programs did before a failure, from storage.
#
# The functions are those of demo-operator.sh; CTRACE_CATALOG is set by demo-reading.sh.  Nothing waits for time to pass: until_shown
# asks until the trap has acted.

mkdir -p storage
chmod 700 storage
cd storage || exit
storage_ends() {
	[ -z "$worker" ] || kill -KILL "$worker" 2>/dev/null || :
	ctrace trigger remove LOST >/dev/null 2>&1 || : # the run directory keeps it for processes to come
}
trap storage_ends EXIT

# ---- a server, and a trap
say 'No file is written: what is traced stays in rings, in which a new entry overwrites the oldest one.'
printf 'mftrace.dest = storage\nctrace.dump.directory = %s\n' "$PWD" >kvserver.cfg
show 'cat kvserver.cfg'
indent <kvserver.cfg
show 'MFTRACE_CONFIG=kvserver.cfg ./kvserver kv.socket &'
mkfifo server
MFTRACE_CONFIG=kvserver.cfg ../kvserver kv.socket >server &
worker=$!
exec 3<server
read -r line <&3 || fail 'the server does not start'
op --reply 'OPTIONS=(GET,PUT,DEL,KEYS)' 'TRACE CT,ON,COMP=KVSERVER'
answered 'ITT038I ALL'
show './kvload kv.socket 4 <packages.txt'
../kvload kv.socket 4 <../packages.txt >load.txt || fail "$(cat load.txt)"
indent <load.txt
verb stats --job KVSERVER
answered 'in storage'
say 'The key "ledger" disappears now and then.  Who deletes it, and what happened before?  A trap waits for it:'
op "SLIP SET,ID=LOST,COMP=KVSERVER,ENTRYID=18,DATA=(2,EQ,'ledger'),ACTION=SVCD,END"
answered 'IEE727I SLIP TRAP ID=LOST SET'
lines=('PUT ledger open')
for number in $(seq 9); do
	lines+=("GET account-$number")
done
show "./kvload kv.socket say 'PUT ledger open' 'GET account-1' ... 'GET account-9' 'DEL ledger'"
../kvload kv.socket say "${lines[@]}" 'DEL ledger' >answer.txt || fail "$(cat answer.txt)"
until_shown '/acted 1,/' op 'D SLIP=LOST'
op 'D SLIP=LOST'
answered 'dump KVSERVER'
dump=$(echo KVSERVER.*.dump)
[ -d "$dump" ] || fail "there is not one dump: $dump"
show 'ctrace ipcs STATUS KVSERVER.*.dump'
ctrace ipcs STATUS "$dump" >answer.txt || fail "$(cat answer.txt)"
indent <answer.txt
answered '^ REASON  *trigger LOST$'
answered '^ EVENT  *KVSERVER 18 INFO$'
say 'What came before, with the COBOL record that the copybook describes (the trap is the last entry):'
show "ctrace ipcs 'CTRACE COMP(KVSERVER) SUMMARY' KVSERVER.*.dump    # its last eleven entries"
ctrace ipcs 'CTRACE COMP(KVSERVER) SUMMARY' "$dump" >all.txt || fail "$(tail -3 all.txt)"
last_entries() { # FIRST LAST - of the last eleven
	awk -v first="$1" -v last="$2" 'BEGIN { RS = "" } { entry[NR] = $0 }
		END { for (n = NR - 11 + first; n <= NR - 11 + last; n++) print entry[n] "\n" }' all.txt
}
last_entries 1 11 >answer.txt
last_entries 1 2 | indent
say '   ... (7 more entries)'
last_entries 10 11 | indent
same 'keys of the ten entries before the trap, and of the trap' "$(awk '$2 == "key......" { gsub(/"/, "", $3); printf "%s ", $3 }' answer.txt)" \
	"$(printf '%s ' ledger account-{1..9} ledger)"
same 'records in them' "$(grep -c 'key-size' answer.txt)" 11
[ -z "$(find . -name '*.ctb')" ] && good 'no trace file was written' || fail 'there is a trace file'
op 'SLIP DEL,ID=LOST'
answered 'CTR033I'
show "kill -TERM $worker"
kill -TERM $worker && wait $worker || fail 'the server'
worker=''
cat <&3 | indent

# ---- a COBOL program that fails
say 'A COBOL program that knows nothing of ctrace; -debug makes the run time name paragraphs and check subscripts:'
cp "$source/examples/settle.cfg" .
show 'cobc -x -debug settle.cbl; cat settle.cfg'
cobc -x -debug -o settle "$source/examples/settle.cbl"
indent <settle.cfg
show 'MFTRACE_CONFIG=settle.cfg LD_PRELOAD=libctrace-cobol.so ./settle'
MFTRACE_CONFIG=settle.cfg LD_PRELOAD=$build/libctrace-cobol.so ./settle >failed.txt 2>&1 && fail 'it should fail' || :
sed "s#$source/##" failed.txt | indent
show 'ctrace ipcs STATUS SETTLE.*.dump'
dump=$(echo SETTLE.*.dump)
[ -d "$dump" ] || fail "there is not one dump: $dump"
ctrace ipcs STATUS "$dump" >answer.txt || fail "$(cat answer.txt)"
sed "s#$source/##" answer.txt | indent
answered '^ REASON  *COBOL run-time error$'
answered "^ ERROR  *subscript of 'total' out of bounds: 10$"
answered '^ PARAGRAPH  *take-payment$'
say 'What it did last:'
show 'ctrace show --component mf.rts SETTLE.*.dump | tail -n 12'
ctrace show --component mf.rts "$dump" | tail -n 12 >answer.txt || fail 'ctrace show'
sed "s#$source/##" answer.txt | cut -c1-170 | indent
answered "RTERROR ERROR .*subscript of 'total' out of bounds: 10"
same 'the paragraph before the error' "$(ctrace show --component mf.rts --event 1011 "$dump" | tail -n 1 | grep -o 'take-payment')" take-payment
cd ..
