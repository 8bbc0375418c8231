#!/usr/bin/env bash
# Annotation files of another product's CTF: imported, and used as they are; and directories in which nothing is understood.
# shellcheck disable=SC2317 # called by name
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

is() { [ "$1" = "$2" ] || { printf '<%s>\nnot\n<%s>\n' "$1" "$2"; false; }; }

printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' >cfg
MFTRACE_CONFIG=$PWD/cfg "$CTRACE_BUILD/tests/orders" 3
trace=$(echo orders*.ctb)
mkdir annotations
cat >annotations/shop.order.xml <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<annotations component="SHOP.ORDER">
  <events>
    <event id="10" name="Order begins"><arg index="1">Number of the order</arg></event>
    <event id="30">
      <description>A customer's record &amp; what changed</description>
      <arguments>
        <argument index="1"><name>record</name><description>The customer</description></argument>
        <argument index="2" name="change"/>
      </arguments>
    </event>
    <event id="20" name="Order begins"/>
  </events>
</annotations>
XML
cat >annotations/shop.jobs.xml <<'XML'
<component><event id="0x32" description="A job begins"><data index="0" description="job"/></event></component>
XML
export MFTRACE_ANNOTATIONS=$PWD/annotations

check 'used as they are: event and item' is "$(ctrace show 'event == 10' --limit 1 "$trace" 2>err | cut -d' ' -f2-)" \
	'shop.order ORDER-BEGINS INFO number-of-the-order=0'
check 'nothing is reported about' test ! -s err
check 'elements instead of attributes' bash -c 'ctrace show "event == 30" --limit 1 "$1" | grep -q " A-CUSTOMER-S-RECORD-WHAT-CHANGE INFO record=.* change=0$"' - "$trace"
check 'a name that is taken' bash -c 'ctrace show "event == 20" --limit 1 "$1" | grep -q " EVENT-20 "' - "$trace"
check 'the name of the file is the component, hexadecimal ids, arguments from 0' \
	bash -c 'ctrace show "event == 50" --limit 1 "$1" | grep -q "shop.jobs A-JOB-BEGINS INFO job=1$"' - "$trace"
check 'filters know the names' is "$(ctrace show --count 'mnemonic == "ORDER-BEGINS" && data.number-of-the-order >= 0' "$trace")" 3

check 'import' ctrace catalog import annotations -o imported.yaml
check 'what was imported is good' is "$(ctrace catalog check imported.yaml)" 'imported.yaml: 2 components, 4 events, all good'
check 'and says the same' is "$(MFTRACE_ANNOTATIONS='' ctrace show --catalog imported.yaml "$trace")" "$(ctrace show "$trace")"
check 'CTRACE_CATALOG goes before' bash -c 'CTRACE_CATALOG=/dev/null ctrace show "event == 10" "$1" 2>/dev/null | grep -qv ORDER-BEGINS' - "$trace"

unset MFTRACE_ANNOTATIONS
check 'a draft of a trace' ctrace catalog draft "$trace" -o draft.yaml
check 'it is good' is "$(ctrace catalog check draft.yaml | cut -d: -f2 | cut -d, -f1,3)" ' 2 components, all good'
check 'and names what is there' is "$(ctrace show --catalog draft.yaml 'event == 10' --limit 1 "$trace" | cut -d' ' -f2-)" \
	'shop.order EVENT-10 INFO data1=0'
# Components may have any name that a program gives them; what a draft writes is a catalogue all the same.
printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' "mftrace.emitter.binfile#file = $PWD/odd.ctb" >odd.cfg
latin=$(printf 'M\374LLER')
MFTRACE_CONFIG=$PWD/odd.cfg "$CTRACE_BUILD/tests/steps" trace 'TWO WORDS' 1 2 trace 'A"B\C#: ü' 1 2 trace 'A"B\C#:ü' 1 2 trace "$latin" 1 2 trace PLAIN 1 2 flush >steps.out 2>&1
check 'the odd names are traced' is "$(ctrace show --count odd.ctb)" 10
ctrace catalog draft odd.ctb >odd.yaml 2>err
check 'a draft of odd names' test $? = 0
check 'is a catalogue of those that it can name' is "$(ctrace catalog check odd.yaml 2>&1)" 'odd.yaml: 2 components, 2 events, all good'
check 'the others stand in comments' is "$(grep -c '^# left out' odd.yaml)" 3
check 'and are told' grep -qx 'ctrace catalog: the component "TWO WORDS" is left out: a catalogue names components in printable UTF-8 without blanks' err
check 'a name with marks is found' is "$(ctrace show --catalog odd.yaml -c '*:ü' --limit 1 odd.ctb | grep -c 'EVENT-1 ')" 1
ctrace catalog draft nosuch >out 2>err
check 'a draft of nothing' test $? = 2 -a ! -s out
export MFTRACE_ANNOTATIONS=$PWD/annotations

says() { # STATUS MESSAGE COMMAND...
	local status=$1 message=$2
	shift 2
	"$@" >out 2>err
	is $? "$status" && is "$(head -1 err)" "$message"
}
mkdir none
check 'a directory of XML is not all good' says 1 'annotations: no catalogue (*.yaml, *.yml) is in it, but 2 XML files: see ctrace catalog import' \
	ctrace catalog check annotations
check 'a directory of XML: the same as JSON' is "$(ctrace catalog check --json annotations | python3 -c 'import json; print(json.loads(input())["error"])')" \
	'no catalogue (*.yaml, *.yml) is in it, but 2 XML files: see ctrace catalog import'
check 'an empty directory neither' says 1 'none: no catalogue (*.yaml, *.yml) is in it' ctrace catalog check none
check 'nothing to import' says 1 'ctrace catalog: no XML file is there' ctrace catalog import none
printf '<a>\n<b></a>' >bad.xml
check 'no XML' says 1 'bad.xml:2: no good XML: mismatched tag' ctrace catalog import bad.xml
echo '<a><other id="1"/></a>' >other.xml
check 'XML of something else' says 1 'other.xml: no event was found in it' ctrace catalog import other.xml
printf '<!DOCTYPE a [<!ENTITY b "bbbb">]><a><event id="1">&b;</event></a>' >entity.xml
check 'entities are refused' says 1 'entity.xml:1: no good XML: parsing aborted' ctrace catalog import entity.xml
# ---- names that clash, titles, numbers with zeros, encodings that are not the parser's
mkdir clash
cat >clash/shop.order.xml <<'XML'
<?xml version="1.0" encoding="windows-1252"?>
<annotations name="The events of the shop">
  <event id="9" name="event 20"/>
  <event id="010" name="Order begins"><arg index="0">data2</arg><arg index="1"/><arg index="2">data2</arg></event>
  <event id="20" name="Order begins"/>
  <event id="20" name="Said twice"/>
  <event id="30" name="Change" description="Stra@e&#10;and&#x81;house"/>
</annotations>
XML
sed -i 's/@/\xDF/' clash/shop.order.xml
check 'names that clash are imported' ctrace catalog import clash -o clash.yaml
check 'and told apart' is "$(ctrace catalog check clash.yaml)" 'clash.yaml: 1 component, 4 events, all good'
check 'by the numbers of events' is "$(grep -A1 -E '^  [0-9]+:' clash.yaml | tr -d '\n')" \
	'  9:    mnemonic: "EVENT-9"--  10:    mnemonic: "ORDER-BEGINS"--  20:    mnemonic: "EVENT-20"--  30:    mnemonic: "CHANGE"'
check 'and of items' is "$(grep -o 'name: "data[0-9]"' clash.yaml | tr -d '\n')" 'name: "data1"name: "data2"name: "data3"'
check 'a title is no component: the file is called as it' grep -q '^component: "shop.order"$' clash.yaml
check 'characters of the file, and no control characters' grep -q 'description: "Straße and house"' clash.yaml
check 'one file instead of a directory' bash -c \
	'test "$(MFTRACE_ANNOTATIONS=$PWD/clash/shop.order.xml ctrace show "event == 30" --limit 1 "$1" 2>&1 | cut -d" " -f2-4)" = "shop.order CHANGE INFO"' - "$trace"
mkdir twice && cp annotations/shop.jobs.xml twice/a.xml && cp annotations/shop.jobs.xml twice/A.xml
sed -i 's/<component>/<component name="shop.jobs">/' twice/*.xml
check 'a component in two files' says 1 'twice/a.xml: another file has the same component, and counts' ctrace catalog import twice -o twice.yaml
check 'the first counts' is "$(ctrace catalog check twice.yaml)" 'twice.yaml: 1 component, 1 event, all good'
mkdir large && python3 - >large/large.xml <<'PY'
print('<a>' + ''.join('<event id="%d" name="name %d"/>' % (i, i) for i in range(40000)) + '</a>')
PY
check 'forty thousand events are named at once' bash -c 'ulimit -t 10; ctrace catalog import large -o large.yaml && ctrace catalog check large.yaml'
cp 'annotations/shop.jobs.xml' 'none/shop jobs.xml'
check 'which component?' says 1 'none/shop jobs.xml: neither its text nor its name has a component' ctrace catalog import none

mkdir hurt && cp annotations/shop.jobs.xml bad.xml hurt
MFTRACE_ANNOTATIONS=$PWD/hurt ctrace show "$trace" >out 2>err
check 'a bad one costs itself: said' grep -q '^ctrace show: .*/bad.xml: no good XML' err
check 'a bad one costs itself: the other is used' grep -q ' A-JOB-BEGINS ' out
end
