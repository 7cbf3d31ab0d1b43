import { expect, test } from '@jest/globals';
import { announce } from '../../replay/evaluation/figures/handover-moment.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import type { DemoRun } from '../run/run.ts';
import { SessionRecord } from '../run/session-record.ts';
import { Timeline } from '../run/timeline-model.ts';
import { storyOf } from './story.ts';

const LINK = { stepEndsSeconds: [60], ratesBps: [25e6], rttSeconds: 0.04, startSeconds: 0, traceStartUtcMs: 0 };

/** MPC-L, which slowed at second 9 for the handover at 15, and another player; both at a second. */
function runAt(nowSeconds: number, hasClock = true): { run: DemoRun; own: SessionRecord; other: SessionRecord } {
  const [other, own] = [new SessionRecord(), new SessionRecord()];
  for (const record of [other, own]) Object.assign(record, { nowSeconds, startupSeconds: 1 });
  const players = [
    { place: 0, algorithm: 'dynamic', title: 'dash.js Dynamic', record: other },
    { place: 1, algorithm: 'mpc-l', title: 'MPC-L', record: own },
  ];
  const trace = { name: 't', dataset: 'd', recordingGroup: 'g', durationSeconds: 60, hasClock };
  const chosen = { startSeconds: 0, link: 'own', risk: 0.1, service: '', watchedSeconds: 0 } as const;
  const timeline = new Timeline(LINK, 60, hasClock);
  const run = { ...chosen, trace, scenario: SCENARIOS['live-hd-1']!, timeline, players, ended: false };
  return { run, own, other };
}

/** UTC is that of the session's clock. */
function expectHandover(record: SessionRecord, next: { atSeconds: number; confidence: number }, nowSeconds: number) {
  const { atSeconds, confidence } = next;
  const handovers = [{ atMs: 1000 * atSeconds, confidence }];
  announce(record.handovers, { handovers }, { utcMs: 1000 * nowSeconds, nowSeconds });
}

test('tells of the handover ahead, and then of what happened', () => {
  const ahead = runAt(10);
  expectHandover(ahead.own, { atSeconds: 15, confidence: 0.999 }, 4);
  ahead.own.positions = [{ atSeconds: 1, mediaSeconds: 0, rate: 1 }];
  expect(storyOf(ahead.run)).toBe('MPC-L expects a handover in 5\u00a0s (99\u00a0% sure).');
  ahead.own.positions.push({ atSeconds: 9, mediaSeconds: 8, rate: 0.95 });
  expect(storyOf(ahead.run)).toMatch(/ and plays 5\u00a0% slower to be ready\.$/);

  const { run, own, other } = runAt(18);
  expectHandover(own, { atSeconds: 15, confidence: 0.9 }, 4);
  expectHandover(own, { atSeconds: 15.1, confidence: 0.95 }, 6);
  expect(own.handovers).toEqual([{ atSeconds: 15.1, confidence: 0.95, sinceSeconds: 4 }]);
  own.positions = ahead.own.positions;
  expect(storyOf(run)).toBe('Every 15 s the link moves to another satellite and may fail for a moment.');
  other.stalls = [{ startSeconds: 15.2, endSeconds: 15.7, mediaSeconds: 14 }];
  expect(storyOf(run)).toBe(
    'At 0:15 the link moved to another satellite: MPC-L had expected it, played 5\u00a0% slower from 6\u00a0s before ' +
      'and played on; dash.js Dynamic stood still for 0.50\u00a0s.',
  );
  own.stalls = [{ startSeconds: 15.3, endSeconds: 15.36, mediaSeconds: 14 }];
  expect(storyOf(run)).toContain('and stood still for 0.06\u00a0s only; dash.js Dynamic');
});

test('tells of a stall that another player escaped by giving up a download', () => {
  const { run, own, other } = runAt(18);
  other.stalls = [{ startSeconds: 12.2, endSeconds: 13.6, mediaSeconds: 12 }];
  expect(storyOf(run)).toMatch(/^Every 15 s/);
  const download = { index: 2, bitrateBps: 60e6, requestedAtSeconds: 6, bufferLevelSeconds: 4, receivedBits: 1e6 };
  own.downloads.push({ ...download, endedAtSeconds: 8.3, outcome: 'abandoned' });
  expect(storyOf(run)).toBe(
    'At 0:12 dash.js Dynamic stood still for 1.4\u00a0s; MPC-L had given up a download of 60 Mbit/s at 0:08 and played on.',
  );
  own.stalls = [{ startSeconds: 13, endSeconds: 13.2, mediaSeconds: 12 }];
  expect(storyOf(run)).toMatch(/^Every 15 s/);
});

test('a link without a clock has no satellites to tell of', () => {
  expect(storyOf(runAt(3, false).run)).toBe('The players stream over the same link.');
});
