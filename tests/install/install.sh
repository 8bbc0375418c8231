#!/usr/bin/env bash
# shellcheck disable=SC2046 # lists of words
# What is installed is whole: C and COBOL programs build against it with what ctrace.pc says, find it when they run, and trace.
set -u
. "$CTRACE_SOURCE/tests/tap.sh"

meson install -C "$CTRACE_BUILD" --no-rebuild --quiet --destdir "$PWD/dest" >install.log 2>&1 || { cat install.log; exit 1; }
pc=$(find "$PWD/dest" -name ctrace.pc)
export PKG_CONFIG_PATH=${pc%/*}
prefix=$PWD/dest$(pkg-config --variable=prefix ctrace)
libdir=$PWD/dest$(pkg-config --variable=libdir ctrace)
flags() { pkg-config --define-variable=prefix="$prefix" --define-variable=libdir="$libdir" --define-variable=includedir="$prefix/include" \
	--define-variable=copydir="$prefix/share/ctrace/copy" "$@" ctrace; }

present() { for file; do [ -e "$file" ] || { echo "$file is missing"; return 1; }; done; }
links_to() { [ "$(readlink -f "$1")" = "$(readlink -f "$2")" ] || { echo "$1 does not lead to $2"; return 1; }; }
check 'the tool runs' "$prefix/bin/ctrace" --version
check 'the library, shared and static' present "$libdir"/libctrace.{a,so,so.1,so.1.0.0}
check 'the tool looks for libctrace-cobol.so there' grep -zqxF "$(pkg-config --variable=libdir ctrace)" "$prefix/bin/ctrace"
check 'the headers' present "$prefix"/include/{cbl_ctrace.h,mfctf.h,ctrace/{component,ctrace,emitter,event,reader,status}.h}
check 'the copybooks' present "$prefix"/share/ctrace/copy/{cbltypes.cpy,CBLTYPES.CPY,ctrace.cpy,CTRACE.CPY,mfctf.cpy,MFCTF.CPY}
check 'the modules' present "$libdir"/ctrace/{catalog,cobol,edit,journal,systemd,zstd}.so
check 'the module name for COB_PRE_LOAD' links_to "$libdir/gnucobol/libctrace.so" "$libdir/libctrace.so.1"
check 'the man page' present "$prefix/share/man/man1/ctrace.1"
check 'the shells'\'' completions' present "$prefix"/share/{bash-completion/completions/ctrace,zsh/site-functions/_ctrace}
check 'the licences, the guides and the bill of materials' present \
	"$prefix"/share/doc/ctrace/{LICENSE,uPlot.LICENSE,reading.md,operator.md,ctrace.spdx.json}
outside() { find dest -type f ! -path "${prefix#"$PWD"/}/*" | grep . && return 1 || return 0; }
check 'nothing is outside of the prefix' outside

# How exposed systemd rates a unit, in tenths: at most 30 for those of the system.  A user's manager may not limit capabilities and has
# none itself; nor has it rights to close the network and the devices.  The responder and the forwarder of a user need the network: 2 more.
exposure() { # UNIT TENTHS LINE...: the unit as it is installed, with the lines at its end
	local unit=$1 tenths=$2 copy
	shift 2
	copy=$(basename "${unit/@/@x}")
	{ sed '/^\[Install\]/,$d; s,^ExecStart=.*,ExecStart=/bin/true,' "$unit"; printf '%s\n' "$@"; } >"$copy"
	systemd-analyze security --offline=true --threshold="$tenths" "./$copy"
}
network() { # UNIT
	case $1 in */user/ctrace-respond.service | */user/ctrace-forward.service) echo 2 ;; *) echo 0 ;; esac
}
if systemd-analyze security --help 2>/dev/null | grep -q -- --threshold; then
	for unit in "$prefix"/lib/systemd/system/*.service; do
		check "systemd understands the system's ${unit##*/}, and restricts it" exposure "$unit" $((30 + $(network "$unit")))
	done
	for unit in "$prefix"/lib/systemd/user/*.service; do
		check "systemd understands a user's ${unit##*/}, and restricts it" exposure "$unit" $((35 + $(network "$unit"))) User=nobody CapabilityBoundingSet=
	done
fi
keeps() { # DIRECTORY: the files of an installation that have its path in them
	grep -raFl -- "$1" dest && return 1 || return 0
}
check 'no path of the build is in what is installed' keeps "$(realpath "$CTRACE_BUILD")"
check 'no path of the sources is, either' keeps "$(realpath "$CTRACE_SOURCE")"

cat >program.c <<'E2'
#include <ctrace/ctrace.h>
#include <stdio.h>
#include <string.h>
static struct ctrace_tracer tracer = CTRACE_TRACER("install.check");
int main(void)
{
	if (ctrace_configure("mftrace.level = info") != CTRACE_OK)
		return 1;
	CTRACE(&tracer, CTRACE_INFO, 1, CTRACE_STR("traced from C"));
	return strcmp(ctrace_version(), "0.9.0") != 0;
}
E2
traced() { # WORD COMMAND...: the command leaves a line with the word in a file here
	local word=$1
	shift
	rm -rf traced && mkdir traced && (cd traced && "$@") || return 1
	grep -rqF -- "$word" traced || { ls -la traced; return 1; }
}
check 'a C program compiles and links as pkg-config says' gcc program.c -o program $(flags --cflags --libs) \
	-Wl,-rpath,"$(flags --variable=rpath)"
check 'it traces' traced 'traced from C' ../program
check 'a C program links with the static library' gcc program.c -o static $(flags --cflags) "$libdir/libctrace.a"
check 'it traces' traced 'traced from C' ../static

check 'it links as pkg-config --static says, too' gcc program.c -o static $(flags --cflags) -static-libgcc "$libdir/libctrace.a" \
	$(flags --static --libs-only-other) -pthread
check 'pkg-config --static names what an older glibc has apart' test "$(pkg-config --static --libs ctrace | grep -cw -- -ldl)" = 1

if command -v cmake >/dev/null; then
	mkdir cmake
	cat >cmake/CMakeLists.txt <<'E2'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(ctrace 0.9 REQUIRED)
foreach(kind ctrace static)
    add_executable(with_${kind} ../program.c)
    target_link_libraries(with_${kind} PRIVATE ctrace::${kind})
endforeach()
E2
	{ cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_LIBRARY_ARCHITECTURE="$(gcc -print-multiarch)" && cmake --build cmake/build; } >cmake.log 2>&1
	check 'CMake finds and links both' test "$?" = 0
	check 'the shared one traces' traced 'traced from C' ../cmake/build/with_ctrace
	check 'the static one traces' traced 'traced from C' ../cmake/build/with_static
	sed -i 's/ctrace 0.9/ctrace 2.0/' cmake/CMakeLists.txt
	cmake -S cmake -B cmake/later -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1
	check 'version 2 is another' test "$?" != 0
else
	skip 'CMake' 'no cmake'
fi

example=$CTRACE_SOURCE/examples/trace
export MFTRACE_CONFIG=$example.cfg
check 'a COBOL program compiles and links as cobc_flags says' cobc -x "$example.cbl" -o cobol $(flags --variable=cobc_flags)
check 'it traces' traced 'some info' ../cobol
check 'a COBOL program without the library compiles' cobc -x -I"$prefix/share/ctrace/copy" "$example.cbl" -o bare
check 'it traces through what COB_PRE_LOAD names' traced 'some info' \
	env COB_PRE_LOAD=libctrace COB_LIBRARY_PATH="$libdir/gnucobol" ../bare
if [ ! -e "$libdir/libctrace-cobol.so" ]; then
	skip 'libctrace-cobol.so' 'built without it'
elif [ "$(pkg-config --variable=prefix ctrace)" = /usr ]; then
	skip 'libctrace-cobol.so finds libctrace.so.1 beside it' 'in /usr the loader finds both'
else
	check 'libctrace-cobol.so finds libctrace.so.1 beside it' traced 'some info' \
		env -u LD_LIBRARY_PATH LD_PRELOAD="$libdir/libctrace-cobol.so" ../bare
fi

# What make uninstall does, but for configuring and building, which the tests' own directory has no need of.
sed '/configure.sh/d; /^ninja/d; s|^cd .*|cd "$CTRACE_SOURCE"|' "$CTRACE_SOURCE/scripts/uninstall.sh" >uninstall.sh
CTRACE_SOURCE=$CTRACE_SOURCE sh uninstall.sh "$CTRACE_BUILD" "${prefix#"$PWD/dest"}" "$PWD/dest" >uninstall.log
check 'it can be taken away again' test "$?" = 0
none() { find dest ! -type d | grep . && return 1 || return 0; }
check 'and nothing stays' none
check 'nor do directories of its own' test -z "$(find dest -name ctrace)"
end
