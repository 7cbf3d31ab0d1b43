/** Scores of played sessions. */

import { PERCEIVED_PRICES, type PerceivedPrices } from './perceived-qoe.ts';
import {
  bitrateWeights,
  QOE_UNIT_SECONDS,
  type QoeWeights,
  SAME_FREEZE_SECONDS,
  stallCost,
  UNSEEN_SECONDS,
} from './qoe.ts';

/** `linear`: q = Mbit/s. `log`: q = ln(R/Rmin). `hd`: Pensieve's table, for Pensieve's ladder alone. */
export type QoeForm = 'linear' | 'log' | 'hd';

/** Pensieve's ladder and its QoE-HD qualities. */
const PENSIEVE_LADDER_BPS = [300e3, 750e3, 1200e3, 1850e3, 2850e3, 4300e3];
const PENSIEVE_HD_QUALITY = [1, 2, 3, 12, 15, 20];
const PENSIEVE_HD_MU = 8;

/** `bitrateWeights`, or Pensieve's weights for `hd`, which are undefined on other ladders. */
export function qoeWeights(form: QoeForm, ladderBps: readonly number[]): QoeWeights | undefined {
  if (form !== 'hd') return bitrateWeights(form, ladderBps);
  if (ladderBps.join() !== PENSIEVE_LADDER_BPS.join()) return undefined;
  return {
    quality: (bps) => PENSIEVE_HD_QUALITY[PENSIEVE_LADDER_BPS.indexOf(bps)] ?? Number.NaN,
    mu: PENSIEVE_HD_MU,
    lambda: 1,
  };
}

/** The parts of a session that QoE counts. */
export interface PlayedSession {
  /** Bitrate of each segment in bit/s, in order of playback. */
  bitratesBps: readonly number[];
  segmentSeconds: number;
  startupSeconds: number;
  stallSeconds: number;
  /** Planned segments. Segments that never arrived have quality 0. Default: the number of played segments. */
  segmentCount?: number;
}

/** `qoe` = `quality` - `stall` - `switches`, per 4 s of media. An empty session has NaN throughout. */
export function sessionQoe(session: PlayedSession, weights: QoeWeights) {
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

export interface Stall {
  startSeconds: number;
  endSeconds: number;
}

/** Seconds of each freeze in a session's stalls, which are in order. */
export function freezesOf(stalls: readonly Stall[]): number[] {
  const freezes: number[] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const { startSeconds, endSeconds } of stalls) {
    if (startSeconds - before > SAME_FREEZE_SECONDS) freezes.push(0);
    freezes[freezes.length - 1]! += endSeconds - startSeconds;
    before = endSeconds;
  }
  return freezes;
}

/** The number of freezes that viewers see, and of shorter ones. */
export function freezeCounts(stalls: readonly Stall[]): { freezeCount: number; shortFreezeCount: number } {
  const freezes = freezesOf(stalls);
  const freezeCount = freezes.filter((seconds) => seconds >= UNSEEN_SECONDS).length;
  return { freezeCount, shortFreezeCount: freezes.length - freezeCount };
}

export interface SeenSession extends Omit<PlayedSession, 'bitratesBps' | 'stallSeconds'> {
  /** Quality of each segment, 0 to 100, in order of playback. */
  qualities: readonly number[];
  /** In order. */
  stalls: readonly Stall[];
}

export function freezesCost(stalls: readonly Stall[], { stall, stallSecond: mu }: PerceivedPrices): number {
  return freezesOf(stalls).reduce((sum, seconds) => sum + stallCost({ mu, stall }, seconds), 0);
}

/** Per 4 s of media; NaN of an empty session. */
export function perceivedQoe(session: SeenSession, prices: PerceivedPrices = PERCEIVED_PRICES): number {
  const { qualities, segmentSeconds } = session;
  let sum = 0;
  let previous: number | undefined;
  for (const quality of qualities) {
    sum += (quality * segmentSeconds) / QOE_UNIT_SECONDS;
    const change = quality - (previous ?? quality);
    sum -= change < 0 ? -prices.fall * change : prices.rise * change;
    previous = quality;
  }
  sum -= freezesCost(session.stalls, prices) + prices.startupSecond * session.startupSeconds;
  return sum / (((session.segmentCount ?? qualities.length) * segmentSeconds) / QOE_UNIT_SECONDS);
}
