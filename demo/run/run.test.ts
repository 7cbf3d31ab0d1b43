import { describe, expect, test } from '@jest/globals';
import { ConstantPath } from '../../abr/index.ts';
import { PERCEIVED_PRICES } from '../../abr/qoe/perceived-qoe.ts';
import { alongPath, quantilesOf } from '../../abr/random-states.fixture.ts';
import type { PublishedLink } from '../../replay/origin/published-link.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { newsOf, storyOf } from '../views/story.ts';
import { type ExpectedHandover, expectHandover, preparationFor } from './handovers.ts';
import type { DemoRun } from './run.ts';
import { dataOf, isAhead, qualityOf, SessionRecord, seenSoFar } from './session-record.ts';
import { forecastFan, GRID_SECONDS, Timeline } from './timeline-model.ts';

const scenario = SCENARIOS['hd-16']!;
const quality = (mbps: number) => qualityOf(mbps * 1e6, scenario);

/** Three segments. The second was first abandoned at 30 Mbit/s, and playback froze for 2 s. */
function played(): SessionRecord {
  const record = new SessionRecord();
  for (const [index, mbps, from, to, outcome] of [
    [0, 1, 0, 1, 'complete'],
    [1, 30, 1, 5, 'abandoned'],
    [1, 5, 5, 7, 'complete'],
    [2, 5, 7, 8, 'complete'],
  ] as const) {
    record.downloads.push({
      ...{ index, bitrateBps: mbps * 1e6, requestedAtSeconds: from, bufferLevelSeconds: index },
      ...{ receivedBits: 4e6, endedAtSeconds: to, outcome },
    });
  }
  record.startupSeconds = 1;
  record.stalls = [{ startSeconds: 5, endSeconds: 7, mediaSeconds: 4 }];
  record.shownSegments = 3;
  record.nowSeconds = 12;
  return record;
}

test('nothing is seen before the first picture moves', () => {
  expect(seenSoFar(new SessionRecord(), scenario)).toBeUndefined();
  expect(seenSoFar(Object.assign(played(), { startupSeconds: undefined }), scenario)).toBeUndefined();
});

test('means are of the segments shown, and perceived QoE has the prices of startup and stalls', () => {
  const record = played();
  const mean = (quality(1) + 2 * quality(5)) / 3;
  const { stall, stallSecond, startupSecond } = PERCEIVED_PRICES;
  expect(seenSoFar(record, scenario)).toEqual({
    quality: expect.closeTo(mean, 9),
    latencySeconds: Number.NaN,
    perceived: expect.closeTo(mean - (stall + 2 * stallSecond + startupSecond) / 3, 9),
  });
  // The first picture moves before its segment counts as shown.
  for (const shownSegments of [1, 0]) {
    Object.assign(record, { shownSegments });
    expect(seenSoFar(record, scenario)).toMatchObject({ quality: quality(1) });
  }
});

test('data are all received bits, per hour of the segments that are there', () => {
  const record = played();
  expect(dataOf(new SessionRecord(), scenario)).toEqual({ bits: 0, bitsPerHour: undefined });
  // Four downloads of 4 Mbit gave three segments.
  const bitsPerHour = (16e6 * 3600) / (3 * scenario.segmentSeconds);
  expect(dataOf(record, scenario)).toEqual({ bits: 16e6, bitsPerHour });
  record.downloads.push({ ...record.downloads[0]!, index: 3, outcome: 'active', endedAtSeconds: undefined });
  expect(dataOf(record, scenario)).toEqual({ bits: 20e6, bitsPerHour });
});

test('an unfinished stall and startup count until now', () => {
  const record = played();
  record.stalls = [{ startSeconds: 9, endSeconds: undefined, mediaSeconds: 8 }];
  expect([record.isStalled, record.stallSeconds, record.startupSoFarSeconds]).toEqual([true, 3, 1]);
  record.startupSeconds = undefined;
  expect(record.startupSoFarSeconds).toBe(12);
});

test('a player is ahead by two points of QoE or more, at no more than 0.15 s more latency', () => {
  const seen = (perceived: number, latencySeconds = Number.NaN) => ({ quality: 90, perceived, latencySeconds });
  expect([isAhead(seen(80), [seen(78)]), isAhead(seen(80), [seen(78), seen(78.1)])]).toEqual([true, false]);
  expect([isAhead(seen(80), []), isAhead(seen(80), [undefined]), isAhead(undefined, [seen(1)])]).not.toContain(true);
  expect([1.4, 1.5].map((latency) => isAhead(seen(80, latency), [seen(70, 1.3)]))).toEqual([true, false]);
});

test('freezes that viewers see are counted: not a short one, and one of slices once', () => {
  const record = played();
  const stall = (startSeconds: number, seconds: number) => ({
    ...{ startSeconds, endSeconds: startSeconds + seconds, mediaSeconds: 4 },
  });
  record.stalls = [stall(1, 0.05), stall(5, 0.06), stall(6, 0.06)];
  expect(record.freezeCount).toBe(1);
});

const HANDOVER = { atSeconds: 15, sinceSeconds: 4, confidence: 0.95 };

type Rate = readonly [atSeconds: number, rate: number];

function recordOf({ rates = [], mbps = [] }: { rates?: readonly Rate[]; mbps?: number[] }) {
  const record = new SessionRecord(
    mbps.map((one, index) => ({
      ...{ index, bitrateBps: one * 1e6, requestedAtSeconds: 8 + 2 * index, bufferLevelSeconds: 1 },
      ...{ receivedBits: 0, endedAtSeconds: undefined, outcome: 'active' },
    })),
  );
  record.positions = rates.map(([atSeconds, rate]) => ({ atSeconds, rate, mediaSeconds: 0 }));
  return record;
}

test('playing slower and a step down of the bitrate are preparations, the last ones before the handover', () => {
  const rates: Rate[] = Object.entries({ 1: 1, 9: 0.95, 12: 1 }).map(([at, rate]) => [Number(at), rate]);
  const slow = recordOf({ rates });
  expect(preparationFor(HANDOVER, slow)).toEqual({ slowedTo: 0.95 });
  // Slow playback before the handover was expected, or too short, is no preparation.
  for (const sinceSeconds of [12.5, 11.5]) expect(preparationFor({ ...HANDOVER, sinceSeconds }, slow)).toEqual({});
  // The request at second 16 is after the handover.
  const lowered = { fromBps: 22e6, toBps: 16e6 };
  expect(preparationFor(HANDOVER, recordOf({ mbps: [30, 22, 16, 22, 8] }))).toEqual({ lowered });
  // A rate of 0 is a stall.
  expect(preparationFor(HANDOVER, recordOf({ rates: [[8, 0]] }))).toEqual({});
});

test('a handover is noted once, with the newest second and confidence', () => {
  const noted: ExpectedHandover[] = [];
  const at = (nowSeconds: number, ...handovers: { atMs: number; confidence: number }[]) =>
    expectHandover(noted, { handovers }, { utcMs: nowSeconds * 1000, nowSeconds });
  at(4, { atMs: 2000, confidence: 1 }, { atMs: 12_000, confidence: 0.4 });
  at(6, { atMs: 12_500, confidence: 0.9 });
  at(13, { atMs: 27_000, confidence: 0.8 });
  expectHandover(noted, undefined, { utcMs: 14_000, nowSeconds: 14 });
  expect(noted).toEqual([
    { atSeconds: 12.5, confidence: 0.9, sinceSeconds: 4 },
    { atSeconds: 27, confidence: 0.8, sinceSeconds: 13 },
  ]);
});

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

describe('story', () => {
  const steps = { stepEndsSeconds: [100], ratesBps: [1e6] };
  const link: PublishedLink = { ...steps, rttSeconds: 0.04, startSeconds: 0, traceStartUtcMs: 0 };

  function runOf(...records: SessionRecord[]): DemoRun {
    return {
      trace: { name: 't', dataset: 'd', recordingGroup: 'g', durationSeconds: 100, hasClock: true },
      ...{ scenario: SCENARIOS['live-hd-1']!, startSeconds: 0, isShared: false, ended: false },
      timeline: new Timeline(link, 60, true),
      players: records.map((record, place) => ({ place, algorithm: 'a', title: 'AB'[place]!, record })),
    };
  }

  type Stalls = readonly (readonly [from: number, to: number])[];

  function record(stalls: Stalls, handover?: ExpectedHandover, nowSeconds = 20) {
    const made = new SessionRecord(
      [1e6, 16e6, 8e6].map((bitrateBps, index) => ({
        ...{ index, bitrateBps, requestedAtSeconds: 4 + 3 * index, bufferLevelSeconds: 1, receivedBits: 1 },
        ...{ endedAtSeconds: 5 + 3 * index, outcome: 'complete' },
      })),
    );
    Object.assign(made, { startupSeconds: 0.5, nowSeconds, shownSegments: 1 });
    made.stalls = stalls.map(([startSeconds, endSeconds]) => ({ startSeconds, endSeconds, mediaSeconds: 0 }));
    if (handover) made.handovers.push(handover);
    return made;
  }

  const plain = (text: string | undefined) => text?.replaceAll('\u00a0', ' ');

  test('says how often and how long each picture froze, and how good it was', () => {
    expect(storyOf(runOf(new SessionRecord(), new SessionRecord()))).toBe('The players begin.');
    const story = (...stalls: Stalls[]) => plain(storyOf(runOf(...stalls.map((one) => record(one)))));
    const twice: Stalls = [3, 7].map((from) => [from, from + 1]);
    const same = 'A’s picture is as good (59 and 59 of 100), with as much data.';
    expect(story([], [])).toBe(`In 20 s no picture froze. ${same}`);
    expect(story([[3, 4.25]], [])).toBe(`In 20 s A froze for 1.3 s; B never froze. ${same}`);
    expect(story([], twice)).toBe(`In 20 s A never froze; B froze for 2.0 s. ${same}`);
    const four = runOf(record([[3, 4.25]]), record([]), record([]), record([]));
    for (const [i, player] of four.players.entries()) player.title = 'AB'[i % 2]!;
    expect(plain(storyOf(four))).toBe(`In 20 s A froze for 0.6 s on average; B never froze. ${same}`);
    expect(story([])).toBe('In 20 s A never froze. Quality: A 59 of 100. Data: A 0.0 MB per hour.');
  });

  test.each([
    // bits of each segment, its bitrate, for A and B
    [[4e6, 8e6], [8e6, 8e6], 'B’s picture is as good (86 and 86 of 100), with 100 % more data.'],
    [[8e6, 8e6], [4e6, 16e6], 'B’s picture is better (88 and 86 of 100), with 50 % less data.'],
    [[8e6, 16e6], [4e6, 1e6], 'B’s picture is worse (59 and 88 of 100), with 50 % less data.'],
    [[8e6, 1e6], [8.2e6, 8e6], 'B’s picture is better (86 and 59 of 100), with as much data.'],
  ])('says what leo-abr’s picture costs: %j, %j', (a, b, text) => {
    const run = runOf(
      ...[a, b].map(([receivedBits, bitrateBps]) => {
        const made = record([]);
        for (const one of made.downloads) Object.assign(one, { receivedBits, bitrateBps });
        return made;
      }),
    );
    const [rival, own] = run.players;
    expect(plain(storyOf({ ...run, players: [rival!, { ...own!, algorithm: 'mpc-l@hls' }] }))).toContain(`. ${text}`);
    // Players of a title have their mean, and on one link the data are of the link.
    const four = [rival!, own!, rival!, own!].map((one) => ({ ...one, algorithm: one === own ? 'mpc-l' : 'dynamic' }));
    const shared = text.replace(' data.', ' of the link’s data.');
    expect(plain(storyOf({ ...run, players: four, isShared: true }))).toContain(`. ${shared}`);
  });

  test('news are an expected handover with what was done for it, while it is ahead and shortly after', () => {
    const handover = { atSeconds: 12, sinceSeconds: 2, confidence: 0.9 };
    const news = (now: number, more: Partial<ExpectedHandover> = {}) =>
      plain(newsOf(runOf(record([], undefined, now), record([], { ...handover, ...more }, now))));
    expect(news(11)).toBe('B expects another satellite in 1 s (90 % sure): 8 instead of 16 Mbit/s.');
    expect(news(11, { sinceSeconds: 10.5 })).toBe('B expects another satellite in 1 s (90 % sure): bitrate unchanged.');
    expect(news(14)).toBe('At 0:12 the link moved to another satellite, as B had expected: 8 instead of 16 Mbit/s.');
    expect(news(21)).toBeUndefined();
    expect(news(11, { confidence: 0.3 })).toBeUndefined();
  });

  test('a player that gave up a late download and played on where another one froze is news', () => {
    const [other, own] = [record([[16, 18]]), record([])];
    expect(newsOf(runOf(other, own))).toBeUndefined();
    Object.assign(own.downloads[2]!, { outcome: 'abandoned', endedAtSeconds: 17 });
    expect(plain(newsOf(runOf(other, own)))).toBe(
      'At 0:16 A froze for 2.0 s. B gave up a late download at 0:17 and played on.',
    );
    const twice = runOf(other, own, record([]));
    twice.players[2]!.title = 'A';
    expect(newsOf(twice)).toMatch(/^At 0:16 A \(1\) froze.*B gave up/);
    expect(newsOf({ ...twice, isBusy: true })).toMatch(/^This machine is too busy/);
  });
});
