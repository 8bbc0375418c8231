#!/bin/sh
# setup.sh GOAL... - makes sure that what a goal needs is installed.
#
# Goals: build demo test bench peers lint format fuzz deb rpm packages abi cross.  Nothing happens, quickly, when everything is there.  On Debian and Ubuntu what
# is missing is installed with apt-get (through sudo when not root); elsewhere it is named and the status is 1.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu

[ $# -gt 0 ] || set -- build
PATH=$PATH:/usr/sbin:/sbin # some of the commands are there

# What is looked for, and the Debian package that has it.  A command is a bare name, a header ends in .h, a
# library of clang's own in .a, a module of Python in .py, and a file begins with /.
needs_of() {
	case $1 in
	build) echo 'gcc:gcc stdio.h:libc6-dev meson:meson ninja:ninja-build pkg-config:pkg-config
		jansson.h:libjansson-dev zstd.h:libzstd-dev systemd/sd-journal.h:libsystemd-dev histedit.h:libedit-dev
		yaml.h:libyaml-dev nats/nats.h:libnats-dev microhttpd.h:libmicrohttpd-dev curses.h:libncurses-dev zlib.h:zlib1g-dev expat.h:libexpat1-dev
		curl/curl.h:libcurl4-openssl-dev protobuf-c/protobuf-c.h:libprotobuf-c-dev protoc-c:protobuf-c-compiler
		cobc:gnucobol3 libcob.h:libcob4-dev valgrind/valgrind.h:valgrind' ;;
	demo) needs_of build; echo 'babeltrace2:babeltrace2 nats-server:nats-server ip:iproute2 hostname:hostname' ;;
	test) needs_of demo; echo 'cmocka.h:libcmocka-dev python3:python3 g++:g++ clang:clang strace:strace mandoc:mandoc gdb:gdb valgrind:valgrind
		protoc:protobuf-compiler google.protobuf.py:python3-protobuf openssl:openssl chromium:chromium zstd:zstd jq:jq bt2.py:python3-bt2 promtool:prometheus abidiff:abigail-tools' ;;
	bench) needs_of build; echo 'python3:python3 babeltrace2:babeltrace2 strace:strace nats-server:nats-server' ;;
	peers) needs_of bench; echo 'lttng/tracepoint.h:liblttng-ust-dev lttng:lttng-tools spdlog/version.h:libspdlog-dev g++:g++' ;;
	format) echo 'clang-format:clang-format' ;;
	lint) needs_of test; needs_of format; echo 'clang-tidy:clang-tidy cppcheck:cppcheck shellcheck:shellcheck' ;;
	fuzz) needs_of build; echo 'clang:clang libclang_rt.fuzzer-x86_64.a:libclang-rt-dev' ;;
	deb) needs_of build; echo 'dh:debhelper dpkg-buildpackage:dpkg-dev python3:python3
		/usr/share/build-essential/list:build-essential' ;;
	rpm) needs_of build; echo 'rpmbuild:rpm python3:python3' ;;
	packages) needs_of deb; needs_of rpm; echo 'lintian:lintian debootstrap:debootstrap systemd-nspawn:systemd-container buildah:buildah' ;;
	cross) needs_of test; echo 'aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu s390x-linux-gnu-gcc:gcc-s390x-linux-gnu
		qemu-s390x-static:qemu-user-static' ;;
	abi) needs_of build; echo 'abidw:abigail-tools' ;;
	*) echo "setup.sh: unknown goal $1" >&2; exit 2 ;;
	esac
}

# The C compiler knows where its headers are; one run of it looks for any number of them.
has_headers() {
	for header; do echo "#include <$header>"; done | gcc -E -x c - >/dev/null 2>&1
}

# Debian's modules are for its own Python, which need not be the first of PATH.
has_module() {
	for python in python3 /usr/bin/python3; do
		! "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)" 2>/dev/null || return 0
	done
	return 1
}

needs=$(for goal; do needs_of "$goal"; done)
headers='' missing=''
for need in $needs; do
	probe=${need%%:*} package=${need#*:}
	case $probe in
	/*) [ -e "$probe" ] || missing="$missing $package" ;;
	*.h) headers="$headers $need" ;;
	*.a) [ -e "$(clang -print-file-name="$probe" 2>/dev/null)" ] || missing="$missing $package" ;;
	*.py) has_module "${probe%.py}" || missing="$missing $package" ;;
	*) command -v "$probe" >/dev/null 2>&1 || missing="$missing $package" ;;
	esac
done
probes=$(for need in $headers; do echo "${need%%:*}"; done)
# shellcheck disable=SC2086 # lists of words
if [ -n "$probes" ] && ! has_headers $probes; then
	for need in $headers; do
		has_headers "${need%%:*}" || missing="$missing ${need#*:}"
	done
fi
[ -n "$missing" ] || exit 0
# shellcheck disable=SC2086 # a list of words
missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')

# shellcheck source=/dev/null
system=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${ID_LIKE:-}") || system=''
case " $system " in
*' debian '* | *' ubuntu '*) ;;
*)
	echo "ctrace needs what Debian calls: $missing"
	echo 'Install them with the package manager of this system, then run the command again.'
	exit 1
	;;
esac

as_root=''
if [ "$(id -u)" != 0 ]; then
	as_root=sudo
	if ! command -v sudo >/dev/null 2>&1; then
		echo "ctrace needs these packages, and there is no sudo to install them with: $missing"
		echo "As root: apt-get update && apt-get install --no-install-recommends $missing"
		exit 1
	fi
fi
echo "Installing: $missing"
$as_root apt-get update -q
# What they fetch and fill, in apt's own words, before it begins.
# shellcheck disable=SC2086 # a list of words
LC_ALL=C apt-get install --assume-no --no-install-recommends $missing 2>/dev/null | grep -E '^(Need to get|After this operation)' || :
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $missing
