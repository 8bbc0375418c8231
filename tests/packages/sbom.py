#!/usr/bin/env python3
"""The bill of materials names each library that is loaded, with a licence, and holds together.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import hashlib
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests', 'docs'))
import project  # noqa: E402

with open(os.path.join(project.BUILD, 'ctrace.spdx.json'), encoding='utf-8') as file:
    document = json.load(file)
packages = {package['SPDXID']: package for package in document['packages']}
files = {file['SPDXID']: file for file in document['files']}
known = set(packages) | set(files) | {'SPDXRef-DOCUMENT'}
report = project.Report()

report.check('it is SPDX 2.3, and dated', [] if document['spdxVersion'] == 'SPDX-2.3' and re.fullmatch(
    r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', document['creationInfo']['created']) else [str(document['creationInfo'])])
report.check('each identifier is used once, and each reference leads to one',
             ([] if len(packages) == len(document['packages']) else ['a package has the identifier of another'])
             + [f'{relation} leads nowhere' for relation in document['relationships']
                if not {relation['spdxElementId'], relation['relatedSpdxElement']} <= known])
report.check('each package has a licence', [f"{package['name']}: add it to LIBRARIES in scripts/sbom.py"
                                            for package in packages.values() if package['licenseDeclared'] == 'NOASSERTION'])

# What the tool loads, in the words of the dynamic linker's own section.
loaded = re.findall(r'\(NEEDED\).*\[lib(\w+)', subprocess.run(['readelf', '-d', os.path.join(project.BUILD, 'ctrace')], check=True,
                                                             capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C'}).stdout)
named = ' '.join(package['name'] for package in packages.values()) + ' zlib glibc ncurses'
report.check('what the tool loads is named', [f'lib{name}' for name in loaded
                                              if name not in ('z', 'c', 'm', 'gcc_s', 'ncursesw', 'tinfo') and name.split('-')[0] not in named])

errors = []
for file in files.values():
    with open(os.path.join(project.ROOT, file['fileName']), 'rb') as content:
        data = content.read()
    for checksum in file['checksums']:
        if hashlib.new(checksum['algorithm'].lower(), data).hexdigest() != checksum['checksumValue']:
            errors.append(f"{file['fileName']}: {checksum['algorithm']}")
vendored = set(os.listdir(os.path.join(project.ROOT, 'web/vendor')))
errors += [f'{name} is not listed' for name in sorted(vendored - {os.path.basename(file['fileName']) for file in files.values()})]
report.check('the files of web/vendor/ are listed, and are the ones listed', errors)
report.end()
