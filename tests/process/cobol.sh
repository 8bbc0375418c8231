#!/usr/bin/env bash
# COBOL programs, compiled and run as a user would: the documented examples, ours, each status, each type, callbacks, ways to link.
set -u
. "$CTRACE_SOURCE/tests/tap.sh"

programs=$CTRACE_SOURCE/tests/cobol
examples=$CTRACE_SOURCE/examples
link=(-Q "-Wl,--no-as-needed,-rpath,$CTRACE_BUILD" "-L$CTRACE_BUILD" -lctrace)

# fixed FILE - the file in fixed format: free lines are moved to column 8.
fixed() { if head -1 "$1" | grep -q '^ *\*>.*' && head -1 "$1" | grep -q '^       *'; then cat "$1"; else sed 's/^/       /' "$1"; fi; }

# compile NAME FILE FORMAT STD... - makes ./NAME
compile() {
	local name=$1 file=$2 format=$3
	shift 3
	if [ "$format" = fixed ]; then fixed "$file"; else cat "$file"; fi >"$name.cbl"
	cobc -x -w "-$format" "$@" -I "$CTRACE_SOURCE/copy" "${link[@]}" -o "$name" "$name.cbl"
}

# prints WANTED COMMAND... - the command prints exactly that and ends with status 0
prints() {
	local wanted=$1 got status=0
	shift
	got=$("$@" 2>&1) || status=$?
	[ "$got" = "$wanted" ] && [ "$status" = 0 ] && return 0
	printf 'status %s, printed:\n%s\nbut wanted:\n%s\n' "$status" "$got" "$wanted"
	return 1
}

# traces WANTED PROGRAM... - the program's text file is exactly that, times aside
traces() {
	local wanted=$1
	shift
	rm -f trace.log
	MFTRACE_CONFIG=$PWD/trace.cfg "$@" || return 1
	prints "$wanted" sh -c "grep -v '^#' trace.log | cut -c 14-"
}

# or_is_right FORMAT STD... - the compiler's own b-or, never a sum
or_is_right() {
	compile or "$programs/or.cbl" "$@" 2>or.txt || { grep -q "'b-or' is a reserved word" or.txt; return; }
	prints 0000000008 ./or
}

cat >trace.cfg <<'END'
mftrace.level = info
mftrace.dest = textfile
mftrace.emitter.textfile#file = trace.log
END

seed_000_trace='mycomp 1 1 "some info "
mycomp 2 1
mycomp 1 1 "some info "
mycomp 2 1'
seed_003_output='1) +000000000
2) +000000000
3) +000000000
4) +000000000'
items_trace='items 1 2 200 65000 70000 4000000000 5000000000 18446744073709551615
items 2 2 200 65000 70000 4000000000 5000000000 18446744073709551615
items 3 2 -2 -3 -4 -2 -3 -4
items 4 2 "say \"x\" " "€" 12345D 475250310102 "" 0x0'
callbacks_output='told level 0000000002
told level 0000000003
level set
told Last=yes 0000000001 0000000000
uninstalled +000000000
property set'
notify_output='installed: 0000000000
the default level:
   level is now 0000000001
the parent'"'"'s level:
   level is now 0000000002
the component'"'"'s own level:
   level is now 0000000000
a property:
   GLYPH_SHAPING is now 0000000001
another component'"'"'s property: nothing is told
uninstalled: 0000000000'
dest_output='1) default + TextFile: +000000000
2) default - TextFile: +000000000
3) RTS + ES: +000000000
4) RTS + BinFile, not inheriting: +000000000
An event of RTS: +000000000'

groups_output='531 142 260 1399 1608 1656 780 4 44
00000000020000000001000000000000000000000000000000[        ]
00000000020000000002[        ]
0000000001[        ]
reason 0000000064'
component_output='defined with a member
  APPXYZSS flags 0000000128 mode 0000000002 name APPXYZ   userdata from the program buffer 00000000000000005000
  options FIRST,SQL
rc 0000000000 reason 0000000000 routine 0000000000,0000000000 abend 0000000000
said: Tracing.                                .
userdata from the routine
entry 0000000000
refused by its routine
  APPXYZSS flags 0000000128 mode 0000000002 name REFUSED  userdata from the routine buffer 00000000000000005000
  options BAD
rc 0000000012 reason 0000000017 routine 0000000004,0000000099 abend 0000000000
rc +000000004
changed while it is on
  APPXYZSS flags 0000000128 mode 0000000002 name APPXYZ   userdata from the routine buffer 00000000000000005000
  options SECOND
rc 0000000000 reason 0000000000 routine 0000000000,0000000000 abend 0000000000
a bad option
  APPXYZSS flags 0000000128 mode 0000000002 name APPXYZ   userdata from the routine buffer 00000000000000005000
  options BAD
rc 0000000012 reason 0000000017 routine 0000000004,0000000099 abend 0000000000
said: BAD is not an option.                   .
displayed
  APP#DISP flags 0000000032
rc +000000000 mode 0000000001 options FROM DISPLAY head YES     .
rc +000000004
deleted
  APPXYZSS stops
rc 0000000000 reason 0000000000 routine 0000000000,0000000000 abend 0000000000
rc 0000000004 reason 0000000000 routine 0000000000,0000000000 abend 0000000000
entry 0000000011
a routine that is registered
rc 0000000012 reason 0000000025 routine 0000000000,0000000000 abend 0000000000
status +000000000
rc 0000000000 reason 0000000000 routine 0000000000,0000000000 abend 0000000000
  REGSS flags 0000000128 name REGISTER
rc 0000000000 reason 0000000000 routine 0000000000,0000000000 abend 0000000000
  REGSS flags 0000000064 name REGISTER
rc 0000000000 reason 0000000000 routine 0000000000,0000000000 abend 0000000000
status +000000000
rc 0000000012 reason 0000000025 routine 0000000000,0000000000 abend 0000000000
status +000000003
abends
rc 0000000016 reason 0000000000 routine 0000000000,0000000000 abend 0000000257
rc 0000000016 reason 0000000000 routine 0000000000,0000000000 abend 0000000258
rc 0000000016 reason 0000000000 routine 0000000000,0000000000 abend 0000000769
said: HEAD takes YES or NO                    .
rc 0000000016 reason 0000000000 routine 0000000000,0000000000 abend 0000000769
said: WTRMODE takes PAGEABLE, DREF or FIXED   .
rc 0000000016 reason 0000000000 routine 0000000000,0000000000 abend 0000001025
rc 0000000016 reason 0000000000 routine 0000000000,0000000000 abend 0000001281
rc 0000000016 reason 0000000000 routine 0000000000,0000000000 abend 0000001025
rc 0000000016 reason 0000000000 routine 0000000000,0000000000 abend 0000000770
said: IFNOSUBS takes YES or NO                .'

# Component trace: nothing is on but what a member or command switches on.
mkdir parmlib
printf "TRACEOPTS\n  ON\n  OPTIONS('FIRST','SQL')\n" >parmlib/CTAPPXYZ
printf "TRACEOPTS ON OPTIONS('BAD')\n" >parmlib/CTBAD
grep -v level trace.cfg >component.cfg
component() { env CTRACE_PARMLIB="$PWD/parmlib" MFTRACE_CONFIG=component.cfg "$@"; }
component_traces() {
	rm -f trace.log
	prints "$component_output" component "$@" && prints 'APPXYZ 33 1 736F6D6520646174-6120' sh -c "grep -v '^#' trace.log | cut -c 14-"
}

for std in default mf mf-strict; do
	for format in free fixed; do
		with="$std, $format"
		for name in seed_000 seed_003 seed_004 items statuses callbacks copybook flags groups component; do
			check "$name compiles ($with)" compile $name "$programs/$name.cbl" $format -std=$std
		done
		for name in trace dest level notify dpkg-report settle; do
			check "example $name compiles ($with)" compile $name "$examples/$name.cbl" $format -std=$std
		done
		check "seed_000 runs ($with)" prints 'last status +000000011' ./seed_000
		check "seed_000 traces ($with)" traces "$seed_000_trace" ./seed_000
		check "seed_003 runs ($with)" prints "$seed_003_output" ./seed_003
		check "seed_004 runs ($with)" prints 'level 4294967295 status +000000000' ./seed_004
		check "seed_004 traces ($with)" traces 'mycomp 1 1' ./seed_004
		check "each type of item ($with)" traces "$items_trace" ./items
		check "each status ($with)" prints '25 checked' ./statuses
		check "callbacks ($with)" prints "$callbacks_output" ./callbacks
		check "types in every place ($with)" prints $'4 44 48 132 16 36 2147483650\nlevel 0000000005' ./copybook
		check "flags and names as documents write them ($with)" prints $'2147483650\n3758096385\n3758096385\n0000000002 2 2\n+000000000 0000000002' ./flags
		check "b-or of two items is 8 or refused ($with)" or_is_right $format -std=$std
		check "component trace's types ($with)" prints "$groups_output" ./groups
		check "component trace ($with)" component_traces ./component
		check "example trace ($with)" traces "$seed_000_trace" ./trace
		check "example trace when tracing is off ($with)" prints 'Tracing is off: set MFTRACE_CONFIG=trace.cfg.' ./trace
		check "example dest ($with)" prints "$dest_output" ./dest
		check "example dest wrote a BINFILE trace only ($with)" sh -c 'ls -d dest.binfile.*.ctb && ! ls dest.textfile.* && rm -r dest.binfile.*'
		check "example level ($with)" traces 'mycomp 1 1' ./level
		check "example notify ($with)" prints "$notify_output" ./notify
	done
done

# ---- the run time is as it was after a callback: nobody loops in its list of active programs
compile called "$programs/called.cbl" fixed -std=default
check 'a called program is called back and returns' prints $'level 0000000001\nsub was told\nsub was told\nmain goes on' \
	./called
check 'an error in a callback is reported and ends the program' sh -c '! ./called fails >called.out 2>&1 && grep "module .*no-such-program.* not found" called.out &&
	[ "$(wc -l <called.out)" -lt 20 ]'
compile entered "$programs/entered.cbl" fixed -std=default -g
check 'routines are entries of active programs' prints 'ABOVESS
ABOVE rc 0000000000 parameters 2
OWNSS
OWN   rc 0000000000 parameters 2
main goes on' ./entered
for where in main routine command; do
	check "an error in $where is reported, with a list that ends" sh -c "timeout 20 ./entered $where 2>&1 | head -20 >entered.out; grep 'module .*no-such-program.* not found' entered.out &&
	[ \$(wc -l <entered.out) -lt 20 ]"
done
check 'the list has the statements that wait' sh -c "timeout 20 ./entered command 2>&1 | grep 'Last statement of entered was at line 19 '"
check 'a program whose output is closed ends' sh -c './notify | head -1'

# ---- a program with a callback is cancelled, and its module unloaded
cancelled_output='installed +000000000
told 1 level 0000000003
cancelled
told 1 level 0000000004
installed +000000000
told 2 level 0000000001
installed +000000000
told 3 level 0000000002
removed +000000000
removed +000000001'
compile cancelled "$programs/cancelled.cbl" fixed -std=default
cobc -m -w -I "$CTRACE_SOURCE/copy" -o listening.so "$programs/listening.cbl"
check 'a cancelled program is told of changes, and installs again' prints "$cancelled_output" env COB_LIBRARY_PATH=. ./cancelled
check 'the same where CANCEL unloads modules' prints "$cancelled_output" env COB_LIBRARY_PATH=. COB_PHYSICAL_CANCEL=1 ./cancelled

# ---- a text in another encoding than UTF-8
compile encoded "$programs/encoded.cbl" fixed -std=default
check 'without an encoding its bytes are shown' traces 'ENCODED 1 1 "J\xDCRGEN"' ./encoded
printf 'mftrace.encoding = latin-1\nmftrace.dest = binfile\nmftrace.emitter.binfile#file = trace.ctb\n' >>trace.cfg
check 'mftrace.encoding: characters' traces 'ENCODED 1 1 "JÜRGEN"' ./encoded
check 'in a BINFILE too' sh -c "ctrace show trace.ctb | grep -q '\"JÜRGEN\"' && babeltrace2 trace.ctb | grep -q JÜRGEN"
printf 'mftrace.encoding = klingon\n' >>trace.cfg
check 'an encoding that nobody knows changes nothing' traces 'ENCODED 1 1 "JÜRGEN"' ./encoded
printf 'mftrace.level = info\nmftrace.dest = textfile\nmftrace.emitter.textfile#file = trace.log\n' >trace.cfg

# ---- the report
cp "$examples"/*.cfg .
cp trace.cfg trace.saved
report='Section                         Packages  Installed KB
(none)                                 1             3
fruit                                  2           100
tools                                  1            50
Total                                  4           153'
by_size='Section                         Packages  Installed KB
fruit                                  2           100
tools                                  1            50
(none)                                 1             3
Total                                  4           153'
export DPKG_STATUS=$programs/status.txt
check 'the report by section' prints "$report" ./dpkg-report
check 'the report by size' prints "$by_size" ./dpkg-report size
sed -i 's/^#mftrace/mftrace/' dpkg-report.cfg
MFTRACE_CONFIG=dpkg-report.cfg ./dpkg-report >/dev/null
lines() { grep -v '^#' dpkg-report.log | cut -c 14- | grep -F -- "$@"; }
check 'it traces oddities' prints 'DPKG.READ 200 2 "bare" "no installed size"
DPKG.READ 200 2 "cherry" "deinstall ok config-files"
DPKG.READ 200 2 "held" "hold ok installed"
DPKG.READ 200 2 "nowhere" "no section"' lines 'READ 200 '
check 'it traces packages' prints '5' sh -c "grep -c ' DPKG.READ 100 1 \"' dpkg-report.log"
# name, section, state, and the size as pic 9(9) comp-3
apple() {
	printf '%-40s%-30s%-40s\x00\x00\x00\x10\x0f' apple fruit 'install ok installed'
}
check 'a package has its name, size and record' prints \
	"DPKG.READ 100 1 \"apple\" 100 $(apple | od -An -v -tx1 -w8 | tr -d ' ' | tr a-f A-F | paste -sd-)" lines 'READ 100 1 "apple"'
check 'it traces fields, escaped' prints 'DPKG.READ 101 0 "Description" "round, \"crisp\" and \\ not Café"' lines Description
check 'a field may be empty' prints 'DPKG.READ 101 0 "Empty" ""' lines '"Empty"'
check 'entries and exits pair' prints '5 5' sh -c "echo \$(grep -c ' DPKG.READ 20 0\$' dpkg-report.log) \$(grep -c ' DPKG.READ 21 0\$' dpkg-report.log)"
check 'a missing file is told' sh -c 'DPKG_STATUS=/no/such ./dpkg-report 2>&1 | grep -x "Cannot read /no/such: file status 35"'

# ---- an output that cannot be written: the first trace call says so
printf 'mftrace.level = info\nmftrace.emitter.textfile#file = /proc/no/such\n' >failing.cfg
check 'an output that fails is told by the first call' prints 'CBL_CTF_TRACE answered 0000000013' env MFTRACE_CONFIG=failing.cfg ./trace

# ---- ways to bind a program to the library
cp trace.saved trace.cfg
cobc -x -w -free -I "$CTRACE_SOURCE/copy" -o unbound "$programs/seed_000.cbl"
check 'without the library a call is not resolved' sh -c './unbound 2>&1 | grep -q CBL_CTF_TRACER_GET'
check 'COB_PRE_LOAD' traces "$seed_000_trace" env COB_LIBRARY_PATH="$CTRACE_BUILD" COB_PRE_LOAD=libctrace ./unbound
check 'COB_PRE_LOAD with a path' traces "$seed_000_trace" env COB_PRE_LOAD="$CTRACE_BUILD/libctrace.so" ./unbound
check 'LD_PRELOAD' traces "$seed_000_trace" env LD_PRELOAD="$CTRACE_BUILD/libctrace.so" ./unbound
cobc -m -w -free -I "$CTRACE_SOURCE/copy" -o seed000.so "$programs/seed_000.cbl"
check 'cobcrun -M' traces "$seed_000_trace" env COB_LIBRARY_PATH="$CTRACE_BUILD:." cobcrun -M libctrace seed000
printf 'mftrace.application = (seed000)\n' | cat - trace.saved >trace.cfg
check 'mftrace.application names what cobcrun runs' traces "$seed_000_trace" env COB_LIBRARY_PATH="$CTRACE_BUILD:." cobcrun -M libctrace seed000
cp trace.saved trace.cfg
cobc -m -w -I "$CTRACE_SOURCE/copy" -o component.so "$programs/component.cbl"
check 'routines of a module that cobcrun has loaded' component_traces env COB_LIBRARY_PATH="$CTRACE_BUILD:." cobcrun -M libctrace component
check '-fstatic-call' cobc -x -w -free -fstatic-call -I "$CTRACE_SOURCE/copy" "-L$CTRACE_BUILD" -lctrace -o bound "$programs/seed_000.cbl"
check '-fstatic-call traces' traces "$seed_000_trace" env LD_LIBRARY_PATH="$CTRACE_BUILD" ./bound
check '-K' cobc -x -w -free -K CBL_CTF_TRACE -I "$CTRACE_SOURCE/copy" "-L$CTRACE_BUILD" -lctrace -o bound "$programs/seed_000.cbl"
check '-K traces' traces "$seed_000_trace" env LD_LIBRARY_PATH="$CTRACE_BUILD" ./bound
check 'callbacks without the library being linked' sh -c "cobc -x -w -free -I '$CTRACE_SOURCE/copy' -o callbacks2 '$programs/callbacks.cbl'"
check 'callbacks in a pre-loaded library' prints "$callbacks_output" env COB_LIBRARY_PATH="$CTRACE_BUILD" COB_PRE_LOAD=libctrace ./callbacks2
end
