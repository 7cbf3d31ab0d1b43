/**
 * A session as a problem of optimisation: everything known in advance, and what a plan (a representation per segment)
 * comes to. The same arithmetic as in simulate-session.ts and playback.ts, without anything that is not needed for it.
 */

import { type PiecewisePath, QOE_UNIT_SECONDS, type QoeForm, qoeWeights } from '../../abr/index.ts';
import type { ResolvedScenario } from '../results.ts';
import type { BrowserModel } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { pageLinkOf, sizesOf } from './session-setup.ts';
import { CUTOFF_SECONDS } from './simulate-session.ts';

/** The session to be planned. */
export interface SessionToPlan {
  trace: Trace;
  scenario: ResolvedScenario;
  /** Second of the trace at which the first media request leaves. */
  startSeconds: number;
  segmentCount: number;
}

/**
 * Gains, costs and mu are parts of one sum: gains of segments - costs of switches - mu x seconds waited (startup and
 * stalls). It is the session's QoE in one of its forms, times the session's 4 s units. Segment, cap and stall level are in
 * seconds of the clock, as long as they play at the scenario's playback rate; only `mediaSeconds` is not.
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
  /** From the session's second 0; holds the RTT of a request. */
  link: PiecewisePath;
  browser: BrowserModel;
  cutoffSeconds: number;
}

/** Undefined for a form of QoE that the scenario's ladder has not. */
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

/** What a sum is as QoE. */
export function qoeOfSum(problem: SessionProblem, sum: number): number {
  return (sum * QOE_UNIT_SECONDS) / (problem.segmentCount * problem.mediaSeconds);
}

/**
 * Seconds from an append that leaves `levelSeconds` in the buffer to the next request: dash.js's rule, as the simulator
 * has it.
 */
export function secondsToRequest(problem: SessionProblem, levelSeconds: number): number {
  const { requestGapSeconds, requestLatenessSeconds } = problem.browser;
  const excessSeconds = levelSeconds + problem.segmentSeconds - problem.bufferCapSeconds;
  return Math.max(requestGapSeconds, excessSeconds + requestLatenessSeconds);
}

/** The sum of a plan, a representation per segment. A session that is cut off gets what it gets. */
export function sumOfPlan(problem: SessionProblem, plan: ArrayLike<number>): number {
  const { link, sizesBits, gains, switchCosts, mu, segmentSeconds, representationCount, cutoffSeconds } = problem;
  const { initSegmentBits, appendSeconds, stallLevelSeconds } = problem.browser;
  const isInitialised = new Uint8Array(representationCount).fill(initSegmentBits > 0 ? 0 : 1);
  let now = 0;
  let level = 0;
  let waited = 0;
  let sum = 0;
  for (let segment = 0; segment < problem.segmentCount; segment++) {
    const representation = plan[segment]!;
    let appendedAt = now;
    if (segment > 0) appendedAt += secondsToRequest(problem, level);
    if (isInitialised[representation] === 0) {
      isInitialised[representation] = 1;
      if (segment > 0) appendedAt += link.downloadSeconds(appendedAt, initSegmentBits);
    }
    appendedAt += link.downloadSeconds(appendedAt, sizesBits[segment * representationCount + representation]!);
    appendedAt += appendSeconds;
    if (segment === 0) {
      waited = appendedAt;
      level = segmentSeconds;
    } else {
      const played = Math.min(appendedAt - now, Math.max(0, level - stallLevelSeconds));
      waited += appendedAt - now - played;
      level += segmentSeconds - played;
    }
    if (waited >= cutoffSeconds) return sum - mu * cutoffSeconds;
    now = appendedAt;
    sum += gains[representation]!;
    if (segment > 0) sum -= switchCosts[plan[segment - 1]! * representationCount + representation]!;
  }
  return sum - mu * waited;
}
