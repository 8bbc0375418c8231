#!/usr/bin/env bash
# check-packages.sh DIRECTORY [STEP...] - tests the packages as a whole.  The steps are all of these, unless some are named:
#
# reproducible  builds those of Debian twice, in different directories, at different times and under different settings; the bytes are equal
# rpm           the same with those of RPM
# lintian       neither errors nor warnings, but for the overrides in packaging/debian/, which have their reasons
# install       installs them into a bare Debian, runs the README's programs, purges them; nothing may be left
# units         boots that Debian as a container of systemd, where the units start, work, and start again after a kill
# container     builds packaging/Containerfile on that Debian, and reads a trace in it
#
# Run by hand (`make check-packages`), because it takes minutes.  The last three need root, for a root directory of their own, and the
# network, for Debian's packages; the bare Debian stays in DIRECTORY/base.  The last line is "N passed, N failed".
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -euo pipefail
[ -n "${OWN_MOUNTS:-}" ] || [ "$(id -u)" != 0 ] || OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
cd "$(dirname "$0")/.."
mkdir -p "$1"
directory=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- reproducible rpm lintian install units container
passed=0 failed=0

check() { # WHAT COMMAND...: a function fails at its first command that fails
	local what=$1 status
	shift
	set +e
	(set -e && "$@") >"$directory/check.log" 2>&1
	status=$?
	set -e
	if [ "$status" = 0 ]; then
		passed=$((passed + 1))
		echo "ok - $what"
	else
		failed=$((failed + 1))
		echo "not ok - $what"
		tail -40 "$directory/check.log" | sed 's/^/    /'
	fi
}

# ---- the same bytes in another directory, at another time, under other settings
build() { # deb|rpm
	case $1 in
	deb) scripts/deb.sh "$directory/packages" ;;
	rpm) scripts/rpm.sh "$directory/rpm" ;;
	esac
}
build_again() { # deb|rpm
	rm -rf "$directory/another"
	# No directory can be made at this HOME, so a cache of the compiler has no place there.
	(umask 002 && TZ=Asia/Kolkata LC_ALL=C.UTF-8 HOME=/dev/null/home CCACHE_DISABLE=1 USER=other "scripts/$1.sh" "$directory/another/place/of-the-build")
}
same_bytes() { # DIRECTORY deb|rpm
	local file status=0
	for file in "$1"/*."$2"; do
		cmp "$file" "$directory/another/place/of-the-build/${file##*/}" || status=1
	done
	if [ "$status" = 0 ]; then rm -rf "$directory/another"; fi
	return "$status"
}

# ---- in a bare Debian
make_base() {
	local uri
	[ ! -e "$directory/base/.made" ] || return 0
	uri=$(awk '$1 == "URIs:" { print $2; exit } $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^http/) { print $i; exit } }' \
		/etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null) || :
	rm -rf "$directory/base"
	debootstrap --variant=minbase --include=ca-certificates bookworm "$directory/base" ${uri:+"$uri"}
	# The machine's own settings of apt: its mirror and its proxy.
	if [ -e /etc/apt/sources.list.d/debian.sources ]; then
		rm -f "$directory/base/etc/apt/sources.list"
		cp /etc/apt/sources.list.d/debian.sources "$directory/base/etc/apt/sources.list.d/"
	fi
	find /etc/apt/apt.conf.d -name '99*' -exec cp {} "$directory/base/etc/apt/apt.conf.d/" \;
	cp /etc/resolv.conf /etc/hosts "$directory/base/etc/"
	# What the quick start needs that is not ctrace.
	mount_base "$directory/base"
	inside "$directory/base" 'apt-get update -q && apt-get install -qy --no-install-recommends gcc libc6-dev gnucobol3 pkg-config && apt-get clean'
	umount -l "$directory/base/proc" "$directory/base/dev"
	touch "$directory/base/.made"
}
mount_base() {
	mount --bind /dev "$1/dev"
	mount -t proc proc "$1/proc"
}
inside() { # ROOT COMMAND: runs a line of shell there
	# shellcheck disable=SC2046 # a list of words
	env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 $(env | grep -iE '^(https?|no)_proxy=' || :) \
		chroot "$1" /bin/sh -euc "$2" </dev/null
}
files_of() { # ROOT: the paths that a package may have left
	(cd "$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./root -o -path ./var/cache -o -path ./var/log \
		-o -path ./var/lib/apt -o -name '*-old' \) -prune -o -print | LC_ALL=C sort)
}
quick_start='
mkdir -p /root/quick && cd /root/quick
cp -r /usr/share/doc/ctrace/examples .
cobc -x -ftrace examples/orders.cbl
ctrace run --summary=always ./orders >page 2>&1 || { cat page; exit 1; }
cat page
grep -q "make-customers" page
ctrace show orders.ctb >events
test -s events
cat >first.cfg <<END
mftrace.level = info
mftrace.dest = textfile, binfile
mftrace.emitter.textfile#file = \$(APPNAME).log
mftrace.emitter.binfile#file = \$(APPNAME).ctb
END
cobc -x $(pkg-config --variable=cobc_flags ctrace) examples/hello.cbl
MFTRACE_CONFIG=first.cfg ./hello
grep "my.hello 1 1 \"Ada\"" hello.log
cobc -x $(pkg-config --variable=cobc_runtime_flags ctrace) -o linked examples/hello.cbl
MFTRACE_CONFIG=first.cfg ./linked
ctrace show linked.ctb | grep Ada
cc -o workers examples/workers.c $(pkg-config --cflags --libs ctrace) -pthread
cc -static-libgcc -o static examples/workers.c $(pkg-config --cflags ctrace) $(pkg-config --variable=libdir ctrace)/libctrace.a -pthread
ctrace doctor || :
'
remove_root() {
	[ -n "${root:-}" ] || return 0
	umount -l "$root/proc" "$root/dev" 2>/dev/null || :
	rm -rf --one-file-system "$root"
	root=''
}
trap remove_root EXIT
make_root() { # a copy of the bare Debian, which has the packages as files
	remove_root
	root=$(mktemp -d "$directory/root.XXXXXX")
	cp -a "$directory/base/." "$root/"
	mount_base "$root"
	mkdir "$root/root/packages"
	find "$directory/packages" -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$root/root/packages/" \;
}
install='apt-get install -qy --no-install-recommends /root/packages/*.deb'

install_steps() {
	check 'a bare Debian' make_base
	[ -e "$directory/base/.made" ] || return 0
	make_root
	files_of "$root" >"$directory/before"
	check 'the packages are installed' inside "$root" "$install"
	check 'the README'\''s programs run from the packages alone' inside "$root" "$quick_start"
	check 'each file is as it was packed' inside "$root" 'test -z "$(dpkg --verify libctrace1 libctrace-dev ctrace ctrace-cobol)"'
	check 'they are removed' inside "$root" 'apt-get remove -qy libctrace1 ctrace-doc'
	check 'they are purged, with what was installed for them' inside "$root" 'dpkg --purge libctrace1 && apt-get autoremove -qy --purge'
	check 'dpkg knows nothing of them' inside "$root" '! dpkg-query -W -f "\${Package}\n" | grep ctrace'
	files_of "$root" >"$directory/after"
	check 'nothing is left' diff "$directory/before" "$directory/after"
	remove_root
}

# ---- under systemd
# The writer serves a program of the examples, is killed, and comes back; then the program is killed.  Each event is delivered once.
use_writer='
cd /usr/share/doc/ctrace/examples/kvserver
cc -o /root/kvserver kvserver.c kvline.c kvtrace.c kvoperator.c kvstore.c $(pkg-config --cflags --libs ctrace) -pthread
cc -o /root/kvload kvload.c -pthread
cd /root
load() { dpkg-query -W -f "\${binary:Package}\t\${Version}\n" | ./kvload kv.socket 4; }
pid_of() { systemctl show -p MainPID --value "$1"; }
kill_unit() {
	killed=$(pid_of "$1")
	kill -9 "$killed"
}
until_back() { until test "$(systemctl is-active "$1")" = active && test "$(pid_of "$1")" != "$killed"; do sleep 0.1; done; }
MFTRACE_CONFIG=/usr/share/doc/ctrace/examples/kvserver/kvserver.cfg ./kvserver kv.socket &
server=$!
until test -S kv.socket && ctrace list --names=components | grep -q KVSERVER; do sleep 0.1; done
systemctl start ctrace-writer@CTWKVS || exit
ctrace op --reply "OPTIONS=(GET,PUT,KEYS),WTR=CTWKVS" "TRACE CT,ON,COMP=KVSERVER"
load
kill_unit ctrace-writer@CTWKVS
load
until_back ctrace-writer@CTWKVS
load
ctrace flush
ctrace stats
'
# The forwarder and the responder work for it too, with a server of NATS; each is killed once.
use_others='
systemctl stop nats-server # without JetStream
nats-server -js -sd /root/nats & # localhost is that of this container alone
echo CTRACE_NATS=nats://localhost:4222 >/etc/ctrace/respond.env
systemctl start ctrace-respond ctrace-forward || exit
printf "%s\n" "mftrace.level = info" "mftrace.dest = nats" "mftrace.emitter.nats#url = nats://localhost:4222" >nats.cfg
cobc -x $(pkg-config --variable=cobc_flags ctrace) /usr/share/doc/ctrace/examples/hello.cbl
MFTRACE_CONFIG=nats.cfg ./hello
until ctrace show nats://localhost:4222/TRACES | grep Ada; do sleep 0.1; done
kill_unit ctrace-forward
MFTRACE_CONFIG=nats.cfg ./hello
until test "$(ctrace show --count nats://localhost:4222/TRACES)" = 2; do sleep 0.1; done
until test -z "$(find /var/spool/ctrace -name metadata)"; do sleep 0.1; done
export CTRACE_NATS=nats://localhost:4222
ctrace op "ROUTE *ALL,D TRACE" | grep KVSERVER || exit
kill_unit ctrace-respond
until_back ctrace-respond
ctrace --host="*" list | grep kvserver || exit
ctrace --host="*" flush || exit
'
end_all='
kill -9 "$server"
wait "$server"
systemctl stop ctrace-writer@CTWKVS ctrace-respond ctrace-forward || exit
for unit in ctrace-writer@CTWKVS ctrace-respond ctrace-forward; do
	echo "$unit: $(systemctl show -p Result --value $unit)"
	journalctl --no-pager -u $unit -o cat
done
ctrace recover
ctrace show /var/trace/CTWKVS.1 >events && wc -l events
echo "the units work"
'
boot() {
	inside "$root" "apt-get update -q && apt-get install -qy --no-install-recommends systemd dbus nats-server && $install"
	mkdir -p "$root/etc/ctrace/proclib" "$root/etc/systemd/system/multi-user.target.wants"
	printf '%s\n' 'TRCOUT01 PATH=/var/trace/$(NAME).1 PRIMARY=1M' 'COMPRESS=ZSTD' >"$root/etc/ctrace/proclib/CTWKVS"
	printf '%s\n' 'exec >/root/units.log 2>&1' 'set -x' "$use_writer" "$use_others" "$end_all" >"$root/root/use-units.sh"
	printf '%s\n' '[Service]' 'Type=oneshot' 'TimeoutStartSec=300' 'Environment=HOME=/root' 'ExecStart=/bin/sh /root/use-units.sh' \
		'ExecStopPost=/bin/systemctl --no-block exit' >"$root/etc/systemd/system/use-units.service"
	ln -s ../use-units.service "$root/etc/systemd/system/multi-user.target.wants/"
	umount -l "$root/proc" "$root/dev"
	timeout 400 systemd-nspawn --quiet --register=no --keep-unit --boot --private-network --directory "$root" --capability=all || :
	cat "$root/root/units.log"
	grep -q '^the units work$' "$root/root/units.log" && grep -q 'pending 0, lost 0$' "$root/root/units.log" &&
		[ "$(grep -c '^ctrace-[a-zA-Z@]*: success$' "$root/root/units.log")" = 3 ]
}
unit_steps() {
	check 'a bare Debian' make_base
	[ -e "$directory/base/.made" ] || return 0
	make_root
	check 'the writer, the forwarder and the responder work as units of systemd' boot
	remove_root
}

# ---- in a container
# The sources as they are committed.  What the machine needs to reach Debian's packages is in the bare Debian.
image_build() {
	rm -rf "$directory/context"
	mkdir "$directory/context"
	git archive HEAD | tar -x -C "$directory/context"
	buildah from --name ctrace-base scratch
	buildah copy -q ctrace-base "$directory/base" /
	buildah commit -q ctrace-base localhost/ctrace-base
	buildah rm ctrace-base
	# shellcheck disable=SC2046 # a list of words
	buildah build --isolation chroot --network host --build-arg DEBIAN=localhost/ctrace-base --volume /etc/hosts:/etc/hosts:ro \
		--volume /etc/resolv.conf:/etc/resolv.conf:ro -t localhost/ctrace -f packaging/Containerfile "$directory/context"
}
# It reads a trace of another machine, as that one did.
image_use() {
	buildah from --name ctrace-use --volume "$directory/context/tests/golden/machines:/traces:ro" localhost/ctrace
	buildah run --isolation chroot --env TZ=UTC --env CTRACE_CATALOG=/traces/items.yaml ctrace-use ctrace show s390x/items.ctb >"$directory/shown"
	diff tests/golden/machines/s390x/show.txt "$directory/shown"
}
image_remove() {
	buildah rm ctrace-use ctrace-base || :
	buildah rmi -f localhost/ctrace localhost/ctrace-base || :
} >/dev/null 2>&1
container_steps() {
	check 'a bare Debian' make_base
	[ -e "$directory/base/.made" ] || return 0
	image_remove
	check 'the container is built' image_build
	check 'it reads a trace' image_use
	image_remove
}

need_packages() { compgen -G "$directory/packages/*.changes" >/dev/null || check 'the packages are built' build deb; }
need_root() {
	[ "$(id -u)" != 0 ] || return 0
	failed=$((failed + 1))
	echo "not ok - $1 needs root: sudo scripts/check-packages.sh build-packages $1"
	return 1
}

for step; do
	case $step in
	reproducible)
		check 'the packages are built' build deb
		check 'they are built again, elsewhere' build_again deb
		check 'both have the same bytes' same_bytes "$directory/packages" deb
		;;
	rpm)
		check 'the packages of RPM are built' build rpm
		check 'they are built again, elsewhere' build_again rpm
		check 'both have the same bytes' same_bytes "$directory/rpm" rpm
		;;
	lintian)
		need_packages
		check 'lintian finds nothing' lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$directory"/packages/*.changes
		;;
	install) need_packages; ! need_root install || install_steps ;;
	units) need_packages; ! need_root units || unit_steps ;;
	container) ! need_root container || container_steps ;;
	*) echo "check-packages.sh: unknown step $step" >&2; exit 2 ;;
	esac
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
