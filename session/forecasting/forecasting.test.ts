import { expect, jest, test } from '@jest/globals';
import type { Forecast, Forecaster } from '../../abr/forecast.ts';
import { adapted } from '../fake-port.fixture.ts';
import { HOST } from '../host.fixture.ts';
import { Events } from '../page/events.ts';
import { broken, Scripted, Steady, useManualClock } from '../scripted.fixture.ts';
import type { Session } from '../session.ts';
import { Forecasting } from './forecasting.ts';
import { PriorForecaster, STORAGE_KEY } from './prior-forecaster.ts';

useManualClock();

/** A session's clock without UTC. */
const AT_START = { read: () => ({ nowSeconds: 0 }) };

/** With two forecasters, `first` and `second`; `changes` are the first one's. */
function started(changes: Partial<Forecaster> = {}, clock: { read(): object } = AT_START) {
  const second = Object.assign(new Steady(), { name: 'second' });
  const first = Object.assign(new Steady(), { name: 'first' }, changes);
  const events = new Events({ logger: null, host: HOST });
  const forecasting = new Forecasting({ seed: 3, events, forecasters: [first, second], hasPageForecasters: true });
  forecasting.start(clock as typeof AT_START);
  return { forecasting, events, first, second };
}

test("starts all forecasters, passes them the meter's observations, one meter per session, and asks them in order", () => {
  const { forecasting, first, second } = started({ latest: () => undefined });
  const { meter } = forecasting;
  const request = meter.requestSent(0);
  meter.firstByte(request, 0.05);
  meter.received(request, 0.3, 2e6);
  for (const one of [first, second]) {
    expect(one.contexts).toEqual([{ seed: 3 }]);
    expect(one.observations.map(({ kind }) => kind)).toEqual(['request-latency', ...Array(3).fill('throughput')]);
  }
  expect(forecasting.flushAndForecast({ nowSeconds: 0.6 })?.source).toBe('steady');
  // Complete observations are passed before.
  expect(second.observations.at(-1)).toMatchObject({ kind: 'throughput', bits: 0, endSeconds: 0.4 });
  forecasting.sourceEnded();
  forecasting.start(AT_START);
  expect(forecasting.meter).not.toBe(meter);
});

test('forecasters start again, with its throughput, on each change to a server behind another link', () => {
  const { forecasting, first } = started();
  const [fast, slow] = [8e6, 1e6].map(
    (bps) => ({ origin: { link: { bps } }, knownBps: () => bps }) as unknown as Session,
  );
  for (const session of [fast, fast, slow, slow, fast]) forecasting.flushAndForecast({ nowSeconds: 1 }, session);
  const again = (bits: number) => ({ seed: 3, pageLoad: { bits, seconds: 1 } });
  expect(first.contexts).toEqual([{ seed: 3 }, again(1e6), again(8e6)]);
});

test('forecasters get UTC again after a leap or from a better source', () => {
  const times: number[][] = [];
  const tellTime = (...time: number[]) => times.push(time);
  const { forecasting } = started({ tellTime } as object, {
    read: () => ({ nowSeconds: 0, utcMs: 1e12, utcUncertaintySeconds: 2 }),
  });
  const at = (nowSeconds: number, utcMs: number, utcUncertaintySeconds = 2) =>
    forecasting.flushAndForecast({ nowSeconds, utcMs, utcUncertaintySeconds });
  at(0, 1e12 + 5000);
  at(1, 1e12 + 1020);
  at(2, 1e12 + 2010);
  expect(times).toEqual([]);
  at(3, 1e12 + 6000);
  at(4, 1e12 + 7000);
  at(5, 1e12 + 8000, 0.05);
  at(6, 1e12 + 9000, 0.05);
  forecasting.flushAndForecast({ nowSeconds: 7 });
  expect(times.flat()).toEqual([3, 1e12 + 6000, 2, 5, 1e12 + 8000, 0.05]);
});

test.each([
  [{ value: Symbol('x') }, 'the forecaster Symbol(x) failed: broken'],
  [{ get: broken }, 'the forecaster undefined failed: broken'],
])('a forecaster with the name %j that fails is one fault', (name, message) => {
  const { forecasting, events, first } = started({ latest: broken });
  Object.defineProperty(first, 'name', name);
  for (const nowSeconds of [1, 2]) expect(forecasting.flushAndForecast({ nowSeconds })?.source).toBe('steady');
  expect(events.faults).toMatchObject([{ code: 'forecaster-failed', message }]);
});

const ORIGIN = 'https://media.example';
const DAY_MS = 86_400_000;
/** By the manual clock. */
const TODAY = 19_675;

function memory(text?: string) {
  const items = new Map(text === undefined ? [] : [[STORAGE_KEY, text]]);
  const setItem = (key: string, value: string) => void items.set(key, value);
  const stored = () => JSON.parse(items.get(STORAGE_KEY) ?? '{}');
  return { getItem: (key: string) => items.get(key) ?? null, setItem, stored };
}

const portOf = (origin: string | null) => ({ manifestUrl: () => origin && `${origin}/stream.mpd` });

function forecasterOn(storage: Pick<Storage, 'getItem' | 'setItem'> | undefined, origin: string | null = ORIGIN) {
  const forecaster = new PriorForecaster({ port: portOf(origin), host: { ...HOST, storage: () => storage } });
  forecaster.start();
  return forecaster;
}

/** Downloads of one second each at these rates. */
function watch(forecaster: PriorForecaster, ratesBps: readonly number[]): void {
  ratesBps.forEach((bits, second) => {
    forecaster.observe({ kind: 'throughput', startSeconds: second, endSeconds: second + 1, bits });
  });
}

test('a first session has no prior; later ones use it until they have their own observations', () => {
  const storage = memory();
  const first = forecasterOn(storage);
  expect(first.latest(0)).toBeUndefined();
  watch(first, [20e6, 22e6, 18e6, 20e6, 20e6]);
  const second = forecasterOn(storage);
  const forecast = second.latest(0.25)!;
  expect(forecast).toMatchObject({ source: 'prior', issuedAtMs: 250, handovers: [] });
  expect(forecast.quantilesBps).toHaveLength(forecast.stepEndsSeconds.length);
  for (const row of forecast.quantilesBps) {
    expect(row[2]).toBeCloseTo(20e6);
    // After a single session, the least factor counts twice.
    expect(row[0]).toBeCloseTo(20e6 / 4, -5);
    expect(row[4]).toBeCloseTo(20e6 * 4, -5);
  }
  second.observe({ kind: 'throughput', startSeconds: 1, endSeconds: 1.4, bits: 1e6 });
  expect(second.latest(1.4)).toBeDefined();
  second.observe({ kind: 'throughput', startSeconds: 1.4, endSeconds: 1.6, bits: 1e6 });
  expect(second.latest(1.6)).toBeUndefined();
});

test('similar sessions give at least a factor of two either way; different ones a wider forecast', () => {
  const storage = memory();
  const row = () => forecasterOn(storage).latest(0)!.quantilesBps[0]!;
  const outer = () => row()[4]! / row()[0]!;
  for (let session = 0; session < 200; session++) watch(forecasterOn(storage), Array(6).fill(10e6));
  expect(outer()).toBeGreaterThanOrEqual(4);
  expect(outer()).toBeLessThan(4.1);
  watch(forecasterOn(storage), Array(6).fill(100e6));
  expect(outer()).toBeGreaterThan(8);
  // A long past does not prevent learning a new place.
  expect(row()[2]).toBeCloseTo(15.85e6, -4);
});

test('saves during a session, which counts once; statistics move towards it, and widen if sessions differ', () => {
  const storage = memory();
  const forecaster = forecasterOn(storage);
  watch(forecaster, [5e6, 5e6, 5e6, 5e6]);
  expect(storage.stored()).toEqual({});
  watch(forecaster, Array(30).fill(5e6));
  expect(storage.stored()).toEqual({ [ORIGIN]: [5e6, 0, 1, TODAY] });
  forecaster.start();
  watch(forecaster, Array(6).fill(20e6));
  forecaster.save();
  expect(storage.stored()).toEqual({ [ORIGIN]: [10e6, Math.round(1000 * Math.LN2) / 1000, 2, TODAY] });
});

test('outages, idle times and latencies leave the statistics finite', () => {
  const storage = memory();
  const forecaster = forecasterOn(storage);
  forecaster.observe({ kind: 'idle', startSeconds: 0, endSeconds: 5 });
  forecaster.observe({ kind: 'request-latency', atSeconds: 5, latencySeconds: 0.1 });
  for (const sessions of [1, 2]) {
    watch(forecaster, [8e6, 0, 8e6, 0, 8e6]);
    expect(storage.stored()).toEqual({ [ORIGIN]: [8e6, 1.895, sessions, TODAY] });
    forecaster.start();
  }
  const dead = memory();
  watch(forecasterOn(dead), Array(10).fill(0));
  expect(dead.stored()).toEqual({});
});

test.each([
  ['an origin', memory(), null],
  ['storage', undefined, ORIGIN],
])('without %s there is no prior, and nothing is stored', (_, storage, origin) => {
  watch(forecasterOn(storage, origin), Array(6).fill(5e6));
  expect(forecasterOn(storage, origin).latest(0)).toBeUndefined();
  expect(storage?.stored() ?? {}).toEqual({});
});

const play = (storage: ReturnType<typeof memory>, origin = ORIGIN) =>
  watch(forecasterOn(storage, origin), Array(6).fill(20e6));

test('the stored statistics are forgotten after a month; of more than 20 origins, the oldest', () => {
  const storage = memory();
  play(storage);
  for (const days of [-1, 30]) {
    jest.setSystemTime((TODAY + days) * DAY_MS);
    expect(forecasterOn(storage).latest(0)).toBeDefined();
  }
  for (let i = 0; i < 21; i++) play(storage, `https://${i}.example`);
  expect(Object.keys(storage.stored())).toHaveLength(20);
  expect(storage.stored()).not.toHaveProperty([ORIGIN]);
  expect(storage.stored()).toHaveProperty(['https://20.example']);
  jest.setSystemTime((TODAY + 61) * DAY_MS);
  play(storage);
  expect(storage.stored()).toEqual({ [ORIGIN]: [20e6, 0, 1, TODAY + 61] });
});

const LISTS = ['[1, 2, 3]', '[-1, 0, 1, 19675]', '[1e6, null, 1, 19675]', '[1e6, 99, 1, 19675]', '[1e6, 0, 1, 19677]'];
const ENTRIES = ['1', ...LISTS].map((value) => `{"${ORIGIN}": ${value}}`);
test.each([...ENTRIES, 'no JSON', 'null', '7', '[]'])('the stored statistics %s are ignored and replaced', (text) => {
  const storage = memory(text);
  expect(forecasterOn(storage).latest(0)).toBeUndefined();
  play(storage);
  expect(storage.stored()).toEqual({ [ORIGIN]: [20e6, 0, 1, TODAY] });
});

test('a storage may be blocked or full', () => {
  for (const storage of [broken, () => ({ ...memory(), setItem: broken })]) {
    const forecaster = new PriorForecaster({ port: portOf(ORIGIN), host: { ...HOST, storage } });
    forecaster.start();
    expect(() => watch(forecaster, Array(6).fill(20e6))).not.toThrow();
    expect(forecaster.latest(0)).toBeUndefined();
  }
});

const UTC_MS = 1e12;
const URI = 'https://media.example/1.m4s?a=b&CMCD=d%3D4000%2Csid%3D%22x%22#end';

/** A session after its first decision. */
function decided(forecast: Partial<Forecast> | undefined, cmcd = true) {
  const forecaster: Forecaster = new Steady();
  const latest = forecaster.latest.bind(forecaster);
  forecaster.latest = (now) => forecast && ({ ...latest(now), ...forecast } as Forecast);
  const timeSource = { now: () => ({ utcMs: UTC_MS, uncertaintySeconds: 0.1 }) };
  const core = adapted({ controller: new Scripted(), forecasters: [forecaster], timeSource, cmcd });
  core.flow.decide();
  return (...request: Parameters<typeof core.flow.withCmcd>) => core.flow.withCmcd(...request);
}

const cmcdOf = (uri: string) => new URL(uri).searchParams.get('CMCD');
const keysOf = (forecast: Partial<Forecast>) => cmcdOf(decided(forecast)(URI));

test('adds the keys to the query argument, and changes nothing else', () => {
  const uri = decided({})(URI);
  expect(cmcdOf(uri)).toBe('d=4000,leo.abr-cap=6000,leo.abr-src="steady",sid="x"');
  expect(uri.replace(/&CMCD=[^#]*/, '')).toBe('https://media.example/1.m4s?a=b#end');
  expect(decided({})('https://media.example/1.m4s?a=b')).toBe('https://media.example/1.m4s?a=b');
});

test('adds the keys to the header, and only if the player has written it', () => {
  const headers = { 'CMCD-Request': 'bl=4000', 'CMCD-Session': 'sid="x"' };
  decided({})('https://media.example/1.m4s', headers);
  const request = 'bl=4000,leo.abr-cap=6000,leo.abr-src="steady"';
  expect(headers).toEqual({ 'CMCD-Request': request, 'CMCD-Session': 'sid="x"' });
  const others = { range: 'bytes=0-1' };
  decided({})('https://media.example/1.m4s', others);
  expect(others).toEqual({ range: 'bytes=0-1' });
});

test('keeps the alphabetical order, and strings as they are, and adds the keys once', () => {
  const value = 'bl=4000,br=(1000;v),cid="a,z=\\",b é",d=4000,mtp=8200,su';
  const headers = { 'CMCD-Request': value };
  const withKeys = decided({});
  const once = withKeys(`https://media.example/1.m4s?CMCD=${encodeURIComponent(value)}`, headers);
  const [before, after] = value.split(/(?<=d=4000),/);
  const extended = `${before},leo.abr-cap=6000,leo.abr-src="steady",${after}`;
  expect([cmcdOf(once), headers['CMCD-Request']]).toEqual([extended, extended]);
  expect([withKeys(once, headers), headers['CMCD-Request']]).toEqual([once, extended]);
});

test('names the next handover, in seconds from now', () => {
  const handovers = [-15_000, 1250, 16_250].map((ms) => ({ atMs: UTC_MS + ms, confidence: 1 }));
  expect(keysOf({ handovers })).toMatch(/,leo\.abr-ho=1\.3,/);
  expect(keysOf({ handovers: handovers.slice(0, 1) })).not.toContain('ho=');
});

test('takes the level of 10 %, or the next one below it', () => {
  const row = [[1e6, 2e6, 3e6]];
  expect(keysOf({ levels: [0.03, 0.08, 0.5], quantilesBps: row })).toContain('cap=2000,');
  expect(keysOf({ levels: [0.2, 0.5, 0.8], quantilesBps: row })).toContain('cap=1000,');
});

test('names no capacity of paths, and no character that a string may not have', () => {
  const path = { cumulativeBits: (seconds: number) => seconds, downloadSeconds: () => 1 };
  const paths = { kind: 'path' as const, path, source: `a "q\\ü\n,z${'z'.repeat(99)}` };
  expect(keysOf(paths)).toBe(`d=4000,leo.abr-src="a q,${'z'.repeat(60)}",sid="x"`);
});

test('changes nothing without the option, and without a forecast', () => {
  expect(decided({}, false)(URI)).toBe(URI);
  expect(decided(undefined)(URI)).toBe(URI);
});
