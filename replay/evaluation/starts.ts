/** The starts of sessions in a trace and their numbers of segments: the `--starts` rule of the protocol. */

import { InputError } from '../../abr/errors.ts';
import type { Scenario } from '../scenarios.ts';
import { type Trace, wrapSeconds } from '../trace.ts';

/** `every`: at 0, n, 2n ... seconds; `at`: at the given seconds. */
export type StartsRule = { everySeconds: number } | { atSeconds: readonly number[] };

export interface SessionStart {
  /** Second of the trace at the first media request. */
  startSeconds: number;
  segmentCount: number;
}

/** A trace must exceed a session's media by this, for startup and stalls. */
export const SLACK_SECONDS = 40;

/** A trace that is too short for a whole session keeps this many segments unplayed, for startup and stalls. */
const SPARE_SEGMENTS = 2;

/** Tolerance for durations, which are sums of decimal steps. */
const ROUNDING_SECONDS = 1e-9;

/** Parses `every:<seconds>` or `at:<seconds>[,<seconds> ...]`. @throws {InputError} of `field` */
export function parseStarts(text: string, field = '--starts'): StartsRule {
  const fail = (expected: string, got: string): never => {
    throw new InputError(field, expected, got);
  };
  const colon = text.indexOf(':');
  const kind = text.slice(0, Math.max(0, colon));
  const rest = text.slice(colon + 1);
  if (kind === 'every') {
    const everySeconds = decimal(rest);
    if (!(everySeconds > 0)) fail('every:<seconds above 0>', text);
    return { everySeconds };
  }
  if (kind === 'at') {
    const atSeconds = rest.split(',').map((part) => {
      const seconds = decimal(part);
      return seconds >= 0 ? seconds : fail('at:<seconds from 0>[,<seconds> ...]', text);
    });
    if (new Set(atSeconds).size < atSeconds.length) fail('at: with each start once', text);
    return { atSeconds: atSeconds.sort((a, b) => a - b) };
  }
  return fail('every:<seconds> or at:<seconds>[,<seconds> ...]', text);
}

/** Digits with an optional fraction; NaN for signs, exponents, blanks and hexadecimals. */
function decimal(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/**
 * The sessions of one trace, ascending by start. The rest of the trace must cover the session's media and
 * `SLACK_SECONDS`. A trace that is too short for one session plays floor(duration / segment) - 2 segments from 0,
 * without wrapping. Empty if this does not fit either, or none of the given starts.
 */
export function sessionStarts(
  trace: Pick<Trace, 'durationSeconds'>,
  scenario: Pick<Scenario, 'segmentSeconds' | 'segmentCount' | 'playbackRate'>,
  rule: StartsRule,
): SessionStart[] {
  const { segmentCount } = scenario;
  // At the playback rate.
  const segmentSeconds = scenario.segmentSeconds / (scenario.playbackRate ?? 1);
  const lastStartSeconds = trace.durationSeconds - segmentCount * segmentSeconds - SLACK_SECONDS + ROUNDING_SECONDS;
  if (lastStartSeconds < 0) {
    const asksForZero = 'everySeconds' in rule || rule.atSeconds.includes(0);
    const fitting = segmentsOfShortTrace(trace, segmentSeconds);
    return asksForZero && fitting > 0 ? [{ startSeconds: 0, segmentCount: Math.min(segmentCount, fitting) }] : [];
  }
  const starts: SessionStart[] = [];
  if ('atSeconds' in rule) {
    for (const startSeconds of rule.atSeconds) {
      if (startSeconds <= lastStartSeconds) starts.push({ startSeconds, segmentCount });
    }
    return starts;
  }
  for (let i = 0; i * rule.everySeconds <= lastStartSeconds; i++) {
    starts.push({ startSeconds: i * rule.everySeconds, segmentCount });
  }
  return starts;
}

/** The requirements of `sessionStarts`, for messages. */
export function neededOfTraces({ name, segmentSeconds, segmentCount, playbackRate = 1 }: Scenario): string {
  const least = ((SPARE_SEGMENTS + 1) * segmentSeconds) / playbackRate;
  const whole = (segmentCount * segmentSeconds) / playbackRate + SLACK_SECONDS;
  return `a trace of ${least} s or more (${whole} s after the start for a whole session of ${name})`;
}

function segmentsOfShortTrace(trace: Pick<Trace, 'durationSeconds'>, segmentSeconds: number): number {
  const whole = (seconds: number) => Math.floor((seconds + ROUNDING_SECONDS) / segmentSeconds);
  // The second bound applies to traces that wrap more than two segments before their end.
  return Math.min(whole(trace.durationSeconds) - SPARE_SEGMENTS, whole(wrapSeconds(trace)));
}
