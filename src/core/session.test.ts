import { describe, expect, test } from '@jest/globals';
import {
  beginDownload,
  downloadsOf,
  dropDownload,
  endDownload,
  inFlightOf,
  isBlind,
  isOutdated,
  newSession,
  progressDownload,
  type Session,
  sessionSeconds,
} from './session.ts';

const period = { id: '0', startSeconds: 0, firstIndex: 0, segmentCount: 100, segmentsAfter: 0 };
const segment = (index: number, bitrateBps: number) => ({
  period,
  representation: { id: `v${bitrateBps}`, bitrateBps },
  index,
  segmentSeconds: 4,
  endSeconds: index * 4 + 4,
  indexedBits: undefined,
});
/** Requests a segment of 4 s at the second of its index. */
const begin = (session: Session, index: number, bitrateBps: number) =>
  beginDownload(session, segment(index, bitrateBps), { sizeBits: bitrateBps * 4, requestedAtSeconds: index });
const whole = (bits: number) => ({ abandoned: false, receivedBits: bits, sizeBits: bits, downloadSeconds: 1 });

describe('a session', () => {
  test('has a clock that starts with the first media request', () => {
    const session = newSession(1);
    expect(sessionSeconds(session, 5000)).toBe(0);
    session.startMs = 5000;
    expect(sessionSeconds(session, 7500)).toBe(2.5);
    expect(sessionSeconds(session, 4000)).toBe(0);
  });

  test('records downloads, the last segment and the one before', () => {
    const session = newSession(1);
    const first = begin(session, 0, 1e6);
    progressDownload(first, 1e6, 0.25);
    progressDownload(first, 1e6, 0.5);
    expect(inFlightOf(session, 9)).toEqual({
      segmentIndex: 0,
      bitrateBps: 1e6,
      sizeBits: 4e6,
      requestedAtSeconds: 0,
      receivedBits: 1e6,
      firstByteAtSeconds: 0.25,
      lastProgressAtSeconds: 0.25,
      abandonments: 0,
      sessionRequestedBits: 4e6,
      sessionWastedBits: 0,
    });
    endDownload(session, first, whole(3e6));
    expect(inFlightOf(session, 9)).toBeUndefined();
    expect(session.requestedBits).toBe(3e6);
    begin(session, 1, 2e6);
    expect(session.last).toEqual(segment(1, 2e6));
    expect(session.beforeLast).toEqual(segment(0, 1e6));
    expect(session.measured).toEqual([
      {
        segmentIndex: 0,
        bitrateBps: 1e6,
        requestedAtSeconds: 0,
        latencySeconds: 0.25,
        abandoned: false,
        receivedBits: 3e6,
        sizeBits: 3e6,
        downloadSeconds: 1,
      },
    ]);
  });

  test('an abandoned segment that is requested again is the same segment, and its bits count as wasted', () => {
    const session = newSession(1);
    endDownload(session, begin(session, 0, 1e6), whole(4e6));
    for (const [abandonments, bitrateBps] of [4e6, 2e6].entries()) {
      const active = begin(session, 1, bitrateBps);
      expect(active.abandonments).toBe(abandonments);
      const end = { ...whole(active.sizeBits), abandoned: true, receivedBits: 1e6 };
      endDownload(session, active, end);
    }
    begin(session, 1, 1e6);
    expect(inFlightOf(session, 9)).toMatchObject({ abandonments: 2, sessionWastedBits: 2e6 });
    expect(session.beforeLast?.index).toBe(0);
    expect(session.measured.map(({ abandoned }) => abandoned)).toEqual([false, true, true]);
    begin(session, 2, 1e6);
    expect(inFlightOf(session, 9)?.abandonments).toBe(0);
  });

  test('counts the abandonments of the current segment, not of the previous one', () => {
    const session = newSession(1);
    const end = { ...whole(4e6), abandoned: true, receivedBits: 1e6 };
    endDownload(session, begin(session, 4, 4e6), end);
    dropDownload(session, begin(session, 4, 1e6));
    dropDownload(session, begin(session, 5, 1e6));
    expect(begin(session, 5, 1e6).abandonments).toBe(0);
  });

  test('counts segments from the start of the presentation', () => {
    const session = newSession(1);
    const later = { ...segment(2, 1e6), period: { ...period, id: '1', firstIndex: 10 } };
    beginDownload(session, later, { sizeBits: 4e6, requestedAtSeconds: 0 });
    expect(inFlightOf(session, 9)?.segmentIndex).toBe(12);
    // The same index in another period is another segment.
    begin(session, 2, 1e6);
    expect(session.beforeLast).toBe(later);
  });

  test('drops failed downloads, and keeps at most 32', () => {
    const session = newSession(1);
    dropDownload(session, begin(session, 0, 1e6));
    expect(session).toMatchObject({ active: undefined, requestedBits: 0, measured: [] });
    for (let i = 1; i <= 40; i++) endDownload(session, begin(session, i, 1e6), whole(4e6));
    expect(session.measured).toHaveLength(32);
    expect(session.measured[0]!.segmentIndex).toBe(9);
  });

  test('a response complete within 10 ms is a lower bound of the throughput if no slower one is known', () => {
    const session = newSession(1);
    const end = (index: number, downloadSeconds: number, abandoned = false) =>
      endDownload(session, begin(session, index, 1e6), { ...whole(4e6), downloadSeconds, abandoned });
    const seen = () => downloadsOf(session).map(({ segmentIndex, downloadSeconds }) => [segmentIndex, downloadSeconds]);
    end(0, 0.002);
    end(0, 0.001, true);
    end(1, 0);
    const bounds = [
      [0, 0.01],
      [1, 0.01],
    ];
    expect(seen()).toEqual(bounds);
    end(2, 0.5);
    // Two fast responses may come from a cache.
    end(3, 0.002);
    end(4, 0.002);
    expect(seen()).toEqual([[2, 0.5]]);
    expect(isOutdated(session)).toBe(false);
    end(5, 0.002);
    expect(isOutdated(session)).toBe(true);
    expect(seen()).toEqual([3, 4, 5].map((index) => [index, 0.01]));
    end(6, 1);
    expect(isOutdated(session)).toBe(false);
    expect(seen()).toEqual([
      [2, 0.5],
      [6, 1],
    ]);
    expect(session.requestedBits).toBe(32e6);
  });

  test('is blind after three downloads that could not be measured, until one can', () => {
    const session = newSession(1);
    for (let ended = 1; ended <= 3; ended++) {
      expect(isBlind(session)).toBe(false);
      session.wholeDownloads++;
    }
    expect(isBlind(session)).toBe(true);
    endDownload(session, begin(session, 3, 1e6), whole(4e6));
    expect(isBlind(session)).toBe(false);
  });
});
