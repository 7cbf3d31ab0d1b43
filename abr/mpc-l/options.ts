/** Options of MPC-L, resolved and checked, and its ablations by name. */

import { InputError, requireInteger, requirePositive } from '../errors.ts';
import { MAX_HORIZON } from '../planner.ts';

export interface MpcLOptions {
  /**
   * Segments planned ahead, 1 to 20. Default: as many as the buffer can hold and two more, at least 5, at most 16 (a
   * large buffer is only worth what a plan that sees its end can make of it).
   */
  horizon?: number;
  /**
   * How much bad outcomes are feared beyond their cost in QoE, 0 to 1: 0 maximises mean QoE; 1 counts stalls five times
   * and the worst fifth of the futures 30 % more than its share. Default 0.1, chosen on the trade-off curve in
   * docs/mpc-l.md.
   */
  risk?: number;
  /** Whether a running download may be abandoned. Default true. */
  abandon?: boolean;
  /** Whether forecasts are used; without them, MPC-D's harmonic mean and its last errors make the spread. Default true. */
  forecast?: boolean;
  /** Whether the first decisions use a forecast made from the first bytes; without, they are MPC-D's. Default true. */
  startup?: boolean;
  /** Most abandonments of one segment, 0 to 10. Default 4. */
  maxAbandonments?: number;
  /** Largest share of the bits asked for in a session that abandonments may waste, 0 to 1. Default 1 (no limit). */
  maxWastedShare?: number;
  /** Futures drawn from a forecast, 4 to 256. Default 24. */
  futures?: number;
  /** Seed of the draw. Default 1. */
  seed?: number;
  /** Decisions carry what each representation was expected to bring. Default true. */
  outlook?: boolean;
  /** Name to decide under. Default `mpc-l`. */
  name?: string;
  /** Constants of the plan, for research alone. */
  tuning?: Partial<MpcLTuning>;
}

/** Constants chosen on recordings by leaving out whole groups (docs/mpc-l.md); none depends on a link's scale. */
export interface MpcLTuning {
  /** Stalls cost mu times this at risk 0, and `stallAversionSpan` more of it at risk 1. */
  baseAversion: number;
  stallAversionSpan: number;
  /** Weight of the worst `tailShare` of the futures beside the mean, at risk 1. */
  tailWeightSpan: number;
  tailShare: number;
  /**
   * Segment durations after which the plan believes that a bad download gets abandoned. Later than the timer could:
   * evidence has to build up first, and a plan that counts on quick escapes takes risks that it cannot get out of.
   */
  reactionSegments: number;
  /** Segment durations of buffer above which nothing is abandoned: waiting costs nothing yet and tells more. */
  patienceSegments: number;
  /** Gain, as a share of the top quality, below which a running download is kept. */
  abandonMargin: number;
  /** Seconds of a download before it is judged. */
  settleSeconds: number;
  /** Share of futures that must be late before a running download is weighed at all. */
  lateShare: number;
  /** Bins of rank in the value function. */
  bins: number;
  /** Worth of a buffered second after the horizon, as a share of the quality that the link would buy with it. */
  bufferValue: number;
  /** Level at which a media element stalls, in seconds. */
  stallLevelSeconds: number;
}

export const MPC_L_TUNING: MpcLTuning = {
  baseAversion: 1,
  stallAversionSpan: 4,
  tailWeightSpan: 0.3,
  tailShare: 0.2,
  reactionSegments: 0.5,
  patienceSegments: 1.5,
  abandonMargin: 0.05,
  settleSeconds: 0.3,
  lateShare: 0.1,
  bins: 8,
  bufferValue: 1,
  stallLevelSeconds: 0.12,
};

export type ResolvedMpcLOptions = Required<Omit<MpcLOptions, 'horizon' | 'tuning'>> & {
  horizon: number | undefined;
  tuning: MpcLTuning;
};

/** Throws `InputError` where an option cannot be worked with. */
export function resolveMpcLOptions(options: MpcLOptions): ResolvedMpcLOptions {
  const { horizon, risk = 0.1, maxAbandonments = 4, maxWastedShare = 1, futures = 24 } = options;
  if (horizon !== undefined) requireInteger(horizon, 'options.horizon', { min: 1, max: MAX_HORIZON });
  requireShare(risk, 'options.risk');
  requireShare(maxWastedShare, 'options.maxWastedShare');
  requireInteger(maxAbandonments, 'options.maxAbandonments', { min: 0, max: 10 });
  requireInteger(futures, 'options.futures', { min: 4, max: 256 });
  const tuning = { ...MPC_L_TUNING, ...options.tuning };
  for (const [field, value] of Object.entries(tuning)) {
    if (!(value >= 0)) throw new InputError(`options.tuning.${field}`, 'a number >= 0', value);
  }
  requirePositive(tuning.tailShare, 'options.tuning.tailShare');
  requireInteger(tuning.bins, 'options.tuning.bins', { min: 2, max: 64 });
  return {
    horizon,
    risk,
    abandon: options.abandon ?? true,
    forecast: options.forecast ?? true,
    startup: options.startup ?? true,
    maxAbandonments,
    maxWastedShare,
    futures,
    seed: options.seed ?? 1,
    outlook: options.outlook ?? true,
    name: options.name ?? 'mpc-l',
    tuning,
  };
}

function requireShare(value: unknown, field: string): void {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    throw new InputError(field, 'a number from 0 to 1', value);
}
