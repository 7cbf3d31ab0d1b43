import { expect, jest, test } from '@jest/globals';
import { ObservationMeter, type ThroughputPiece } from '../predictor/link/observation-meter.ts';
import { adapted } from './fake-port.fixture.ts';
import { HOST } from './host.fixture.ts';
import type { ResponseSource } from './host.ts';
import { LiveEdge, LiveWaits } from './live/live-stream.ts';
import { Request } from './request.ts';
import { bitsOf, Scripted, Steady, useManualClock, wait } from './scripted.fixture.ts';

useManualClock();

const LIVE = { nowSeconds: 100, firstChunkSeconds: 0.5, startSeconds: 98.5, segmentSeconds: 4 };

/** A video segment is requested; `bits`: what the forecasters have got at the end. */
function requested(live?: typeof LIVE) {
  const steady = new Steady();
  const core = adapted({ controller: new Scripted(), forecasters: [steady] });
  const { port, flow } = core;
  const request = {};
  flow.began(request, { isMedia: true, segment: port.segment(0), live });
  const receivedAfter = (seconds: number, totalBits: number, isInterim = false) => {
    wait(seconds);
    flow.progressed(request, { totalBits, isInterim });
  };
  const bits = () => {
    wait(2);
    core.flow.forecasting!.meter.advance(core.flow.clock.nowSeconds());
    return bitsOf(steady);
  };
  const rates = () =>
    steady.observations.flatMap((one) =>
      one.kind === 'throughput' ? [one.bits / (one.endSeconds - one.startSeconds)] : [],
    );
  return { ...core, steady, request, receivedAfter, bits, rates, record: () => flow.session };
}

test.each([
  [-3599, 1],
  [3601, 1],
  [1.02, 1],
  [Number.NaN, 1],
  [1.005, 1.005],
])("a duration of %d s by the player's clock, which may have been set meanwhile, counts as %d s", (given, counted) => {
  const { flow, request, receivedAfter, record } = requested();
  receivedAfter(1, 4e6);
  flow.ended(request, 'whole', given);
  expect(record().measured).toMatchObject([{ downloadSeconds: counted }]);
});

test('downloads that were complete at their first report have no latency', () => {
  const { flow, request, receivedAfter, record, steady, bits } = requested();
  receivedAfter(0.5, 4e6);
  flow.ended(request, 'whole', 0.5);
  expect(record().measured[0]).not.toHaveProperty('latencySeconds');
  expect(bits()).toBe(0);
  expect(steady.observations.some(({ kind }) => kind === 'request-latency')).toBe(false);
});

test.each([
  ['whole', 'last bits', 0.5, [0.5e6, 1e6]],
  ['abandoned', 'end', 0.75, [1e6]],
] as const)('without a duration, %s downloads last until their %s; all bits count', (outcome, _, seconds, reports) => {
  const { flow, request, receivedAfter, record, bits } = requested();
  for (const totalBits of reports) receivedAfter(0.5 / reports.length, totalBits);
  wait(0.25);
  flow.ended(request, outcome);
  expect(record().measured).toMatchObject([{ downloadSeconds: seconds }]);
  expect(bits()).toBeCloseTo(1e6);
});

test('a retry by the player starts again at the first bit', () => {
  const { flow, request, receivedAfter, record, bits } = requested();
  for (const totalBits of [1e6, 2e6]) receivedAfter(0.25, totalBits);
  flow.progressed(request, { attempt: 'unlimited' });
  receivedAfter(0.25, 0.5e6);
  receivedAfter(0.25, 4e6);
  flow.ended(request, 'whole', 1);
  expect(record().measured).toMatchObject([{ receivedBits: 4e6 }]);
  // 2 Mbit of the first attempt and all bits of the second.
  expect(bits()).toBeCloseTo(6e6);
});

test("an attempt without an answer is a wait, although the player's time is the last attempt's", () => {
  const { flow, request, receivedAfter, record } = requested();
  wait(1.05);
  flow.progressed(request, { attempt: 'unlimited' });
  receivedAfter(0.05, 1e5);
  receivedAfter(0.5, 4e6);
  flow.ended(request, 'whole', 0.55);
  expect(record().measured).toMatchObject([{ downloadSeconds: expect.closeTo(0.5, 9), latencySeconds: 0 }]);
});

test.each([
  ['on demand', undefined],
  ['live', LIVE],
])('neither a refusal nor the pause after it shows the link: %s', (_, live) => {
  const { flow, request, receivedAfter, record, steady, bits } = requested(live);
  const { sizeBits } = record().active!;
  wait(0.1);
  // The text of the refusal.
  flow.progressed(request, { totalBits: 1e3, sizeBits: 1e3 });
  flow.progressed(request, { attempt: 'later' });
  wait(1);
  expect(record().active).toMatchObject({ receivedBits: 0, sizeBits });
  flow.progressed(request, { attempt: 'unlimited' });
  for (const totalBits of [2e6, 4e6, 6e6]) receivedAfter(0.1, totalBits);
  flow.ended(request, 'whole', 0.3);
  expect(record().measured).toMatchObject([{ receivedBits: 6e6, downloadSeconds: expect.closeTo(0.3) }]);
  expect(bits()).toBeGreaterThan(3e6);
  const seen = steady.observations.filter(({ kind }) => kind !== 'idle');
  expect(seen[0]).toMatchObject({ kind: 'request-latency', latencySeconds: expect.closeTo(0.1) });
  expect(seen.filter((one) => one.kind === 'throughput' && one.bits < 1e4)).toEqual([]);
});

test.each(['abandoned', 'failed'] as const)(
  'a request that is %s in the pause after a refusal shows nothing',
  (outcome) => {
    const { flow, request, record } = requested();
    flow.progressed(request, { attempt: 'later' });
    wait(0.8);
    flow.ended(request, outcome);
    expect(record()).toMatchObject({ measured: [], abandonments: 0, requestedBits: 0 });
  },
);

test('on demand one of six reports counts, and the last one; all of a live segment do', () => {
  const { flow, request, receivedAfter, record, bits, rates } = requested();
  for (let n = 1; n <= 100; n++) {
    receivedAfter(0.005, n * 40_000, n < 100);
    expect(record().active!.receivedBits / 40_000).toBe(n < 100 ? n - ((n - 1) % 6) : n);
  }
  flow.ended(request, 'whole', 0.5);
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
  const { port, flow, receivedAfter, record } = requested(live);
  Object.assign(port, { arrived: () => ({ totalBits: 2e6 }) });
  receivedAfter(0.5, 1e6);
  wait(0.5);
  flow.decide();
  expect(record().active!.receivedBits).toBe(counted);
});

test("the page's forecasters get the bits of skipped reports at each tick", () => {
  const { port, flow, receivedAfter, rates } = requested();
  Object.assign(port, { arrived: () => ({ totalBits: 2e6 * flow.clock.nowSeconds() }) });
  receivedAfter(0.5, 1e6);
  wait(1);
  expect(rates().length).toBeGreaterThan(5);
  expect(Math.min(...rates())).toBeCloseTo(2e6, -2);
});

test('three fast downloads after slower ones end the forecasts from these', () => {
  const { port, flow, request, receivedAfter, record } = requested();
  for (const bits of [2e6, 4e6]) receivedAfter(0.5, bits);
  flow.ended(request, 'whole', 1);
  for (const index of [1, 2, 3]) {
    flow.decide();
    expect(record().forecast?.source).toBe('steady');
    flow.began(port, { isMedia: true, segment: port.segment(index) });
    flow.progressed(port, { totalBits: 4e6 });
    flow.ended(port, 'whole', 0.001);
  }
  flow.decide();
  expect(record().forecast).toBeUndefined();
});

test('the browser may tell a task later that a cache answered', () => {
  let told: ResponseSource;
  const host = { ...HOST, watchResponses: () => ({ sourceOf: () => told, stop: () => {} }) };
  const steady = new Steady();
  const { port, flow } = adapted({ controller: new Scripted(), forecasters: [steady] }, undefined, host);
  const download = (index: number, source: ResponseSource) => {
    told = undefined;
    flow.began(port, { isMedia: true, segment: port.segment(index) });
    for (const totalBits of [1e6, 4e6]) {
      wait(0.01);
      flow.progressed(port, { totalBits });
    }
    flow.ended(port, 'whole', 0.02);
    told = source;
    flow.decide();
    return flow.session.downloads.length;
  };
  expect([download(0, 'cache'), download(1, 'network'), download(2, 'cache')]).toEqual([0, 1, 1]);
  // Nobody tells: it is a measurement like the one before.
  expect(download(3, undefined)).toBe(2);
  wait(1);
  expect([flow.session.isBlind, flow.session.active]).toEqual([false, undefined]);
  // Nor does a timer stay when the source ends meanwhile.
  told = undefined;
  const audio = {};
  flow.began(audio, { isMedia: true });
  flow.began(port, { isMedia: true, segment: port.segment(4) });
  flow.progressed(audio, { totalBits: 1e5 });
  flow.ended(audio, 'whole');
  flow.sourceEnded();
  expect(jest.getTimerCount()).toBe(0);
});

test('downloads of an earlier session reach nothing', () => {
  const { flow, request, receivedAfter, record } = requested();
  flow.sourceEnded();
  receivedAfter(1, 1e6);
  flow.ended(request, 'whole', 1);
  expect(record()).toMatchObject({ measured: [], wholeDownloads: 0 });
});

test('the time of a suspended page is not that of a download', () => {
  const { flow, request, receivedAfter, record, steady } = requested();
  receivedAfter(0.5, 1e6);
  const nowMs = performance.now();
  jest.spyOn(performance, 'now').mockReturnValue(nowMs + 3600_000);
  flow.progressed(request, { totalBits: 2e6 });
  flow.ended(request, 'whole', 3600.5);
  expect(record().measured).toMatchObject([{ receivedBits: 2e6, downloadSeconds: 0.5 }]);
  expect(flow.clock.nowSeconds()).toBe(0.5);
  // Without a download it is a pause like any other.
  jest.spyOn(performance, 'now').mockReturnValue(nowMs + 7200_000);
  expect(flow.clock.nowSeconds()).toBe(3600.5);
  expect(steady.observations.filter((one) => one.kind === 'throughput' && one.endSeconds > 1)).toEqual([]);
  jest.restoreAllMocks();
});

test.each([1e6, 50e6])('chunks at the live edge, 50 ms on their way, count if less is known: %d bit/s', (knownBps) => {
  let observedBits = 0;
  const meter = new ObservationMeter((one) => {
    if (one.kind === 'throughput') observedBits += one.bits;
  });
  const segment = { firstChunkAtSeconds: 10, segmentSeconds: 2, chunkSeconds: 0.25 };
  const waits = new LiveWaits(new LiveEdge(), segment, 10);
  const download = new Request(10, { meter, waits, knownBps: () => knownBps });
  for (let chunk = 0; chunk < 8; chunk++) {
    download.received(10.05 + 0.25 * chunk, { addedBits: 1e6, chunks: 1 });
  }
  download.ended(11.8, 'whole');
  meter.advance(20);
  expect(observedBits).toBeCloseTo(knownBps < 20e6 ? 7e6 : 0);
});

test.each([true, false])('a report without new bits changes no time, and loses no bits; headers: %p', (isAnswered) => {
  const pieces: ThroughputPiece[] = [];
  const meter = new ObservationMeter((one) => one.kind === 'throughput' && pieces.push(one));
  const download = new Request(0, { sizeBits: 4e6, meter, knownBps: () => 0 });
  if (isAnswered) download.answered(0.1, undefined);
  for (const at of [0.2, 0.5]) download.received(at, { totalBits: 1e6, sizeBits: 0 });
  expect(download).toMatchObject({ lastBitsAtSeconds: 0.2, sizeBits: 4e6 });
  download.received(0.6, { totalBits: 5e6, sizeBits: 6e6 });
  expect(download.sizeBits).toBe(6e6);
  download.ended(0.6, 'whole');
  meter.advance(2);
  const bits = isAnswered ? [1, 1, 1, 1, 1] : [1.25, 1.25, 1.25, 1.25];
  expect(pieces.map((piece) => piece.bits / 1e6)).toEqual(bits.map((one) => expect.closeTo(one)));
});

test('a live download that shows only a bound below the known throughput does not enter the history', () => {
  const { port, flow, request, receivedAfter, record } = requested({ ...LIVE, nowSeconds: 110 });
  flow.played();
  for (const totalBits of [1e6, 8e6]) receivedAfter(0.05, totalBits);
  flow.ended(request, 'whole', 0.1);
  const { downloads } = record();
  flow.began(port, { isMedia: true, segment: port.segment(1), live: { ...LIVE, nowSeconds: 99 } });
  for (let chunk = 0; chunk < 8; chunk++) {
    wait(chunk === 0 ? 0.05 : 0.5);
    flow.progressed(port, { addedBits: 1e5, chunks: 1 });
  }
  flow.ended(port, 'whole');
  expect([downloads.length, record().downloads, record().bounds]).toEqual([1, downloads, []]);
});
