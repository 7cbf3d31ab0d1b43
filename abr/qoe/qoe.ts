/**
 * Prices of quality of experience, which planners maximise and which scores sessions (session-qoe.ts):
 *
 *   QoE = ( sum q(R) * segmentSeconds/4 - mu * (startup + stall seconds) - lambda * sum |q(R) - q(R previous)| )
 *         / (media seconds / 4)
 *
 * This reads as "Mbit/s of undisturbed 4 s segments" and does not depend on segment or session length. With 4 s
 * segments it is Pensieve's sum per segment (Mao et al., SIGCOMM'17, after Yin et al., SIGCOMM'15). At every playback
 * rate a segment counts by its seconds of media, and waiting by the seconds of the clock.
 */

/** Seconds of media that count for one unit of quality. */
export const QOE_UNIT_SECONDS = 4;

/** What a controller maximises. `perceived`: quality as people see it (perceived-qoe.ts). */
export type Objective = 'perceived' | 'linear' | 'log';

export interface QoeWeights {
  /** Quality of each bitrate in bit/s. */
  quality(bitrateBps: number): number;
  /** What a segment costs for each Mbit/s of its real size, in units of quality (`worthsAt`). Default 0. */
  pricePerMbps?: number;
  /** Cost of a second (of the clock) of startup or stall, in units of quality. */
  mu: number;
  /** Cost of a fall of quality by one unit. */
  lambda: number;
  /** Cost of a rise of quality by one unit. Default: `lambda`. */
  rise?: number;
  /** Cost of the begin of each freeze after the start, besides its seconds; less if it is short (`beginShare`). Default 0. */
  stall?: number;
  /** Cost of an outage that a plan prepares for, in units of quality. Default: the cost of a stall of 20 s. */
  outage?: number;
}

/**
 * The weights for any ladder in bit/s, ascending. mu is the quality of the top bitrate. This prices a second of stall at
 * four seconds of media, where viewers price it at less than one. So an outage costs mu alone: at the cost of its stall,
 * plans would give up more QoE than outages cost.
 */
export function bitrateWeights(form: 'linear' | 'log', ladderBps: readonly number[]): QoeWeights {
  const lowestBps = ladderBps[0] || 1;
  const quality = (bps: number) => (form === 'linear' ? bps / 1e6 : Math.log(bps / lowestBps));
  const mu = quality(ladderBps[ladderBps.length - 1] || 1);
  return { quality, mu, lambda: 1, outage: mu };
}

export type StallPrices = Pick<QoeWeights, 'mu' | 'stall'>;

/** Cost of a freeze. */
export function stallCost({ mu, stall = 0 }: StallPrices, seconds: number): number {
  return mu * seconds + stall * beginShare(seconds);
}

export type ChangePrices = Pick<QoeWeights, 'lambda' | 'rise'>;

/** Cost of a change of quality; 0 if `from` is unknown (NaN). */
export function changeCost({ lambda, rise = lambda }: ChangePrices, from: number, to: number): number {
  return to > from ? rise * (to - from) : lambda * (from - to) || 0;
}

/*
 * What viewers see of stalls, the same in plans, figures and reports: a stall that begins soon after another one's
 * end goes on with its freeze, so that nothing hides in slices; the begin of a short freeze is hardly seen
 * (quality.md).
 */

/** The begin of a freeze of at most this length costs nothing. Tables count longer ones. */
export const UNSEEN_SECONDS = 0.1;
/** Over this length beyond it, the cost of the begin rises to its whole price. */
export const RISE_SECONDS = 0.3;
/** Stalls with at most this between them are one freeze, also in each segment of 2 s. */
export const SAME_FREEZE_SECONDS = 2.01;

/** Share of the price of a freeze's begin, 0 to 1. */
export function beginShare(seconds: number): number {
  return Math.min(1, Math.max(0, (seconds - UNSEEN_SECONDS) / RISE_SECONDS));
}
