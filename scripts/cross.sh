#!/bin/bash
# cross.sh DIRECTORY MACHINE... - builds for other processors, and runs tests there under qemu-user.
#
# MACHINE is aarch64 or s390x.  DIRECTORY/MACHINE/root gets Debian's libraries for it: apt-get resolves and fetches them with a state of its own, so
# no package of this system changes.  DIRECTORY/MACHINE/build is the build.  The libraries are fetched once; remove DIRECTORY to fetch them again.
#
# Programs of the machine start other ones, so the kernel has to know qemu.  It is registered in a user name space of this script alone (Linux 6.7);
# the system's own binfmt_misc does not change.
#
# The tests: the units, the corpora of fuzzing, and those of $processes.  What qemu-user cannot run is in scripts/cross-known.txt with the reason;
# it is printed, and every other failure fails.  At last each side reads a trace that the other one wrote, and prints the same.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
source=$PWD
host=$source/build
mkdir -p "$1"
directory=$(cd "$1" && pwd)
shift

# What the tool, the modules and the tests need of the other processor; setup.sh has the same for this one.
packages='libc6-dev libjansson-dev libzstd-dev libsystemd-dev libedit-dev libyaml-dev libnats-dev libncurses-dev zlib1g-dev libexpat1-dev
	libcurl4-openssl-dev libmicrohttpd-dev libprotobuf-c-dev libcob4-dev libcmocka-dev'
processes='golden/ipcs.py golden/machines.sh process/ipcs.sh process/show.sh process/stats.sh process/third_party.py process/test_threads
	process/test_values'

fetch_root() { # DIRECTORY ARCHITECTURE
	local top=$1 architecture=$2
	local options=(-q -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o "Dir::State=$top/apt/state"
		-o "Dir::State::status=$top/apt/status" -o "Dir::Cache=$top/apt/cache" -o "APT::Sandbox::User=$(id -un)")
	[ ! -f "$top/root/.complete" ] || return 0
	rm -rf "$top/root" "$top/apt"
	mkdir -p "$top/root" "$top/apt/state/lists/partial" "$top/apt/cache/archives/partial"
	: >"$top/apt/status"
	apt-get "${options[@]}" update
	# shellcheck disable=SC2086 # a list of words
	apt-get "${options[@]}" install -y --download-only --no-install-recommends $packages
	for package in "$top"/apt/cache/archives/*.deb; do
		dpkg-deb -x "$package" "$top/root"
	done
	rm -rf "$top/apt"
	: >"$top/root/.complete"
}

# bin/ has the compilers under the names by which tests call them.
write_tools() { # DIRECTORY MACHINE ENDIAN
	local top=$1 machine=$2
	mkdir -p "$top/bin"
	for name in cc gcc; do
		printf '#!/bin/sh\nexec %s-linux-gnu-gcc --sysroot=%s "$@"\n' "$machine" "$top/root" >"$top/bin/$name"
		chmod +x "$top/bin/$name"
	done
	cat >"$top/cross.ini" <<-end
		[binaries]
		c = ['$machine-linux-gnu-gcc', '--sysroot=$top/root']
		ar = '$machine-linux-gnu-gcc-ar'
		strip = '$machine-linux-gnu-strip'
		pkgconfig = 'pkg-config'
		[properties]
		needs_exe_wrapper = true
		sys_root = '$top/root'
		pkg_config_libdir = ['$top/root/usr/lib/$machine-linux-gnu/pkgconfig', '$top/root/usr/share/pkgconfig']
		[host_machine]
		system = 'linux'
		cpu_family = '$machine'
		cpu = '$machine'
		endian = '$3'
	end
}

# Runs a command where the kernel runs programs of the machine.  root keeps all users there, another user is the only one.
there() { # MACHINE COMMAND...
	local machine=$1 pid fifo=$directory/ready.$BASHPID
	shift
	rm -f "$fifo"
	mkfifo "$fifo"
	# shellcheck disable=SC2016 # the inner shell's
	QEMU_LD_PREFIX=$directory/$machine/root PATH=$directory/$machine/bin:$PATH unshare --user --mount sh -c '
		read -r go <"$1" && mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
		cat "$2" >/proc/sys/fs/binfmt_misc/register || exit 99
		shift 2 && exec "$@"' sh "$fifo" "/usr/lib/binfmt.d/qemu-$machine.conf" "$@" &
	pid=$!
	until [ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do
		kill -0 "$pid" 2>/dev/null || return 99
	done
	if [ "$(id -u)" = 0 ]; then
		echo '0 0 4294967295' | tee "/proc/$pid/uid_map" >"/proc/$pid/gid_map"
	else
		echo "0 $(id -u) 1" >"/proc/$pid/uid_map"
	fi
	echo go >"$fifo"
	rm -f "$fifo"
	wait "$pid"
}

# Writes a trace and what its readers print there, in the current directory.
write_trace() { # BUILD CATALOGUE
	printf '%s\n' 'mftrace.level = debug' 'mftrace.dest = binfile' 'mftrace.emitter.binfile#file = items.ctb' >items.cfg
	MFTRACE_CONFIG=$PWD/items.cfg CTRACE_RUN_DIR=$PWD/run "$1/tests/items_subject"
	rm -rf items.cfg run
	export CTRACE_CATALOG=$2
	"$1/ctrace" show items.ctb >show.txt
	"$1/ctrace" show --json items.ctb >show.json
	"$1/ctrace" show --filter 'data.record.NR-COUNT == -123456 && data.record.NR-RATIO < 0' items.ctb >filter.txt
	"$1/ctrace" stats items.ctb >stats.txt
	"$1/ctrace" ipcs 'CTRACE COMP(MACHINE.ITEMS) FULL' items.ctb >ipcs.txt 2>&1
	babeltrace2 items.ctb >babeltrace.txt
}

# Compares them with what another build prints.
read_trace() { # BUILD CATALOGUE
	export CTRACE_CATALOG=$2
	diff show.txt <("$1/ctrace" show items.ctb) && diff show.json <("$1/ctrace" show --json items.ctb) &&
		diff filter.txt <("$1/ctrace" show --filter 'data.record.NR-COUNT == -123456 && data.record.NR-RATIO < 0' items.ctb) &&
		diff stats.txt <("$1/ctrace" stats items.ctb) && diff babeltrace.txt <(babeltrace2 items.ctb) &&
		diff ipcs.txt <("$1/ctrace" ipcs 'CTRACE COMP(MACHINE.ITEMS) FULL' items.ctb 2>&1)
}

exchange() { # MACHINE
	local top=$directory/$1 status=0 catalogue=$source/tests/golden/machines/items.yaml
	export TZ=UTC LC_ALL=C.UTF-8
	rm -rf "$top/written" "$top/own"
	mkdir -p "$top/written" "$top/own"
	(cd "$top/written" && there "$1" bash -euc "$(declare -f write_trace); write_trace \"\$@\"" bash "$top/build" "$catalogue") && (cd "$top/written" && read_trace "$host" "$catalogue") || status=1
	(cd "$top/own" && write_trace "$host" "$catalogue" && there "$1" bash -uc "$(declare -f read_trace); read_trace \"\$@\"" bash "$top/build" "$catalogue") || status=1
	[ "$status" != 0 ] || echo "$1: each side reads the trace of the other one as that does"
	if [ "${CROSS_ACCEPT:-}" = 1 ] && [ "$status" = 0 ]; then
		rm -rf "tests/golden/machines/$1"
		cp -r "$top/written" "tests/golden/machines/$1"
	fi
	return "$status"
}

run_tests() { # MACHINE
	local build=$directory/$1/build names
	names=$(meson test -C "$build" --list 2>/dev/null | sed -n 's/^.* \/ //p')
	names=$({ grep -E '^(unit|interleave|fuzz)/' <<<"$names"; grep -Fx "$(tr ' ' '\n' <<<"$processes")" <<<"$names"; } |
		grep -vFx "$(sed -n "s/^$1 //; s/^\([^#: ]*\): \* .*/\1/p" scripts/cross-known.txt)")
	# shellcheck disable=SC2086 # a list of words
	there "$1" env MESON_TESTTHREADS="${MESON_TESTTHREADS:-$(nproc)}" meson test -C "$build" --no-rebuild -t 1 $names || :
	scripts/cross-report.py "$1" "$build/meson-logs/testlog.json" scripts/cross-known.txt
}

status=0
scripts/configure.sh "$host" -Dtests=enabled
ninja -C "$host" ctrace tests/items_subject
for machine; do
	case $machine in
	aarch64) architecture=arm64 endian=little ;;
	s390x) architecture=s390x endian=big ;;
	*) echo "cross.sh: $machine is not aarch64 or s390x" >&2; exit 2 ;;
	esac
	top=$directory/$machine
	mkdir -p "$top"
	fetch_root "$top" "$architecture"
	write_tools "$top" "$machine" "$endian"
	if [ -f "$top/build/build.ninja" ]; then
		meson setup --reconfigure "$top/build"
	else
		meson setup "$top/build" --cross-file "$top/cross.ini" -Dlibdir="lib/$machine-linux-gnu" -Dtests=enabled
	fi
	ninja -C "$top/build" programs meson-test-prereq
	if ! there "$machine" "$top/build/ctrace" --version; then
		echo "$machine: built, and no test ran: binfmt_misc cannot be mounted in a user name space here (Linux 6.7 or later can), or qemu is missing"
		status=1
		continue
	fi
	exchange "$machine" || { echo "$machine: the two sides read a trace differently"; status=1; }
	run_tests "$machine" || status=1
done
exit "$status"
