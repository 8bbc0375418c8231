#!/bin/sh
# embed.sh OUTPUT.h FILE... - makes a C header in which each file is an array of bytes: web/report.html is asset_report_html.
#
# Called by the build.
set -eu
output=$1
shift
{
	echo '/* Made by scripts/embed.sh. */'
	for file; do
		name=$(basename "$file" | tr -c 'A-Za-z0-9\n' _)
		echo "static const unsigned char asset_${name}[] = {"
		od -An -v -tx1 "$file" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
		echo '};'
	done
} >"$output.new"
mv "$output.new" "$output"
