/** The starts of sessions in a trace and their numbers of segments: the `--starts` rule of the protocol. */

import { check, InputError } from '../../../abr/errors.ts';
import { EPOCH_SECONDS } from '../../../abr/index.ts';
import { liveSessionSeconds, type Scenario } from '../../scenarios.ts';
import { type Trace, wrapSeconds } from '../../trace.ts';

/** `every:n` starts at 0, n, 2n ... seconds, `at:` at the given seconds. */
export type StartsRule = { everySeconds: number } | { atSeconds: readonly number[] };

export interface SessionStart {
  /** Second of the trace at the first media request. */
  startSeconds: number;
  segmentCount: number;
}

/** A trace must exceed a session's media by this, for startup and stalls. A live session ends with the encoder. */
export const SLACK_SECONDS = 40;

/** A trace that is too short for a whole session keeps this many segments unplayed, for startup and stalls. */
const SPARE_SEGMENTS = 2;

/** Least seconds of media: QoE is per second of media, so a shorter session says hardly more than its startup. */
const LEAST_MEDIA_SECONDS = 40;

/** Most starts in a trace, so that a plan fits in memory. */
const MOST_STARTS = 1e6;

/** Tolerance for durations, which are sums of decimal steps. */
const ROUNDING_SECONDS = 1e-9;

/** Parses `every:<seconds>` or `at:<seconds>[,<seconds> ...]`. @throws {InputError} of `--starts` */
export function parseStarts(text: string): StartsRule {
  const [, kind, list] = /^(every|at):(\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)$/.exec(text) ?? [];
  const seconds = list?.split(',').map(Number) ?? [];
  if (kind === 'every' && seconds.length === 1 && seconds[0]! > 0) return { everySeconds: seconds[0]! };
  if (kind === 'at' && new Set(seconds).size === seconds.length) return { atSeconds: seconds.sort((a, b) => a - b) };
  throw new InputError(
    '--starts',
    'every:<seconds above 0> or at:<seconds>[,<seconds> ...] with each start once',
    text,
  );
}

/**
 * Returns the sessions of one trace, ascending by start. The rest of the trace must cover the session's media and
 * `SLACK_SECONDS`, or a live session's media alone. A trace that is too short for one session plays two segments less
 * than it holds, from 0, without wrapping (live: those it holds after the join). Empty if these are fewer than
 * `leastSegments`, or if none of the given starts fits.
 */
export function sessionStarts(
  trace: Pick<Trace, 'durationSeconds'>,
  scenario: PlayedScenario,
  rule: StartsRule,
): SessionStart[] {
  const { segmentCount } = scenario;
  // A live session has no slack, so it must end before the trace wraps.
  const playableSeconds = scenario.live ? wrapSeconds(trace) : trace.durationSeconds;
  const lastStartSeconds = playableSeconds - neededSeconds(scenario) + ROUNDING_SECONDS;
  if (lastStartSeconds < 0) {
    const asksForZero = 'everySeconds' in rule || rule.atSeconds.includes(0);
    const fitting = segmentsOfShortTrace(trace, scenario);
    return asksForZero && fitting >= leastSegments(scenario)
      ? [{ startSeconds: 0, segmentCount: Math.min(segmentCount, fitting) }]
      : [];
  }
  return offeredSeconds(rule, lastStartSeconds)
    .filter((second) => second <= lastStartSeconds)
    .map((startSeconds) => ({ startSeconds, segmentCount }));
}

function offeredSeconds(rule: StartsRule, lastStartSeconds: number): readonly number[] {
  if ('atSeconds' in rule) return rule.atSeconds;
  const count = Math.floor(lastStartSeconds / rule.everySeconds) + 2;
  check(count <= MOST_STARTS, '--starts', `at most ${MOST_STARTS} starts in a trace`, count);
  return Array.from({ length: count }, (_, i) => i * rule.everySeconds);
}

export function neededOfTraces(scenario: Scenario): string {
  const { name, live, segmentSeconds } = scenario;
  const mediaSeconds = leastSegments(scenario) * segmentSeconds - (live?.timeShiftSeconds ?? 0);
  const spareSeconds = live ? 0 : SPARE_SEGMENTS * segmentSeconds;
  // Longer traces wrap at a multiple of 15 s.
  const periodSeconds =
    mediaSeconds > EPOCH_SECONDS ? Math.ceil(mediaSeconds / EPOCH_SECONDS) * EPOCH_SECONDS : mediaSeconds;
  const least = Math.max(mediaSeconds + spareSeconds, periodSeconds);
  return `a trace of ${least} s or more (${neededSeconds(scenario)} s after the start for a whole session of ${name})`;
}

/** Segments of the shortest session of a short trace: `LEAST_MEDIA_SECONDS`, or all if the scenario has fewer. */
export function leastSegments({ segmentSeconds, segmentCount, live }: PlayedScenario): number {
  const mediaSeconds = LEAST_MEDIA_SECONDS + (live?.timeShiftSeconds ?? 0);
  return Math.min(segmentCount, Math.ceil(mediaSeconds / segmentSeconds - ROUNDING_SECONDS));
}

type PlayedScenario = Pick<Scenario, 'segmentSeconds' | 'segmentCount' | 'live'>;

function neededSeconds(scenario: PlayedScenario): number {
  const { segmentSeconds, segmentCount, live } = scenario;
  if (live !== undefined) return liveSessionSeconds({ segmentSeconds, segmentCount, live });
  return segmentCount * segmentSeconds + SLACK_SECONDS;
}

function segmentsOfShortTrace(trace: Pick<Trace, 'durationSeconds'>, scenario: PlayedScenario): number {
  const { live, segmentSeconds } = scenario;
  const whole = (seconds: number) => Math.floor((seconds + ROUNDING_SECONDS) / segmentSeconds);
  // Traces may wrap before their end.
  const wrapsAtSeconds = wrapSeconds(trace);
  if (live === undefined) return Math.min(whole(trace.durationSeconds) - SPARE_SEGMENTS, whole(wrapsAtSeconds));
  return whole(wrapsAtSeconds + live.timeShiftSeconds);
}
