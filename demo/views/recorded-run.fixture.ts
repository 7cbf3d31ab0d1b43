/**
 * Replaces main.ts in the comparison of screenshots (e2e/demo/screenshots.spec.ts) by the views of a fixed run, which
 * plays nothing. Its three invented sessions show all marks of the timeline: stalls, forecasts, handovers.
 */

import '../locale-guard.ts';
import 'uplot/dist/uPlot.min.css';
import type { Forecast } from 'leo-abr';
import { PiecewisePath } from '../../abr/mpc/capacity-path.ts';
import type { PublishedLink } from '../../replay/origin/published-link.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import type { DemoRun } from '../run/run.ts';
import { type DownloadNote, SessionRecord, type StallNote } from '../run/session-record.ts';
import { Timeline } from '../run/timeline-model.ts';
import { RunViews } from './run-views.ts';

const SCENARIO = SCENARIOS['hd-16']!;
const { segmentSeconds, bufferCapSeconds } = SCENARIO;
const SECONDS = 72;
const NOW_SECONDS = 60;

/** Mbit/s between the handovers, which are at seconds 12, 27, 42 and 57. */
const EPOCHS_MBPS = [21, 9, 34, 4, 24];
const epochAt = (seconds: number) => Math.floor((seconds + 3) / 15);
const mbpsAt = (seconds: number) => EPOCHS_MBPS[epochAt(seconds)]!;

const link: PublishedLink = {
  stepEndsSeconds: Array.from({ length: SECONDS }, (_, i) => i + 1),
  ratesBps: Array.from({ length: SECONDS }, (_, i) => mbpsAt(i) * (1 + 0.15 * Math.sin(1.7 * i)) * 1e6),
  rttSeconds: 0.04,
  startSeconds: 0,
  traceStartUtcMs: Date.UTC(2025, 0, 1, 12),
};
const path = new PiecewisePath({ ...link });

/** A bitrate in Mbit/s; or the bitrate of a request that is abandoned after this time, and the one chosen then. */
type Segment = number | [mbps: number, afterSeconds: number, then: number];

/** Simulates these segments on the link up to NOW_SECONDS. */
function sessionOf(segments: readonly Segment[], options: { plans?: true; forecasts?: true }): SessionRecord {
  const record = new SessionRecord();
  const stalls: StallNote[] = [];
  let now = 0;
  /** Second at which the buffer runs empty if no other segment comes. */
  let emptyAt: number | undefined;
  const levelAt = (seconds: number) => (emptyAt === undefined ? 0 : Math.max(0, emptyAt - seconds));
  const shownAt = (seconds: number) => {
    const { startupSeconds = Number.NaN, segments } = record;
    const frozen = stalls.reduce((sum, { startSeconds, endSeconds = seconds }) => {
      return sum + Math.max(0, Math.min(endSeconds, seconds) - Math.min(startSeconds, seconds));
    }, 0);
    return segments[Math.floor((seconds - startupSeconds - frozen) / segmentSeconds)]?.bitrateBps;
  };
  const sampleUntil = (seconds: number) => {
    for (;;) {
      const atSeconds = record.samples.length / 2;
      if (atSeconds >= Math.min(seconds, NOW_SECONDS)) return;
      record.samples.push({ atSeconds, bufferSeconds: levelAt(atSeconds), shownBitrateBps: shownAt(atSeconds) });
    }
  };
  const download = (index: number, mbps: number, endsAt: number | undefined) => {
    const bitrateBps = mbps * 1e6;
    const request = { index, bitrateBps, requestedAtSeconds: now, bufferLevelSeconds: levelAt(now) };
    const wholeAt = now + link.rttSeconds + path.downloadSeconds(now + link.rttSeconds, bitrateBps * segmentSeconds);
    const endedAtSeconds = Math.min(endsAt ?? wholeAt, wholeAt);
    const receivedBits = path.cumulativeBits(Math.min(endedAtSeconds, NOW_SECONDS)) - path.cumulativeBits(now);
    const outcome = endsAt === undefined ? 'complete' : 'abandoned';
    const isOver = endedAtSeconds <= NOW_SECONDS;
    const end = isOver ? { endedAtSeconds, outcome } : { endedAtSeconds: undefined, outcome: 'active' };
    record.downloads.push({ ...request, receivedBits, ...end } as DownloadNote);
    return endedAtSeconds;
  };
  const decide = (kind: 'decide' | 'abandon', segmentIndex: number, mbps: number) => {
    const plannedThroughputBps = mbpsAt(Math.max(0, now - 2)) * 0.9e6;
    record.decisions.push({
      ...{ atSeconds: now, kind, segmentIndex, bitrateBps: mbps * 1e6, bufferLevelSeconds: levelAt(now) },
      previousBitrateBps: record.downloads.at(-1)?.bitrateBps,
      reason: kind === 'abandon' ? 'it would stall playback' : 'best of the plans over 5 segments',
      ...(options.plans && { plannedThroughputBps, handoverInHorizon: true }),
      ...(options.forecasts && { forecast: forecastAt(now), forecastAgeSeconds: 0.4 }),
    });
  };
  for (const [index, one] of segments.entries()) {
    if (emptyAt !== undefined) now = Math.max(now, emptyAt - (bufferCapSeconds - segmentSeconds));
    if (now > NOW_SECONDS) break;
    const [first, afterSeconds, mbps] = typeof one === 'number' ? ([one, undefined, one] as const) : one;
    decide('decide', index, first);
    if (afterSeconds !== undefined) {
      now = download(index, first, now + afterSeconds);
      decide('abandon', index, mbps);
    }
    const endedAt = download(index, mbps, undefined);
    sampleUntil(endedAt);
    if (emptyAt === undefined) record.startupSeconds = endedAt;
    else if (endedAt > emptyAt && emptyAt < NOW_SECONDS) {
      const endSeconds = endedAt <= NOW_SECONDS ? endedAt : undefined;
      stalls.push({ startSeconds: emptyAt, endSeconds, mediaSeconds: index * segmentSeconds });
    }
    emptyAt = Math.max(emptyAt ?? 0, endedAt) + segmentSeconds;
    now = endedAt;
  }
  sampleUntil(NOW_SECONDS);
  record.stalls = stalls;
  record.nowSeconds = NOW_SECONDS;
  const shownSeconds = NOW_SECONDS - record.startupSeconds! - record.stallSeconds;
  record.shownSegments = Math.floor(shownSeconds / segmentSeconds) + 1;
  return record;
}

function forecastAt(seconds: number): Forecast {
  const stepEndsSeconds = [2, 4, 8, 12, 16, 20];
  const next = 15 * epochAt(seconds) + 12;
  return {
    issuedAtMs: seconds * 1000,
    source: 'built-in',
    stepEndsSeconds,
    levels: [0.1, 0.5, 0.9],
    quantilesBps: stepEndsSeconds.map((end) => {
      const isKnown = seconds + end <= next;
      const middle = isKnown ? mbpsAt(seconds) : 16;
      return (isKnown ? [0.75, 1, 1.25] : [0.35, 1, 1.8]).map((factor) => factor * middle * 1e6);
    }),
    rankCorrelation: 0.8,
    handovers: [
      { atMs: link.traceStartUtcMs + next * 1000, confidence: 0.95 },
      { atMs: link.traceStartUtcMs + (next + 15) * 1000, confidence: 0.6 },
    ],
  };
}

const mpcD = sessionOf([1, 16, 16, 16, 8, 8, 8, 16, 30, 30, 30, 16, 30, 8, 8], { plans: true });
const mpcL = sessionOf([2.5, 16, 16, 16, [16, 2.5, 5], 8, 8, 8, 16, 30, 30, 16, [16, 3, 1], 2.5, 2.5, 2.5, 8], {
  plans: true,
  forecasts: true,
});
mpcL.handovers.push({ atSeconds: 57, sinceSeconds: 45, confidence: 0.95 });
const dynamic = sessionOf([1, 1, 8, 8, 16, 8, 8, 8, 8, 16, 30, 16, 8, 8, 8, 5, 5], {});
const run: DemoRun = {
  trace: { name: 'made-up', dataset: 'made-up', recordingGroup: 'made-up', durationSeconds: SECONDS, hasClock: true },
  scenario: SCENARIO,
  startSeconds: 0,
  isShared: false,
  timeline: new Timeline(link, SECONDS - 1, true),
  players: [
    { algorithm: 'mpc-d', title: 'MPC-D', record: mpcD },
    { algorithm: 'mpc-l', title: 'leo-abr', record: mpcL },
    { algorithm: 'dynamic', title: 'dash.js alone', record: dynamic },
  ].map((player, place) => ({ ...player, place })),
  ended: true,
};

const views = new RunViews();
await views.begin(run);
views.draw();
