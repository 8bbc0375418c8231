#!/usr/bin/env bash
# Names in the metadata: a program traces with a catalogue, and babeltrace2 and ctrace show read names; with none, or a bad one, numbers.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"
steps=$CTRACE_BUILD/tests/steps

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }
has() { grep -qF -- "$2" "$1" || { printf 'no <%s> in:\n' "$2"; cat "$1"; false; }; }
lacks() { ! grep -nF -- "$2" "$1"; }

cat >app.yaml <<'END'
component: MY.APP
events:
  1:
    mnemonic: STEP
    arguments:
      - {name: count}
      - {name: event}
  3:
    mnemonic: ITEMS
    arguments:
      - {name: raw-bytes}
      - {name: text}
      - {name: raw_bytes}
      - {name: text_len}
  4:
    mnemonic: TEXT
END
cat >length.yaml <<'END'
component: LENGTH
events:
  1:
    mnemonic: STEP
    arguments:
      - {name: step_len}
      - {name: step}
END
printf 'component: MY.APP\nevents:\n  1: {mnemonic: [STEP\n' >bad.yaml

# run NAME [LINE...]: traces NAME.ctb
run() {
	local name=$1
	shift
	printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' "mftrace.emitter.binfile#file = $PWD/$name.ctb" "$@" >cfg
	MFTRACE_CONFIG=$PWD/cfg "$steps" trace MY.APP 1 2 items MY.APP 2 text MY.APP 2 hello emit MY.APP 3 trace OTHER 1 1 trace LENGTH 1 1 >out 2>err
}
view() { babeltrace2 "$1.ctb" 2>diagnostics | sed -E 's/^.* ([A-Z.]+:[^ ]+): /\1 /'; cat diagnostics; }

CTRACE_CATALOG=$PWD/app.yaml:$PWD/length.yaml run named
check 'the program is told nothing' is "$(<err)" ''
view named >viewed
check 'babeltrace2 shows the mnemonic' has viewed 'MY.APP:STEP {'
check 'and the names of items' has viewed '{ count = 2, event_len = 4, event = "step" }'
check 'a name that is taken gets a number' has viewed 'raw_bytes_3 = '
check 'an item of a fixed size has no length field' has viewed ', text = "te\"xt", '
check 'whose name is free for another item' has viewed ', text_len = 65535, '
check 'an item gets a number when the name of its length field is taken' has viewed '{ step_len = 1, step_2_len = 4, step_2 = "step" }'
check 'an item without a name has its number' has viewed 'data5 = '
check 'an event of which only the mnemonic is known' has viewed 'MY.APP:TEXT { pid'
check 'an event that is not in the catalogue' has viewed 'MY.APP:2 {'
check 'a component that is not' has viewed 'OTHER:1 {'
check 'nothing to report of' is "$(<diagnostics)" ''
check 'the number is beside it' is "$(babeltrace2 -f emf named.ctb | grep -c 'ctrace:event/3')" 1

# ctrace show goes by numbers still
env -u CTRACE_CATALOG ctrace show --format '$(COMPONENT) $(EVENT) $(LEVEL)$(DATA)' named.ctb >shown 2>err
check 'ctrace show: as without names' is "$(cut -d' ' -f1-4 shown | head -3)" $'MY.APP 1 1 1\nMY.APP 1 1 2\nMY.APP 3 2 3132333435363738-393A'
check 'ctrace show: no diagnostic' is "$(<err)" ''
check 'ctrace show: names of the trace in a filter' is "$(ctrace show --filter 'mnemonic == "STEP" && data.count == 2' named.ctb | wc -l)" 1
check 'ctrace show: an item without a name among others' is "$(ctrace show --filter 'data.nix == 1 || data[4] == -1' named.ctb | wc -l)" 1
check 'ctrace show --event' is "$(ctrace show --event 4 named.ctb | wc -l)" 1

# the property, and the directory of the other variable
run property "mftrace.emitter.binfile#catalog = $PWD/app.yaml"
view property >viewed
check 'the property CATALOG' has viewed 'MY.APP:STEP {'
mkdir directory && cp app.yaml directory/
MFTRACE_ANNOTATIONS=$PWD/directory run directory
view directory >viewed
check 'MFTRACE_ANNOTATIONS' has viewed 'MY.APP:STEP {'
CTRACE_CATALOG=/nowhere run both "mftrace.emitter.binfile#catalog = $PWD/directory:/nowhere"
view both >viewed
check 'the property goes before the environment' has viewed 'MY.APP:STEP {'

# without, or broken: numbers, and nothing said
run plain
check 'no catalogue: no attribute' lacks plain.ctb/metadata model.emf
for name in bad.yaml nowhere; do
	CTRACE_CATALOG=$PWD/$name run "broken.$name"
	check "$name: nothing said" is "$(<err)" ''
	check "$name: the metadata are as without" is "$(sed '1,/ctrace:any/d; s/stream.0 .*//' "broken.$name.ctb/metadata")" \
		"$(sed '1,/ctrace:any/d; s/stream.0 .*//' plain.ctb/metadata)"
done
mkfifo fifo
CTRACE_CATALOG=$PWD/fifo run fifo
check 'what is no file does not stop the program' has fifo.ctb/metadata 'name = "MY.APP:1"'

# the module is only for those who ask
loads() { MFTRACE_CONFIG=$PWD/cfg LD_DEBUG=files "$steps" trace MY.APP 1 1 2>&1 >/dev/null | grep -c 'libyaml'; }
check 'libyaml stays out of who does not ask' is "$(loads)" 0
check 'and is in who does' test "$(CTRACE_CATALOG=$PWD/app.yaml loads)" -gt 0

# Each batch begins the next generation, and each flush ends a batch.
cat >cfg <<END
mftrace.level = debug
mftrace.dest = binfile
mftrace.emitter.binfile#file = $PWD/gen.ctb
mftrace.emitter.binfile#maxgeneration = 9
mftrace.emitter.binfile#maxfilesize = 1
END
CTRACE_CATALOG=$PWD/app.yaml MFTRACE_CONFIG=$PWD/cfg \
	"$steps" trace MY.APP 1 1 flush items MY.APP 2 flush text MY.APP 2 hello flush trace MY.APP 1 1 flush >out 2>err
check 'generations' is "$(echo gen.ctb_*)" 'gen.ctb_1 gen.ctb_2 gen.ctb_3 gen.ctb_4'
check 'each names its events' is "$(grep -ho 'name = "MY.APP:.*"' gen.ctb_*/metadata | tr -d '\n')" \
	'name = "MY.APP:STEP"name = "MY.APP:ITEMS"name = "MY.APP:TEXT"name = "MY.APP:STEP"'
end
