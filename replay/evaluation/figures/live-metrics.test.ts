import { expect, test } from '@jest/globals';
import { liveMetrics, type PlaybackPiece, type WatchedStream } from './live-metrics.ts';

const piece = (seconds: number, latencySeconds: number, rate = 1, isStalled = false): PlaybackPiece => {
  return { seconds, latencySeconds, rate, isStalled };
};
const stall = (seconds: number, latencySeconds: number) => piece(seconds, latencySeconds, 1, true);
const stream = (change: Partial<WatchedStream>): WatchedStream => {
  const media = { bitratesBps: [1e6, 1e6], segmentSeconds: 2, ladderBps: [1e6, 8e6] };
  return { history: [piece(60, 1)], ...media, jumps: 0, ...change };
};

test('the metrics of undisturbed playback', () => {
  const none = { stallSecondsPerMinute: 0, stallsPerMinute: 0, offRateShare: 0, rateDeviationMean: 0, jumps: 0 };
  const latency = { latencySecondsMean: expect.closeTo(1, 9), latencySecondsP95: expect.closeTo(1, 9) };
  // 2 s x 1 Mbit/s - 0.05 x 1 x 1 s per segment of 2 s, twice per 4 s.
  const qoe = expect.closeTo(2 * (2 - 0.05), 9);
  expect(liveMetrics(stream({}))).toEqual({ ...none, ...latency, watchedSeconds: 60, qoe });
});

test('metrics count a stall in two pieces once; latency grows by a second per second of it', () => {
  const history = [piece(80, 1), stall(4, 1), stall(6, 5), piece(20, 11), stall(10, 11)];
  const { latencySecondsMean, latencySecondsP95, ...metrics } = liveMetrics(stream({ history }));
  expect(metrics).toMatchObject({ watchedSeconds: 120, stallSecondsPerMinute: 10, stallsPerMinute: 1 });
  expect(latencySecondsMean).toBeCloseTo((80 + 10 * 6 + 20 * 11 + 10 * 16) / 120, 9);
  // The last 6 s of 120 s are above it.
  expect(latencySecondsP95).toBeCloseTo(15, 0);
  expect(metrics.qoe).toBeLessThan(-8 * 20 + 4);
});

test('shares of the rate leave stalls out; latency falls at a higher rate', () => {
  const history = [piece(30, 2, 1.5), piece(5, 1), piece(5, 1, 1.005), stall(20, 1), piece(40, 2, 0.75)];
  const metrics = liveMetrics(stream({ history }));
  expect(metrics.offRateShare).toBeCloseTo(0.7, 9);
  expect(metrics.rateDeviationMean).toBeCloseTo((30 * 0.5 + 5 * 0.005 + 40 * 0.25) / 80, 9);
  expect(liveMetrics(stream({ history: [piece(2, 2, 1.5)] })).latencySecondsMean).toBeCloseTo(1.5, 9);
});

test('metrics price latency by the top bitrate above 1.1 s, and switches by their size', () => {
  const qoe = (latency: number, bitratesBps = [1e6, 1e6]) =>
    liveMetrics(stream({ history: [piece(60, latency)], bitratesBps })).qoe;
  expect(qoe(1.1)).toBeCloseTo(2 * (2 - 0.05 * 1.1), 9);
  expect(qoe(1.2)).toBeCloseTo(2 * (2 - 0.1 * 8 * 1.2), 9);
  expect(qoe(1, [1e6, 8e6]) - qoe(1, [8e6, 8e6])).toBeCloseTo(-2 * 7 - 7, 9);
});

test('a viewer who saw nothing has the cost of the stall', () => {
  expect(liveMetrics(stream({ history: [stall(180, 2)], bitratesBps: [] }))).toMatchObject({
    ...{ qoe: -8 * 180 * 2, stallSecondsPerMinute: 60, rateDeviationMean: 0 },
  });
  expect(() => liveMetrics(stream({ history: [] }))).toThrow('expected a history of more than 0 s');
});
