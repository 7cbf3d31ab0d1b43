import { expect, test } from '@jest/globals';
import { PERCEIVED_PRICES } from '../../abr/qoe/perceived-qoe.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { dataOf, isAhead, qualityOf, SessionRecord, seenSoFar } from './session-record.ts';

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
  record.shownSegments = 1;
  expect(seenSoFar(record, scenario)).toMatchObject({ quality: quality(1) });
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

test('a player is ahead by a point of QoE or more, at no more than 0.15 s more latency', () => {
  const seen = (perceived: number, latencySeconds = Number.NaN) => ({ quality: 90, perceived, latencySeconds });
  expect([isAhead(seen(80), [seen(79)]), isAhead(seen(80), [seen(79), seen(79.1)])]).toEqual([true, false]);
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
