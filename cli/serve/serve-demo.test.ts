import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { put, temporaryFolder } from '../../replay/folder.fixture.ts';
import { SHIPPED_TRACES } from '../../replay/link-model/shipped-traces.ts';
import { sendRaw } from '../../replay/serving.fixture.ts';
import type { ForecastReply } from '../../service/api/wire.ts';
import { refused, runListening, TRACE } from '../shared/run.fixture.ts';

const at = temporaryFolder('file');
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
      for (const page of ['plain/dash.html', 'plain/hls.html', 'plain/shaka.html', 'vite/main.ts', 'react/main.tsx']) {
        const code = readFileSync(new URL(`../../examples/${page}`, import.meta.url), 'utf8');
        const [stream = ''] = /http:\/\/127\.0\.0\.1:8788\/[^'"]+/.exec(code) ?? [];
        const manifest = await fetch(stream.replace('http://127.0.0.1:8788', url));
        expect([page, manifest.status, await manifest.text()]).toEqual([
          page,
          200,
          expect.stringMatching(/MPD|#EXTM3U/),
        ]);
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
