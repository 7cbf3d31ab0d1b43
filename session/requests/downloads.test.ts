import { expect, jest, test } from '@jest/globals';
import { adapted } from '../fake-port.fixture.ts';
import { HOST } from '../host.fixture.ts';
import type { ResponseSource } from '../host.ts';
import { bitsOf, Scripted, Steady, useManualClock, wait } from '../scripted.fixture.ts';

useManualClock();

const LIVE = { nowSeconds: 100, firstChunkSeconds: 0.5, startSeconds: 98.5, segmentSeconds: 4 };

/** A video segment is requested; `bits`: what the forecasters have got at the end. */
function requested(live?: typeof LIVE) {
  const steady = new Steady();
  const core = adapted({ controller: new Scripted(), forecasters: [steady] });
  const { downloads, port, session } = core;
  const request = {};
  downloads.requested(request, { isMedia: true, segment: port.segment(0), live });
  const receivedAfter = (seconds: number, totalBits: number, isInterim = false) => {
    wait(seconds);
    if (!isInterim || !downloads.skipReport(request)) downloads.received(request, { totalBits });
  };
  const bits = () => {
    wait(2);
    core.forecasting!.meter.advance(core.clock.nowSeconds());
    return bitsOf(steady);
  };
  const rates = () =>
    steady.observations.flatMap((one) =>
      one.kind === 'throughput' ? [one.bits / (one.endSeconds - one.startSeconds)] : [],
    );
  return { ...core, steady, request, receivedAfter, bits, rates, record: () => session.record };
}

test.each([
  [-3599, 1],
  [3601, 1],
  [1.02, 1],
  [Number.NaN, 1],
  [1.005, 1.005],
])("a duration of %d s by the player's clock, which may have been set meanwhile, counts as %d s", (given, counted) => {
  const { downloads, request, receivedAfter, record } = requested();
  receivedAfter(1, 4e6);
  downloads.ended(request, 'whole', given);
  expect(record().measured).toMatchObject([{ downloadSeconds: counted }]);
});

test('downloads that were complete at their first report have no latency', () => {
  const { downloads, request, receivedAfter, record, steady, bits } = requested();
  receivedAfter(0.5, 4e6);
  downloads.ended(request, 'whole', 0.5);
  expect(record().measured[0]).not.toHaveProperty('latencySeconds');
  expect(bits()).toBe(0);
  expect(steady.observations.some(({ kind }) => kind === 'request-latency')).toBe(false);
});

test.each([
  ['whole', 'last bits', 0.5, [0.5e6, 1e6]],
  ['abandoned', 'end', 0.75, [1e6]],
] as const)('without a duration, %s downloads last until their %s; all bits count', (outcome, _, seconds, reports) => {
  const { downloads, request, receivedAfter, record, bits } = requested();
  for (const totalBits of reports) receivedAfter(0.5 / reports.length, totalBits);
  wait(0.25);
  downloads.ended(request, outcome);
  expect(record().measured).toMatchObject([{ downloadSeconds: seconds }]);
  expect(bits()).toBeCloseTo(1e6);
});

test('a retry by the player starts again at the first bit', () => {
  const { downloads, request, receivedAfter, record, bits } = requested();
  for (const totalBits of [1e6, 2e6]) receivedAfter(0.25, totalBits);
  downloads.restarted(request);
  receivedAfter(0.25, 0.5e6);
  receivedAfter(0.25, 4e6);
  downloads.ended(request, 'whole', 1);
  expect(record().measured).toMatchObject([{ receivedBits: 4e6 }]);
  // 2 Mbit of the first attempt and all bits of the second.
  expect(bits()).toBeCloseTo(6e6);
});

test("an attempt without an answer is a wait, although the player's time is the last attempt's", () => {
  const { downloads, request, receivedAfter, record } = requested();
  wait(1.05);
  downloads.restarted(request);
  receivedAfter(0.05, 1e5);
  receivedAfter(0.5, 4e6);
  downloads.ended(request, 'whole', 0.55);
  expect(record().measured).toMatchObject([{ downloadSeconds: expect.closeTo(0.5, 9), latencySeconds: 0 }]);
});

test('on demand one of six reports counts, and the last one; all of a live segment do', () => {
  const { downloads, request, receivedAfter, record, bits, rates } = requested();
  for (let n = 1; n <= 100; n++) {
    receivedAfter(0.005, n * 40_000, n < 100);
    expect(record().active!.receivedBits / 40_000).toBe(n < 100 ? n - ((n - 1) % 6) : n);
  }
  downloads.ended(request, 'whole', 0.5);
  expect(bits()).toBeCloseTo(4e6);
  // Even, as the bits came.
  const active = rates().filter((bps) => bps > 0);
  expect(Math.max(...active) / Math.min(...active)).toBeLessThan(1.3);
  const live = requested(LIVE);
  for (const all of [1e4, 2e4, 3e4]) {
    live.receivedAfter(0.05, all, true);
    expect(live.record().active!.receivedBits).toBe(all);
  }
});

test.each([
  ['on demand', undefined, 2e6],
  ['live', LIVE, 1e6],
])('plans %s count the bits that skipped reports would have told', (_, live, counted) => {
  const { port, decisions, receivedAfter, record } = requested(live);
  Object.assign(port, { arrived: () => ({ totalBits: 2e6 }) });
  receivedAfter(0.5, 1e6);
  wait(0.5);
  decisions.decide();
  expect(record().active!.receivedBits).toBe(counted);
});

test("the page's forecasters get the bits of skipped reports at each tick", () => {
  const { port, clock, receivedAfter, rates } = requested();
  Object.assign(port, { arrived: () => ({ totalBits: 2e6 * clock.nowSeconds() }) });
  receivedAfter(0.5, 1e6);
  wait(1);
  expect(rates().length).toBeGreaterThan(5);
  expect(Math.min(...rates())).toBeCloseTo(2e6, -2);
});

test('three fast downloads after slower ones end the forecasts from these', () => {
  const { downloads, decisions, port, request, receivedAfter, record } = requested();
  for (const bits of [2e6, 4e6]) receivedAfter(0.5, bits);
  downloads.ended(request, 'whole', 1);
  for (const index of [1, 2, 3]) {
    decisions.decide();
    expect(record().forecast?.source).toBe('steady');
    downloads.requested(port, { isMedia: true, segment: port.segment(index) });
    downloads.received(port, { totalBits: 4e6 });
    downloads.ended(port, 'whole', 0.001);
  }
  decisions.decide();
  expect(record().forecast).toBeUndefined();
});

test('the browser may tell a task later that a cache answered', () => {
  let told: ResponseSource;
  const host = { ...HOST, watchResponses: () => ({ sourceOf: () => told, stop: () => {} }) };
  const steady = new Steady();
  const { downloads, port, session, decisions, sourceEnded } = adapted(
    { controller: new Scripted(), forecasters: [steady] },
    undefined,
    host,
  );
  const download = (index: number, source: ResponseSource) => {
    told = undefined;
    downloads.requested(port, { isMedia: true, segment: port.segment(index) });
    for (const totalBits of [1e6, 4e6]) {
      wait(0.01);
      downloads.received(port, { totalBits });
    }
    downloads.ended(port, 'whole', 0.02);
    told = source;
    decisions.decide();
    return session.record.downloads.length;
  };
  expect([download(0, 'cache'), download(1, 'network'), download(2, 'cache')]).toEqual([0, 1, 1]);
  // Nobody tells: it is a measurement like the one before.
  expect(download(3, undefined)).toBe(2);
  wait(1);
  expect([session.record.isBlind, session.record.active]).toEqual([false, undefined]);
  // Nor does a timer stay when the source ends meanwhile.
  told = undefined;
  const audio = {};
  downloads.requested(audio, { isMedia: true });
  downloads.requested(port, { isMedia: true, segment: port.segment(4) });
  downloads.received(audio, { totalBits: 1e5 });
  downloads.ended(audio, 'whole');
  sourceEnded();
  expect(jest.getTimerCount()).toBe(0);
});

test('downloads of an earlier session reach nothing', () => {
  const { downloads, request, receivedAfter, record, sourceEnded } = requested();
  sourceEnded();
  receivedAfter(1, 1e6);
  downloads.ended(request, 'whole', 1);
  expect(record()).toMatchObject({ measured: [], wholeDownloads: 0 });
});

test('the time of a suspended page is not that of a download', () => {
  const { downloads, request, receivedAfter, record, clock, steady } = requested();
  receivedAfter(0.5, 1e6);
  const nowMs = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(nowMs + 3600_000);
  downloads.received(request, { totalBits: 2e6 });
  downloads.ended(request, 'whole', 3600.5);
  expect(record().measured).toMatchObject([{ receivedBits: 2e6, downloadSeconds: 0.5 }]);
  expect(clock.nowSeconds()).toBe(0.5);
  // Without a download it is a pause like any other.
  jest.spyOn(performance, 'now').mockReturnValue(nowMs + 7200_000);
  expect(clock.nowSeconds()).toBe(3600.5);
  expect(steady.observations.filter((one) => one.kind === 'throughput' && one.endSeconds > 1)).toEqual([]);
  jest.restoreAllMocks();
});
