#!/bin/sh
# rpm.sh DIRECTORY - builds the RPM packages in DIRECTORY, from a copy of the sources.  Nothing is fetched.
#
# On Debian no RPM satisfies BuildRequires; scripts/setup.sh has looked for what they need.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
directory=$(cd "$1" && pwd)
version=$(sed -n '1s/.*(\(.*\)-.*).*/\1/p' packaging/debian/changelog)
changed=$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -1)
SOURCE_DATE_EPOCH=$(date -d "$changed" +%s)
export SOURCE_DATE_EPOCH LC_ALL=C

rm -rf "$directory/top" "$directory"/*.rpm
scripts/stage.sh "$directory/top/ctrace-$version"
mkdir -p "$directory/top/SOURCES"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$directory/top" -cf - "ctrace-$version" |
	gzip -n >"$directory/top/SOURCES/ctrace-$version.tar.gz"
rm -rf "$directory/top/ctrace-$version"

# shellcheck disable=SC2086 # needs: a list of words
scripts/modules.sh | while IFS='|' read -r name _ needs summary; do
	cat <<-E2
		%package module-$name
		Summary: Component tracer for COBOL and C - module $name
		Requires: ctrace-libs%{?_isa} = %{version}-%{release}
		$([ "$needs" = - ] || printf 'BuildRequires: pkgconfig(%s)\n' $needs)
		%description module-$name
		With this package $summary.
		%files module-$name
		%dir %{_libdir}/ctrace
		%{_libdir}/ctrace/$name*.so

	E2
done >"$directory/modules"
sed -e "s/@VERSION@/$version/; s/@DATE@/$(date -u -d "$changed" '+%a %b %d %Y')/" \
	-e "/^@MODULES@/{r $directory/modules" -e 'd}' packaging/ctrace.spec.in >"$directory/ctrace.spec"
rm "$directory/modules"

deps=''
[ ! -e /etc/debian_version ] || deps=--nodeps
libdir=$(rpm --eval '%{_libdir}')
case $libdir in
/usr/lib | /usr/lib64) ;;
*) libdir=/usr/lib64 ;;
esac
# shellcheck disable=SC2086 # an option or none
rpmbuild -bb $deps --define "_topdir $directory/top" --define "_rpmdir $directory" --define '_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' \
	--define "_lib ${libdir#/usr/}" --define "_libdir $libdir" "$directory/ctrace.spec" >"$directory/build.log" 2>&1 || { tail -30 "$directory/build.log"; exit 1; }
ls -l "$directory"/*.rpm
