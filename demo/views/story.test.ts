import { expect, test } from '@jest/globals';
import type { PublishedLink } from '../../replay/origin/published-link.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import type { ExpectedHandover } from '../run/handovers.ts';
import type { DemoRun } from '../run/run.ts';
import { SessionRecord } from '../run/session-record.ts';
import { Timeline } from '../run/timeline-model.ts';
import { newsOf, storyOf } from './story.ts';

const steps = { stepEndsSeconds: [100], ratesBps: [1e6] };
const link: PublishedLink = { ...steps, rttSeconds: 0.04, startSeconds: 0, traceStartUtcMs: 0 };

function runOf(...records: SessionRecord[]): DemoRun {
  return {
    trace: { name: 't', dataset: 'd', recordingGroup: 'g', durationSeconds: 100, hasClock: true },
    ...{ scenario: SCENARIOS['live-hd-1']!, startSeconds: 0, ended: false },
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
  const quality = 'Quality: A 59, B 59 of 100.';
  expect(story([], [])).toBe(`In 20 s no picture froze. ${quality}`);
  expect(story([[3, 4.25]], [])).toBe(`In 20 s A froze once, for 1.3 s; B never froze. ${quality}`);
  expect(story([], twice)).toBe(`In 20 s A never froze; B froze 2 times, for 2.0 s in all. ${quality}`);
});

test('news are an expected handover with what was done for it, while it is ahead and shortly after', () => {
  const handover = { atSeconds: 12, sinceSeconds: 2, confidence: 0.9 };
  const news = (now: number, more: Partial<ExpectedHandover> = {}) =>
    plain(newsOf(runOf(record([], undefined, now), record([], { ...handover, ...more }, now))));
  expect(news(11)).toBe('B expects another satellite in 1 s (90 % sure): 8 instead of 16 Mbit/s.');
  expect(news(11, { sinceSeconds: 10.5 })).toBe('B expects another satellite in 1 s (90 % sure): no change.');
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
});
