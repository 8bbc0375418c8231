#!/usr/bin/env bash
# The commands of the documents that are typed after the demo: tests/docs/commands.py has the rest.
exec "$CTRACE_SOURCE/tests/docs/commands.py" docs/TOUR.md docs/reading.md
