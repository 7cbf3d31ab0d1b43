import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { SHIPPED_TRACES } from '../../replay/link-model/shipped-traces.ts';
import { sendRaw, serving } from '../../replay/serving.fixture.ts';
import type { ForecastReply } from '../../service/api/wire.ts';
import { testReport } from '../../trial/session-report.fixture.ts';
import { PROCESS_IO } from '../shared/command-io.ts';
import { ExitWith } from '../shared/exit-status.ts';
import { duration, Progress } from '../shared/progress.ts';
import { refused, runListening, TRACE } from '../shared/run.fixture.ts';
import { cacheFolder } from '../tool.ts';
import { closed } from './serve-options.ts';
import { serviceLog } from './service-log.ts';

const at = temporaryFolder('file');

test('requires the token of --token-file, which it never prints, and believes a trusted proxy', async () => {
  const proxies = ['--trust-proxy', '127.0.0.1', '--trust-proxy', 'fd00::/8'];
  writeFileSync(at('token'), 'a-long-secret-of-ours\n');
  const flags = ['--port', '0', '--token-file', at('token'), ...proxies];
  const { status, stderr } = await runListening(['serve', ...flags], async (url) => {
    const stateWith = async (headers: Record<string, string>) => (await fetch(`${url}/v1/state`, { headers })).status;
    expect(await stateWith({ 'x-forwarded-for': '10.0.0.1' })).toBe(401);
    expect(await stateWith({ authorization: 'Bearer a-long-secret-of-ours' })).toBe(200);
  });
  expect(status).toBe(0);
  expect(stderr).toContain('10.0.0.1 is refused');
  expect(stderr).not.toContain('secret');
});

test('prints its OpenAPI document', async () => {
  const { status, stdout } = await runListening(['serve', '--print-openapi']);
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
  const { stderr, status } = await runListening(['serve', '--host', '127.0.0.1'], during, {
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
])('names the variable of %j', (env, message) => refused(runListening(['serve'], undefined, env), message));

test.each([['serve'], ['serve-demo', '--page', 'demo']])('%s refuses a port that is taken', async (...command) => {
  const { port } = new URL((await serving(() => {})).url);
  const message = `--port: expected a port that is free, got 127.0.0.1 ${port} (EADDRINUSE)`;
  await refused(runListening([...command, '--port', port]), message);
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
  expect(await refused(runListening(['serve', ...args]), message)).not.toContain('hunter2');
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
(hasOpenssl ? test : test.skip)(`serves https${hasOpenssl ? '' : ' (skipped: no openssl)'}`, async () => {
  const [cert, key] = [at('served.pem'), at('served-key.pem')];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1', '-subj', '/CN=dish'];
  expect(spawnSync('openssl', ['req', '-x509', ...made, '-out', cert, '-keyout', key]).status).toBe(0);
  await runListening(['serve', '--port', '0', '--tls-cert', cert, '--tls-key', key], async (url) => {
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
  const { status } = await runListening(['serve', '--dish', 'simulated', ...flags], async (url) => {
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

describe('collect', () => {
  const at = temporaryFolder('test');

  test('collects until it is interrupted, and says how many reports it has', async () => {
    const out = at('reports');
    const token = at('token');
    writeFileSync(token, 'a-token-of-the-page\n');
    const flags = ['--port', '0', '--token-file', token, '--allow-origin', 'https://page.example', '--rate', '100'];
    const body = `${JSON.stringify(testReport())}\n`;
    const { status, stderr } = await runListening(['collect', '--out', out, ...flags], async (url) => {
      const headers = { origin: 'https://page.example', 'content-type': 'text/plain' };
      const post = (query: string) => fetch(`${url}${query}`, { method: 'POST', body, headers });
      expect((await post('?token=a-token-of-the-page')).status).toBe(204);
      expect((await post('')).status).toBe(401);
    });
    expect(status).toBe(0);
    expect(stderr).toContain(`1 reports are in ${out}`);
    const [name, ...others] = readdirSync(out);
    expect(others).toEqual([]);
    expect(readFileSync(at('reports', name!), 'utf8')).toBe(body);
  });

  test.each([
    [['--out', 'x', '--rate', '0'], '--rate: expected a number above 0, got "0"'],
    [['--out', 'x', '--keep-days', '0'], '--keep-days: expected a number above 0'],
    [['--out', 'x', '--max-mb', '-1'], '--max-mb: expected a number above 0'],
    [['--out', 'x', '--allow-origin', 'page.example'], '--allow-origin: expected an origin'],
    [[], "required option '--out <folder>' not specified"],
  ])('%j is refused', (flags, message) => refused(runListening(['collect', ...flags]), message));
});

describe('serve-demo', () => {
  let page: string;
  beforeAll(() => {
    page = at('page');
    put(at('secret.txt'), 'not to be served');
    put(join(page, 'index.html'), '<!doctype html><title>demo</title>');
    put(join(page, 'assets', 'index-abc.js'), 'export {};');
  });

  const serve = (during?: (url: string) => Promise<void>, ...flags: string[]) =>
    runListening(['serve-demo', '--page', page, '--port', '0', ...flags], during);

  test('serves the page (types, caching, methods) and no file outside its folder', async () => {
    const { status, stdout } = await serve(async (url) => {
      const index = await fetch(`${url}/?trace=stationary-hard`);
      expect(await index.text()).toBe('<!doctype html><title>demo</title>');
      expect(index.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(index.headers.get('cache-control')).toBe('no-cache');

      const script = await fetch(`${url}/assets/index-abc.js`);
      expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(script.headers.get('cache-control')).toContain('immutable');
      expect(script.headers.get('content-length')).toBe('10');
      const again = { headers: { 'if-none-match': script.headers.get('etag')! } };
      expect((await fetch(`${url}/assets/index-abc.js`, again)).status).toBe(304);

      const head = await fetch(`${url}/index.html`, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '34', '']);
      expect((await fetch(`${url}/index.html`, { method: 'POST' })).status).toBe(405);

      const outside = ['/../secret.txt', '/%2e%2e/secret.txt', '/assets/..%2f..%2f..%2fsecret.txt'];
      for (const path of ['/nothing', '/assets/', ...outside, '//', '//[', '/constructor'])
        expect([path, (await sendRaw(url, path)).status]).toEqual([path, 404]);
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  test('is the origin of its page, with traces that it is given, and a service on the link of a session', async () => {
    const { status } = await serve(
      async (url) => {
        const jsonAt = async (address: string, init?: RequestInit) => (await fetch(address, init)).json();
        expect(await jsonAt(`${url}/origin.json`)).toEqual({ url });
        const traces = (await jsonAt(`${url}/traces`)) as { name: string }[];
        expect(traces.map(({ name }) => name)).toEqual([...SHIPPED_TRACES.map(({ name }) => name), 'golden']);
        // The pages of examples/ play these.
        for (const page of [
          'plain/dash.html',
          'plain/hls.html',
          'plain/shaka.html',
          'vite/main.ts',
          'react/main.tsx',
        ]) {
          const code = readFileSync(new URL(`../../examples/${page}`, import.meta.url), 'utf8');
          for (const [stream] of code.matchAll(/http:\/\/127\.0\.0\.1:8788\/[^'"]+/g)) {
            const manifest = await fetch(stream.replace('http://127.0.0.1:8788', url));
            expect([stream, manifest.status, await manifest.text()]).toEqual([
              stream,
              200,
              expect.stringMatching(/MPD|#EXTM3U/),
            ]);
          }
        }
        const upload = { file: 'own.csv', text: 'time_s,throughput_mbps,rtt_ms,loss\n0,5,,\n1,6,,\n' };
        const added = await fetch(`${url}/traces`, { method: 'POST', body: JSON.stringify(upload) });
        expect(added.status).toBe(201);

        const body = JSON.stringify({ trace: 'stationary-typical', scenario: 'hd-16', startSeconds: 60 });
        const created = await jsonAt(`${url}/session`, { method: 'POST', body });
        const { id } = created as { id: string };
        const ask = async (session: string, method: string) => {
          const response = await fetch(`${url}/link-service/${session}`, { method });
          return { status: response.status, ...((await response.json()) as { url?: string; error?: string }) };
        };
        const { status, url: service } = await ask(id, 'POST');
        expect(status).toBe(201);
        expect(await ask(id, 'POST')).toEqual({ status: 201, url: service });
        const { forecast, serverUtcMs } = (await jsonAt(`${service}/v1/forecast`)) as ForecastReply;
        // The session's clock waits for the first request for media.
        expect(serverUtcMs).toBe(await jsonAt(`${url}/session/${id}/time`));
        const { ratesBps } = (await jsonAt(`${url}/session/${id}/link`)) as { ratesBps: number[] };
        const linkBps = ratesBps.reduce((sum, bps) => sum + bps, 0) / ratesBps.length;
        const medianBps = forecast!.quantilesBps[0]![3]!;
        expect(Math.abs(Math.log2(medianBps / linkBps))).toBeLessThan(1);
        expect(await ask(id, 'DELETE')).toMatchObject({ status: 200 });
        await expect(fetch(`${service}/v1/state`)).rejects.toThrow();
        expect(await ask('99', 'POST')).toEqual({ status: 404, error: 'no session "99"' });
        expect(await ask(id, 'PUT')).toEqual({ status: 405, error: 'expected POST or DELETE, got PUT' });
      },
      ...['--traces', TRACE],
    );
    expect(status).toBe(0);
  });

  test.each<[string, string[], string]>([
    ['a folder without a page', ['--page', tmpdir()], '--page: expected a folder with the built page'],
    ['an invalid port', ['--port', '-1'], '--port: expected a whole number from 0 to 65535'],
    ['missing traces', ['--traces', './nowhere'], 'nowhere'],
  ])('wrong input: %s', (_, flags, message) => refused(serve(undefined, ...flags), message));
});

function written(isTTY: boolean): string {
  let text = '';
  const log = serviceLog({ isTTY, write: (line) => (text += line) });
  log.info('listening');
  log.warn({ part: 'dish', code: 'unreachable' }, 'no answer\x1b[2J');
  log.error(new Error('broken'));
  return text;
}

test('writes lines of JSON', () => {
  const lines = written(false).trimEnd().split('\n');
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { level: 'info', time, msg: 'listening' },
    { level: 'warn', time, part: 'dish', code: 'unreachable', msg: 'no answer\x1b[2J' },
    { level: 'error', time, msg: 'broken', err: expect.objectContaining({ message: 'broken' }) },
  ]);
});

test('writes plain lines to a terminal, without control characters of clients', () => {
  const [listening, dish, error, place] = written(true).split('\n');
  expect(listening).toMatch(/^\d\d:\d\d:\d\d listening$/);
  expect(dish?.slice(9)).toBe('warn: dish unreachable: no answer?[2J');
  expect(error?.slice(9)).toBe('error: Error: broken');
  expect(place).toMatch(/^ +at /);
});

function shown(isTTY: boolean) {
  const written: string[] = [];
  let now = 0;
  const progress = new Progress({ write: (text) => written.push(text), isTTY }, 100, 'sessions', () => now);
  return {
    written,
    at: (seconds: number) => {
      now = seconds * 1000;
      return progress;
    },
  };
}

test('a terminal gets one line, which is overwritten', () => {
  const { written, at } = shown(true);
  at(0.1).update(1);
  at(1).update(10);
  at(1.1).update(11);
  at(9).update(90);
  at(10).end(100);
  expect(written).toEqual([
    '\r10 of 100 sessions, 9.0 s left',
    '\r90 of 100 sessions, 1.0 s left',
    '\r100 of 100 sessions in 10 s   ',
    '\n',
  ]);
});

test('a log gets a line every 10 s', () => {
  const { written, at } = shown(false);
  at(1).update(1);
  at(10).update(10);
  at(15).update(15);
  at(20).end(20);
  expect(written).toEqual(['10 of 100 sessions, 1 min 30 s left\n', '20 of 100 sessions in 20 s\n']);
});

test('durations', () => {
  const texts = ['0 s', '3.3 s', '59 s', '1 min 0 s', '12 min 34 s', '2 h 5 min'];
  expect([0, 3.25, 59.4, 60, 754, 7500].map(duration)).toEqual(texts);
});
