import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../replay/folder.fixture.ts';
import { serving } from '../../replay/serving.fixture.ts';
import { PROCESS_IO } from '../shared/command-io.ts';
import { ExitWith } from '../shared/exit-status.ts';
import { refused, runListening as run } from '../shared/run.fixture.ts';
import { cacheFolder } from '../tool.ts';
import { closed } from './serve-options.ts';

const at = temporaryFolder('file');

test('requires the token of --token-file, which it never prints, and believes a trusted proxy', async () => {
  const proxies = ['--trust-proxy', '127.0.0.1', '--trust-proxy', 'fd00::/8'];
  writeFileSync(at('token'), 'a-long-secret-of-ours\n');
  const flags = ['--port', '0', '--token-file', at('token'), ...proxies];
  const { status, stderr } = await run(['serve', ...flags], async (url) => {
    const stateWith = async (headers: Record<string, string>) => (await fetch(`${url}/v1/state`, { headers })).status;
    expect(await stateWith({ 'x-forwarded-for': '10.0.0.1' })).toBe(401);
    expect(await stateWith({ authorization: 'Bearer a-long-secret-of-ours' })).toBe(200);
  });
  expect(status).toBe(0);
  expect(stderr).toContain('10.0.0.1 is refused');
  expect(stderr).not.toContain('secret');
});

test('prints its OpenAPI document', async () => {
  const { status, stdout } = await run(['serve', '--print-openapi']);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0' });
});

test('takes flags from the environment', async () => {
  const origins = ['https://a.example', 'https://b.example'];
  const during = async (url: string) => {
    for (const origin of origins) {
      expect((await fetch(`${url}/healthz`, { headers: { origin } })).status).toBe(200);
    }
    const { location } = (await (await fetch(`${url}/v1/state`)).json()) as { location: object };
    expect(location).toEqual({ latitudeDegrees: 48.1234, longitudeDegrees: 11.5678 });
  };
  const { stderr, status } = await run(['serve', '--host', '127.0.0.1'], during, {
    ...{ LEO_ABR_SERVE_HOST: '127.0.0.2', LEO_ABR_SERVE_PORT: '0', LEO_ABR_SERVE_TOKEN_FILE: '' },
    ...{ LEO_ABR_SERVE_LOCATION: '48.1234,11.5678', LEO_ABR_SERVE_EXACT_LOCATION: 'true' },
    LEO_ABR_SERVE_ALLOW_ORIGIN: origins.join(', '),
  });
  expect({ status, refused: stderr.includes('refused') }).toEqual({ status: 0, refused: false });
});

test.each<[Record<string, string>, string]>([
  [{ LEO_ABR_SERVE_PORT: '70000' }, 'LEO_ABR_SERVE_PORT: expected a whole number from 0'],
  [{ LEO_ABR_SERVE_PROT: '1' }, 'LEO_ABR_SERVE_PROT: expected one of host, port, allow-host, '],
  [{ LEO_ABR_SERVE_PRINT_OPENAPI: 'true' }, 'LEO_ABR_SERVE_PRINT_OPENAPI: expected one of host, port, '],
  [{ LEO_ABR_SERVE_EXACT_LOCATION: '1' }, 'LEO_ABR_SERVE_EXACT_LOCATION: expected true or false, got "1"'],
  [{ LEO_ABR_SERVE_EXACT_LOCATION: 'false', LEO_ABR_SERVE_PORT: '-1' }, 'LEO_ABR_SERVE_PORT: expected a whole'],
  [{ LEO_ABR_SERVE_TOKEN_FILE: 'package.json' }, 'package.json: LEO_ABR_SERVE_TOKEN'],
])('names the variable of %j', (env, message) => refused(run(['serve'], undefined, env), message));

test.each([['serve'], ['serve-demo', '--page', 'demo']])('%s refuses a port that is taken', async (...command) => {
  const { port } = new URL((await serving(() => {})).url);
  const message = `--port: expected a port that is free, got 127.0.0.1 ${port} (EADDRINUSE)`;
  await refused(run([...command, '--port', port]), message);
});

const TLE = '--tle: expected a readable file, or an http(s) address without name and password';
const passwordOf = (tle: string): [string[], string] => [['--tle', tle], `${TLE}, got an `];
test.each<[string[], string]>([
  [['--port', '70000'], '--port: expected a whole number from 0 to 65535, got "70000"'],
  [['--allow-origin', 'https://a.example/'], '--allow-origin: expected an origin like'],
  [['--allow-origin', '*'], '--allow-origin: expected an origin like'],
  [['--allow-host', 'https://a.example'], '--allow-host: expected a host name like service.example, without'],
  [['--trust-proxy', 'proxy.lan'], '--trust-proxy: expected an address like 127.0.0.1, or'],
  [['--trust-proxy', '0.0.0.0/0'], 'a network like 10.0.0.0/8, got "0.0.0.0/0"'],
  [['--trust-proxy', '10.0.0.0/33'], 'a network like 10.0.0.0/8, got "10.0.0.0/33"'],
  [['--tle', './none'], TLE],
  passwordOf('https://me:hunter2@a.example/tle'),
  passwordOf('https://me:hunter2@[::1'),
  passwordOf('htps://me:hunter2@a.example/tle'),
  passwordOf('https:me:hunter2@a.example'),
  [['--tle', 'package.json', '--tle-max-age', '0'], '--tle-max-age: expected a number above 0'],
  [['--record', 'package.json'], '--record: expected a folder that can be written, got package.json: it is no folder'],
  [['--record', '/proc/x'], '--record: expected a folder that can be written, got /proc/x: E'],
  [['--config', './none'], '--config: expected a readable file, got ./none'],
  [['--model', 'package.json'], 'package.json.format: expected "leo-abr quantile network"'],
  [['--tls-cert', 'a.pem'], '--tls-key: expected --tls-cert and --tls-key together'],
  [['--tls-cert', '@short', '--tls-key', '@short'], 'short: --tls-cert: expected a PEM file, got 7 characters'],
  [['--tls-cert', '@pem', '--tls-key', '@pem'], '--tls-cert: expected a certificate and the key that belongs to it'],
  [['--token-file', './none'], '--token-file: expected a readable file, got ./none'],
  [['--token-file', '@short'], 'short: --token-file: expected one line of at least 16'],
  [['--host', '192.0.2.1', '--port', '0'], '--host: expected an address of this machine, got 192.0.2.1'],
  ...['dish', 'dish:0', 'http://192.168.100.1:9200', ':9200'].map((dish): [string[], string] => [
    ['--dish', dish],
    '--dish: expected a host and a port like 192.168.100.1:9200, or simulated',
  ]),
])('refuses %j, and shows no secret', async (flags, message) => {
  writeFileSync(at('short'), 'hunter2');
  writeFileSync(at('pem'), '-----BEGIN CERTIFICATE-----\ntea\n-----END CERTIFICATE-----\n');
  const args = flags.map((flag) => (flag.startsWith('@') ? at(flag.slice(1)) : flag));
  expect(await refused(run(['serve', ...args]), message)).not.toContain('hunter2');
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
(hasOpenssl ? test : test.skip)(`serves https${hasOpenssl ? '' : ' (skipped: no openssl)'}`, async () => {
  const [cert, key] = [at('served.pem'), at('served-key.pem')];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=dish'];
  expect(spawnSync('openssl', ['req', '-x509', ...made, '-out', cert, '-keyout', key]).status).toBe(0);
  await run(['serve', '--port', '0', '--tls-cert', cert, '--tls-key', key], async (url) => {
    expect(url).toMatch(/^https:/);
    const name = await new Promise<unknown>((resolve, reject) => {
      const socket = connect({ port: Number(new URL(url).port), rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().subject.CN);
        socket.destroy();
      }).once('error', reject);
    });
    expect(name).toBe('dish');
  });
});

type State = { link: { observedSeconds: number }; recording: { lines: number }; dish: { state: string } };

test('a simulated dish, on all addresses: is shown with a rounded location, learned from and recorded', async () => {
  const folder = at('recording');
  const flags = ['--port', '0', '--host', '0.0.0.0', '--location', '48.1234,11.5678', '--record', folder];
  const { status } = await run(['serve', '--dish', 'simulated', ...flags], async (url) => {
    const state = async () => (await fetch(`${url.replace('0.0.0.0', '127.0.0.1')}/v1/state`)).json() as Promise<State>;
    expect((await state()).link.observedSeconds).toBeGreaterThan(40);
    while ((await state()).recording.lines < 900) await new Promise((resolve) => setTimeout(resolve, 100));
    const shown = await state();
    expect(['connecting', 'unused']).not.toContain(shown.dish.state);
    const location = { latitudeDegrees: 48.1, longitudeDegrees: 11.6 };
    expect(shown).toMatchObject({ dish: { hardware: 'simulated' }, location, problems: [] });
    expect(JSON.stringify(shown)).not.toMatch(/48\.1234|11\.5678/);
  });
  expect(status).toBe(0);
  const [name] = readdirSync(folder);
  expect(name).toMatch(/^records-\d{8}T\d{6}Z_1\.jsonl$/);
  const lines = readFileSync(join(folder, name!), 'utf8').trimEnd().split('\n');
  expect(lines.filter((line) => JSON.parse(line).kind === 'telemetry').length).toBeGreaterThanOrEqual(800);
});

test('reports lost lines at the end, with status 3', async () => {
  let stderr = '';
  const io = { ...PROCESS_IO, stderr: { write: (text: string) => (stderr += text) } };
  const lost = Object.assign(new Error('recording: 1 line is lost'), { name: 'LostLinesError' });
  await expect(closed({ close: () => Promise.reject(lost) }, io)).rejects.toEqual(new ExitWith(3));
  expect(stderr).toBe('recording: 1 line is lost\n');
  await expect(closed({ close: () => Promise.reject(new Error('x')) }, io)).rejects.toThrow('x');
});

test('starts for a user without a home', () => {
  const none = () => {
    throw new Error('uv_os_homedir returned ENOENT');
  };
  expect(cacheFolder({}, none)).toBe(join(tmpdir(), 'leo-abr'));
  expect(cacheFolder({ XDG_CACHE_HOME: '/var/cache' }, none)).toBe('/var/cache/leo-abr');
  expect(cacheFolder({}, () => '/home/pi')).toBe('/home/pi/.cache/leo-abr');
});
