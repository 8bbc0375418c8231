#!/bin/sh
# deb.sh DIRECTORY - builds the Debian packages in DIRECTORY, from a copy of the sources.
#
# Nothing is fetched.  Two runs from equal sources give equal bytes: debian/changelog has the date, and no path is in what is built.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
directory=$1
version=$(sed -n '1s/.*(\(.*\)-.*).*/\1/p' packaging/debian/changelog)
source=$directory/ctrace-$version

rm -f "$directory"/*.deb "$directory"/*.changes "$directory"/*.buildinfo
scripts/stage.sh "$source"
cp -a "$source/packaging/debian" "$source/debian"

# A package for each module of packaging/modules.list.
scripts/modules.sh | while IFS='|' read -r name needs _ summary; do
	package=ctrace-module-$name
	case $needs in
	-) ;;
	*) sed -i "s/^Build-Depends: /&$needs, /" "$source/debian/control" ;;
	esac
	cat >>"$source/debian/control" <<-E2

		Package: $package
		Section: libs
		Architecture: any
		Multi-Arch: same
		Depends: libctrace1 (= \${binary:Version}), \${misc:Depends}, \${shlibs:Depends}
		Enhances: ctrace, libctrace1
		Description: component tracer for COBOL and C - module $name
		 ctrace records what programs do while they run in production.
		 .
		 With this package $summary.
	E2
	echo "usr/lib/*/ctrace/$name*.so" >"$source/debian/$package.install"
done

(
	cd "$source"
	unset CFLAGS CPPFLAGS LDFLAGS SOURCE_DATE_EPOCH
	dpkg-buildpackage --build=binary --no-sign --no-pre-clean -j"$(nproc)"
) >"$directory/build.log" 2>&1 || { tail -30 "$directory/build.log"; exit 1; }
ls -l "$directory"/*.deb
