#!/usr/bin/env python3
"""libctrace.so exports what the public headers declare, and the exec functions that it wraps; it needs libc only."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests', 'docs'))
import project  # noqa: E402

BUILD = os.environ['CTRACE_BUILD']
LIBRARY = os.path.join(BUILD, 'libctrace.so')
EXEC = {'execve', 'execv', 'execvp', 'execvpe', 'execl', 'execlp', 'execle', 'fexecve'}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def declared():
    """Functions and data that the headers declare: preprocessed, our own lines only, inline bodies left out."""
    headers = project.files('include', ext=('.h',))
    source = ''.join(f'#include "{os.path.join(project.ROOT, h)}"\n' for h in headers)
    text = subprocess.run(['gcc', '-E', '-I', os.path.join(project.ROOT, 'include'), '-xc', '-'], input=source, capture_output=True,
                          text=True, check=True).stdout
    ours, lines = False, []
    for line in text.split('\n'):
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = marker.group(1).startswith(os.path.join(project.ROOT, 'include'))
        elif ours:
            lines.append(line)
    flat = re.sub(r'__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)', '', ' '.join(lines))
    while '{' in flat:
        flat, count = re.subn(r'\{[^{}]*\}', ';', flat)
        if not count:
            break
    names = set()
    for declaration in flat.split(';'):
        declaration = declaration.strip()
        if declaration.startswith(('static', 'typedef')) or not declaration:
            continue
        function = re.match(r'[^(=]*?\b(\w+)\s*\(', declaration)
        data = re.match(r'extern\b[^(]*?\b(\w+)(\[[^]]*\])*$', declaration)
        if function:
            names.add(function.group(1))
        elif data:
            names.add(data.group(1))
    return names


report = project.Report()
exported = {line.split()[-1].split('@')[0] for line in output('nm', '-D', '--defined-only', LIBRARY).splitlines()
            if line.split()[-2] != 'A'}
public = declared()
report.check('the headers declare something', [] if len(public) > 10 else [' '.join(sorted(public))])
report.check('what the headers declare is exported', [f'{name} is not' for name in sorted(public - exported)])
report.check('what is exported is declared', [f'{name} is in no header' for name in sorted(exported - public - EXEC)])
report.check('all exec functions are wrapped', [f'{name} is not' for name in sorted(EXEC - exported)])

dynamic = output('readelf', '-dW', LIBRARY)
needed = set(re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic)) - {'libc.so.6'}
report.check('libctrace.so needs libc only', sorted(f'{n} too' for n in needed if not n.startswith('ld-linux')))
report.check('its name is libctrace.so.1', [] if '[libctrace.so.1]' in dynamic else [dynamic])
report.check('it stays loaded, and is bound at once', [f'{flag} is not set' for flag in ('NODELETE', 'NOW') if flag not in dynamic])
report.check('its stack is not executable', [line for line in output('readelf', '-lW', LIBRARY).splitlines()
                                             if 'GNU_STACK' in line and 'RWE' in line])
versions = {line.split()[-1] for line in output('nm', '-D', '--defined-only', '--with-symbol-versions', LIBRARY).splitlines()}
report.check('what programs link with has a version, what is interposed has none',
             sorted(v for v in versions if not v.startswith('CTRACE_')
                    and (v.split('@')[0] in EXEC) == ('@' in v)))


def bound(program, **settings):
    """The library that a program's own call of execv goes to, as the dynamic linker says."""
    found = subprocess.run([program], env=dict(os.environ, LD_DEBUG='bindings', **settings), stderr=subprocess.PIPE, text=True, check=True)
    return re.findall(r'binding file \S*' + os.path.basename(program) + r' \[0\] to (\S+) \[0\]: normal symbol `execv\'', found.stderr)


def ours(libraries):
    return [] if [os.path.realpath(path) for path in libraries] == [os.path.realpath(LIBRARY)] else [f'{libraries}']


with open('becomes.c', 'w', encoding='utf-8') as source:
    source.write('#include <unistd.h>\nint main(void) { return execv("/bin/true", (char *[]){ "true", NULL }); }\n')
link = ['-L' + BUILD, '-Wl,--no-as-needed,-rpath,' + BUILD, '-lctrace']
output('gcc', '-o', 'linked', 'becomes.c', *link)
output('gcc', '-o', 'linked_after_libc', 'becomes.c', '-lc', *link)
output('gcc', '-o', 'preloading', 'becomes.c')
report.check('a program that is linked with it calls its execv', ours(bound('./linked')))
report.check('one that asks for the version of libc does when it preloads it', ours(bound('./preloading', LD_PRELOAD=LIBRARY)))
after = bound('./linked_after_libc')
report.check('one that is linked with libc first calls that of libc', [] if after and 'libc.so' in after[0] else [f'{after}'])
report.end()
