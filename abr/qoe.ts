/**
 * Quality of experience, the sum that planners maximise and sessions are judged by.
 *
 *   session QoE = ( sum q(R) * segmentSeconds/4 - mu * (startup + stall seconds) - lambda * sum |q(R) - q(R previous)| )
 *                 / (media seconds / 4)
 *
 * which reads as "Mbit/s of undisturbed 4 s segments" and does not depend on segment or session length; with 4 s
 * segments it is Pensieve's sum per segment (Mao et al., SIGCOMM'17, after Yin et al., SIGCOMM'15).
 */

/** The media duration in seconds that one unit of quality is counted for. */
export const QOE_UNIT_SECONDS = 4;

/** `linear`: q = Mbit/s. `log`: q = ln(R/Rmin). `hd`: Pensieve's table, for the Pensieve ladder alone. */
export type QoeForm = 'linear' | 'log' | 'hd';

export interface QoeWeights {
  /** Quality of each bitrate in bit/s. */
  quality(bitrateBps: number): number;
  /** Cost of a second of startup or stall, in units of quality. */
  mu: number;
  /** Cost of a change of quality by one unit. */
  lambda: number;
}

/** Pensieve's ladder and its QoE-HD qualities. */
const PENSIEVE_LADDER_BPS = [300e3, 750e3, 1200e3, 1850e3, 2850e3, 4300e3];
const PENSIEVE_HD_QUALITY = [1, 2, 3, 12, 15, 20];
const PENSIEVE_HD_MU = 8;

/** Weights that need nothing but a ladder (bit/s, ascending): what `qoeWeights` says of `linear` and `log`. */
export function bitrateWeights(form: 'linear' | 'log', ladderBps: readonly number[]): QoeWeights {
  const lowestBps = ladderBps[0] ?? 1;
  const topBps = ladderBps[ladderBps.length - 1] ?? 1;
  return form === 'linear'
    ? { quality: (bps) => bps / 1e6, mu: topBps / 1e6, lambda: 1 }
    : { quality: (bps) => Math.log(bps / lowestBps), mu: Math.log(topBps / lowestBps), lambda: 1 };
}

/**
 * The weights of one form of QoE for a ladder (bit/s, ascending): `linear` has mu = top bitrate in Mbit/s, `log` has
 * mu = ln(Rmax/Rmin), `hd` has Pensieve's. Defaults: lambda 1. `undefined` for `hd` on another ladder.
 */
export function qoeWeights(form: 'linear' | 'log', ladderBps: readonly number[]): QoeWeights;
export function qoeWeights(form: QoeForm, ladderBps: readonly number[]): QoeWeights | undefined;
export function qoeWeights(form: QoeForm, ladderBps: readonly number[]): QoeWeights | undefined {
  if (form !== 'hd') return bitrateWeights(form, ladderBps);
  const isPensieves =
    ladderBps.length === PENSIEVE_LADDER_BPS.length && ladderBps.every((bps, i) => bps === PENSIEVE_LADDER_BPS[i]);
  if (!isPensieves) return undefined;
  return {
    quality: (bps) => PENSIEVE_HD_QUALITY[PENSIEVE_LADDER_BPS.indexOf(bps)] ?? Number.NaN,
    mu: PENSIEVE_HD_MU,
    lambda: 1,
  };
}

/** What a session was, as far as QoE counts it. */
export interface PlayedSession {
  /** Bitrate of each segment in bit/s, in order of playback. */
  bitratesBps: readonly number[];
  segmentSeconds: number;
  startupSeconds: number;
  stallSeconds: number;
  /**
   * Segments that the session was to have; those that never came (it was cut off) count as media of quality 0.
   * Default: as many as there are bitrates.
   */
  segmentCount?: number;
}

export interface QoeBreakdown {
  /** The session's QoE, per 4 s of media. */
  qoe: number;
  /** Its parts, per 4 s of media; `qoe = quality - stall - switches`. */
  quality: number;
  stall: number;
  switches: number;
}

/** QoE of a session and its parts. An empty session has NaN throughout. */
export function sessionQoe(session: PlayedSession, weights: QoeWeights): QoeBreakdown {
  const { bitratesBps, segmentSeconds } = session;
  const units = ((session.segmentCount ?? bitratesBps.length) * segmentSeconds) / QOE_UNIT_SECONDS;
  let quality = 0;
  let change = 0;
  let previous: number | undefined;
  for (const bitrateBps of bitratesBps) {
    const q = weights.quality(bitrateBps);
    quality += (q * segmentSeconds) / QOE_UNIT_SECONDS;
    if (previous !== undefined) change += Math.abs(q - previous);
    previous = q;
  }
  const parts = {
    quality: quality / units,
    stall: (weights.mu * (session.startupSeconds + session.stallSeconds)) / units,
    switches: (weights.lambda * change) / units,
  };
  return { qoe: parts.quality - parts.stall - parts.switches, ...parts };
}
