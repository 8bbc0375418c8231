#!/usr/bin/env bash
# The demo: each of its sections ends with a line of what was seen.
set -u
# shellcheck source=tests/tap.sh
source "$CTRACE_SOURCE/tests/tap.sh"

sections() { # of what the demo runs, in its order: "step" and "seen" in turn
	sed -e '/demo-operator.sh"$/d' -e '/demo-reading.sh"$/d' -e '/demo-storage.sh"$/d' "$CTRACE_SOURCE/scripts/demo.sh" |
		sed -n -e "s/^step '[0-9].*/step/p" -e 's/^\t*seen .*/seen/p' -e 's/^reading_ends$/seen/p' | tr '\n' ' '
}
check 'a line after each section' test "$(sections)" = "$(printf 'step seen %.0s' 1 2 3 4 5 6 7 8 9 10 11 12)"
check 'the last one too' grep -q "^	seen '" "$CTRACE_SOURCE/scripts/demo-reading.sh"
end
