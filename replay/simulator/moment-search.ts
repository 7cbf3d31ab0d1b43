/** Searches links for the moment of the demo; demo/README.md has the criterion. Browser-safe. */

import { createController, EPOCH_SECONDS, type Forecaster } from '../../abr/index.ts';
import { DEFAULT_RISK } from '../../abr/mpc-l/options.ts';
import { createDynamic } from '../../abr/rules/dash-js/dash-rules.ts';
import { createBuiltInForecaster } from '../../predictor/forecast/built-in-forecaster.ts';
import { SubSecond } from '../../predictor/link/sub-second.ts';
import * as moments from '../evaluation/figures/handover-moment.ts';
import type { PlaybackPiece } from '../evaluation/figures/live-metrics.ts';
import { informedForecaster, knownHandover } from '../known-handover.ts';
import { synthesizeShippedTraces } from '../link-model/shipped-traces.ts';
import { type SynthesizeOptions, synthesizeTrace } from '../link-model/synthesize-trace.ts';
import type { SessionResult } from '../results.ts';
import { SCENARIOS, type Scenario } from '../scenarios.ts';
import { handoverPhaseOf, type Trace, traceStartUtcMs } from '../trace.ts';
import { playedBy } from './play.ts';
import { LivePlayer } from './player/live-player.ts';
import { linkOf } from './session-setup.ts';
import type { SimulationOptions } from './simulation-options.ts';

/** For the script behind `npm run moments`. */
export { synthesizeShippedTraces, synthesizeTrace };

/** What the viewer opens: the players' links and the start are the search's result. */
export interface SceneRules {
  scenario: string;
  /** The player's own rule. */
  rival: string;
  watchedSeconds: number;
  /** MPC-L's risk, among the risks that have a name; default: its own. */
  risk?: number;
}

/** The search by scene of the demo, and the links that it draws. */
export const MOMENT_RULES: Readonly<Record<string, SceneRules & { link: Omit<SynthesizeOptions, 'seed'> }>> = {
  live: {
    scenario: 'live-hd-1',
    rival: 'throughput',
    watchedSeconds: 90,
    link: { preset: 'stationary-live', durationSeconds: 240, stepSeconds: 0.1 },
  },
  'on-demand': {
    scenario: 'uhd-8',
    rival: 'dynamic',
    watchedSeconds: 90,
    link: { preset: 'driving', durationSeconds: 300 },
  },
};

export const SCENE_SECONDS = 20;
/** Seconds of the session at which the handover should be: late enough to see its preparation, early enough to see its end. */
const HANDOVERS_AT = [11, 12, 13, 14, 15, 16];
const LEAST_CONFIDENCE = 0.9;
/** The rival stalls for this long in the dip, MPC-L for no longer in the whole scene, and without handovers in the dip. */
const LEAST_LOST_SECONDS = 0.2;
const MOST_STALL_SECONDS = 0.05;
const LEAST_CAUSED_SECONDS = 0.1;
/** The sessions of `typicalOf`, their starts' distance, and what counts in them. */
const TYPICAL = { seconds: 60, everySeconds: 5, leastBeforeSeconds: 3, leastStallSeconds: 0.1 };
/** A browser differs from the simulator: the moment has to come about in these sessions, too, but for one. */
const VARIANTS: readonly LinkVariant[] = [
  ...[0.85, 1.15].map((rttFactor) => ({ rttFactor })),
  ...[0.15, -0.15, 0.3].map((lateSeconds) => ({ lateSeconds })),
];

interface LinkVariant {
  rttFactor?: number;
  lateSeconds?: number;
}

/** What a player does in the simulator, up to the scene's end. */
export interface ScenePlay {
  played: moments.MomentSession;
  handovers: readonly moments.AnnouncedHandover[];
  result: SessionResult;
  /** LoL+'s, on demand QoE-linear. */
  qoe: number;
}

export interface FoundMoment {
  startSeconds: number;
  moment: moments.HandoverMoment;
  /** MPC-L less the rival at the scene's end, the least of all variants. */
  qoeLead: number;
  /** Stall of MPC-L without handovers, in the dip. */
  withoutHandoversSeconds: number;
  /** Share of `VARIANTS` with the moment. */
  robustShare: number;
}

/** One algorithm over many starts of a link; QoE is LoL+'s, on demand QoE-linear. */
export interface TypicalRow {
  algorithm: string;
  qoe: number;
  mbps: number;
  stallsPerMinute: number;
  stallSecondsPerMinute: number;
  /** Share of the handovers in whose dip playback stalled for at least 0.1 s. */
  stalledHandoverShare: number;
}

export interface Typical {
  starts: number;
  seconds: number;
  rows: readonly TypicalRow[];
}

export interface Searched {
  starts: number;
  /** At which the rival stalls in the dip. */
  dips: number;
  found: FoundMoment[];
}

/** `mpc-l` with what it knows about handovers, `mpc-l:no-handover` without, or another controller. */
export function playScene(
  trace: Trace,
  rules: SceneRules,
  options: { algorithm: string; startSeconds: number; seconds?: number } & LinkVariant,
): ScenePlay {
  const { algorithm, seconds = SCENE_SECONDS, rttFactor = 1, lateSeconds = 0 } = options;
  const named = SCENARIOS[rules.scenario]!;
  const startSeconds = options.startSeconds + lateSeconds;
  const { live, segmentSeconds } = named;
  const wanted = Math.ceil((seconds + (live?.timeShiftSeconds ?? 0)) / segmentSeconds);
  const segmentCount = Math.min(named.segmentCount, wanted);
  const scenario = { ...named, rttSeconds: named.rttSeconds * rttFactor, ...(live && { segmentCount }) };
  const handovers: moments.AnnouncedHandover[] = [];
  const { risk = DEFAULT_RISK } = rules;
  const controllerName = algorithm.startsWith('mpc-l') && risk !== DEFAULT_RISK ? `mpc-l:risk-${risk}` : algorithm;
  const forecaster = forecasterOf(algorithm, trace, scenario, { startSeconds, watchedSeconds: rules.watchedSeconds });
  const session: SimulationOptions = {
    ...{ trace, scenario, segmentCount, algorithm, startSeconds, seed: 1 },
    controller: algorithm === 'dynamic' ? createDynamic() : createController(controllerName, { seed: 1 }),
    ...(forecaster && { forecaster }),
    onDecision: ({ state, forecast }) => moments.announce(handovers, forecast, state),
  };
  const player = playedBy(session);
  const result = player.result();
  return player instanceof LivePlayer
    ? { played: playedLive(player.history, result), handovers, result, qoe: result.live!.qoe }
    : { played: playedOnDemand(result), handovers, result, qoe: result.qoe.linear };
}

/** What is typical of a link: sessions of a minute from starts all over it, by algorithm. */
export function typicalOf(trace: Trace, rules: SceneRules): Typical {
  const { seconds, everySeconds, leastBeforeSeconds, leastStallSeconds } = TYPICAL;
  const count = Math.ceil((trace.durationSeconds - rules.watchedSeconds) / everySeconds);
  const starts = Array.from({ length: count }, (_, i) => rules.watchedSeconds + i * everySeconds);
  const phase = handoverPhase(trace);
  const thousandths = (value: number) => Math.round(1000 * value) / 1000;
  const rows = [rules.rival, 'mpc-l', 'mpc-l:no-handover'].map((algorithm) => {
    const plays = starts.map((startSeconds) => playScene(trace, rules, { algorithm, startSeconds, seconds }));
    const mean = (of: (play: ScenePlay) => number) =>
      thousandths(plays.reduce((sum, one) => sum + of(one), 0) / plays.length);
    // Those of which the session has the dip as a whole, and something before it.
    const dips = plays.flatMap(({ played }, i) => {
      const first = (((phase - starts[i]!) % EPOCH_SECONDS) + EPOCH_SECONDS) % EPOCH_SECONDS;
      return [0, 1, 2, 3]
        .map((n) => first + n * EPOCH_SECONDS)
        .filter((at) => at > leastBeforeSeconds && at + moments.DIP.afterSeconds < seconds)
        .map((at) => moments.stallSecondsInDip(played, at));
    });
    return {
      algorithm,
      qoe: mean(({ qoe }) => qoe),
      mbps: mean(({ result }) => result.meanBitrateBps / 1e6),
      stallsPerMinute: mean(({ result }) => (60 * result.stallCount) / seconds),
      stallSecondsPerMinute: mean(({ result }) => (60 * result.stallSeconds) / seconds),
      stalledHandoverShare: thousandths(dips.filter((lost) => lost >= leastStallSeconds).length / dips.length),
    };
  });
  return { starts: starts.length, seconds, rows };
}

/** The starts of a link, between two seconds of the trace, at which the moment comes about. */
export function searchLink(
  trace: Trace,
  rules: SceneRules,
  [from, to]: readonly [number, number] = [0, trace.durationSeconds],
): Searched {
  const searched: Searched = { starts: 0, dips: 0, found: [] };
  for (let handover = handoverPhase(trace); handover < trace.durationSeconds; handover += EPOCH_SECONDS) {
    for (const atSeconds of HANDOVERS_AT) {
      const startSeconds = handover - atSeconds;
      if (startSeconds < Math.max(from, rules.watchedSeconds / 2)) continue;
      if (startSeconds > Math.min(to, trace.durationSeconds - SCENE_SECONDS)) continue;
      searched.starts++;
      const rival = playScene(trace, rules, { algorithm: rules.rival, startSeconds });
      if (moments.stallSecondsInDip(rival.played, atSeconds) < LEAST_LOST_SECONDS) continue;
      searched.dips++;
      const found = judge(trace, rules, { startSeconds, atSeconds, rival });
      if (found !== undefined) searched.found.push(found);
    }
  }
  return searched;
}

function judge(
  trace: Trace,
  rules: SceneRules,
  { startSeconds, atSeconds, rival }: { startSeconds: number; atSeconds: number; rival: ScenePlay },
): FoundMoment | undefined {
  const own = playScene(trace, rules, { algorithm: 'mpc-l', startSeconds });
  const moment = momentAt(own, rival, atSeconds);
  const stalledSeconds = moments.stallSecondsWithin(own.played, 0, SCENE_SECONDS);
  if (moment === undefined || stalledSeconds > MOST_STALL_SECONDS || own.qoe <= rival.qoe) return undefined;
  const blind = playScene(trace, rules, { algorithm: 'mpc-l:no-handover', startSeconds });
  const withoutHandoversSeconds = moments.stallSecondsInDip(blind.played, atSeconds);
  if (withoutHandoversSeconds < LEAST_CAUSED_SECONDS) return undefined;
  let qoeLead = own.qoe - rival.qoe;
  const again = VARIANTS.filter((variant) => {
    const one = playScene(trace, rules, { algorithm: 'mpc-l', startSeconds, ...variant });
    const other = playScene(trace, rules, { algorithm: rules.rival, startSeconds, ...variant });
    qoeLead = Math.min(qoeLead, one.qoe - other.qoe);
    return momentAt(one, other, atSeconds - (variant.lateSeconds ?? 0)) !== undefined;
  });
  return { startSeconds, moment, qoeLead, withoutHandoversSeconds, robustShare: again.length / VARIANTS.length };
}

/** The moment at a handover that the session announced with enough confidence. */
function momentAt(own: ScenePlay, other: ScenePlay, atSeconds: number): moments.HandoverMoment | undefined {
  const handover = own.handovers.find((one) => Math.abs(one.atSeconds - atSeconds) < 0.5);
  if (handover === undefined || handover.confidence < LEAST_CONFIDENCE) return undefined;
  return moments.handoverMoment(handover, own.played, other.played);
}

function forecasterOf(
  algorithm: string,
  trace: Trace,
  scenario: Scenario,
  start: { startSeconds: number; watchedSeconds: number },
): Forecaster | undefined {
  if (!algorithm.startsWith('mpc-l')) return undefined;
  if (algorithm === 'mpc-l:no-handover') {
    return createBuiltInForecaster({ handover: false, newSubSecond: () => new SubSecond() });
  }
  const utcMsAtStart = traceStartUtcMs(trace.metadata) + start.startSeconds * 1000;
  return informedForecaster(knownHandover({ ...start, link: linkOf(trace, scenario), utcMsAtStart }));
}

function playedLive(pieces: readonly PlaybackPiece[], result: SessionResult): moments.MomentSession {
  let endSeconds = result.startupSeconds;
  const timed = pieces.map(({ seconds, rate, isStalled }) => {
    const startSeconds = endSeconds;
    endSeconds += seconds;
    return { startSeconds, endSeconds, isStalled, atSeconds: startSeconds, rate: isStalled ? 0 : rate };
  });
  return { stalls: timed.filter(({ isStalled }) => isStalled), rates: timed, requests: result.segments };
}

/** A stall on demand ends with the append of its segment. */
function playedOnDemand({ segments }: SessionResult): moments.MomentSession {
  const stalls = segments.flatMap(({ requestedAtSeconds, downloadSeconds, stallSeconds }) => {
    const endSeconds = requestedAtSeconds + downloadSeconds;
    return stallSeconds > 0 ? [{ startSeconds: endSeconds - stallSeconds, endSeconds }] : [];
  });
  return { stalls, rates: [], requests: segments };
}

function handoverPhase(trace: Trace): number {
  return handoverPhaseOf(traceStartUtcMs(trace.metadata) / 1000);
}
