/** Computes totals and QoE from a session's rows, for simulated and browser sessions. */

import { freezeCounts, perceivedQoe, type QoeForm, qoeWeights, type Stall, sessionQoe } from '../abr/index.ts';
import type { QoeForms, ResolvedScenario, SegmentRow, SessionResult } from './results.ts';
import { liveSessionSeconds, type Scenario } from './scenarios.ts';
import { qualitiesOf } from './segment-qualities.ts';

interface PlayedRows {
  segments: readonly Pick<SegmentRow, 'index' | 'bitrateBps' | 'stallSeconds' | 'abandonedBits'>[];
  startupSeconds: number;
  stalls: readonly Stall[];
  /** From `countedSegments`. Default: the number of rows, at least 1, so that a live session without any has a QoE. */
  segmentCount?: number | undefined;
  /** Stall and received bits of an unfinished download (cutoff, fault), which has no row. Default 0. */
  unfinishedStallSeconds?: number;
  unfinishedBits?: number;
}

type SessionTotals = Pick<
  SessionResult,
  | ('qoe' | 'meanBitrateBps' | 'stallSeconds' | 'stallCount' | 'freezeCount' | 'shortFreezeCount')
  | ('startupSeconds' | 'switches' | 'switchBps' | 'wastedBits')
>;

/**
 * Totals: `stallSeconds` and `wastedBits` are the sums of the rows and an unfinished download, `switchBps` the sum of
 * absolute changes of the bitrate, `meanBitrateBps` the mean over the received segments (0 without any). In the QoE a
 * missing segment counts as media of quality 0, so that a session that was cut off has a finite QoE.
 */
export function sessionTotals(played: PlayedRows, scenario: Scenario | ResolvedScenario): SessionTotals {
  const { segments, startupSeconds, stalls } = played;
  let stallSeconds = played.unfinishedStallSeconds ?? 0;
  let wastedBits = played.unfinishedBits ?? 0;
  let bitrateSum = 0;
  let switches = 0;
  let switchBps = 0;
  let previousBps: number | undefined;
  for (const row of segments) {
    stallSeconds += row.stallSeconds;
    wastedBits += row.abandonedBits;
    bitrateSum += row.bitrateBps;
    if (previousBps !== undefined && row.bitrateBps !== previousBps) {
      switches++;
      switchBps += Math.abs(row.bitrateBps - previousBps);
    }
    previousBps = row.bitrateBps;
  }
  return {
    qoe: qoeForms(
      {
        bitratesBps: segments.map((row) => row.bitrateBps),
        qualities: qualitiesOf(segments, scenario),
        startupSeconds,
        stallSeconds,
        stalls,
        segmentCount: played.segmentCount ?? Math.max(1, segments.length),
        segmentSeconds: scenario.segmentSeconds,
      },
      scenario,
    ),
    meanBitrateBps: segments.length > 0 ? bitrateSum / segments.length : 0,
    stallSeconds,
    stallCount: stalls.length,
    ...freezeCounts(stalls),
    startupSeconds,
    switches,
    switchBps,
    wastedBits,
  };
}

type Played = Parameters<typeof sessionQoe>[0] & Parameters<typeof perceivedQoe>[0];

/** The segments that QoE counts: all, but of a live session only those that it received, unless a fault ended it. */
export function countedSegments(
  { segmentCount, endedBy }: Pick<SessionResult, 'endedBy'> & { segmentCount: number },
  { segmentSeconds, live }: Scenario,
): number | undefined {
  if (!live) return segmentCount;
  const seconds = liveSessionSeconds({ segmentSeconds, segmentCount, live });
  return endedBy === 'fault' ? Math.ceil(seconds / segmentSeconds) : undefined;
}

/** A session's QoE in all forms. `linear` has the scenario's mu; all forms in bitrates have its lambda. */
function qoeForms(played: Played, scenario: Scenario): QoeForms {
  const of = (form: QoeForm): number | null => {
    const weights = qoeWeights(form, scenario.ladderBps);
    if (weights === undefined) return null;
    const mu = form === 'linear' ? scenario.mu : weights.mu;
    return sessionQoe(played, { ...weights, mu, lambda: scenario.lambda }).qoe;
  };
  return { linear: of('linear')!, log: of('log')!, hd: of('hd'), perceived: perceivedQoe(played) };
}

/** Rounds bits and bit/s to whole numbers, others to 1e-6. Summaries use rounded values, so merging changes none. */
export function roundedSession(session: SessionResult): SessionResult {
  // The start is part of the session's key, so it stays as in the plan.
  return { ...(rounded(session, '') as SessionResult), startSeconds: session.startSeconds };
}

function rounded(value: unknown, key: string): unknown {
  // `+ 0` turns -0 into 0, as JSON does.
  if (typeof value === 'number') {
    return (/(Bits|Bps)$/.test(key) ? Math.round(value) : Math.round(value * 1e6) / 1e6) + 0;
  }
  if (Array.isArray(value)) return value.map((entry) => rounded(entry, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, rounded(entry, name)]));
}
