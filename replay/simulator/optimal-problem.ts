/**
 * A session as an optimisation problem with everything known in advance, and the objective of a plan (a representation
 * per segment). The same arithmetic as in simulate-session.ts and playback.ts, but only its necessary part.
 */

import { type PiecewisePath, QOE_UNIT_SECONDS, type QoeForm, qoeWeights } from '../../abr/index.ts';
import type { ResolvedScenario } from '../results.ts';
import { type BrowserModel, CUTOFF_SECONDS } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { pageLinkOf, sizesOf } from './session-setup.ts';

export interface SessionToPlan {
  trace: Trace;
  scenario: ResolvedScenario;
  /** Second of the trace at the first media request. */
  startSeconds: number;
  segmentCount: number;
}

/**
 * The objective is a sum: gains of segments - costs of switches - mu x waited seconds (startup and stalls). It is the
 * session's QoE in one of its forms, times the session's number of 4 s units. Segment, cap and stall level are in
 * seconds of the clock at the scenario's playback rate; only `mediaSeconds` is media time.
 */
export interface SessionProblem {
  segmentCount: number;
  segmentSeconds: number;
  /** Media in a segment. */
  mediaSeconds: number;
  representationCount: number;
  bufferCapSeconds: number;
  /** By representation. */
  gains: Float64Array;
  /** `[from * representationCount + to]`. */
  switchCosts: Float64Array;
  mu: number;
  /** `[segment * representationCount + representation]`. */
  sizesBits: Float64Array;
  /** From the session's second 0, with the RTT of a request. */
  link: PiecewisePath;
  browser: BrowserModel;
  cutoffSeconds: number;
}

/** Undefined for a form of QoE that the ladder does not support. */
export function sessionProblem(session: SessionToPlan, form: 'linear' | 'log'): SessionProblem;
export function sessionProblem(session: SessionToPlan, form: QoeForm): SessionProblem | undefined;
export function sessionProblem(session: SessionToPlan, form: QoeForm): SessionProblem | undefined {
  const { trace, scenario, startSeconds, segmentCount } = session;
  const { ladderBps, segmentSeconds, browser, playbackRate = 1 } = scenario;
  const weights = qoeWeights(form, ladderBps);
  if (weights === undefined) return undefined;
  const qualities = ladderBps.map((bps) => weights.quality(bps));
  return {
    segmentCount,
    segmentSeconds: segmentSeconds / playbackRate,
    mediaSeconds: segmentSeconds,
    representationCount: ladderBps.length,
    bufferCapSeconds: scenario.bufferCapSeconds / playbackRate,
    gains: Float64Array.from(qualities, (q) => (q * segmentSeconds) / QOE_UNIT_SECONDS),
    switchCosts: Float64Array.from(
      qualities.flatMap((from) => qualities.map((to) => scenario.lambda * Math.abs(from - to))),
    ),
    mu: form === 'linear' ? scenario.mu : weights.mu,
    sizesBits: Float64Array.from(sizesOf(scenario).slice(0, segmentCount).flat()),
    link: pageLinkOf(trace, scenario).from(startSeconds),
    browser: { ...browser, stallLevelSeconds: browser.stallLevelSeconds / playbackRate },
    cutoffSeconds: CUTOFF_SECONDS,
  };
}

/** Converts a sum to QoE. */
export function qoeOfSum(problem: SessionProblem, sum: number): number {
  return (sum * QOE_UNIT_SECONDS) / (problem.segmentCount * problem.mediaSeconds);
}

/** The sum of a plan. A session that is cut off keeps the gains until then. */
export function sumOfPlan(problem: SessionProblem, plan: ArrayLike<number>): number {
  const { link, sizesBits, gains, switchCosts, mu, segmentSeconds, representationCount, cutoffSeconds } = problem;
  const { initSegmentBits, appendSeconds, stallLevelSeconds, requestGapSeconds, requestLatenessSeconds } =
    problem.browser;
  const isInitialised = new Uint8Array(representationCount).fill(initSegmentBits > 0 ? 0 : 1);
  let now = 0;
  let buffer = 0;
  let waited = 0;
  let sum = 0;
  for (let segment = 0; segment < problem.segmentCount; segment++) {
    const representation = plan[segment]!;
    let appendedAt = now;
    if (segment > 0) {
      const excess = buffer + segmentSeconds - problem.bufferCapSeconds;
      appendedAt += Math.max(requestGapSeconds, excess + requestLatenessSeconds);
    }
    if (isInitialised[representation] === 0) {
      isInitialised[representation] = 1;
      if (segment > 0) appendedAt += link.downloadSeconds(appendedAt, initSegmentBits);
    }
    appendedAt += link.downloadSeconds(appendedAt, sizesBits[segment * representationCount + representation]!);
    appendedAt += appendSeconds;
    if (segment === 0) {
      waited = appendedAt;
      buffer = segmentSeconds;
    } else {
      const played = Math.min(appendedAt - now, Math.max(0, buffer - stallLevelSeconds));
      waited += appendedAt - now - played;
      buffer += segmentSeconds - played;
    }
    if (waited >= cutoffSeconds) return sum - mu * cutoffSeconds;
    now = appendedAt;
    sum += gains[representation]!;
    if (segment > 0) sum -= switchCosts[plan[segment - 1]! * representationCount + representation]!;
  }
  return sum - mu * waited;
}
