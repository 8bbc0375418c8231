"""What the checkers of this directory share: the project's files, C without comments and strings, and a report in TAP."""

import glob
import os
import re
import subprocess
import sys

ROOT = os.environ.get('CTRACE_SOURCE') or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get('CTRACE_BUILD') or os.path.join(ROOT, 'build')


def files(*directories, ext=()):
    """The project's files below these directories, relative to its root, generated directories left out."""
    found = []
    for directory in directories:
        path = os.path.join(ROOT, directory)
        if os.path.isfile(path):
            found.append(directory)
        for at, names, leaves in os.walk(path):
            names[:] = sorted(n for n in names if n not in ('.git', '__pycache__') and not n.startswith('build'))
            found += [os.path.relpath(os.path.join(at, leaf), ROOT) for leaf in sorted(leaves)]
    return [f for f in found if not ext or f.endswith(tuple(ext))]


def text(path):
    with open(os.path.join(ROOT, path), encoding='utf-8', errors='replace') as file:
        return file.read()


TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code(source):
    """C with comments and string contents blanked; line numbers stay."""
    def blank(match):
        token = match.group()
        return '""' if token[0] == '"' else "' '" if token[0] == "'" else re.sub(r'[^\n]', ' ', token)
    return TOKEN.sub(blank, source)


def symbols(directory):
    """(member, letter, symbol) of the archive of a directory of src/; of the tool's own and of modules/, of their objects."""
    if directory.split('/')[0] == 'modules' or directory == 'tools':
        own = {os.path.dirname(path).split('/')[1] for path in files('modules', ext=('.c',)) if path.count('/') > 1}
        objects = [os.path.join(BUILD, 'ctrace.p')] if directory == 'tools' else \
            [os.path.join(BUILD, directory + '.so.p')] if directory != 'modules' else \
            [at for at in glob.glob(os.path.join(BUILD, 'modules', '*.p')) if os.path.basename(at).split('.')[0] not in own]
        built = sorted(o for at in objects for o in glob.glob(os.path.join(at, '*.o')))
    else:
        built = [os.path.join(BUILD, f'lib{os.path.basename(directory)}.a')]
        if directory == 'cobol_runtime' and not os.path.exists(built[0]):
            return  # built where GnuCOBOL is
    if not built:
        return  # a module that is not built here
    listing = subprocess.run(['nm', '-A'] + built, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        where, _, rest = line.rpartition(':')
        fields = rest.split()
        yield re.sub(r'.*src_|\.o$', '', where), fields[-2], fields[-1]


class Report:
    """One check per call of check(); errors are lines of text."""

    def __init__(self):
        self.count = self.bad = 0

    def check(self, what, errors):
        self.count += 1
        self.bad += bool(errors)
        print(f'{"not ok" if errors else "ok"} {self.count} - {what}')
        for error in errors:
            print(f'#   {error}')

    def end(self):
        print(f'1..{self.count}')
        sys.exit(1 if self.bad else 0)


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
