#!/usr/bin/env python3
"""Who may use a stream, with real servers: credentials with a key of the user (nkey), and TLS with certificates of both sides.

The operator, the accounts and the users of a server are made here as `nsc` makes them; openssl makes keys, signatures and certificates.

Copyright The ctrace authors.  SPDX-License-Identifier: Apache-2.0
"""
import base64
import json
import subprocess
import sys

import streams
import writer
from streams import Server, free_ports
from writer import TOOL, expect, same

KINDS = {'O': 14 << 3, 'A': 0, 'U': 20 << 3}
UNLIMITED = {'subs': -1, 'data': -1, 'payload': -1}


def openssl(*words, data=None):
    return subprocess.run(['openssl', *words], input=data, capture_output=True, check=True).stdout


def encoded(data):
    """As keys are written: with a CRC-16, in base32."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return base64.b32encode(data + crc.to_bytes(2, 'little')).decode().rstrip('=')


def word(data):
    return base64.urlsafe_b64encode(data).decode().rstrip('=')


class Key:
    """Of an operator, an account or a user."""

    def __init__(self, room, name, kind):
        self.room, self.name, self.path = room, name, room.at(f'{name}.der')
        openssl('genpkey', '-algorithm', 'ed25519', '-outform', 'DER', '-out', self.path)
        public = openssl('pkey', '-inform', 'DER', '-in', self.path, '-pubout', '-outform', 'DER')[-32:]
        with open(self.path, 'rb') as file:
            seed = file.read()[-32:]
        self.public = encoded(bytes([KINDS[kind]]) + public)
        self.seed = encoded(bytes([18 << 3 | KINDS[kind] >> 5, (KINDS[kind] & 31) << 3]) + seed)

    def signed(self, subject, name, claims):
        """A token of this key about another one."""
        body = {'jti': name, 'iat': 1700000000, 'iss': self.public, 'sub': subject.public, 'name': name, 'nats': {**claims, 'version': 2}}
        text = word(b'{"typ":"JWT","alg":"ed25519-nkey"}') + '.' + word(json.dumps(body).encode())
        with open(self.room.at('to-sign'), 'w', encoding='ascii') as file:
            file.write(text)
        return text + '.' + word(openssl('pkeyutl', '-sign', '-inkey', self.path, '-keyform', 'DER', '-rawin', '-in', self.room.at('to-sign')))


def credentials(room, name, token, seed):
    """The file that `nsc` makes for a user."""
    path = room.at(f'{name}.creds')
    with open(path, 'w', encoding='ascii') as file:
        file.write(f'-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n'
                   f'-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n')
    return path


def configured(room, text):
    (port,) = free_ports(1)
    with open(room.at('server.conf'), 'w', encoding='ascii') as file:
        file.write(text)
    server = Server(room, 'one', port, ('-c', room.at('server.conf')))
    server.until('Server is ready')
    return port


def refused(room, address, *texts):
    """By a forwarder and by a reader."""
    for words in (('forward', room.at('logs')), ('show',)):
        done = room.tool(*words, address, check=False)
        assert done.returncode == 2 and all(text in done.stderr for text in (f'ctrace {words[0]}: ', *texts)), (address, texts, done)
        assert 'SEED' not in done.stderr and len(done.stderr.splitlines()) == 1, done


def a_credentials_file_opens_a_stream(room):
    operator, system, account, user, viewer, stranger = (Key(room, name, kind) for name, kind in (
        ('operator', 'O'), ('system', 'A'), ('account', 'A'), ('user', 'U'), ('viewer', 'U'), ('stranger', 'U')))
    limits = {**UNLIMITED, 'imports': -1, 'exports': -1, 'wildcards': True, 'conn': -1, 'leaf': -1}
    stores = {'mem_storage': -1, 'disk_storage': -1, 'streams': -1, 'consumer': -1}
    tokens = {
        system: operator.signed(system, 'SYS', {'type': 'account', 'limits': limits}),
        account: operator.signed(account, 'TRACES', {'type': 'account', 'limits': {**limits, **stores}}),
    }
    port = configured(room, f'operator: {operator.signed(operator, "ctrace", {"type": "operator"})}\nsystem_account: {system.public}\n'
                      'resolver: MEMORY\nresolver_preload: {\n' + ''.join(f'  {key.public}: {token}\n' for key, token in tokens.items()) + '}\n')
    address = f'nats://127.0.0.1:{port}/TRACES'
    room.traced(100)
    mine = credentials(room, 'mine', account.signed(user, 'user', {'type': 'user', **UNLIMITED, 'pub': {}, 'sub': {}}), user.seed)
    room.forward(f'{address}?credentials={mine}')
    same(room.shown(f'{address}?credentials={mine}'), expect(1, 100))
    # A user who may not publish.
    reading = account.signed(viewer, 'viewer', {'type': 'user', **UNLIMITED, 'pub': {'deny': ['ctrace.>']}, 'sub': {}})
    sees = credentials(room, 'sees', reading, viewer.seed)
    same(room.shown(f'{address}?credentials={sees}'), expect(1, 100))
    room.traced(100)
    done = room.tool('forward', room.at('logs'), f'{address}?credentials={sees}', check=False)
    assert done.returncode == 2 and 'Permissions Violation for Publish to "ctrace.' in done.stderr, done
    # None, the key of somebody else, a token that nobody signed, no file.
    refused(room, address, f'cannot connect to nats://127.0.0.1:{port}: ', 'Authorization')
    refused(room, f'{address}?credentials={credentials(room, "wrong", reading, user.seed)}', 'look at the user, the password or the credentials')
    forged = stranger.signed(stranger, 'stranger', {'type': 'user', **UNLIMITED, 'pub': {}, 'sub': {}})
    refused(room, f'{address}?credentials={credentials(room, "forged", forged, stranger.seed)}', 'Authorization')
    refused(room, f'{address}?credentials={room.at("nowhere")}', f'credentials={room.at("nowhere")} in the address: No such file')


def certificate(room, name, authority=None):
    """Signed by the authority, or its own."""
    key, request, made = (room.at(f'{name}.{suffix}') for suffix in ('key', 'csr', 'pem'))
    openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-subj', f'/CN={name}',
            *(('-x509', '-days', '2', '-out', made) if authority is None else ('-out', request)))
    if authority is not None:
        with open(room.at('extensions'), 'w', encoding='ascii') as file:
            file.write('subjectAltName = IP:127.0.0.1, DNS:localhost\n')
        openssl('x509', '-req', '-in', request, '-CA', room.at(f'{authority}.pem'), '-CAkey', room.at(f'{authority}.key'), '-CAcreateserial',
                '-days', '2', '-extfile', room.at('extensions'), '-out', made)
    return made, key


def certificates_of_both_sides_count(room):
    authority, _ = certificate(room, 'authority')
    other, _ = certificate(room, 'other')
    server, server_key = certificate(room, 'server', 'authority')
    mine, my_key = certificate(room, 'mine', 'authority')
    wrong, wrong_key = certificate(room, 'wrong', 'other')
    port = configured(room, f'tls {{ cert_file: "{server}", key_file: "{server_key}", ca_file: "{authority}", verify: true }}\n')
    address = f'tls://127.0.0.1:{port}/TRACES'
    room.traced(100)
    room.forward(f'{address}?ca={authority}&certificate={mine}&key={my_key}')
    same(room.shown(f'{address}?ca={authority}&certificate={mine}&key={my_key}'), expect(1, 100))
    for keys, text in (
            # The server is not whom the reader trusts.
            (f'ca={other}&certificate={mine}&key={my_key}', 'ca= in the address names the authorities'),
            (f'certificate={mine}&key={my_key}', 'ca= in the address names the authorities'),
            # The reader is not whom the server trusts, or nobody.
            (f'ca={authority}&certificate={wrong}&key={wrong_key}', 'the server does not accept certificate= of the address'),
            (f'ca={authority}', 'the server may want certificate= and key= in the address'),
            # Files that are missing, or of another one.
            (f'ca={room.at("nowhere")}', f'ca={room.at("nowhere")} in the address: No such file'),
            (f'ca={authority}&certificate={mine}&key={room.at("nowhere")}', f'key={room.at("nowhere")} in the address: No such file'),
            (f'ca={authority}&certificate={mine}&key={wrong_key}', 'key values mismatch')):
        refused(room, f'{address}?{keys}', text)
    refused(room, f'nats://127.0.0.1:{port}/TRACES', 'certificate')
    # A file of these in the address requires TLS, also without tls://.
    same(room.shown(f'nats://127.0.0.1:{port}/TRACES?ca={authority}&certificate={mine}&key={my_key}'), expect(1, 100))


def a_certificate_in_the_address_requires_tls(room):
    authority, _ = certificate(room, 'authority')
    mine, my_key = certificate(room, 'mine', 'authority')
    server, address = room.server()
    room.traced(100)
    for keys in f'ca={authority}', f'certificate={mine}&key={my_key}':
        done = room.tool('forward', room.at('logs'), f'{address}?{keys}', check=False)
        assert done.returncode == 2 and 'the server has no TLS, which ca=, certificate= and key= in the address require' in done.stderr, done
    # The destination NATS: its CA and CERT are part of the address that the forwarder gets.
    with open(room.at('app.cfg'), 'w', encoding='ascii') as file:
        file.write(f'mftrace.dest = nats\nmftrace.emitter.nats#url = nats://127.0.0.1:{server.port}\nmftrace.emitter.nats#ca = {authority}\n')
    room.environment['CTRACE_SPOOL'] = room.at('spool')
    room.traced(100)
    forwarder = subprocess.Popen([TOOL, 'forward', '--spool'], env=room.environment, stderr=subprocess.PIPE, text=True)
    room.processes.append(forwarder)
    assert 'the server has no TLS' in forwarder.stderr.readline()
    # Nothing came in plain text.
    assert 'there is no stream TRACES' in room.tool('show', address, check=False).stderr


writer.TESTS[:] = [a_credentials_file_opens_a_stream, certificates_of_both_sides_count, a_certificate_in_the_address_requires_tls]
writer.Room = streams.Streams

if __name__ == '__main__':
    sys.exit(writer.main())
