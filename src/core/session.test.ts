import { describe, expect, test } from '@jest/globals';
import type { Outcome } from '../../predictor/link/segment-download.ts';
import { Session, VideoDownload } from './session.ts';

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
function begin(session: Session, index: number, bitrateBps: number, asked = segment(index, bitrateBps)): VideoDownload {
  const download = new VideoDownload(asked, index, { sizeBits: bitrateBps * 4 });
  session.begin(download);
  return download;
}
/** The download ends with these bits; `outcome` and duration by default: whole, 1 s. */
function end(session: Session, download: VideoDownload, bits: number, outcome: Outcome = 'whole', seconds = 1): void {
  const atSeconds = download.requestedAtSeconds + 0.5;
  for (const totalBits of [bits / 2, bits]) download.received(atSeconds, { totalBits }, 0);
  download.ended(atSeconds, outcome);
  session.end(download, outcome, seconds);
}

describe('a session', () => {
  test('records downloads, the last segment and the one before', () => {
    const session = new Session();
    const first = begin(session, 0, 1e6);
    first.received(0.25, { totalBits: 1e6 }, 0);
    first.received(0.5, { totalBits: 1e6 }, 0);
    expect(session.record.inFlight(9)).toEqual({
      segmentIndex: 0,
      bitrateBps: 1e6,
      sizeBits: 4e6,
      requestedAtSeconds: 0,
      receivedBits: 1e6,
      firstByteAtSeconds: 0.25,
      abandonments: 0,
      sessionRequestedBits: 4e6,
      sessionWastedBits: 0,
    });
    end(session, first, 3e6);
    expect(session.record.inFlight(9)).toBeUndefined();
    expect(session.record.requestedBits).toBe(3e6);
    begin(session, 1, 2e6);
    expect(session.record.last).toEqual(segment(1, 2e6));
    expect(session.record.beforeLastBps).toBe(1e6);
    expect(session.record.measured).toEqual([
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
    const session = new Session();
    end(session, begin(session, 0, 1e6), 4e6);
    for (const [abandonments, bitrateBps] of [4e6, 2e6].entries()) {
      const active = begin(session, 1, bitrateBps);
      expect(session.record.inFlight(9)?.abandonments).toBe(abandonments);
      end(session, active, 1e6, 'abandoned');
    }
    begin(session, 1, 1e6);
    expect(session.record.inFlight(9)).toMatchObject({ abandonments: 2, sessionWastedBits: 2e6 });
    expect(session.record.beforeLastBps).toBe(1e6);
    expect(session.record.measured.map(({ abandoned }) => abandoned)).toEqual([false, true, true]);
    begin(session, 2, 1e6);
    expect(session.record.inFlight(9)?.abandonments).toBe(0);
  });

  test('counts the abandonments of the current segment, not of the previous one', () => {
    const session = new Session();
    end(session, begin(session, 4, 4e6), 1e6, 'abandoned');
    end(session, begin(session, 4, 1e6), 0, 'failed');
    end(session, begin(session, 5, 1e6), 0, 'failed');
    begin(session, 5, 1e6);
    expect(session.record.inFlight(9)?.abandonments).toBe(0);
  });

  test('counts segments from the start of the presentation', () => {
    const session = new Session();
    const later = { ...segment(2, 3e6), period: { ...period, id: '1', firstIndex: 10 } };
    begin(session, 0, 1e6, later);
    expect(session.record.inFlight(9)?.segmentIndex).toBe(12);
    // The same index in another period is another segment.
    begin(session, 2, 1e6);
    expect(session.record.beforeLastBps).toBe(3e6);
  });

  test('drops failed downloads, and keeps at most 32', () => {
    const session = new Session();
    end(session, begin(session, 0, 1e6), 0, 'failed');
    expect(session.record.requestedBits).toBe(0);
    expect(session.record).toMatchObject({ active: undefined, measured: [] });
    for (let i = 1; i <= 40; i++) end(session, begin(session, i, 1e6), 4e6);
    expect(session.record.measured).toHaveLength(32);
    expect(session.record.measured[0]!.segmentIndex).toBe(9);
  });

  test('a response complete within 10 ms is a lower bound of the throughput if no slower one is known', () => {
    const session = new Session();
    const took = (index: number, downloadSeconds: number, outcome?: Outcome) =>
      end(session, begin(session, index, 1e6), 4e6, outcome, downloadSeconds);
    const seen = () =>
      session.record.downloads.map(({ segmentIndex, downloadSeconds }) => [segmentIndex, downloadSeconds]);
    took(0, 0.002);
    took(0, 0.001, 'abandoned');
    took(1, 0);
    const bounds = [
      [0, 0.01],
      [1, 0.01],
    ];
    expect(seen()).toEqual(bounds);
    took(2, 0.5);
    // Two fast responses may come from a cache.
    took(3, 0.002);
    took(4, 0.002);
    expect(seen()).toEqual([[2, 0.5]]);
    expect(session.record.isOutdated).toBe(false);
    took(5, 0.002);
    expect(session.record.isOutdated).toBe(true);
    expect(seen()).toEqual([3, 4, 5].map((index) => [index, 0.01]));
    took(6, 0.01);
    expect(session.record.isOutdated).toBe(false);
    expect(seen()).toEqual([
      [2, 0.5],
      [6, 0.01],
    ]);
    expect(session.record.requestedBits).toBe(32e6);
  });

  test('is blind after three downloads that could not be measured, until one can', () => {
    const session = new Session();
    for (let ended = 1; ended <= 3; ended++) {
      expect(session.record.isBlind).toBe(false);
      end(session, begin(session, ended - 1, 1e6), 0);
    }
    expect(session.record.isBlind).toBe(true);
    end(session, begin(session, 3, 1e6), 4e6);
    expect(session.record.isBlind).toBe(false);
  });
});
