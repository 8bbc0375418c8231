#!/bin/sh
# speedscope.sh [BUILD] - fetches speedscope into BUILD/speedscope, where tests/process/speedscope.py looks for it.
#
# Run by hand, where there is npm; without it that test is skipped.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
scripts/fetch.sh speedscope@1.25.0 \
	cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag== \
	"${1:-build}/speedscope"
