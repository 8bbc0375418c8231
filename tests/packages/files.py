#!/usr/bin/env python3
"""Each installed file is in exactly one Debian package and in one of RPM; versions and symbols agree with what is built.

Builds no package: `make check-packages` does.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""

import fnmatch
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ['CTRACE_SOURCE'], 'tests', 'docs'))
import project  # noqa: E402

DEBIAN = os.path.join(project.ROOT, 'packaging/debian')
SPEC = project.text('packaging/ctrace.spec.in')
MACHINE = 'x86_64-linux-gnu'


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=project.ROOT).stdout


def installed():
    """What an installation has, relative to its root, as if its prefix were /usr and its library directory Debian's."""
    destination = os.path.abspath('dest')
    subprocess.run(['meson', 'install', '-C', project.BUILD, '--no-rebuild', '--quiet', '--destdir', destination], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pc = glob.glob(destination + '/**/pkgconfig/ctrace.pc', recursive=True)[0]
    with open(pc, encoding='utf-8') as file:
        values = dict(re.findall(r'^(prefix|libdir)=(.*)$', file.read(), re.MULTILINE))
    found = set()
    for at, names, leaves in os.walk(destination):
        for leaf in leaves + [n for n in names if os.path.islink(os.path.join(at, n))]:
            path = os.path.join(at, leaf)[len(destination):]
            if path.startswith(values['libdir'] + '/'):
                path = f'/usr/lib/{MACHINE}' + path[len(values['libdir']):]
            elif path.startswith(values['prefix'] + '/'):
                path = '/usr' + path[len(values['prefix']):]
            found.add(path[1:])
    return found


def takes(pattern, path):
    """True if a line of debian/*.install or of %files has the path: by itself, or with a directory above it."""
    parts, wanted = path.split('/'), pattern.rstrip('/').split('/')
    return len(parts) >= len(wanted) and all(fnmatch.fnmatchcase(part, want) for part, want in zip(parts, wanted))


def module_lines():
    return [line.split('|') for line in output('scripts/modules.sh').splitlines()]


def debian_packages():
    packages = {}
    for file in sorted(glob.glob(DEBIAN + '/*.install')):
        with open(file, encoding='utf-8') as lines:
            packages[os.path.basename(file)[:-len('.install')]] = [line.split()[0] for line in lines if line.strip()]
    for name, *_ in module_lines():
        packages['ctrace-module-' + name] = [f'usr/lib/*/ctrace/{name}*.so']
    return packages


def rpm_packages():
    """The lines of %files, and what %exclude takes out of them."""
    macros = {'%{_prefix}': '/usr', '%{_bindir}': '/usr/bin', '%{_libdir}': f'/usr/lib/{MACHINE}', '%{_datadir}': '/usr/share',
              '%{_mandir}': '/usr/share/man', '%{_includedir}': '/usr/include'}
    packages = {}
    for heading, body in re.findall(r'^%files ?(\S*)\n(.*?)(?=^%files|^%changelog)', SPEC, re.MULTILINE | re.DOTALL):
        lines = [line for line in body.split('\n') if re.match(r'%\{|%exclude', line)]
        for macro, value in macros.items():
            lines = [line.replace(macro, value) for line in lines]
        packages['ctrace-' + heading if heading else 'ctrace'] = [re.sub(r'^(%exclude )?/', r'\1', line) for line in lines]
    for name, *_ in module_lines():
        packages['ctrace-module-' + name] = [f'usr/lib/{MACHINE}/ctrace/{name}*.so']
    return packages


def check_packages(report, what, packages, files):
    """The errors of a set of packages."""
    errors, used = [], set()
    for path in sorted(files):
        owners = []
        for name, lines in packages.items():
            excluded = any(takes(line[len('%exclude '):], path) for line in lines if line.startswith('%exclude '))
            matching = [line for line in lines if not line.startswith('%') and takes(line, path)]
            used.update((name, line) for line in matching)
            if matching and not excluded:
                owners.append(name)
        if len(owners) != 1:
            errors.append(f"{path} is in {', '.join(owners) or 'no package'}")
    for name, lines in packages.items():
        errors += [f'{name}: nothing is installed for {line}' for line in lines if not line.startswith('%') and (name, line) not in used]
    report.check(f'each installed file is in one package of {what}', errors)


def check_symbols(report):
    """The symbols file has a line for each export and no other; its nodes are those of the version script."""
    text = project.text('packaging/debian/libctrace1.symbols')
    listed = set(re.findall(r'^ (\S+) ', text, re.MULTILINE))
    found = set()
    for line in output('nm', '-D', '--defined-only', '--with-symbol-versions', os.path.join(project.BUILD, 'libctrace.so')).splitlines():
        kind, name = line.split()[1:]
        if kind == 'A':  # the node itself
            name = f'{name.split("@")[0]}@{name.split("@")[0]}'
        found.add(re.sub('@+', '@', name) if '@' in name else name + '@Base')
    report.check('packaging/debian/libctrace1.symbols lists what libctrace.so exports',
                 [f'{name} is exported and not listed: add " {name} <version of its release>"' for name in sorted(found - listed)]
                 + [f'{name} is listed and no longer exported: programs that use it break' for name in sorted(listed - found)])
    nodes = set(re.findall(r'^(CTRACE_[\d.]+) \{', project.text('src/lib/ctrace.map'), re.MULTILINE))
    report.check('its versions are those of src/lib/ctrace.map',
                 [f'{one} is in one of the two' for one in sorted(nodes ^ {name.split('@')[1] for name in listed if '@CTRACE' in name})])


def check_versions(report):
    version = re.search(r"version: '([^']*)'", project.text('meson.build')).group(1)
    changed = re.match(r'ctrace \((.*)-[^-]*\)', project.text('packaging/debian/changelog')).group(1)
    report.check('packaging/debian/changelog has the version of meson.build', [] if version == changed else [f'{changed} is not {version}'])
    soname = re.search(r'SONAME.*\[(.*)\]', output('readelf', '-d', os.path.join(project.BUILD, 'libctrace.so'))).group(1)
    package = soname.replace('.so.', '')
    report.check('the library\'s package has the name of the library',
                 [] if f'Package: {package}\n' in project.text('packaging/debian/control') else [f'{soname}, and no package {package}'])


def main():
    report = project.Report()
    files = installed()
    removed = {path for line in re.findall(r'^\trm (.*)$', project.text('packaging/debian/rules'), re.MULTILINE) for path in line.split()}
    check_packages(report, 'Debian', debian_packages(), files - {path[len('debian/tmp/'):] for path in removed})
    check_packages(report, 'RPM', rpm_packages(), {path for path in files if not path.endswith('LICENSE')})
    check_symbols(report)
    check_versions(report)
    report.end()


main()
