#!/bin/sh
# vendor.sh - fetches what web/vendor/ holds of other people's, and checks that it is what was reviewed.
#
# Run by hand, after a change of the version below; the build takes web/vendor/ as it is and needs no network.  The number is npm's
# own of the package (dist.integrity, SHA-512 in base64).
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
package=uplot@1.6.32
integrity=KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm pack --silent --pack-destination "$folder" "$package" >/dev/null
found=$(openssl dgst -sha512 -binary "$folder"/*.tgz | base64 -w 0)
if [ "$found" != "$integrity" ]; then
	echo "vendor.sh: $package is not what it was: sha512-$found" >&2
	exit 1
fi
tar -xzf "$folder"/*.tgz -C "$folder"
mkdir -p web/vendor
cp "$folder"/package/dist/uPlot.iife.min.js "$folder"/package/dist/uPlot.min.css web/vendor/
cp "$folder"/package/LICENSE web/vendor/uPlot.LICENSE
echo "web/vendor/: $package"
