/** Finds short dips of the rate, as at handovers: 0.15 to 0.4 s, which a mean over a second hardly shows. */

import type { ThroughputPiece } from '../observation-meter.ts';
import { modulo } from './weights.ts';

export const SLOTS_PER_SECOND = 10;
/** Longer pieces hide a dip. */
const LONGEST_PIECE_SECONDS = 0.12;
/** Least downloading in a slot, because a few reads say little. */
const LEAST_BUSY_SECONDS = 0.01;
/** Time constant of the reference rate, and the least downloading in it. */
const REFERENCE_SECONDS = 4;
const LEAST_REFERENCE_SECONDS = 0.15;
/** Least depth of a dip in ln rate, and in multiples of the mean distance of the last slots from the reference. */
const LEAST_DEPTH = 0.4;
const LEAST_DISTANCES = 1.5;
/** Limit of a distance in that mean, its first value, and its memory. */
const LARGEST_DISTANCE = 1.5;
const FIRST_DISTANCE = 0.3;
const DISTANCE_MEMORY_SLOTS = 60;
/** Share of the least depth at which a dip ends. */
const END_SHARE = 0.75;
/** A longer dip is a change of the rate. */
const LONGEST_DIP_SLOTS = 8;
/** The share of dips is averaged over this many slots. At first it is 1 of 26. */
const SHARE_MEMORY_SLOTS = 150;
const FIRST_SLOTS = 26;

/**
 * Returns the observer of valid pieces in order of time. `emit` receives, in order, each slot of 0.1 s of the session's
 * clock in which a dip began or the rate was normal, and the recent share of dips. The rest of a dip is left out.
 */
export function dipFinder(emit: (slot: number, isDip: boolean, share: number) => void) {
  let slot = Number.NEGATIVE_INFINITY;
  let slotBits = 0;
  let slotSeconds = 0;
  let referenceBits = 0;
  let referenceSeconds = 0;
  let meanDistance = FIRST_DISTANCE;
  let slots = 0;
  /** The last compared slot, and the first slot of its dip. */
  let comparedSlot = Number.NEGATIVE_INFINITY;
  let dipSlot = Number.NaN;
  let recentDips = 0;
  let recentSlots = 0;

  function count(at: number, isDip: boolean): void {
    emit(at, isDip, (1 + recentDips) / (FIRST_SLOTS + recentSlots));
    const keep = 1 - 1 / SHARE_MEMORY_SLOTS;
    recentDips = recentDips * keep + (isDip ? 1 : 0);
    recentSlots = recentSlots * keep + 1;
  }

  function close(): void {
    const keep = Math.exp(-Math.max(0, slot - comparedSlot) / SLOTS_PER_SECOND / REFERENCE_SECONDS);
    referenceBits *= keep;
    referenceSeconds *= keep;
    comparedSlot = slot;
    if (referenceSeconds >= LEAST_REFERENCE_SECONDS && referenceBits > 0) {
      const rate = slotBits / slotSeconds;
      const distance = Math.log(Math.max(rate / (referenceBits / referenceSeconds), Number.MIN_VALUE));
      const depth = Math.max(LEAST_DEPTH, LEAST_DISTANCES * meanDistance);
      // A dip ends well above the least depth, because noise would otherwise end a step of the rate.
      const dipSlots = slot - dipSlot;
      if (distance < (dipSlots >= 0 ? -END_SHARE * depth : -depth)) {
        if (!(dipSlots >= 0)) dipSlot = slot;
      } else {
        if (dipSlots > 0 && dipSlots <= LONGEST_DIP_SLOTS) count(dipSlot, true);
        dipSlot = Number.NaN;
        count(slot, false);
      }
      const memory = Math.min(++slots, DISTANCE_MEMORY_SLOTS);
      meanDistance += (Math.min(Math.abs(distance), LARGEST_DISTANCE) - meanDistance) / memory;
    }
    referenceBits += slotBits;
    referenceSeconds += slotSeconds;
  }

  return ({ startSeconds, endSeconds, bits }: ThroughputPiece): void => {
    if (endSeconds - startSeconds > LONGEST_PIECE_SECONDS) return;
    const at = Math.floor(((startSeconds + endSeconds) / 2) * SLOTS_PER_SECOND);
    if (at !== slot) {
      if (slotSeconds >= LEAST_BUSY_SECONDS) close();
      slot = at;
      slotBits = 0;
      slotSeconds = 0;
    }
    slotBits += bits;
    slotSeconds += endSeconds - startSeconds;
  };
}

/** Shares of a position's dips that begin in the slot before it, in its slot, and in the next slot. */
const OFFSET_SHARES = [0.1, 0.75, 0.15] as const;
export const OFFSETS = OFFSET_SHARES.length;
/** Prior of the beta distribution of a position's dips. */
const FIRST_DIPS = 2;
const FIRST_MISSES = 1;
/** Counts fade at this rate per period. */
const FORGOTTEN = 0.05;

/** Hypotheses of dips that recur at the same position of a period, one per tenth of a second. */
export class RegularDips {
  private readonly _slots: number;
  private readonly _dips: Float32Array;
  private readonly _trials: Float32Array;

  constructor(periodSeconds: number) {
    this._slots = periodSeconds * SLOTS_PER_SECOND;
    this._dips = new Float32Array(this._slots);
    this._trials = new Float32Array(this._slots);
  }

  /** The position for which a slot is evidence: with `offset` 0 the next position, 1 its own, 2 the previous position. */
  position(slot: number, offset: number): number {
    return modulo(slot + 1 - offset, this._slots);
  }

  /** Returns the probability of the observation / its probability on a link with dips at random, in the share `share`. */
  observe(position: number, offset: number, isDip: boolean, share: number): number {
    const part = OFFSET_SHARES[offset]!;
    const dips = this._dips[position]!;
    const trials = this._trials[position]!;
    const probability = (part * (FIRST_DIPS + dips)) / (FIRST_DIPS + FIRST_MISSES + trials);
    const keep = 1 - FORGOTTEN * part;
    this._dips[position] = dips * keep + (isDip ? part / OFFSET_SHARES[1] : 0);
    this._trials[position] = Math.max(this._dips[position]!, trials * keep + part / OFFSET_SHARES[1]);
    return isDip ? 1 + (probability * (1 - share)) / share : 1 - probability;
  }
}

/** Periods of a player's requests, of probes and of shapers. Multiples of these periods are found, too. */
const PERIODS_SECONDS = [1, 2, 3, 4, 5, 6, 7.5, 8, 10, 12, 20, 30];
/** No position falls below this share of its first weight, so that a change is found soon. */
const LEAST_SHARE = 0.002;
/** Weights are normalised when ln of their sum exceeds this. */
const LARGEST_LOG_TOTAL = 20;

/**
 * The hypothesis of a link whose dips recur, but not every 15 s. Returns its observer, which gives ln of the ratio of
 * `RegularDips.observe` over all positions of all periods.
 */
export function otherPeriods() {
  const periods = PERIODS_SECONDS.map((seconds) => {
    const slots = seconds * SLOTS_PER_SECOND;
    const first = 1 / (slots * PERIODS_SECONDS.length);
    return { dips: new RegularDips(seconds), first, weights: new Float64Array(slots).fill(first) };
  });
  let total = 1;
  return (slot: number, isDip: boolean, share: number): number => {
    const before = total;
    for (const { dips, weights, first } of periods) {
      for (let offset = 0; offset < OFFSETS; offset++) {
        const position = dips.position(slot, offset);
        const ratio = dips.observe(position, offset, isDip, share);
        const weight = Math.max(weights[position]! * ratio, LEAST_SHARE * first * before);
        total += weight - weights[position]!;
        weights[position] = weight;
      }
    }
    const logRatio = Math.log(total / before);
    if (Math.abs(Math.log(total)) > LARGEST_LOG_TOTAL) {
      for (const { weights } of periods) for (let i = 0; i < weights.length; i++) weights[i]! /= total;
      total = 1;
    }
    return logRatio;
  };
}
