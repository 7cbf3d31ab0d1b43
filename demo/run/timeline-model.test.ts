import { expect, test } from '@jest/globals';
import { ConstantPath } from '../../abr/index.ts';
import { alongPath, quantilesOf } from '../../abr/random-states.fixture.ts';
import type { PublishedLink } from '../../replay/origin/published-link.ts';
import { SessionRecord } from './session-record.ts';
import { forecastFan, GRID_SECONDS, Timeline } from './timeline-model.ts';

/** A link with 4 Mbit/s for 10 s and 1 Mbit/s for 20 s, repeated. The replay begins at second 8. */
const link: PublishedLink = {
  stepEndsSeconds: [10, 30],
  ratesBps: [4e6, 1e6],
  rttSeconds: 0.04,
  startSeconds: 8,
  traceStartUtcMs: Date.UTC(2025, 0, 1, 12, 0, 1),
};

test('has the capacity of the replayed part, beyond the end of the trace too, and is only ever extended', () => {
  const timeline = new Timeline(link, 20, true);
  const { length } = timeline.times;
  timeline.extendTo(5);
  expect(timeline.times).toHaveLength(length);
  timeline.extendTo(40);
  expect(timeline.times).toEqual(timeline.times.map((_, i) => i * GRID_SECONDS));
  expect(timeline.capacityBps).toHaveLength(timeline.times.length);
  const at = (seconds: number) => timeline.capacityBps[timeline.indexAt(seconds)];
  expect(timeline.endSeconds).toBeGreaterThanOrEqual(40);
  expect([at(0), at(1.99), at(2), at(21.9), at(22), at(33)].map((bps) => Math.round(bps!))).toEqual([
    4e6, 4e6, 1e6, 1e6, 4e6, 1e6,
  ]);
});

test("has handovers at seconds 12, 27, 42 and 57 of the trace's minutes", () => {
  const timeline = new Timeline(link, 40, true);
  // The session begins at 12:00:09.
  expect(timeline.handovers()).toEqual([3, 18, 33]);
  const seconds = timeline.handovers().map((at) => new Date(timeline.utcMsAt(at)).getUTCSeconds());
  expect(seconds).toEqual([12, 27, 42]);
  expect(new Timeline(link, 40, false).handovers()).toEqual([]);
  expect(new Timeline({ ...link, startSeconds: 11 }, 20, true).handovers()).toEqual([0, 15]);
});

test("puts a session's downloads, bitrates and buffer on the grid", () => {
  const timeline = new Timeline(link, 10, true);
  const record = new SessionRecord();
  const active = { receivedBits: 5e5, endedAtSeconds: undefined, outcome: 'active' } as const;
  const complete = { receivedBits: 2e6, endedAtSeconds: 1, outcome: 'complete' } as const;
  record.downloads.push(
    { index: 0, bitrateBps: 1e6, requestedAtSeconds: 0, bufferLevelSeconds: 0, ...complete },
    { index: 1, bitrateBps: 3e6, requestedAtSeconds: 2, bufferLevelSeconds: 3, ...active },
  );
  record.nowSeconds = 2.5;
  record.samples.push({ atSeconds: 1.1, bufferSeconds: 4, latencySeconds: 2, shownBitrateBps: 1e6 });
  const track = timeline.track(record);
  const indexes = [0, 1, 1.5, 2.25, 2.5, 2.75].map((at) => timeline.indexAt(at));
  expect(indexes.map((i) => track.bitrateBps[i])).toEqual([1e6, 1e6, 1e6, 3e6, 3e6, null]);
  expect(indexes.map((i) => track.bufferSeconds[i])).toEqual([null, 4, null, null, null, null]);
  const { latencySeconds, shownBitrateBps } = track;
  expect([latencySeconds[4], shownBitrateBps[4], latencySeconds[5]]).toEqual([2, 1e6, null]);
});

test('forecastFan interpolates quantiles, up to the outermost, and is empty without quantiles', () => {
  const quantilesBps = [
    [1e6, 2e6, 3e6],
    [2e6, 4e6, 8e6],
  ];
  const steps = { issuedAtMs: 5000, stepEndsSeconds: [1, 4], levels: [0.25, 0.5, 0.75], quantilesBps };
  const forecast = quantilesOf(2e6, steps);
  expect(forecastFan(forecast)).toEqual([
    { fromSeconds: 5, toSeconds: 6, lowBps: 1e6, middleBps: 2e6, highBps: 3e6 },
    { fromSeconds: 6, toSeconds: 9, lowBps: 2e6, middleBps: 4e6, highBps: 8e6 },
  ]);
  const between = { lowBps: 1.5e6, middleBps: 2.375e6, highBps: 2.875e6 };
  expect(forecastFan({ ...forecast, levels: [0, 0.2, 1] })[0]).toMatchObject(between);
  for (const none of [undefined, alongPath(new ConstantPath(1))]) expect(forecastFan(none)).toEqual([]);
});
