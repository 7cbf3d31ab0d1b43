/** Options of MPC-L and their defaults. The plugin checks those that a page gives (session/page/options.ts). */

import { DEFAULT_WATCH_SECONDS } from '../state/watch-time.ts';

export interface MpcLOptions {
  /**
   * Planned segments. Default: two more than the buffer holds, at least 5, at most 16 (32 s with segments below 2 s), so
   * that the plan sees the end of what it buffers.
   */
  horizon?: number;
  /**
   * 0 maximises mean QoE; 1 counts stalls five times and the worst fifth of the futures 30 % more than its share. The
   * default was chosen on the trade-off curve in docs/findings.md.
   */
  risk?: number;
  /** Half of the viewers leave before, in seconds; `Infinity`: nobody leaves. */
  watchSeconds?: number;
  /** Whether a running download may be abandoned. */
  abandon?: boolean;
  /** Whether forecasts are used; without them the spread follows from MPC-D's last errors. */
  forecast?: boolean;
  /** Whether the first two decisions use forecasts; otherwise they are MPC-D's. */
  startup?: boolean;
  /** Largest share of a session's requested bits that abandonments may waste; 1: no limit. */
  maxWastedShare?: number;
  /** Seed of the futures. */
  seed?: number;
  /** Name of the controller in its decisions. */
  name?: string;
  /** Constants of the plan, for research only. */
  tuning?: Partial<MpcLTuning>;
}

/** MPC-L's aversion to bad outcomes unless the page chooses another. */
export const DEFAULT_RISK = 0.2;

/** Constants chosen on recordings, with whole groups left out (docs/findings.md); none depends on a link's scale. */
export interface MpcLTuning {
  /** Futures drawn from a forecast, 4 to 256. */
  futures: number;
  /** A stall costs mu * (baseAversion + risk * stallAversionSpan) in the plan. */
  baseAversion: number;
  stallAversionSpan: number;
  /** Weight of the worst `tailShare` of the futures, at risk 1; the mean has the rest. */
  tailWeightSpan: number;
  tailShare: number;
  /**
   * Segment durations after which the plan counts on abandoning a bad download. The timer could act sooner, but
   * evidence has to build up first: a plan that relies on quick escapes takes risks from which it cannot escape.
   */
  reactionSegments: number;
  /** Most abandonments of one segment. */
  maxAbandonments: number;
  /** Segment durations of buffer above which no download is abandoned: waiting is free, and more is known later. */
  patienceSegments: number;
  /** Least gain of an abandonment, as a share of the top quality. */
  abandonMargin: number;
  /**
   * Time after its request during which no download is abandoned; MPC-D's rule, which has no forecast, waits longer.
   */
  settleSeconds: number;
  /** Share of the futures in which a running download must be late, or it is kept without an evaluation. */
  lateShare: number;
  /** On demand, a download is reconsidered again after this share of the time that is buffered. */
  keptShare: number;
  /** At the live edge: a stall costs risk * this many seconds of stall besides its duration. */
  liveStallSeconds: number;
  /** At the live edge: a running download is reconsidered if it is expected to stall playback for this long. */
  liveLateSeconds: number;
  /** At the live edge: a running download that is kept is reconsidered after this time. */
  liveKeptSeconds: number;
  /** Rank bins in the value function. */
  bins: number;
  /** Value of a buffered second after the horizon, as a share of the quality that the link could deliver in it. */
  bufferValue: number;
  /** Outages per second that a plan of later segments assumes beyond the forecast; their mean duration is 20 s. */
  outagesPerSecond: number;
  /** Buffer level at which a media element stalls. */
  stallLevelSeconds: number;
}

export const MPC_L_TUNING: MpcLTuning = {
  futures: 24,
  baseAversion: 1,
  stallAversionSpan: 4,
  tailWeightSpan: 0.3,
  tailShare: 0.2,
  reactionSegments: 0.5,
  maxAbandonments: 4,
  patienceSegments: 2.5,
  abandonMargin: 0.05,
  settleSeconds: 0.3,
  lateShare: 0.1,
  keptShare: 0.2,
  liveStallSeconds: 1.5,
  liveLateSeconds: 4,
  liveKeptSeconds: 1,
  bins: 8,
  bufferValue: 1,
  outagesPerSecond: 0.004,
  stallLevelSeconds: 0.12,
};

export type ResolvedMpcLOptions = ReturnType<typeof resolveMpcLOptions>;

export function resolveMpcLOptions({
  horizon,
  risk = DEFAULT_RISK,
  watchSeconds = DEFAULT_WATCH_SECONDS,
  abandon = true,
  forecast = true,
  startup = true,
  maxWastedShare = 1,
  seed = 1,
  name = 'mpc-l',
  tuning,
}: MpcLOptions) {
  return {
    ...{ horizon, risk, watchSeconds, abandon, forecast, startup, maxWastedShare, seed, name },
    tuning: { ...MPC_L_TUNING, ...tuning },
  };
}
