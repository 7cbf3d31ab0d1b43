import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import fastify from 'fastify';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import { sendRaw as raw } from '../../replay/serving.fixture.ts';
import { ManualClock } from '../manual-clock.fixture.ts';
import { startForTest as start } from '../opened.fixture.ts';
import { openApiDocument } from '../start-service.ts';
import { RateLimit } from './rate-limit.ts';
import { isHostAllowed, isOriginAllowed, isTokenRight } from './security.ts';
import { eventReader } from './sse.fixture.ts';

test('each address may send a burst, then the sustained rate; a bounded number of addresses is remembered', () => {
  const limit = new RateLimit({ perSecond: 10, burst: 3 });
  const take = (atMs: number, address = 'first') => limit.take(address, atMs);
  expect([take(0), take(0), take(0), take(0), take(0, 'b'), take(100)]).toEqual([0, 0, 0, expect.closeTo(0.1), 0, 0]);
  expect(take(100)).toBeGreaterThan(0);
  for (let i = 0; i < 5000; i++) take(100, `address ${i}`);
  expect(take(100)).toBe(0);
});

const options = { allowedHosts: ['dish.lan'], allowedOrigins: ['https://player.example'] };

test.each<[string, (value: string | undefined) => boolean, (string | undefined)[], (string | undefined)[]]>([
  [
    'Host headers',
    (host) => isHostAllowed(host, options),
    ['localhost', 'localhost:8080', 'a.localhost', '127.0.0.1:1', '192.168.1.5:8080', '[::1]:8080', 'DISH.lan:1'],
    [
      ...[undefined, '', 'x'.repeat(300), '::1', 'localhost/evil', 'localhost@evil.example', 'dish.lan.evil.example'],
      ...['evil.example', 'evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example'],
    ],
  ],
  [
    'origins of pages',
    (origin) => isOriginAllowed(origin!, options),
    ['http://localhost:5173', 'https://localhost', 'http://127.0.0.1:1', 'http://[::1]:3', 'https://player.example'],
    [
      ...['null', '', 'http://player.example', 'https://player.example:444', 'https://player.example.evil'],
      ...['http://192.168.1.5', 'file://localhost', 'chrome-extension://localhost'],
      ...['http://localhost.evil.example', 'http://127.0.0.1.evil.example'],
    ],
  ],
])('checks %s', (_, isAllowed, allowed, refused) => {
  expect(allowed.filter((value) => !isAllowed(value))).toEqual([]);
  expect(refused.filter(isAllowed)).toEqual([]);
});

test('checks bearer tokens', () => {
  for (const right of ['Bearer secret', 'bearer secret']) expect(isTokenRight(right, 'secret')).toBe(true);
  const wrong = [undefined, '', 'secret', 'Bearer ', 'Bearer', 'Bearer secret2', 'Bearer secre', 'Basic secret'];
  for (const one of wrong) expect(isTokenRight(one, 'secret')).toBe(false);
});

const report = (observations: unknown, player: unknown = 'p1') => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ player, observations }),
});

const observe = (url: string, ...sent: Parameters<typeof report>) => fetch(`${url}/v1/observations`, report(...sent));

/** Makes observations of 40 Mbit/s during the last `seconds`, each 0.1 s long. */
function downloaded(utcMs: number, seconds: number) {
  return Array.from({ length: seconds * 10 }, (_, i) => ({
    kind: 'throughput',
    startMs: utcMs - (seconds * 10 - i) * 100,
    endMs: utcMs - (seconds * 10 - i - 1) * 100,
    bits: 4e6,
  }));
}

/** A service with a manual clock, to which a player has reported ten seconds of 40 Mbit/s. */
async function startWithObservations() {
  const clock = new ManualClock();
  const { service, url } = await start({ clock });
  for (let i = 0; i < 10; i++) {
    clock.advance(1);
    const response = await observe(url, downloaded(clock.utcMs(), 1));
    expect(await response.json()).toMatchObject({ accepted: 10, rejected: [], share: 1 });
    service.tick();
  }
  return { clock, service, url };
}

test('the API states its versions, answers newer clients, and refuses those that are too old', async () => {
  const { url } = await start();
  const protocol = { oldest: 1, newest: 1 };
  for (const [path, init] of Object.entries({ forecast: {}, observations: report([]) })) {
    for (const query of ['', '?protocol=1', '?protocol=7']) {
      expect(await (await fetch(`${url}/v1/${path}${query}`, init)).json()).toMatchObject({ protocol });
    }
    const refused = await fetch(`${url}/v1/${path}?protocol=0`, init);
    expect(refused.status).toBe(400);
    const message = 'update the client: client version 0, service version 1';
    expect(await refused.json()).toEqual({ error: { code: 'protocol', message }, protocol });
    expect((await fetch(`${url}/v1/${path}?protocol=one`, init)).status).toBe(400);
  }
  expect((await fetch(`${url}/v1/events?protocol=0`)).status).toBe(400);
  const stream = await eventReader(`${url}/v1/events?protocol=7`);
  expect(await stream.next()).toMatchObject({ event: 'hello', data: { protocol } });
  stream.close();
});

test('the API conforms to its OpenAPI document', async () => {
  const { url } = await startWithObservations();
  const document = JSON.parse(JSON.stringify(await openApiDocument('0')));
  const problems = report([{ kind: 'tea' }, { kind: 'idle' }]);
  for (const [path, init, query = ''] of [
    ['/v1/forecast', {}],
    ['/v1/handovers', {}],
    ['/v1/history', {}],
    ['/v1/state', {}],
    ['/v1/observations', problems],
    ['/v1/observations', report(5)],
    ['/v1/observations', report([]), '?protocol=0'],
  ] as const) {
    const response = await fetch(`${url}${path}${query}`, init);
    const { responses } = document.paths[path]['method' in init ? 'post' : 'get'];
    const { schema } = responses[response.status].content['application/json'];
    const wrong = await faultOf(schema, { document, value: await response.json() });
    expect({ path, wrong }).toEqual({ path, wrong: null });
  }
  const handover = { atMs: 1.7e12, confidence: 0.9, dip: new SubSecond().dip(0.5) };
  expect(await faultOf(document.components.schemas.Handover, { document, value: handover })).toBeNull();
});

test('the API serves health, its OpenAPI document and metrics: requests, observations, refusals, its process', async () => {
  const { clock, url } = await startWithObservations();
  expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok\n');
  expect(await (await fetch(`${url}/openapi.json`)).json()).toEqual(await openApiDocument('0'));
  await observe(url, [...downloaded(clock.utcMs() - 60_000, 1), { kind: 'tea' }]);
  await observe(url, 5);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('leo_abr_http_requests_total{method="GET",route="/healthz",status="200"} 1\n');
  expect(metrics).toContain('leo_abr_dish_state{state="unused"} 1\n');
  expect(metrics).not.toMatch(/^leo_abr.*(NaN|undefined)/m);
  expect(metrics.match(/^leo_abr_(observations|refusals|recording).*$/gm)).toEqual([
    'leo_abr_observations_total{verdict="accepted"} 100',
    'leo_abr_observations_total{verdict="unknown-kind"} 1',
    'leo_abr_observations_total{verdict="late"} 10',
    'leo_abr_refusals_total{code="bad-request"} 1',
    'leo_abr_recording_waiting_lines 0',
    'leo_abr_recording_lines_total 0',
    'leo_abr_recording_lost_lines_total 0',
    'leo_abr_recording_deleted_files_total 0',
  ]);
  expect(metrics).toMatch(/^process_resident_memory_bytes \d+/m);
});

test('the API serves its page without a token', async () => {
  const { url } = await start({ token: 'a-long-secret-of-ours' });
  const page = await fetch(`${url}/`);
  const html = await page.text();
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
  const files = [...html.matchAll(/(?:src|href)="(page\/[^"]+)"/g)].map(([, path]) => path!);
  expect(files.sort()).toEqual(['page/page.css', 'page/page.js', 'page/theme.css']);
  for (const path of [...files, 'page/chart.js', 'page/texts.js']) {
    const { headers } = await fetch(`${url}/${path}`);
    expect(headers.get('content-type')).toMatch(/^text\/(css|javascript); charset=utf-8$/);
  }
  expect((await fetch(`${url}/page/tsconfig.json`)).status).toBe(401);
  // If the page was opened at the address in the network, only the requests for its scripts have an origin.
  const headers = { origin: 'http://192.168.1.5:8790' };
  const script = await fetch(`${url}/page/page.js`, { headers });
  expect([script.status, script.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  expect((await fetch(`${url}/v1/state`, { headers })).status).toBe(403);
});

test('the API refuses bodies that are no reports, and requests for what is not there', async () => {
  const { url } = await start();
  const post = (body: string, type = 'application/json') =>
    fetch(`${url}/v1/observations`, { method: 'POST', body, headers: { 'content-type': type } });
  const refused: [send: () => Promise<Response>, status: number, code: string, message?: string][] = [
    [() => observe(url, {}), 400, 'bad-request', 'body.observations: must be array, got an object'],
    [() => observe(url, undefined), 400, 'bad-request', "body: must have required property 'observations'"],
    [() => observe(url, Array(201).fill({ kind: 'idle' })), 400, 'bad-request', 'must NOT have more than 200 items'],
    [() => observe(url, [], null), 400, 'bad-request', 'body.player: must be string, got null'],
    [() => observe(url, [], 'a b'), 400, 'bad-request', 'body.player: must match pattern'],
    [() => post(`{"player":"${'x'.repeat(70_000)}"}`), 413, 'body-too-large', 'body: expected at most 65536 bytes'],
    [() => post('{"player"'), 400, 'bad-request'],
    [() => post(''), 400, 'bad-request'],
    [() => post('{"__proto__":{"player":"a","observations":[]}}'), 400, 'bad-request'],
    [() => post('{}', 'text/plain'), 415, 'not-json', 'Content-Type: expected application/json, got "text/plain"'],
    [() => post('{}', 'application/x-www-form-urlencoded'), 415, 'not-json'],
    [() => fetch(`${url}/v1/state`, { headers: { cookie: 'x'.repeat(20_000) } }), 431, 'bad-request'],
    [() => fetch(`${url}/%?token=a`), 400, 'bad-request', 'percent-encoding is UTF-8, got "GET /%"'],
    [() => fetch(`${url}/v1/observations`), 404, 'not-found'],
  ];
  for (const [send, status, code, message = ''] of refused) {
    const response = await send();
    const error = { code, message: expect.stringContaining(message) };
    expect([response.status, await response.json()]).toEqual([status, { error }]);
  }
});

test('the API validates observations one by one and reports the rejected ones with reasons', async () => {
  const clock = new ManualClock();
  const { service, url } = await start({ clock });
  clock.advance(10);
  const now = clock.utcMs();
  const good = downloaded(now, 1);
  const observations = [
    ...[{ kind: 'tea' }, { kind: 'constructor' }, 5, null],
    { kind: 'throughput', startMs: now - 100, endMs: now },
    { kind: 'idle', startMs: '1e12', endMs: now },
    { kind: 'idle', startMs: 5e6, endMs: 5e6 + 100 },
    { kind: 'request-latency', atMs: 1.7e9, latencyMs: 20 },
    { kind: 'idle', startMs: now - 5, endMs: now + 5000 },
    { kind: 'idle', startMs: now, endMs: now - 1 },
    ...good.map((observation) => ({ ...observation, addedLater: 1, ['__proto__']: {} })),
  ];
  const reports: unknown[] = [];
  service.listen({ report: (request) => reports.push(request) });
  const response = await observe(url, observations);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    serverUtcMs: now,
    protocol: { oldest: 1, newest: 1 },
    accepted: 10,
    rejected: [
      ['unknown-kind', 4, '[0].kind: expected one of throughput, idle, request-latency, got "tea"'],
      ['malformed', 2, "[4]: must have required property 'bits', got an object"],
      ['late', 2, `[6].endMs: expected a time shortly before serverUtcMs (${now}), got 5000100`],
      ['ahead', 1, `[8].endMs: expected a time no later than serverUtcMs (${now}), got ${now + 5000}`],
      ['impossible', 1, `[9].endMs: expected a time after startMs by at most 10 s, got ${now - 1}`],
    ].map(([reason, count, message]) => ({ reason, count, message: `body.observations${message}` })),
    share: 1,
  });
  // Listeners receive the valid observations without unknown properties.
  expect(reports).toEqual([{ player: 'p1', observations: [...observations.slice(6, 10), ...good] }]);
  const tooFast = await observe(url, [{ kind: 'throughput', startMs: now - 50, endMs: now, bits: 1e12 }]);
  const message = 'body.observations[0].bits: expected at most 100 Gbit/s from startMs to endMs, got 1000000000000';
  const rejected = [{ reason: 'impossible', count: 1, message }];
  expect(await tooFast.json()).toMatchObject({ accepted: 0, rejected });
});

test('the API answers a request for any path with any method', async () => {
  const { url } = await start();
  const origin = 'http://localhost';
  // The target `*` is the root.
  const known = ['*', '/v1/state'];
  for (const path of ['/v1/((', '/*x', '/:a(', '/v1/state/:x', '//', 'http://a/b', '/__proto__', ...known]) {
    const GET = known.includes(path) ? 200 : 404;
    for (const [method, status] of Object.entries({ GET, PUT: 404, TRACE: 404, OPTIONS: 204 })) {
      const answer = await raw(url, path, { origin }, method);
      expect([path, answer.status, answer.headers['access-control-allow-origin']]).toEqual([path, status, origin]);
    }
  }
});

test('the API limits the players', async () => {
  const clock = new ManualClock();
  const { url } = await start({ clock });
  clock.advance(10);
  const send = (name: string, observations: unknown = downloaded(clock.utcMs(), 1)) => observe(url, observations, name);
  for (let i = 0; i < 64; i++) expect((await send(`a${i}`)).status).toBe(200);
  const refused = await send('b');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
  expect(await refused.json()).toMatchObject({ error: { code: 'too-many-players' } });
  // Known players and empty reports are still answered.
  for (const answer of [await send('a0'), await send('b', [])]) expect(answer.status).toBe(200);
});

const EVIL = { origin: 'https://evil.example' };
const PLAYER = 'https://player.example';
const PREFLIGHT = { 'access-control-request-method': 'GET' };
test.each<[Record<string, string>, string, number]>([
  // DNS rebinding uses a foreign host name.
  [{ host: 'evil.example' }, 'GET', 403],
  [{ host: 'dish.lan:80' }, 'GET', 200],
  [EVIL, 'GET', 403],
  [{ ...EVIL, 'content-type': 'application/json' }, 'POST', 403],
  [{ ...EVIL, ...PREFLIGHT }, 'OPTIONS', 403],
  [{ origin: PLAYER }, 'GET', 200],
])('hosts and origins: %j, %s gets %d', async (headers, method, status) => {
  const { url } = await start({ allowedHosts: ['Dish.lan'], allowedOrigins: [PLAYER] });
  const answer = await raw(url, method === 'POST' ? '/v1/observations' : '/v1/state', headers, method);
  expect(answer.status).toBe(status);
  expect(answer.headers['access-control-allow-origin']).toBe(status === 200 ? headers['origin'] : undefined);
});

test('answers preflights', async () => {
  const { url } = await start();
  const origin = 'http://localhost:5173';
  const wanted = { 'access-control-request-headers': 'content-type,authorization' };
  const post = { origin, 'access-control-request-method': 'POST', ...wanted };
  const { status, headers } = await raw(url, '/v1/observations', post, 'OPTIONS');
  const allowed = { origin, methods: 'GET, POST', headers: 'authorization, content-type' };
  const expected = Object.entries(allowed).map(([name, value]) => [`access-control-allow-${name}`, value]);
  expect({ status, headers }).toMatchObject({ status: 204, headers: Object.fromEntries(expected) });
  expect(headers['access-control-allow-credentials']).toBeUndefined();
});

test('requires the token for everything but health and preflights', async () => {
  const { url } = await start({ token: 'secret' });
  for (const path of ['/healthz', '/healthz?now']) expect((await fetch(`${url}${path}`)).status).toBe(200);
  for (const path of ['/v1/state', '/v1/history', '/v1/events', '/metrics', '/openapi.json', '/nothing']) {
    const refused = await fetch(`${url}${path}`);
    expect(refused.status).toBe(401);
    expect(await refused.text()).not.toContain('secret');
  }
  const preflight = { origin: 'http://localhost', ...PREFLIGHT };
  expect((await raw(url, '/v1/state', preflight, 'OPTIONS')).status).toBe(204);
  expect((await fetch(`${url}/v1/state`, { headers: { authorization: 'Bearer secret' } })).status).toBe(200);
});

test('allowed pages can read the reason of a refusal', async () => {
  const origin = PLAYER;
  const readable = { 'access-control-allow-origin': origin, 'access-control-expose-headers': 'retry-after' };
  const options = { clock: new ManualClock(), allowedOrigins: [origin] };
  const rated = await start({ ...options, limits: { rate: { perSecond: 1, burst: 1 } } });
  // Forbidden origins must not use up the rate.
  for (let i = 0; i < 3; i++) await raw(rated.url, '/v1/state', EVIL);
  expect((await raw(rated.url, '/v1/state', { origin })).status).toBe(200);
  const often = await raw(rated.url, '/v1/state', { origin });
  expect(often).toMatchObject({ status: 429, headers: { ...readable, 'retry-after': '1' } });
  const wrongHost = await raw(rated.url, '/v1/state', { origin, host: 'evil.example' });
  expect(wrongHost).toMatchObject({ status: 403, headers: readable });
  // A failed preflight would hide the reason from the page.
  expect((await raw(rated.url, '/v1/state', { origin, ...PREFLIGHT }, 'OPTIONS')).status).toBe(204);

  const closed = await start({ ...options, token: 'secret', limits: { subscribers: 0 } });
  expect(await raw(closed.url, '/v1/state', { origin })).toMatchObject({ status: 401, headers: readable });
  const full = await raw(closed.url, '/v1/events', { origin, authorization: 'Bearer secret' });
  expect(full).toMatchObject({ status: 503, headers: { ...readable, 'retry-after': '10' } });
});

test('believes X-Forwarded-For of trusted proxies only', async () => {
  const options = { clock: new ManualClock(), limits: { rate: { perSecond: 1, burst: 1 } } };
  const statuses = async (trustedProxies: string[], ...forwarded: string[]) => {
    const { url } = await start({ ...options, trustedProxies });
    const seen: unknown[] = [];
    for (const claim of forwarded) seen.push((await raw(url, '/healthz', { 'x-forwarded-for': claim })).status);
    return seen;
  };
  for (const proxies of [[], ['192.168.1.5']]) {
    expect(await statuses(proxies, '10.0.0.1', '10.0.0.2')).toEqual([200, 429]);
  }
  // The client's own claim precedes the address that the proxy appends.
  const claims = ['10.0.0.1', '10.0.0.2', '10.0.0.3, 10.0.0.2', '10.0.0.2, 192.168.1.5'];
  expect(await statuses(['127.0.0.0/8', '192.168.1.5'], ...claims)).toEqual([200, 200, 429, 429]);
});

test('events have ids, can be filtered by type, and invalid parameters are rejected', async () => {
  const { service, url } = await start({ clock: new ManualClock() });
  const reader = await eventReader(`${url}/v1/events?types=trigger,clock,clock`);
  const data = { serverUtcMs: expect.any(Number), protocol: expect.any(Object) };
  expect(await reader.next()).toEqual({ event: 'hello', id: undefined, data });
  service.publish('handover', { n: 0 });
  service.publish('trigger', { n: 1 });
  expect(await reader.next()).toEqual({ event: 'trigger', id: '1', data: { n: 1 } });
  reader.close();
  for (const types of ['tea', '', 'state,', 'state&types=clock']) {
    expect((await fetch(`${url}/v1/events?types=${types}`)).status).toBe(400);
  }
});

test('the checked-in OpenAPI document is up to date', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../cli/package.json', import.meta.url), 'utf8'));
  const checkedIn: unknown = JSON.parse(readFileSync(new URL('openapi.json', import.meta.url), 'utf8'));
  // To update the document, run `npx --no leo-abr serve --print-openapi > service/api/openapi.json`.
  expect(checkedIn).toEqual(JSON.parse(JSON.stringify(await openApiDocument(version))));
});

/** The validator's error for a reply against a schema of the document; null if there is none. */
async function faultOf(
  schema: object,
  { document, value }: { document: { components: { schemas: object } }; value: unknown },
): Promise<unknown> {
  const text = JSON.stringify({ ...schema, definitions: document.components.schemas });
  const body: unknown = JSON.parse(text.replaceAll('#/components/schemas/', '#/definitions/'));
  const checker = fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } });
  checker.post('/', { schema: { body } }, () => 'fine');
  const { payload } = await checker.inject({ method: 'POST', url: '/', payload: value as object });
  await checker.close();
  return payload === 'fine' ? null : JSON.parse(payload);
}
