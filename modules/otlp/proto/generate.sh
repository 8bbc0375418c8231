#!/bin/sh
# generate.sh PROTOC-C DIRECTORY OUTPUT.c OUTPUT.h - makes one C file and one header from the schema in DIRECTORY.
#
# Called by the build.  protoc-c makes a pair of files for each file of the schema, below directories of its name; the build
# knows files of one directory only.
#
# Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
set -eu
compiler=$1 directory=$2 source=$3 header=$4
# A file comes after those that it imports.
files='common/v1/common resource/v1/resource logs/v1/logs trace/v1/trace collector/logs/v1/logs_service collector/trace/v1/trace_service'
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

for file in $files; do
	"$compiler" --proto_path="$directory" --c_out="$made" "$directory/opentelemetry/proto/$file.proto"
done
for file in $files; do cat "$made/opentelemetry/proto/$file.pb-c.h"; done | sed '/^#include "opentelemetry/d' >"$header"
{
	echo "#include \"$(basename "$header")\""
	for file in $files; do cat "$made/opentelemetry/proto/$file.pb-c.c"; done | sed '/^#include "opentelemetry/d'
} >"$source"
