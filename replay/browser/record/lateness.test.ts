import { expect, test } from '@jest/globals';
import type { RequestLogEntry } from '../../origin/index.ts';
import { IDEAL_BROWSER } from '../../simulator/made-up.fixture.ts';
import { downloadTimings, isLate, lateShare, modelOf, responseSeconds } from './lateness.ts';
import { recordedSession } from './recorded-session.fixture.ts';
import type { DownloadTiming } from './session-record.ts';

const browser = { ...IDEAL_BROWSER, responseSeconds: 0.007, responseSecondsPerBit: 0.12e-9 };

const served = (segmentIndex: number, representation: number, [from, to]: [number, number]): RequestLogEntry => {
  const representationId = `video-${representation}`;
  const times = { requestedAtSeconds: from, prescribedEndSeconds: to };
  const sent = { kind: 'segment', bytes: 5e5, sentBytes: 5e5, outcome: 'complete' } as const;
  return { path: `${representationId}/${segmentIndex + 1}.m4s`, representationId, segmentIndex, ...sent, ...times };
};

test('pairs the downloads of page and origin, without abandoned ones', () => {
  const { prescribedEndSeconds, ...abandoned } = served(1, 1, [1, 3]);
  const log = [served(0, 0, [0, 0.99]), abandoned, served(1, 0, [3.001, 6.4]), served(2, 1, [6.6, 7.99])];
  const timings = downloadTimings(recordedSession(), log);
  expect(timings.map(({ index }) => index)).toEqual([0, 1, 2]);
  const measured = timings.map(({ measuredSeconds }) => measuredSeconds);
  expect(measured).toEqual([1, 3.5, expect.closeTo(1.4, 9)]);
  const prescribed = timings.map(({ prescribedSeconds }) => prescribedSeconds);
  expect(prescribed).toEqual([0.99, expect.closeTo(3.399, 9), expect.closeTo(1.39, 9)]);
  expect(timings.map((timing) => isLate(timing, browser))).toEqual([false, false, false]);
});

test('the parts of a segment are one download, from the first request to the last end', () => {
  const session = recordedSession();
  const part = (from: number, to: number) => ({ ...served(0, 0, [from, to]), bytes: 2.5e5 });
  const [timing] = downloadTimings(session, [part(0, 0.4), part(0.41, 0.9)]);
  expect(timing).toMatchObject({ index: 0, sizeBits: 4e6, prescribedSeconds: 0.9 });
});

test('late is more than 3 % and more than 50 ms beyond the usual time of the browser', () => {
  const timing = (prescribedSeconds: number, seconds: number, sizeBits = 0) => {
    const measuredSeconds = seconds + responseSeconds(browser, sizeBits);
    return { prescribedSeconds, measuredSeconds, sizeBits } as DownloadTiming;
  };
  expect(responseSeconds(browser, 500e6)).toBeCloseTo(0.067, 9);
  const timings = [timing(1, 1.049), timing(1, 1.051, 5e8), timing(10, 10.29), timing(10, 10.31)];
  expect(timings.map((one) => isLate(one, browser))).toEqual([false, true, false, true]);
  expect(lateShare([timing(1, 1), timing(1, 2), timing(1, 1), timing(1, 0.5)], browser)).toBe(0.25);
  expect(lateShare([], browser)).toBe(0);
});

test("Shaka's own time after the last byte is not late", () => {
  const timing = { prescribedSeconds: 1, measuredSeconds: 1.11, sizeBits: 0 } as DownloadTiming;
  expect(isLate(timing, modelOf('dash', browser))).toBe(true);
  expect(isLate(timing, modelOf('shaka', browser))).toBe(false);
});
