#!/usr/bin/env python3
"""walks.py - how many files a value passes on its way, counted from the stacks of the running programs.

Two walks: of a trace's bytes to the line of `ctrace show`, and of the operator's TRACE CT to the level word that the traced threads read.
gdb stops the programs where the value is taken over, changed and given on, and the files on these stacks are counted; an inline function
counts for the .c file of its header.  Reads a debug build (CTRACE_BUILD, else build/).  With an argument the stacks are printed.
Exits 1 when a walk is longer than its limit.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get('CTRACE_BUILD') or os.path.join(ROOT, 'build'))
PATIENCE = 120
# What gdb does: stop at a function, print the stack, delete the stop, go on.
SHOW = ['break ct_stream_file_move', 'run', 'break pread64', 'continue', 'bt', 'delete', 'break ct_event_decode', 'break ct_event_shape_size',
        'continue', 'bt', 'delete', 'break ct_line_add_data', 'continue', 'break ct_buf_add_u64', 'continue', 'bt', 'delete', 'break write',
        'continue', 'bt']
OPERATOR = ['break ct_operands_read', 'run', 'bt', 'delete', 'break ct_reply_parse', 'continue', 'bt', 'delete', 'break ct_message_end',
            'continue', 'bt', 'delete', 'break talk_send', 'continue', 'bt']
PROCESS = ['break puts', 'run', 'delete', 'break ct_level_publish', 'continue', 'bt', 'delete', 'continue']
PROGRAM = """\
#include <ctrace/component.h>
#include <ctrace/ctrace.h>
#include <stdio.h>

static uint32_t agree(struct ctrace_ctss *ctss)
{
	(void)ctss;
	return 0;
}

int main(void)
{
	static struct ctrace_tracer tracer = CTRACE_TRACER("SHOWN");
	struct ctrace_define define = { CTRACE_DEFINE_INIT, .name = "WALK", .startnam = "WALKSS" };

	(void)!ctrace_routine_register("WALKSS", agree);
	ctrace_component_define(&define, NULL);
	CTRACE(&tracer, CTRACE_ERROR, 1, CTRACE_TEXT("walk", 4), CTRACE_U32(7));
	puts("defined");
	fflush(stdout);
	return getchar() == 0;
}
"""


def files_on_stacks(text):
    """The files of src/ in the order in which the stacks first have them, the outermost call first."""
    found = []
    for stack in re.split(r'^#0 ', text, flags=re.M)[1:]:
        for path in reversed(re.findall(r'^(?:#\d+)? .* at \S*?(src/\S+?):\d+$', stack, re.M)):
            pair = re.sub(r'\.h$', '.c', path)
            path = pair if os.path.exists(os.path.join(ROOT, pair)) else path
            if path not in found:
                found.append(path)
    return found


def gdb(steps, *command):
    return ['gdb', '-q', '-batch', '-nx', '-ex', 'set pagination off', '-ex', 'set debuginfod enabled off', '-ex', 'set breakpoint pending on',
            *(part for step in steps for part in ('-ex', step)), '--args', *command]


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, **more)


def walk(name, limit, found):
    print(f'{name}: {len(found)} files, at most {limit}: {", ".join(os.path.basename(path) for path in found)}')
    return len(found) <= limit


def main():
    with tempfile.TemporaryDirectory() as at:
        os.environ.update(CTRACE_RUN_DIR=f'{at}/run', LD_LIBRARY_PATH=BUILD, MFTRACE_CONFIG=f'{at}/config')
        os.mkdir(f'{at}/run', 0o700)
        with open(f'{at}/program.c', 'w', encoding='ascii') as file:
            file.write(PROGRAM)
        with open(f'{at}/config', 'w', encoding='ascii') as file:
            file.write(f'mftrace.dest = binfile\nmftrace.level = info\nmftrace.emitter.binfile#location = {at}\n')
        subprocess.run(['cc', '-o', f'{at}/program', f'{at}/program.c', f'-I{ROOT}/include', f'-L{BUILD}', '-lctrace'], check=True)
        run([f'{at}/program'], input='\n')
        trace = next(os.path.join(at, name) for name in os.listdir(at) if os.path.exists(os.path.join(at, name, 'metadata')))
        shown = run(gdb(SHOW, f'{BUILD}/ctrace', 'show', trace))
        is_short = walk('ctrace show', 14, files_on_stacks(shown.stdout))
        with subprocess.Popen(gdb(PROCESS, f'{at}/program'), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            while not process.stdout.readline().startswith('defined'):
                pass
            asked = run(gdb(OPERATOR, f'{BUILD}/ctrace', 'op', '--reply=END', 'TRACE CT,ON,COMP=WALK'))
            answered, _ = process.communicate('\n', timeout=PATIENCE)
        if len(sys.argv) > 1:
            print(shown.stdout, asked.stdout, answered)
        is_short &= walk('TRACE CT', 16, files_on_stacks(asked.stdout + answered))
    return 0 if is_short else 1


if __name__ == '__main__':
    sys.exit(main())
