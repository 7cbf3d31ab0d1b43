import { describe, expect, test } from '@jest/globals';
import type { QuantileForecast } from '../../abr/forecast.ts';
import { ForecastChain } from '../forecast/chain.ts';
import type { Fetch } from './service-connection.ts';
import { createServiceForecaster, type ServiceForecasterOptions } from './service-forecaster.ts';

/** The page's clock at its second 0, and the lead of the service's UTC. */
const PAGE_START_MS = 5000;
const SERVER_OFFSET_MS = 1.7e12;

const FORECAST: QuantileForecast = {
  issuedAtMs: 0,
  source: 'service',
  stepEndsSeconds: [1, 4, 12],
  levels: [0.1, 0.5, 0.9],
  quantilesBps: [
    [20e6, 40e6, 60e6],
    [20e6, 40e6, 60e6],
    [10e6, 40e6, 70e6],
  ],
  rankCorrelation: 0.7,
  handovers: [],
};

interface ReportBody {
  observations: unknown[];
  others?: ReportBody[];
}

/** A service and a clock that the test controls. */
function staged(options: Partial<ServiceForecasterOptions> = {}, url = 'http://127.0.0.1:8790') {
  let nowMs = PAGE_START_MS;
  let timers: { atMs: number; act: () => void }[] = [];
  const requests: { method: string; path: string; headers: Record<string, string>; body: unknown; atMs: number }[] = [];
  let streams: { push(text: string): void; end(): void; signal: AbortSignal }[] = [];
  const stage = {
    share: 1,
    status: 200,
    streamStatus: 200,
    offsetMs: SERVER_OFFSET_MS,
    isGone: false,
    /** Ignores reports of `others`. */
    isOld: false,
    /** Versions that the service speaks; undefined: it does not say. */
    protocol: undefined as { oldest: number; newest: number } | undefined,
    requests,
    get streams() {
      return streams;
    },
    serverUtcMs: () => nowMs + stage.offsetMs,
    forecast: (): unknown => ({ ...FORECAST, issuedAtMs: stage.serverUtcMs() }),
    /** Sends an event to the newest stream. */
    send(type: string, data: unknown, id = '') {
      streams.at(-1)?.push(`${id && `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    sendForecast(changes: object = {}, id = '') {
      stage.send(
        'forecast',
        { serverUtcMs: stage.serverUtcMs(), forecast: { ...(stage.forecast() as object), ...changes } },
        id,
      );
    },
    async settle() {
      for (let i = 0; i < 50; i++) await Promise.resolve();
    },
    async advance(seconds: number) {
      const untilMs = nowMs + seconds * 1000;
      await stage.settle();
      for (;;) {
        const next = timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        nowMs = Math.max(nowMs, next.atMs);
        next.act();
        await stage.settle();
      }
      nowMs = untilMs;
    },
    nowSeconds: () => (nowMs - PAGE_START_MS) / 1000,
  };
  const answerTo = ({ others }: ReportBody) => ({
    serverUtcMs: stage.serverUtcMs(),
    protocol: stage.protocol,
    share: stage.share,
    ...(others && !stage.isOld && { others: others.map((_, i) => ({ share: stage.share / (i + 2) })) }),
  });
  const fetch: Fetch = async (address, { method, headers, body, signal }) => {
    const path = address.slice(url.length);
    requests.push({ method, path, headers, body: body === undefined ? undefined : JSON.parse(body), atMs: nowMs });
    if (stage.isGone) throw new TypeError('fetch failed');
    const status = path.startsWith('/v1/events') ? stage.streamStatus : stage.status;
    const json = async () =>
      method === 'POST' || status !== 200
        ? answerTo(JSON.parse(body ?? '{}') as ReportBody)
        : { serverUtcMs: stage.serverUtcMs(), forecast: stage.forecast() };
    if (!path.startsWith('/v1/events') || status !== 200) return { ok: status === 200, status, json, body: null };
    const chunks: (Uint8Array | undefined)[] = [];
    let wake = () => {};
    const put = (chunk: Uint8Array | undefined) => {
      chunks.push(chunk);
      wake();
    };
    signal.addEventListener('abort', () => put(undefined));
    streams = [...streams, { push: (text) => put(new TextEncoder().encode(text)), end: () => put(undefined), signal }];
    const hello = { serverUtcMs: stage.serverUtcMs(), protocol: stage.protocol };
    streams.at(-1)!.push(`event: hello\ndata: ${JSON.stringify(hello)}\n\n`);
    const read = async (): Promise<{ done: boolean; value?: Uint8Array }> => {
      while (chunks.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const value = chunks.shift();
      return value === undefined ? { done: true } : { done: false, value };
    };
    return { ok: true, status, json, body: { getReader: () => ({ read }) } };
  };
  const all: ServiceForecasterOptions = {
    fetch,
    now: () => nowMs,
    random: () => 0.5,
    locks: { request: async (_name, _options, act) => act({}) },
    after(ms: number, act: () => void) {
      const timer = { atMs: nowMs + ms, act };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    ...options,
  };
  const forecaster = createServiceForecaster(url, all);
  return {
    stage,
    forecaster,
    /** Another player of the page. */
    another: (more: object = {}) => createServiceForecaster(url, { ...all, ...more }),
    ask: () => forecaster.latest(stage.nowSeconds()) as QuantileForecast | undefined,
  };
}

/** The service's first forecast, and 2 s of downloading, which agrees with it by default. */
async function compare({ stage, forecaster, ask }: ReturnType<typeof staged>, bps = 40e6): Promise<void> {
  stage.sendForecast();
  await stage.advance(0);
  ask();
  for (let tenth = 0; tenth < 20; tenth++) {
    const startSeconds = stage.nowSeconds();
    await stage.advance(0.1);
    forecaster.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + 0.1, bits: bps / 10 });
  }
}

/** A session that receives the service's events. */
async function begun(options: Partial<ServiceForecasterOptions> = {}) {
  const begun = staged(options);
  const { forecaster, ask } = begun;
  forecaster.start({ seed: 1, utcMsAtStart: 1_000_000 });
  expect(ask()).toBeUndefined();
  await begun.stage.advance(1);
  return begun;
}

describe('forecasts of the service', () => {
  test('are converted to the clock of the session', async () => {
    const session = await begun();
    const { stage, ask, forecaster } = session;
    await compare(session);
    await stage.advance(4);
    stage.sendForecast({ handovers: [{ atMs: stage.serverUtcMs() + 3000, confidence: 0.8 }] });
    await stage.advance(0.5);
    const forecast = ask()!;
    expect(forecast.issuedAtMs).toBeCloseTo(7000, 3);
    expect(forecast.quantilesBps[0]).toEqual([20e6, 40e6, 60e6]);
    expect(forecast.handovers).toEqual([{ atMs: expect.closeTo(1_010_000, 0), confidence: 0.8 }]);
    expect(ask()).toBe(forecast);
    expect(forecaster.state).toMatchObject({
      connection: 'streaming',
      verdict: 'trusted',
      share: 1,
      ageSeconds: 0.5,
    });
  });

  test('are used once the first one agrees with 2 s of downloading, from the start in the next session', async () => {
    const session = await begun();
    const { stage, ask, forecaster } = session;
    stage.sendForecast();
    await stage.advance(0.5);
    expect(ask()).toBeUndefined();
    expect(forecaster.state.verdict).toBe('not-yet');
    await compare(session);
    stage.sendForecast();
    await stage.advance(0.1);
    expect(ask()).toBeDefined();
    expect(forecaster.state.verdict).toBe('trusted');
    forecaster.start({ seed: 1 });
    expect(ask()).toBeDefined();
  });

  test.each([6e6, 90e6])(
    'are not used if the first one contradicts what the session measured: %d bit/s',
    async (bps) => {
      const session = await begun();
      const { stage, ask, forecaster } = session;
      await compare(session, bps);
      // The service has learnt from the session's reports, but its history is of another link.
      for (let second = 0; second < 30; second++) {
        const quantilesBps = FORECAST.quantilesBps.map((row) => row.map((value) => (value * bps) / 40e6));
        stage.sendForecast({ quantilesBps });
        await stage.advance(1);
        expect(ask()).toBeUndefined();
      }
      expect(forecaster.state.verdict).toBe('contradicted');
      // The next session may be on its link, which it has to show first.
      forecaster.start({ seed: 1 });
      stage.sendForecast();
      await stage.advance(0.1);
      expect(ask()).toBeUndefined();
      await compare(session);
      stage.sendForecast();
      await stage.advance(0.1);
      expect(ask()).toBeDefined();
    },
  );

  test('are not used while others use the link', async () => {
    const session = await begun();
    const { stage, ask, forecaster } = session;
    await compare(session);
    stage.share = 0.25;
    await stage.advance(6);
    stage.sendForecast();
    await stage.advance(0.5);
    expect(ask()).toBeUndefined();
    expect(forecaster.state).toMatchObject({ verdict: 'trusted', share: 0.25, ageSeconds: 0.5 });
    stage.share = 1;
    await stage.advance(6);
    stage.sendForecast();
    await stage.advance(0.5);
    expect(ask()).toBeDefined();
  });

  test('keep the link within a second', async () => {
    const session = await begun();
    const { stage, ask } = session;
    await compare(session);
    await stage.advance(4);
    const fluctuation = { levels: [0.1, 0.9], ratios: [0.7, 1.2], correlation: 0.5 };
    const dip = {
      ...{ timingSeconds: 0.1, depth: 0.8, levels: [0.5], seconds: [0.2] },
      collapse: { probability: 0.05, depth: 0.6, seconds: 1.5 },
    };
    const handovers = [{ atMs: stage.serverUtcMs() + 3000, confidence: 0.8, dip }];
    stage.sendForecast({ fluctuation, handovers });
    await stage.advance(0.5);
    expect(ask()).toMatchObject({ fluctuation, handovers: [{ atMs: expect.closeTo(1_010_000, 0), dip }] });
    stage.sendForecast({ fluctuation: { ...fluctuation, ratios: [1.2, 0.7] } });
    await stage.advance(0.1);
    expect(ask).toThrow('fluctuation.ratios[1]: expected a number from 1.2 to 1000, got 0.7');
    stage.sendForecast();
    await stage.advance(0.1);
    expect(ask()).not.toHaveProperty('fluctuation');
  });

  test('have no handovers without the UTC of the session, and then in this UTC', async () => {
    const session = staged();
    const { stage, ask, forecaster } = session;
    forecaster.start({ seed: 1 });
    ask();
    await stage.advance(1);
    await compare(session);
    stage.sendForecast({ handovers: [{ atMs: stage.serverUtcMs() + 3000, confidence: 0.8 }] });
    await stage.advance(0.1);
    expect(ask()!.handovers).toEqual([]);
    forecaster.tellTime!(1, 9_001_000, 0.1);
    stage.sendForecast({ handovers: [{ atMs: stage.serverUtcMs() + 3000, confidence: 0.8 }] });
    await stage.advance(0.1);
    expect(ask()!.handovers[0]!.atMs).toBeCloseTo(9_006_100, 0);
  });

  test('are not used when they are old', async () => {
    const session = await begun({ staleSeconds: 3 });
    const { stage, ask } = session;
    await compare(session);
    stage.sendForecast();
    await stage.advance(2.9);
    expect(ask()).toBeDefined();
    await stage.advance(0.2);
    expect(ask()).toBeUndefined();
  });

  test('are a fault if invalid, and the chain uses the next forecaster', async () => {
    const session = staged();
    const { stage, forecaster } = session;
    const faults: string[] = [];
    const own = { ...FORECAST, source: 'own', issuedAtMs: 0 };
    const chain = new ForecastChain([forecaster, { name: 'own', start() {}, observe() {}, latest: () => own }], {
      onFault: ({ forecaster: name, message }) => faults.push(`${name}: ${message}`),
    });
    chain.start({ seed: 1 });
    chain.latest(stage.nowSeconds());
    await stage.advance(1);
    await compare(session);
    stage.sendForecast({ quantilesBps: [[1]] });
    await stage.advance(0.1);
    expect(chain.latest(stage.nowSeconds())!.source).toBe('own');
    expect(faults).toEqual([
      'service: http://127.0.0.1:8790/: quantilesBps: expected an array of 3, got an array of 1',
    ]);
    stage.sendForecast();
    await stage.advance(0.1);
    expect(chain.latest(stage.nowSeconds())!.source).toBe('service');
  });

  test('with bad scores are ignored, as the state shows', async () => {
    const session = await begun();
    const { stage, ask, forecaster } = session;
    await compare(session);
    const verdicts: string[] = [];
    for (let second = 1; second < 40; second++) {
      const at = stage.nowSeconds();
      for (let i = 0; i < 10; i++) {
        const start = at + i / 10;
        forecaster.observe({ kind: 'throughput', startSeconds: start, endSeconds: start + 0.1, bits: 0.7e6 });
      }
      await stage.advance(1);
      stage.sendForecast();
      await stage.advance(0);
      ask();
      const { verdict } = forecaster.state;
      if (verdict !== verdicts.at(-1)) verdicts.push(verdict);
    }
    expect(verdicts).toEqual(['trusted', 'not-yet', 'distrusted']);
    expect(ask()).toBeUndefined();
  });
});

describe('reports', () => {
  test('are in UTC of the service, twice a second', async () => {
    const { stage, forecaster, ask } = await begun();
    await stage.advance(4);
    ask();
    forecaster.observe({ kind: 'idle', startSeconds: 0, endSeconds: 4.6 });
    forecaster.observe({ kind: 'throughput', startSeconds: 4.6, endSeconds: 4.7, bits: 5e6 });
    forecaster.observe({ kind: 'request-latency', atSeconds: 4.6, latencySeconds: 0.04 });
    await stage.advance(0.1);
    const { body, method, path } = stage.requests.at(-1)!;
    expect({ method, path }).toEqual({ method: 'POST', path: '/v1/observations?protocol=1' });
    const utc = (seconds: number) => expect.closeTo(PAGE_START_MS + SERVER_OFFSET_MS + seconds * 1000, 1);
    expect(body).toEqual({
      player: expect.stringMatching(/^page-[a-z0-9]+$/),
      observations: [
        { kind: 'idle', startMs: utc(0), endMs: utc(4.6) },
        { kind: 'throughput', startMs: utc(4.6), endMs: utc(4.7), bits: 5e6 },
        { kind: 'request-latency', atMs: utc(4.6), latencyMs: 40 },
      ],
      isDownloading: true,
    });
    await stage.advance(0.4);
    expect(stage.requests.at(-1)!.body).toMatchObject({ observations: [], isDownloading: false });
    const reports = stage.requests.length;
    await stage.advance(4);
    // No report without observations.
    expect(stage.requests.length).toBe(reports);
    await stage.advance(2);
    expect(stage.requests.length).toBe(reports + 1);
  });

  test('are sent at once when a download begins or has ended, else twice a second', async () => {
    const { stage, forecaster, ask } = await begun();
    await stage.advance(2);
    ask();
    stage.requests.length = 0;
    forecaster.observe({ kind: 'idle', startSeconds: 0, endSeconds: 3 });
    for (let tenth = 30; tenth < 41; tenth++) {
      await stage.advance(0.1);
      const startSeconds = tenth / 10;
      forecaster.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + 0.1, bits: 5e6 });
    }
    await stage.advance(5);
    const sent = stage.requests.map(({ atMs, body }) => {
      const { isDownloading, observations } = body as { isDownloading: boolean; observations: unknown[] };
      return [Math.round(atMs - PAGE_START_MS), isDownloading, observations.length];
    });
    expect(sent).toEqual([
      [3000, true, 1],
      [3500, true, 4],
      [4000, true, 5],
      [4400, false, 2],
    ]);
  });

  test('are limited without a connection, and old observations are not sent', async () => {
    const { stage, forecaster, ask } = await begun();
    stage.isGone = true;
    for (let i = 0; i < 1000; i++) {
      forecaster.observe({ kind: 'throughput', startSeconds: 1 + i / 10, endSeconds: 1.1 + i / 10, bits: 1e6 });
      await stage.advance(0.1);
      ask();
    }
    stage.isGone = false;
    await stage.advance(31);
    const sent = stage.requests
      .filter(({ body }) => body !== undefined)
      .map(({ body }) => (body as { observations: unknown[] }).observations.length);
    expect(Math.max(...sent)).toBeLessThanOrEqual(50);
    expect(sent.at(-1)).toBe(0);
  });
});

describe('the connection', () => {
  test('reconnects with backoff, for new events only', async () => {
    const { stage, forecaster } = await begun();
    stage.sendForecast({}, 'boot.17');
    await stage.advance(5);
    stage.isGone = true;
    stage.streams.at(-1)!.end();
    const before = stage.requests.length;
    const attempts: number[] = [];
    for (let second = 0; second < 300; second++) {
      forecaster.latest(stage.nowSeconds());
      await stage.advance(1);
    }
    for (const { path, atMs } of stage.requests.slice(before)) if (path.startsWith('/v1/events')) attempts.push(atMs);
    expect(attempts.length).toBeGreaterThan(3);
    expect(stage.requests.length - before).toBeLessThan(60);
    expect(forecaster.state.connection).toBe('waiting');
    stage.isGone = false;
    for (let second = 0; second < 40; second++) {
      forecaster.latest(stage.nowSeconds());
      await stage.advance(1);
    }
    expect(forecaster.state.connection).toBe('streaming');
    // With an id the service would send the events of the last minutes, up to 1200.
    for (const { headers } of stage.requests) expect(headers).not.toHaveProperty('last-event-id');
  });

  test('stays open if its listener throws, which is a fault', async () => {
    const { stage, forecaster } = staged({
      onState({ connection }) {
        throw new Error(`no ${connection}`);
      },
    });
    const faults: string[] = [];
    const chain = new ForecastChain([forecaster], { onFault: ({ message }) => faults.push(message) });
    chain.start({ seed: 1 });
    for (let second = 0; second < 20; second++) {
      if (second === 5) stage.streams.at(-1)!.end();
      chain.latest(stage.nowSeconds());
      await stage.advance(1);
    }
    expect(forecaster.state.connection).toBe('streaming');
    expect(stage.streams).toHaveLength(2);
    expect(faults).toEqual(['onState: no connecting']);
  });

  test.each(['connecting', 'streaming', 'waiting'] as const)(
    'may be closed by its listener while it is %s, and stays so until the next session',
    async (when) => {
      const failures: unknown[] = [];
      const onFailure = (reason: unknown) => failures.push(reason);
      process.on('unhandledRejection', onFailure);
      let isClosing = true;
      const { stage, forecaster, ask } = staged({
        onState({ connection }) {
          if (isClosing && connection === when) forecaster.close();
        },
      });
      stage.isGone = when === 'waiting';
      forecaster.start({ seed: 1 });
      await stage.advance(1);
      const { length } = stage.requests;
      for (let second = 0; second < 100; second++) {
        ask();
        await stage.advance(1);
      }
      await new Promise((resolve) => setImmediate(resolve));
      process.off('unhandledRejection', onFailure);
      expect(failures).toEqual([]);
      expect(forecaster.state.connection).toBe('off');
      expect(stage.requests.length).toBe(length);
      isClosing = false;
      stage.isGone = false;
      forecaster.start({ seed: 1 });
      await stage.advance(1);
      expect(forecaster.state.connection).toBe('streaming');
    },
  );

  test('may be reopened by its listener when it is closed', async () => {
    const { stage, forecaster } = await begun({
      onState({ connection }) {
        if (connection === 'off') forecaster.start({ seed: 1 });
      },
    });
    forecaster.close();
    await stage.advance(1);
    expect(forecaster.state.connection).toBe('streaming');
    expect(stage.streams.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  test('aborts a stream that it cannot parse', async () => {
    const { stage } = await begun();
    stage.streams[0]!.push('event: forecast\ndata: {\n\n');
    await stage.advance(2);
    expect(stage.streams.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  test('polls once a second if streams fail', async () => {
    const { stage, forecaster, ask } = staged();
    stage.streamStatus = 502;
    forecaster.start({ seed: 1 });
    ask();
    await stage.advance(5);
    const { length } = stage.requests.filter(({ path }) => path === '/v1/forecast?protocol=1');
    await stage.advance(10);
    expect(stage.requests.filter(({ path }) => path === '/v1/forecast?protocol=1').length - length).toBe(10);
    expect(forecaster.state.connection).toBe('polling');
    expect(forecaster.state.ageSeconds).toBeLessThan(2);
    stage.streamStatus = 200;
    for (let second = 0; second < 65; second++) {
      ask();
      await stage.advance(1);
    }
    expect(forecaster.state.connection).toBe('streaming');
  });

  test('polls while another page streams', async () => {
    let isTaken = true;
    const { stage, forecaster, ask } = staged({
      locks: {
        async request(name, _, act) {
          expect(name).toBe('http://127.0.0.1:8790');
          return act(isTaken ? null : {});
        },
      },
    });
    const play = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        ask();
        await stage.advance(1);
      }
      return stage.requests.filter(({ path }) => path.startsWith('/v1/events')).length;
    };
    forecaster.start({ seed: 1 });
    expect(await play(100)).toBe(0);
    expect(forecaster.state.connection).toBe('polling');
    expect(stage.requests.filter(({ path }) => path === '/v1/forecast').length).toBeLessThan(103);
    expect(forecaster.state.ageSeconds).toBeLessThan(2);
    isTaken = false;
    expect(await play(30)).toBe(1);
    expect(forecaster.state.connection).toBe('streaming');
  });

  test('streams if the page may not use locks', async () => {
    const { stage, forecaster, ask } = staged({ locks: { request: () => Promise.reject(new Error('sandboxed')) } });
    forecaster.start({ seed: 1 });
    ask();
    await stage.advance(1);
    expect(forecaster.state.connection).toBe('streaming');
  });

  test('sends its token, and retries rarely if refused', async () => {
    const states: string[] = [];
    const { stage, forecaster, ask } = staged({
      token: 'secret',
      onState: ({ connection }) => states.push(connection),
    });
    stage.status = 401;
    stage.streamStatus = 401;
    forecaster.start({ seed: 1 });
    for (let second = 0; second < 200; second++) {
      ask();
      await stage.advance(1);
    }
    expect(stage.requests.every(({ headers }) => headers['authorization'] === 'Bearer secret')).toBe(true);
    expect(stage.requests.length).toBeLessThan(12);
    expect(states).toEqual(['connecting', 'refused']);
    expect(forecaster.state.detail).toBe('expected success, got status 401');
  });

  test.each([
    ['that no longer speaks the version of this client', 400, { oldest: 2, newest: 3 }, 'client'],
    ['that does not speak a version of this client yet', 200, { oldest: 0, newest: 0 }, 'service'],
  ])('to a service %s is one fault that says what to update', async (_, status, protocol, outdated) => {
    const states: string[] = [];
    const { stage, forecaster } = staged({ onState: ({ connection }) => states.push(connection) });
    Object.assign(stage, { status, streamStatus: status, protocol });
    const faults: string[] = [];
    const own = {
      ...forecaster,
      name: 'own',
      start() {},
      observe() {},
      latest: () => ({ ...FORECAST, source: 'own' }),
    };
    const chain = new ForecastChain([forecaster, own], { onFault: ({ message }) => faults.push(message) });
    chain.start({ seed: 1 });
    const play = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        expect((chain.latest(0) as QuantileForecast).source).toBe('own');
        await stage.advance(1);
      }
    };
    await play(200);
    const detail = `update the ${outdated}: client version 1, service version ${protocol.newest}`;
    expect(faults).toEqual([`http://127.0.0.1:8790/: ${detail}`]);
    expect(forecaster.state).toMatchObject({ connection: 'refused', detail });
    expect(states).toEqual(['connecting', 'refused']);
    expect(stage.requests.length).toBeLessThan(12);
    // Updated.
    Object.assign(stage, { status: 200, streamStatus: 200, protocol: { oldest: 1, newest: 2 } });
    await play(80);
    expect(states[2]).toBe('streaming');
  });

  test('says which version it speaks in each request', async () => {
    const { stage } = await begun();
    expect(stage.requests.map(({ path }) => path)).toEqual([
      '/v1/forecast?protocol=1',
      '/v1/observations?protocol=1',
      '/v1/events?types=forecast,clock&protocol=1',
    ]);
  });

  test('follows a leap of the clock of the service', async () => {
    const session = await begun();
    const { stage, ask } = session;
    await compare(session);
    stage.offsetMs += 3_600_000;
    stage.send('clock', { serverUtcMs: stage.serverUtcMs(), leapSeconds: 3600 });
    await stage.advance(1);
    stage.sendForecast();
    await stage.advance(0.1);
    expect(ask()!.issuedAtMs / 1000).toBeCloseTo(4, 3);
  });

  test('ends without calls of latest or on close, and reopens', async () => {
    const { stage, forecaster, ask } = await begun();
    await stage.advance(70);
    expect(forecaster.state.connection).toBe('off');
    const { length } = stage.requests;
    await stage.advance(100);
    expect(stage.requests.length).toBe(length);
    ask();
    await stage.advance(1);
    expect(forecaster.state.connection).toBe('streaming');
    forecaster.close();
    await stage.advance(100);
    expect(forecaster.state.connection).toBe('off');
  });

  test('reconnects at the next call of latest if asked to, not after its pause', async () => {
    const { stage, forecaster, ask } = await begun();
    stage.isGone = true;
    stage.streams.at(-1)!.end();
    await stage.advance(40);
    expect(forecaster.state.connection).toBe('waiting');
    stage.isGone = false;
    forecaster.reconnect();
    expect(forecaster.state.connection).toBe('off');
    ask();
    await stage.advance(0.1);
    expect(forecaster.state.connection).toBe('streaming');
  });

  test('aborts a stream after a long silence', async () => {
    const { stage, ask } = await begun();
    for (let second = 0; second < 45; second++) {
      ask();
      await stage.advance(1);
    }
    expect(stage.streams.length).toBe(2);
  });
});

describe('players of one page', () => {
  async function three(isOld = false) {
    const first = staged();
    first.stage.isOld = isOld;
    const players = [first.forecaster, first.another(), first.another()];
    for (const player of players) player.start({ seed: 1 });
    const ask = () => players.map((player) => player.latest(first.stage.nowSeconds()));
    ask();
    await first.stage.advance(6);
    return { ...first, players, ask };
  }

  test('share one stream and one report, each with its own observations and share', async () => {
    const { stage, players, ask } = await three();
    expect(stage.streams).toHaveLength(1);
    stage.sendForecast();
    await stage.advance(0);
    ask();
    expect(players.map(({ state }) => state)).toMatchObject(
      [1, 1 / 2, 1 / 3].map((share) => ({ share, ageSeconds: 0 })),
    );
    stage.requests.length = 0;
    for (const [i, player] of players.entries()) {
      player.observe({ kind: 'throughput', startSeconds: 5, endSeconds: 5.1, bits: i });
    }
    await stage.advance(0.1);
    const bits = (n: number) => ({ observations: [{ bits: n }], isDownloading: true });
    expect(stage.requests.map(({ body }) => body)).toMatchObject([{ ...bits(0), others: [bits(1), bits(2)] }]);
  });

  test('report one by one to an older service', async () => {
    const { stage, players } = await three(true);
    stage.requests.length = 0;
    for (const [i, player] of players.entries()) {
      player.observe({ kind: 'throughput', startSeconds: 5, endSeconds: 5.1, bits: i });
    }
    await stage.advance(0.1);
    expect(stage.requests.map(({ body }) => body)).toMatchObject(
      [0, 1, 2].map((bits) => ({ observations: [{ bits }] })),
    );
    expect(stage.requests.every(({ body }) => (body as ReportBody).others === undefined)).toBe(true);
    expect(players.map(({ state }) => state.share)).toEqual([1, 1, 1]);
  });

  test('leave one by one: the last one closes the connection, and the next one opens another', async () => {
    const { stage, players } = await three();
    const connections = () => players.map(({ state }) => state.connection);
    players[0]!.close();
    await stage.advance(5.5);
    expect(connections()).toEqual(['off', 'streaming', 'streaming']);
    expect((stage.requests.at(-1)!.body as ReportBody).others).toHaveLength(1);
    for (const player of players) player.close();
    expect(stage.streams.map(({ signal }) => signal.aborted)).toEqual([true]);
    players[1]!.start({ seed: 1 });
    await stage.advance(1);
    expect(connections()).toEqual(['off', 'streaming', 'off']);
    expect(stage.streams).toHaveLength(2);
  });

  test('retry together when one of them is asked to reconnect', async () => {
    const { stage, players, ask } = await three();
    stage.isGone = true;
    stage.streams[0]!.end();
    for (let second = 0; second < 40; second++) {
      ask();
      await stage.advance(1);
    }
    stage.isGone = false;
    players[2]!.reconnect();
    ask();
    await stage.advance(0.1);
    expect(players.map(({ state }) => state.connection)).toEqual(['streaming', 'streaming', 'streaming']);
    expect(stage.streams).toHaveLength(2);
  });

  test('with other tokens have connections of their own', async () => {
    const { stage, another } = await begun();
    another({ token: 'secret' }).start({ seed: 1 });
    await stage.advance(1);
    expect(stage.streams).toHaveLength(2);
  });

  test('send no more than the service accepts: at most ten reports per request', async () => {
    const { stage, another } = await begun();
    const players = Array.from({ length: 11 }, () => another());
    for (const player of players) player.start({ seed: 1 });
    stage.requests.length = 0;
    for (const player of players) player.latest(stage.nowSeconds());
    for (let n = 0; n < 70; n++) {
      for (const player of players) player.observe({ kind: 'request-latency', atSeconds: 0.7, latencySeconds: 1 / 30 });
    }
    await stage.advance(0.5);
    const reports = stage.requests.map(({ body }) => body as ReportBody).slice(0, 2);
    expect(reports.map(({ others = [] }) => 1 + others.length)).toEqual([10, 2]);
    for (const body of reports) expect(JSON.stringify(body).length).toBeLessThan(64 * 1024);
  });
});

describe('the origin of the page', () => {
  test.each([
    ['https://a.example/', 'http://127.0.0.1:8790'],
    ['https://a.example/', 'http://localhost:8790'],
    ['https://a.example/', 'http://[::1]:8790'],
    ['https://a.example/', 'https://192.168.1.5:8790'],
    ['http://a.example/', 'http://192.168.1.5:8790'],
  ])('%s may ask %s', (pageUrl, url) => {
    const { forecaster } = staged({ pageUrl }, url);
    expect(() => forecaster.start({ seed: 1 })).not.toThrow();
    forecaster.close();
  });

  test('a page from https may not use http to another machine: one fault, and no request', async () => {
    const { forecaster, stage } = staged({ pageUrl: 'https://a.example/' }, 'http://192.168.1.5:8790');
    const faults: string[] = [];
    const chain = new ForecastChain([forecaster], { onFault: ({ message }) => faults.push(message) });
    chain.start({ seed: 1 });
    for (let second = 0; second < 5; second++) {
      expect(chain.latest(second)).toBeUndefined();
      await stage.advance(1);
    }
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('http://192.168.1.5:8790/: a page from https may not use http to another machine');
    expect(stage.requests).toEqual([]);
  });

  test.each(['tea', '', 'ftp://a', 'http://a/?x=1', undefined])('rejects the URL %s', (url) => {
    expect(() => createServiceForecaster(url as string)).toThrow('url: expected the address of a prediction service');
  });

  test('rejects an invalid staleSeconds', () => {
    expect(() => createServiceForecaster('http://localhost', { staleSeconds: -1 })).toThrow('options.staleSeconds');
  });
});
