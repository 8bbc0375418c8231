#!/bin/sh
# fetch.sh PACKAGE@VERSION INTEGRITY DIRECTORY - unpacks an npm package into DIRECTORY, when it is what was reviewed.
#
# INTEGRITY is npm's own number of the package (dist.integrity: SHA-512 in base64).  Nothing of the package is run.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
package=$1 integrity=$2 directory=$3

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
npm pack --silent --pack-destination "$temporary" "$package" >/dev/null
found=$(openssl dgst -sha512 -binary "$temporary"/*.tgz | base64 -w 0)
if [ "$found" != "$integrity" ]; then
	echo "fetch.sh: $package is not what it was: sha512-$found" >&2
	exit 1
fi
mkdir -p "$directory"
tar -xzf "$temporary"/*.tgz -C "$directory" --strip-components=1
