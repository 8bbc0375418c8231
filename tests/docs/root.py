#!/usr/bin/env python3
"""What may be at the root of the repository.  A file that a test or a tool left there is not committed by accident."""

import os

import project

FILES = {'.clang-format', '.clang-tidy', '.editorconfig', '.gitattributes', '.gitignore', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE',
         'Makefile', 'README.md', 'SECURITY.md', 'meson.build', 'meson_options.txt'}
DIRECTORIES = {'.ci', 'bench', 'catalog', 'completion', 'copy', 'docs', 'examples', 'fuzz', 'include', 'man', 'modules', 'packaging',
               'scripts', 'src', 'systemd', 'tests', 'web'}

report = project.Report()
tracked = project.run('git', 'ls-files', '-z') if os.path.exists(os.path.join(project.ROOT, '.git')) else None
if tracked is not None and tracked.returncode == 0:
    paths = [path for path in tracked.stdout.split('\0') if path]
    found = {path.split('/')[0] + ('/' if '/' in path else '') for path in paths}
else:  # a copy without git; builds are beside the sources
    found = {name + ('/' if os.path.isdir(os.path.join(project.ROOT, name)) else '') for name in os.listdir(project.ROOT)
             if name != '.git' and not name.startswith('build')}
allowed = FILES | {name + '/' for name in DIRECTORIES}
report.check('only what belongs there is at the root',
             [f'{name}: move it into a directory, or add it to tests/docs/root.py with a reason' for name in sorted(found - allowed)])
report.check('everything that belongs there is at the root', [f'{name} is missing' for name in sorted(allowed - found)])
report.end()
