/** The hypotheses of dips that recur at the same position of a period, one for each tenth of a second in it. */

import { SLOTS_PER_SECOND } from './dips.ts';

const { abs, floor, log, max } = Math;

/** Share of a position's dips that begin in the slot before it, in its own, and in the next one. */
const OFFSET_SHARES = [0.1, 0.75, 0.15] as const;
export const OFFSETS = OFFSET_SHARES.length;
/** How often a position dips: a beta distribution, with these dips and misses at first. */
const FIRST_DIPS = 2;
const FIRST_MISSES = 1;
/** What was counted is forgotten at this rate per period. */
const FORGOTTEN = 0.05;

export class RegularDips {
  readonly #slots: number;
  readonly #dips: Float32Array;
  readonly #trials: Float32Array;

  constructor(periodSeconds: number) {
    this.#slots = periodSeconds * SLOTS_PER_SECOND;
    this.#dips = new Float32Array(this.#slots);
    this.#trials = new Float32Array(this.#slots);
  }

  /** The position that a slot is evidence on: with `offset` 0 the one after it, 1 its own, 2 the one before it. */
  position(slot: number, offset: number): number {
    const at = slot + 1 - offset;
    return at - this.#slots * floor(at / this.#slots);
  }

  /**
   * Returns the probability of what was observed in a slot / that of a link with the share `share` of dips, wherever
   * they are.
   */
  observe(position: number, offset: number, isDip: boolean, share: number): number {
    const part = OFFSET_SHARES[offset]!;
    const dips = this.#dips[position]!;
    const trials = this.#trials[position]!;
    const probability = (part * (FIRST_DIPS + dips)) / (FIRST_DIPS + FIRST_MISSES + trials);
    const keep = 1 - FORGOTTEN * part;
    this.#dips[position] = dips * keep + (isDip ? part / OFFSET_SHARES[1] : 0);
    this.#trials[position] = max(this.#dips[position]!, trials * keep + part / OFFSET_SHARES[1]);
    return isDip ? 1 + (probability * (1 - share)) / share : 1 - probability;
  }
}

/** Periods of a player's requests, of probes and of shapers; multiples of these are found too. */
const PERIODS_SECONDS = [1, 2, 3, 4, 5, 6, 7.5, 8, 10, 12, 20, 30];
/** No position falls below this share of its first weight, so that a change is found soon. */
const LEAST_SHARE = 0.002;
/** Weights are normalised when their sum has gone this far from 1, for the sake of numbers. */
const LARGEST_LOG_TOTAL = 20;

/** The hypothesis of a link whose dips recur, but not every 15 s. */
export class OtherPeriods {
  readonly #periods = PERIODS_SECONDS.map((seconds) => {
    const slots = seconds * SLOTS_PER_SECOND;
    const share = 1 / (slots * PERIODS_SECONDS.length);
    return { dips: new RegularDips(seconds), share, weights: new Float64Array(slots).fill(share) };
  });
  #total = 1;

  /** As `RegularDips.observe`; returns ln of the ratio over all positions of all periods. */
  observe(slot: number, isDip: boolean, share: number): number {
    const before = this.#total;
    for (const { dips, weights, share: first } of this.#periods) {
      for (let offset = 0; offset < OFFSETS; offset++) {
        const position = dips.position(slot, offset);
        const ratio = dips.observe(position, offset, isDip, share);
        const weight = max(weights[position]! * ratio, LEAST_SHARE * first * before);
        this.#total += weight - weights[position]!;
        weights[position] = weight;
      }
    }
    const logRatio = log(this.#total / before);
    if (abs(log(this.#total)) > LARGEST_LOG_TOTAL) {
      for (const { weights } of this.#periods) {
        for (let i = 0; i < weights.length; i++) weights[i]! /= this.#total;
      }
      this.#total = 1;
    }
    return logRatio;
  }
}
