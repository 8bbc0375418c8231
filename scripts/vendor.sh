#!/bin/sh
# vendor.sh - fetches what web/vendor/ holds of other people's, and checks that it is what was reviewed.
#
# Run by hand, after a change of the version below; the build takes web/vendor/ as it is and needs no network.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
package=uplot@1.6.32
integrity=KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
scripts/fetch.sh "$package" "$integrity" "$directory"
mkdir -p web/vendor
cp "$directory"/dist/uPlot.iife.min.js "$directory"/dist/uPlot.min.css web/vendor/
cp "$directory"/LICENSE web/vendor/uPlot.LICENSE
echo "web/vendor/: $package"
