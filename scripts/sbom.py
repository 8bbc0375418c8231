#!/usr/bin/env python3
"""sbom.py VERSION OUTPUT FILE... - writes the bill of materials of a build, as SPDX 2.3 in JSON.

Meson calls it after the link.  Each FILE is a program or library of ours: what it loads is read from its dynamic section, so no list
of libraries has to be kept.  What others have written and the tree holds comes from scripts/vendor.sh and web/vendor/.  Equal inputs
give equal bytes: the date is SOURCE_DATE_EPOCH, or that of the commit.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import base64
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The name of a shared object without its version: name, licence, supplier, module of pkg-config.
LIBRARIES = {
    'libc': ('glibc', 'LGPL-2.1-or-later', 'GNU', None),
    'libm': ('glibc', 'LGPL-2.1-or-later', 'GNU', None),
    'libdl': ('glibc', 'LGPL-2.1-or-later', 'GNU', None),
    'libpthread': ('glibc', 'LGPL-2.1-or-later', 'GNU', None),
    'ld-linux-x86-64': ('glibc', 'LGPL-2.1-or-later', 'GNU', None),
    'ld-linux-aarch64': ('glibc', 'LGPL-2.1-or-later', 'GNU', None),
    'libyaml-0': ('libyaml', 'MIT', 'libyaml', 'yaml-0.1'),
    'libzstd': ('zstd', 'BSD-3-Clause OR GPL-2.0-only', 'Meta', 'libzstd'),
    'libjansson': ('jansson', 'MIT', 'jansson', 'jansson'),
    'libedit': ('libedit', 'BSD-3-Clause', 'libedit', 'libedit'),
    'libsystemd': ('libsystemd', 'LGPL-2.1-or-later', 'systemd', 'libsystemd'),
    'libz': ('zlib', 'Zlib', 'zlib', 'zlib'),
    'libncursesw': ('ncurses', 'X11-distribute-modifications-variant', 'ncurses', 'ncursesw'),
    'libtinfo': ('ncurses', 'X11-distribute-modifications-variant', 'ncurses', 'ncursesw'),
    'libexpat': ('expat', 'MIT', 'expat', 'expat'),
    'libnats': ('nats.c', 'Apache-2.0', 'NATS', 'libnats'),
    'libmicrohttpd': ('libmicrohttpd', 'LGPL-2.1-or-later', 'GNU', 'libmicrohttpd'),
    'libssl': ('openssl', 'Apache-2.0', 'OpenSSL', 'openssl'),
    'libcrypto': ('openssl', 'Apache-2.0', 'OpenSSL', 'openssl'),
    'libprotobuf-c': ('protobuf-c', 'BSD-2-Clause', 'protobuf-c', 'libprotobuf-c'),
    'libcurl': ('curl', 'curl', 'curl', 'libcurl'),
}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, 'LC_ALL': 'C'}).stdout


def created():
    """The date of the document, in the form that SPDX asks for."""
    epoch = os.environ.get('SOURCE_DATE_EPOCH')
    if not epoch:
        try:
            epoch = output('git', '-C', ROOT, 'log', '-1', '--format=%ct').strip()
        except (OSError, subprocess.CalledProcessError):
            epoch = datetime.datetime.now().timestamp()
    return datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')


def identifier(name):
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.]+', '-', name)


def package(name, version, licence, supplier, copyright_text='NOASSERTION'):
    return {'SPDXID': identifier(name), 'name': name, 'versionInfo': version, 'supplier': supplier, 'downloadLocation': 'NOASSERTION',
            'filesAnalyzed': False, 'licenseConcluded': licence, 'licenseDeclared': licence, 'copyrightText': copyright_text}


def needed(path):
    return re.findall(r'\(NEEDED\).*\[(.*)\]', output('readelf', '-d', path))


def library(soname):
    """The package of a library of the system that a file of ours loads."""
    stem = re.sub(r'(-\d[\d.]*)?\.so(\.\d+)*$', lambda match: match.group(1) or '', soname)
    stem = next((known for known in (stem, stem.split('-')[0]) if known in LIBRARIES), None)
    if stem is None:  # tests/packages/sbom.py asks for a line above
        return package(soname, 'NOASSERTION', 'NOASSERTION', 'NOASSERTION')
    name, licence, supplier, module = LIBRARIES[stem]
    version = output('pkg-config', '--modversion', module).strip() if module else os.confstr('CS_GNU_LIBC_VERSION').split()[-1]
    return package(name, version, licence, f'Organization: {supplier}')


def vendored():
    """The package that scripts/vendor.sh fetches, and its files in the tree."""
    with open(os.path.join(ROOT, 'scripts/vendor.sh'), encoding='utf-8') as script:
        text = script.read()
    name, version = re.search(r'^package=(\S+)@(\S+)$', text, re.MULTILINE).groups()
    integrity = re.search(r'^integrity=(\S+)$', text, re.MULTILINE).group(1)
    directory = os.path.join(ROOT, 'web/vendor')
    files, licence = [], None
    for leaf in sorted(os.listdir(directory)):
        with open(os.path.join(directory, leaf), 'rb') as file:
            content = file.read()
        if leaf.endswith('.LICENSE'):
            licence = content.decode()
        files.append({'SPDXID': identifier('web/vendor/' + leaf), 'fileName': './web/vendor/' + leaf,
                      'checksums': [{'algorithm': 'SHA1', 'checksumValue': hashlib.sha1(content).hexdigest()},
                                    {'algorithm': 'SHA256', 'checksumValue': hashlib.sha256(content).hexdigest()}],
                      'licenseConcluded': 'MIT', 'licenseInfoInFiles': ['NOASSERTION'], 'copyrightText': 'NOASSERTION'})
    if licence is None or not licence.startswith('The MIT License'):
        sys.exit('sbom.py: the licence of web/vendor/ is not the MIT licence that scripts/sbom.py names')
    copyright_text = re.search(r'^Copyright.*$', licence, re.MULTILINE).group().strip()
    for file in files:
        file['copyrightText'] = copyright_text
    sums = ''.join(sorted(file['checksums'][0]['checksumValue'] for file in files))
    described = package(name, version, 'MIT', 'NOASSERTION', copyright_text)
    described.update(filesAnalyzed=True, licenseInfoFromFiles=['NOASSERTION'], hasFiles=[file['SPDXID'] for file in files],
                     packageVerificationCode={'packageVerificationCodeValue': hashlib.sha1(sums.encode()).hexdigest()},
                     checksums=[{'algorithm': 'SHA512', 'checksumValue': base64.b64decode(integrity).hex()}],
                     externalRefs=[{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl',
                                    'referenceLocator': f'pkg:npm/{name}@{version}'}])
    return described, files


def main(version, path, built):
    ours = package('ctrace', version, 'Apache-2.0', 'Organization: The ctrace authors', 'Copyright The ctrace authors')
    other, files = vendored()
    packages = {p['SPDXID']: p for p in (ours, other)}
    relations = [('SPDXRef-DOCUMENT', 'DESCRIBES', ours['SPDXID']), (ours['SPDXID'], 'CONTAINS', other['SPDXID'])]
    compiler = package('libgcc', output('gcc', '-dumpfullversion').strip(), 'GPL-3.0-or-later WITH GCC-exception-3.1',
                       'Organization: GNU')
    own = {os.path.basename(file): file for file in built}
    for leaf, file in sorted(own.items()):
        part = package(leaf if leaf != 'ctrace' else 'ctrace-tool', version, 'Apache-2.0', 'Organization: The ctrace authors',
                       'Copyright The ctrace authors')
        packages[part['SPDXID']] = part
        relations.append((ours['SPDXID'], 'CONTAINS', part['SPDXID']))
        for soname in needed(file):
            if soname == 'libctrace.so.1':
                relations.append((part['SPDXID'], 'DYNAMIC_LINK', identifier('libctrace.so.1.0.0')))
                continue
            if soname == 'libgcc_s.so.1':
                linked = dict(compiler)
            else:
                linked = library(soname)
            packages[linked['SPDXID']] = linked
            relations.append((part['SPDXID'], 'DYNAMIC_LINK', linked['SPDXID']))
        # -static-libgcc in meson.build: the unwinder is part of these.
        if leaf.startswith('libctrace'):
            packages[compiler['SPDXID']] = compiler
            relations.append((part['SPDXID'], 'STATIC_LINK', compiler['SPDXID']))
    document = {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'ctrace-{version}',
        'creationInfo': {'created': created(), 'creators': ['Organization: The ctrace authors', f'Tool: sbom.py-{version}']},
        'packages': [packages[key] for key in sorted(packages)], 'files': files,
        'relationships': [{'spdxElementId': a, 'relationshipType': kind, 'relatedSpdxElement': b} for a, kind, b in sorted(set(relations))],
    }
    document['documentNamespace'] = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(document, sort_keys=True)).urn
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(document, file, indent=1, sort_keys=True)
        file.write('\n')


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
