import { beforeEach, expect, jest, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { DIP, FLUCTUATION, quantilesOf } from '../../abr/random-states.fixture.ts';
import { beforeNext } from '../forecast/before-next.fixture.ts';
import { createServiceForecaster, type ServiceForecasterOptions } from './service-forecaster.ts';

/** The page's clock at the session's second 0, and the lead of the service's UTC. */
let startMs: number;
const SERVER_OFFSET_MS = 1.7e12;
const serverUtcMs = () => performance.now() + SERVER_OFFSET_MS;

const FORECAST = quantilesOf(40e6, { issuedAtMs: 0, stepEndsSeconds: [1, 4, 12], shares: [0.5, 1, 1.5] });

type FetchOptions = Pick<SeenRequest, 'method' | 'headers'> & { body?: string; signal: AbortSignal; redirect?: string };

type Body = { observations: unknown[]; isDownloading: boolean; player: string } | undefined;
type SeenRequest = { method: string; path: string; headers: Record<string, string>; body: Body; atMs: number };

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  Object.assign(globalThis, { location: undefined });
  jest.advanceTimersByTime(5000);
  startMs = performance.now();
});

/** A service that the test controls, and a session that begins now. */
function staged(options: ServiceForecasterOptions = {}, url = 'http://127.0.0.1:8790') {
  const requests: SeenRequest[] = [];
  const stage = {
    share: 1,
    status: 200,
    isGone: false,
    isHanging: false,
    /** Versions of the service; undefined: it does not state them. */
    protocol: undefined as { oldest: number; newest: number } | undefined,
    /** The text of replies; undefined: a service's. */
    text: undefined as string | undefined,
    /** Changes to `FORECAST` in the service's forecasts, which are new at each request. */
    changes: {} as object,
    requests,
    handover: () => ({ atMs: serverUtcMs() + 3000, confidence: 0.8 }),
    advance: (seconds: number) => jest.advanceTimersByTimeAsync(seconds * 1000),
    nowSeconds: () => (performance.now() - startMs) / 1000,
  };
  globalThis.fetch = (async (address: string, { method, headers, body, signal, redirect }: FetchOptions) => {
    const atMs = performance.now();
    requests.push({ method, path: address.slice(url.length), headers, body: body && JSON.parse(body), atMs });
    if (stage.isGone) throw new TypeError('fetch failed');
    if (stage.isHanging) {
      return new Promise((_, fail) => signal.addEventListener('abort', () => fail(new Error('aborted'))));
    }
    const { protocol, share } = stage;
    // Another server answers at the address of a redirect.
    const status = stage.status < 400 && redirect !== 'manual' ? 200 : stage.status;
    const forecast = { ...FORECAST, issuedAtMs: serverUtcMs(), ...stage.changes };
    const reply = method === 'POST' ? { share } : status === 200 && { forecast };
    const text = stage.text ?? JSON.stringify({ serverUtcMs: serverUtcMs(), protocol, ...reply });
    const pieces = [{ done: false, value: new TextEncoder().encode(text) }, { done: true }];
    return { ok: status === 200, status, body: { getReader: () => ({ read: async () => pieces.shift() }) } };
  }) as unknown as typeof fetch;
  const forecaster = createServiceForecaster(url, options);
  const ask = () => forecaster.latest(stage.nowSeconds()) as QuantileForecast | undefined;
  /** Asks once a second. */
  const wait = async (seconds: number, latest: () => unknown = ask) => {
    for (let second = 0; second < seconds; second++) {
      latest();
      await stage.advance(1);
    }
  };
  const download = async (seconds: number, bps = 40e6) => {
    for (let tenth = 0; tenth < seconds * 10; tenth++) {
      const startSeconds = stage.nowSeconds();
      await stage.advance(0.1);
      forecaster.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + 0.1, bits: bps / 10 });
    }
  };
  return { stage, forecaster, ask, wait, download };
}

/** A session that receives the service's forecasts. */
async function begun(options: ServiceForecasterOptions = {}, context: object = { utcMsAtStart: 1_000_000 }) {
  const session = staged(options);
  session.forecaster.start({ seed: 1, ...context });
  expect(session.ask()).toBeUndefined();
  await session.stage.advance(1);
  return session;
}

/** The same after 2 s of downloading, which agrees with the service's first forecast. */
async function compared(options: ServiceForecasterOptions = {}, context?: object) {
  const session = await begun(options, context);
  session.ask();
  await session.download(2);
  return session;
}

test('forecasts are converted to the clock of the session', async () => {
  const { stage, ask, forecaster } = await compared();
  stage.changes = { handovers: [stage.handover()] };
  await stage.advance(1);
  const forecast = ask()!;
  const ageSeconds = forecaster.state.ageSeconds!;
  expect(ageSeconds).toBeLessThan(0.5);
  expect(forecast.issuedAtMs).toBeCloseTo(1000 * (stage.nowSeconds() - ageSeconds), 3);
  expect(forecast.quantilesBps[0]).toEqual([20e6, 40e6, 60e6]);
  expect(forecast.handovers).toEqual([{ atMs: expect.closeTo(1_006_000, 0), confidence: 0.8 }]);
  expect(ask()).toBe(forecast);
  expect(forecaster.state).toMatchObject({ connection: 'connected', verdict: 'trusted', share: 1 });
});

test('forecasts are used once the first one agrees with 2 s of downloading, from the start in the next session', async () => {
  const { stage, ask, forecaster, download } = await begun();
  await stage.advance(0.5);
  expect(ask()).toBeUndefined();
  expect(forecaster.state.verdict).toBe('not-yet');
  await download(2);
  expect(ask()).toBeDefined();
  expect(forecaster.state.verdict).toBe('trusted');
  forecaster.start({ seed: 1 });
  expect(ask()).toBeDefined();
});

test.each([6e6, 90e6])('forecasts are not used if the first one contradicts measurements of %d bit/s', async (bps) => {
  const { stage, ask, forecaster, download, wait } = await begun();
  ask();
  await download(2, bps);
  // The service has learnt from the session's reports, but its history is of another link.
  stage.changes = { quantilesBps: FORECAST.quantilesBps.map((row) => row.map((value) => (value * bps) / 40e6)) };
  await wait(30, () => expect(ask()).toBeUndefined());
  expect(forecaster.state.verdict).toBe('contradicted');
  // The next session may be on the service's link, which a comparison has to show first.
  stage.changes = {};
  forecaster.start({ seed: 1 });
  await stage.advance(1);
  expect(ask()).toBeUndefined();
  await stage.advance(1);
  await download(2);
  expect(ask()).toBeDefined();
});

test('forecasts are not used while others use the link', async () => {
  const { stage, ask, forecaster } = await compared();
  for (const share of [0.25, 1]) {
    stage.share = share;
    await stage.advance(6);
    expect(ask() !== undefined).toBe(share === 1);
    expect(forecaster.state).toMatchObject({ verdict: 'trusted', share });
  }
});

test('forecasts keep the link within a second, which is validated', async () => {
  const { stage, ask } = await compared();
  stage.changes = { fluctuation: FLUCTUATION, handovers: [{ ...stage.handover(), dip: DIP }] };
  await stage.advance(1);
  expect(ask()).toMatchObject({ fluctuation: FLUCTUATION, handovers: [{ dip: DIP }] });
  stage.changes = { fluctuation: { ...FLUCTUATION, ratios: [1.2, 0.7, 1.2] } };
  await stage.advance(1);
  expect(ask).toThrow('fluctuation.ratios[1]: expected a number from 1.2 to 1000, got 0.7');
});

test('forecasts have no handovers without the UTC of the session, and then in this UTC', async () => {
  const { stage, ask, forecaster } = await compared({}, {});
  stage.changes = { handovers: [stage.handover()] };
  await stage.advance(1);
  expect(ask()!.handovers).toEqual([]);
  forecaster.tellTime!(1, 9_001_000, 0.1);
  await stage.advance(1);
  expect(ask()!.handovers[0]!.atMs).toBeCloseTo(9_006_000, 0);
});

test('forecasts are not used when they are old', async () => {
  const { stage, ask } = await compared({ staleSeconds: 3 });
  stage.isGone = true;
  await stage.advance(2.4);
  expect(ask()).toBeDefined();
  await stage.advance(0.6);
  expect(ask()).toBeUndefined();
});

test.each([
  [-3_600_000, 'fault'],
  [-3100, 'fault'],
  [-2000, 'test'],
  [50, 'test'],
  [150, 'fault'],
  [3_600_000, 'fault'],
])('a forecast issued %i ms after its reply: %s', async (aheadMs, result) => {
  const { stage, forecaster, download, wait } = staged({ staleSeconds: 3 });
  Object.defineProperty(stage.changes, 'issuedAtMs', { get: () => serverUtcMs() + aheadMs, enumerable: true });
  const { chain, faults, sourceAt } = beforeNext(forecaster);
  chain.start({ seed: 1 });
  sourceAt(0);
  await stage.advance(1);
  sourceAt(1);
  await download(2);
  await stage.advance(0.3);
  expect(sourceAt(stage.nowSeconds())).toBe(result === 'fault' ? 'next' : result);
  await wait(5, () => sourceAt(stage.nowSeconds()));
  const expected = 'issuedAtMs: expected ';
  expect(faults).toEqual(result === 'fault' ? [expect.stringContaining(expected)] : []);
});

test('reports are in UTC of the service', async () => {
  const { stage, forecaster, ask } = await begun();
  await stage.advance(10.5);
  ask();
  // The last 8 s count.
  forecaster.observe({ kind: 'throughput', startSeconds: 3.4, endSeconds: 3.6, bits: 1e6 });
  forecaster.observe({ kind: 'request-latency', atSeconds: 3.4, latencySeconds: 0.04 });
  forecaster.observe({ kind: 'idle', startSeconds: 0, endSeconds: 11.1 });
  forecaster.observe({ kind: 'throughput', startSeconds: 11.1, endSeconds: 11.2, bits: 5e6 });
  forecaster.observe({ kind: 'request-latency', atSeconds: 11.1, latencySeconds: 0.04 });
  await stage.advance(0.1);
  const { body, method, path } = stage.requests.at(-1)!;
  expect({ method, path }).toEqual({ method: 'POST', path: '/v1/observations?protocol=1' });
  const utc = (seconds: number) => expect.closeTo(startMs + SERVER_OFFSET_MS + seconds * 1000, 1);
  expect(body).toEqual({
    player: expect.stringMatching(/^page-[a-z0-9]+$/),
    observations: [
      { kind: 'idle', startMs: utc(3.5), endMs: utc(11.1) },
      { kind: 'throughput', startMs: utc(11.1), endMs: utc(11.2), bits: 5e6 },
      { kind: 'request-latency', atMs: utc(11.1), latencyMs: 40 },
    ],
    isDownloading: true,
  });
});

test('reports are sent at once when a download begins or has ended, else twice a second, and a forecast after each', async () => {
  const { stage, download, ask } = await begun();
  await stage.advance(2);
  ask();
  stage.requests.length = 0;
  await download(1.1);
  await stage.advance(5.5);
  const of = (body: Body) => (body ? `: ${body.observations.length} ${body.isDownloading}` : '');
  const sent = stage.requests.map(({ atMs, body }) => `${Math.round(atMs - startMs)}${of(body)}`);
  const whileDownloading = '3100: 1 true, 3250, 3600: 4 true, 3750, 4100: 5 true, 4250, 4400: 1 false, 4550';
  // Without observations: a forecast a second, and a report every 5 s.
  expect(sent.join(', ')).toBe(`${whileDownloading}, 4900, 5900, 6900, 7900, 8900`);
  await stage.advance(1);
  expect(stage.requests.at(-3)!.body).toMatchObject({ observations: [], isDownloading: false });
});

test('reports are limited without a connection, and old observations are not sent', async () => {
  const { stage, ask, download } = await begun();
  stage.isGone = true;
  for (let second = 0; second < 100; second++) {
    await download(1);
    ask();
  }
  stage.isGone = false;
  await stage.advance(31);
  const sent = stage.requests.flatMap(({ body }) => body?.observations.length ?? []);
  expect(Math.max(...sent)).toBeLessThanOrEqual(50);
  expect(sent.at(-1)).toBe(0);
});

test.each([
  ['with backoff', 'isGone', 300, 20, 'fetch failed'],
  ['a request that it gives up after two seconds', 'isHanging', 4, 1, 'aborted'],
] as const)('the connection retries %s', async (_, fault, seconds, requests, detail) => {
  const { stage, forecaster, wait } = await begun();
  stage[fault] = true;
  const { length } = stage.requests;
  await wait(seconds);
  expect(Math.abs(stage.requests.length - length - requests)).toBeLessThan(10);
  expect(forecaster.state).toMatchObject({ connection: 'waiting', detail });
  stage[fault] = false;
  await wait(Math.min(31, seconds));
  expect(forecaster.state.connection).toBe('connected');
});

test('the connection sends its token, and retries rarely if refused, also while the player downloads', async () => {
  const { stage, forecaster, wait, download } = staged({ token: 'secret' });
  stage.status = 401;
  forecaster.start({ seed: 1 });
  await download(2);
  await wait(198);
  expect(stage.requests.every(({ headers }) => headers['authorization'] === 'Bearer secret')).toBe(true);
  expect(stage.requests.length).toBe(4);
  expect(forecaster.state).toMatchObject({ connection: 'refused', detail: 'expected success, got status 401' });
});

const REDIRECT = 'expected success, got a redirect: name the final address';
test.each([
  ['that no longer speaks the version of this client', 400, { oldest: 2, newest: 3 }, 'update the client'],
  ['that does not speak a version of this client yet', 200, { oldest: 0, newest: 0 }, 'update the service'],
  // Browsers give 0 instead of the status.
  ['that redirects, in a browser', 0, undefined, REDIRECT],
  ['that redirects, in Node', 307, undefined, REDIRECT],
])('the connection to a service %s is one fault that says what to do', async (_, status, protocol, advice) => {
  const { stage, forecaster, wait } = staged();
  Object.assign(stage, { status, protocol });
  const { chain, faults, sourceAt } = beforeNext(forecaster);
  chain.start({ seed: 1 });
  await wait(200, () => expect(sourceAt(stage.nowSeconds())).toBe('next'));
  const detail = advice + (protocol ? `: client version 1, service version ${protocol.newest}` : '');
  expect(faults).toEqual([`http://127.0.0.1:8790/: ${detail}`]);
  expect(forecaster.state).toMatchObject({ connection: 'refused', detail });
  expect(stage.requests.length).toBe(4);
  Object.assign(stage, { status: 200, protocol: { oldest: 1, newest: 2 } });
  await wait(80, () => sourceAt(stage.nowSeconds()));
  expect(forecaster.state.connection).toBe('connected');
});

const NO_SERVICE = ': is it a prediction service?';
test.each([
  ['nothing', 'null', 'refused', `serverUtcMs: expected UTC in ms, got undefined${NO_SERVICE}`],
  ['no finite time', '{"serverUtcMs":1e999}', 'refused', `serverUtcMs: expected UTC in ms, got Infinity${NO_SERVICE}`],
  ['a text as time', '{"serverUtcMs":"now"}', 'refused', `serverUtcMs: expected UTC in ms, got "now"${NO_SERVICE}`],
  ['no protocol', '{"serverUtcMs":1,"protocol":null}', 'connected', undefined],
  ['no versions', '{"serverUtcMs":1,"protocol":{"oldest":{},"newest":[]}}', 'connected', undefined],
  ['a page', '<html>', 'waiting', 'is not valid JSON'],
  ['a long body', ' '.repeat(1e6), 'waiting', 'body: expected at most 1000000 characters, got 1000000'],
])('a server that answers %s is one fault if it is no service', async (_, text, connection, detail) => {
  const { stage, forecaster, wait } = staged();
  stage.text = text;
  const { chain, faults, sourceAt } = beforeNext(forecaster);
  chain.start({ seed: 1 });
  await wait(20, () => expect(sourceAt(stage.nowSeconds())).toBe('next'));
  expect(forecaster.state.connection).toBe(connection);
  expect(forecaster.state.detail ?? '').toContain(detail ?? '');
  expect(faults).toEqual(connection === 'refused' ? [`http://127.0.0.1:8790/: ${detail}`] : []);
});

test.each([false, true])('the connection ends without calls of latest or on close; gone: %s', async (isGone) => {
  const { stage, forecaster, ask } = staged();
  stage.isGone = isGone;
  forecaster.start({ seed: 1 });
  await stage.advance(100);
  expect(forecaster.state.connection).toBe('off');
  const { length } = stage.requests;
  await stage.advance(100);
  expect(stage.requests.length).toBe(length);
  stage.isGone = false;
  ask();
  await stage.advance(1);
  expect(forecaster.state.connection).toBe('connected');
  forecaster.close();
  await stage.advance(100);
  expect(forecaster.state.connection).toBe('off');
});

test('the connection reconnects at the next call of latest if asked to, not after its pause', async () => {
  const { stage, forecaster, ask } = await begun();
  stage.isGone = true;
  await stage.advance(40);
  expect(forecaster.state.connection).toBe('waiting');
  stage.isGone = false;
  forecaster.reconnect();
  expect(forecaster.state.connection).toBe('off');
  ask();
  await stage.advance(0.2);
  expect(forecaster.state.connection).toBe('connected');
});

test.each([
  ['https://a.example/', 'http://127.0.0.1:8790'],
  ['https://a.example/', 'http://localhost:8790'],
  ['https://a.example/', 'http://[::1]:8790'],
  ['https://a.example/', 'https://192.168.1.5:8790'],
  ['http://a.example/', 'http://192.168.1.5:8790'],
])('%s may ask %s', (pageUrl, url) => {
  Object.assign(globalThis, { location: { href: pageUrl } });
  const { forecaster } = staged({}, url);
  expect(() => forecaster.start({ seed: 1 })).not.toThrow();
  forecaster.close();
});

test('a page from https may not use http to another machine: one fault, and no request', async () => {
  Object.assign(globalThis, { location: { href: 'https://a.example/' } });
  const { stage, forecaster, wait } = staged({}, 'http://192.168.1.5:8790');
  const { chain, faults, sourceAt } = beforeNext(forecaster);
  chain.start({ seed: 1 });
  await wait(5, () => sourceAt(stage.nowSeconds()));
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain('http://192.168.1.5:8790/: a page from https may not use http to another machine');
  expect(stage.requests).toEqual([]);
});

test.each(['tea', '', 'ftp://a', 'http://a/?x=1', 'http://a/?', undefined])('rejects the URL %s', (url) => {
  expect(() => createServiceForecaster(url as string)).toThrow('url: expected the address of a prediction service');
});

test.each([{ staleSeconds: -1 }, { token: 3 }, { stale: 1 }])('rejects the options %j', (options: object) => {
  const message = `options.${Object.keys(options)[0]}: expected `;
  expect(() => createServiceForecaster('http://localhost', options)).toThrow(message);
});
