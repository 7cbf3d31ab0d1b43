import { expect, jest, test } from '@jest/globals';
import { HOST } from '../host.fixture.ts';
import { broken, useManualClock } from '../scripted.fixture.ts';
import { PriorForecaster, STORAGE_KEY } from './prior-forecaster.ts';

const ORIGIN = 'https://media.example';
const DAY_MS = 86_400_000;
/** By the manual clock. */
const TODAY = 19_675;

useManualClock();

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
