/** Options of MPC-L and their defaults. The plugin checks a page's options (session/page/options.ts). */

import { DEFAULT_WATCH_SECONDS } from '../state/facts.ts';

export interface MpcLOptions {
  /** Planned segments. Default: two more than the buffer holds, at least 5, at most 16 (32 s with segments below 2 s). */
  horizon?: number;
  /** 0 maximises mean QoE. 1 counts stalls five times, and the worst fifth of the futures 30 % more than its share. */
  risk?: number;
  /** Median watch time of the viewers in seconds; `Infinity`: nobody leaves. */
  watchSeconds?: number;
  /** Whether a running download may be abandoned. */
  abandon?: boolean;
  /** Share of the session's requested bits that abandonments may waste; 1: no limit. */
  maxWastedShare?: number;
  /** Seed of the futures. */
  seed?: number;
  /** Name of the controller in its decisions. */
  name?: string;
  /** Constants of the plan, for research only. */
  tuning?: Partial<MpcLTuning>;
}

/** Default of the option `risk`; docs/findings.md compares it with 0. */
export const DEFAULT_RISK = 0.2;

/** Constants that tests and research vary, chosen on the recordings of docs/findings.md. */
export interface MpcLTuning {
  /** Futures drawn from a forecast, 4 to 256. */
  futures: number;
  /** Buffer in segment durations above which no download is abandoned, because waiting is free and more is known later. */
  patienceSegments: number;
  /** Least gain of an abandonment, as a share of the top quality. */
  abandonMargin: number;
  /** A running download at the live edge is reconsidered if it is expected to stall playback for this long. */
  liveLateSeconds: number;
  /** Outages per second that a plan of later segments assumes beyond the forecast; their mean duration is 20 s. */
  outagesPerSecond: number;
  /** Buffer level at which a media element stalls. */
  stallLevelSeconds: number;
}

export const MPC_L_TUNING: MpcLTuning = {
  futures: 24,
  patienceSegments: 2.5,
  abandonMargin: 0.05,
  liveLateSeconds: 0.6,
  outagesPerSecond: 0.008,
  stallLevelSeconds: 0.12,
};

/**
 * Segment durations after which a plan abandons a bad download. The timer could act sooner, but evidence has to build
 * up first: a plan that relies on quick escapes takes risks from which it cannot escape.
 */
export const REACTION_SEGMENTS = 0.5;

export type ResolvedMpcLOptions = ReturnType<typeof resolveMpcLOptions>;

export function resolveMpcLOptions({
  horizon,
  risk = DEFAULT_RISK,
  watchSeconds = DEFAULT_WATCH_SECONDS,
  abandon = true,
  maxWastedShare = 1,
  seed = 1,
  name = 'mpc-l',
  tuning,
}: MpcLOptions) {
  return {
    ...{ horizon, risk, watchSeconds, abandon, maxWastedShare, seed, name },
    tuning: { ...MPC_L_TUNING, ...tuning },
  };
}
