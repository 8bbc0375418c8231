#!/usr/bin/env python3
"""Words and calls that may not stand in the project."""

import re

import project

report = project.Report()


def find(pattern, paths, only_code=True, flags=0):
    expression = re.compile(pattern, flags)
    found = []
    for path in paths:
        source = project.text(path)
        for number, line in enumerate((project.code(source) if only_code else source).split('\n'), 1):
            if expression.search(line):
                found.append(f'{path}:{number}: {line.strip()[:100]}')
    return found


C = ('.c', '.h')
ours = project.files('src', 'modules', 'include', ext=C)
# What is in libctrace.so, and the modules that it loads.
guest = project.files('src/base', 'src/format', 'src/session', 'src/compress', 'src/lib', 'modules', 'include', ext=C)
# Of the tool, the verbs print.  The report page goes into the file that its caller has opened.
silent = [p for p in ours if not p.startswith(('src/cli/', 'src/operator/', 'src/tools/')) and p != 'src/print/report/report_page.c']
no_exit = [p for p in silent if p != 'src/lib/start/last_thread.c']  # in place of libc, when no thread of the program is left
prose = [p for p in project.files('README.md', 'docs', 'man', 'src', 'modules', 'include', 'examples', 'copy', 'bench', 'tests/process', 'fuzz')
         if not p.startswith(('fuzz/corpus/', 'modules/otlp/proto/'))]

report.check('the environment is read through ct_os_environment(), which a set-uid program does not honour',
             find(r'(?<!\w)(secure_)?getenv\s*\(', [p for p in ours if p != 'src/base/os.c'])
             + find(r'(?<!\w)getenv\s*\(', ['src/base/os.c']))
report.check('the library never prints, exits or aborts',
             find(r'(?<![\w.>])(printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror)\s*\(', silent)
             + find(r'(?<![\w.>])(exit|_exit|_Exit|quick_exit|abort|assert)\s*\(', no_exit))
report.check('no call that trusts a length or the stack',
             find(r'(?<![\w.>])(alloca|gets|strcpy|stpcpy|strcat|sprintf|vsprintf|strtok|mktemp|tmpnam)\s*\(', ours))
report.check('signal dispositions are not touched',
             find(r'(?<![\w.>])(signal|sigaction|sigset|bsd_signal)\s*\(',
                  [file for file in guest if not str(file).endswith('lib/dump/crash.c')]))  # on request: ctrace.dump.on
report.check('the file format is written out: Common Trace Format', # its own signature is what it is
             find(r'(?<!/\* )\bCTF[- ]?(1\.8|2\.0|trace format|file format|format|metadata|packets?|streams?|TSDL|readers?|writers?|viewers?)\b', prose, False, re.I))
report.check('nothing is promised for later',
             find(r'\b(TO' r'DO|FIX' r'ME|XX' r'X|HA' r'CK)\b', prose + project.files('tests', 'scripts', 'Makefile', 'meson.build', ext=('.c', '.h', '.sh', '.py', '.build', 'run', 'Makefile')), False))


# Samples show what is printed; tables, pictures, comments and macros of manual pages take one line each.
def wide(path):
    is_sample = False
    for number, line in enumerate(project.text(path).split('\n'), 1):
        if line.startswith('```'):
            is_sample = not is_sample
        elif re.match(r'\.Bd\b(?! -(filled|ragged))', line):
            is_sample = True
        elif line.startswith('.Ed'):
            is_sample = False
        if len(line) > 100 and not is_sample and not line.startswith(('|', '    ', '![', '<!--', '.')):
            yield f'{path}:{number}: {len(line)}'


texts = project.files('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'docs', 'bench', 'src', ext=('.md',))
texts += [path for path in project.files('man') if path[-1].isdigit()]
report.check('no line of documents and manual pages has more than 100 columns',
             [line for path in texts for line in wide(path)] + ([] if len(texts) > 50 else [f'only {len(texts)} files are found']))
report.end()
