import { expect, test } from '@jest/globals';
import { SCENARIOS } from '../../replay/scenarios.ts';
import {
  type DownloadNote,
  linearSoFar,
  liveSoFar,
  measuredBps,
  qoeSoFar,
  SessionRecord,
  sessionResult,
} from './session-record.ts';

const scenario = SCENARIOS['hd-16']!;
const about = { trace: 't', dataset: 'd', group: 'g', startSeconds: 0, algorithm: 'mpc-d', seed: 1, scenario };

/** Three segments; the second was abandoned at 30 Mbit/s first, and playback stalled 2 s for it. */
function played(): SessionRecord {
  const record = new SessionRecord();
  const download = (
    index: number,
    bitrateBps: number,
    span: [from: number, to: number],
    receivedBits: number,
    outcome: 'complete' | 'abandoned' = 'complete',
  ) => {
    const [requestedAtSeconds, endedAtSeconds] = span;
    const received = { receivedBits, endedAtSeconds, outcome };
    record.downloads.push({ index, bitrateBps, requestedAtSeconds, bufferLevelSeconds: index, ...received });
    record.decisions.push({
      atSeconds: requestedAtSeconds,
      kind: 'decide',
      segmentIndex: index,
      bitrateBps,
      previousBitrateBps: undefined,
      bufferLevelSeconds: index,
      reason: `because of ${bitrateBps / 1e6}`,
    });
  };
  download(0, 1e6, [0, 1], 4e6);
  download(1, 30e6, [1, 5], 7e6, 'abandoned');
  download(1, 5e6, [5, 7], 20e6);
  download(2, 5e6, [7, 8], 20e6);
  record.startupSeconds = 1;
  record.stalls = [{ startSeconds: 5, endSeconds: 7, mediaSeconds: 4 }];
  record.shownSegments = 3;
  record.nowSeconds = 12;
  return record;
}

test('qoeSoFar is the session QoE of the media shown, once there is a segment', () => {
  expect(qoeSoFar(new SessionRecord(), scenario)).toBeUndefined();
  const record = played();
  // (1 + 5 + 5) - 30 (1 + 2) - 4, over three segments of 4 s.
  expect(qoeSoFar(record, scenario)).toBeCloseTo((11 - 90 - 4) / 3, 9);
  record.shownSegments = 1;
  expect(linearSoFar(record, scenario)).toMatchObject({ quality: 1, switches: 0 });
});

test('an unfinished stall and startup count', () => {
  const record = played();
  record.stalls = [{ startSeconds: 9, endSeconds: undefined, mediaSeconds: 12 }];
  expect([record.isStalled, record.stallSeconds]).toEqual([true, 3]);
  record.startupSeconds = undefined;
  expect(record.startupSoFarSeconds).toBe(12);
});

test('a segment that a player loads again counts once, as it was loaded last', () => {
  const record = played();
  const again = { ...record.downloads.at(-1)!, bitrateBps: 8e6, requestedAtSeconds: 8, endedAtSeconds: 9 };
  record.downloads.push({ ...again, receivedBits: 32e6 });
  expect(record.segments.map(({ bitrateBps }) => bitrateBps / 1e6)).toEqual([1, 5, 8]);
  expect(sessionResult(record, about).segments[2]).toMatchObject({ bitrateBps: 8e6, abandonedBits: 20e6 });
});

const liveScenario = SCENARIOS['live-hd-3']!;

/** Joined 3 s behind; from second 7 on 5 s behind, because playback stalled for 2 s. */
function watched(): SessionRecord {
  const record = played();
  record.stalls = [{ startSeconds: 5, endSeconds: 7, mediaSeconds: 22 }];
  record.positions = [
    { atSeconds: 1, mediaSeconds: 18, rate: 1 },
    { atSeconds: 7, mediaSeconds: 22, rate: 1 },
  ];
  record.nowSeconds = 11;
  return record;
}

test('a live session has the metrics of its playback so far', () => {
  expect(liveSoFar(watched(), liveScenario)).toMatchObject({
    watchedSeconds: 10,
    latencySecondsMean: expect.closeTo((4 * 3 + 2 * 4 + 4 * 5) / 10, 6),
    stallsPerMinute: 6,
    stallSecondsPerMinute: 12,
    offRateShare: 0,
    jumps: 0,
  });
  expect(liveSoFar(new SessionRecord(), liveScenario)).toBeUndefined();
  expect(liveSoFar(watched(), scenario)).toBeUndefined();
});

test('a live session has the QoE of LoL+', () => {
  // Three segments of 2 s are 1.5 units: 1, 5 and 5 Mbit/s, a change of 4, 2 s at 30 Mbit/s, and 4 s of latency at 3.
  expect(qoeSoFar(watched(), liveScenario)).toBeCloseTo((22 - 4 - 60 - 36) / 1.5, 6);
});

test('a live session is exported with its metrics', () => {
  const exported = sessionResult(watched(), { ...about, scenario: liveScenario });
  expect(exported.live).toMatchObject({ stallsPerMinute: 6 });
  expect(sessionResult(watched(), about)).not.toHaveProperty('live');
});

test('measuredBps counts from the request; undefined at first and for a failed download', () => {
  const request = { index: 0, bitrateBps: 1e6, requestedAtSeconds: 2, bufferLevelSeconds: 0 };
  const note: DownloadNote = { ...request, receivedBits: 0, endedAtSeconds: undefined, outcome: 'active' };
  expect(measuredBps(note, 2.05)).toBeUndefined();
  note.receivedBits = 1e6;
  expect(measuredBps(note, 4)).toBe(5e5);
  note.endedAtSeconds = 3;
  expect(measuredBps(note, 4)).toBe(1e6);
  note.outcome = 'failed';
  expect(measuredBps(note, 4)).toBeUndefined();
});

test('sessionResult has a row per segment, from its first request to its end', () => {
  const { segments, ...session } = sessionResult(played(), about);
  expect(segments.map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(segments.map(({ bitrateBps }) => bitrateBps)).toEqual([1e6, 5e6, 5e6]);
  expect(segments[1]).toEqual({
    index: 1,
    bitrateBps: 5e6,
    sizeBits: 20e6,
    requestedAtSeconds: 1,
    downloadSeconds: 6,
    bufferLevelSeconds: 1,
    stallSeconds: 2,
    abandonedBits: 7e6,
    reason: 'because of 5',
  });
  expect(session).toMatchObject({
    endedBy: 'cutoff',
    stallSeconds: 2,
    stallCount: 1,
    startupSeconds: 1,
    switches: 1,
    wastedBits: 7e6,
    meanBitrateBps: 11e6 / 3,
  });
  expect(session.qoe.linear).toBeCloseTo((11 - 90 - 4) / 3, 9);
});

test('sessionResult counts a stall before an incomplete segment', () => {
  const record = played();
  record.stalls = [...record.stalls, { startSeconds: 11, endSeconds: undefined, mediaSeconds: 12 }];
  expect(sessionResult(record, about)).toMatchObject({ stallSeconds: 3, stallCount: 2 });
});
