/** The hypotheses of dips that recur at the same position of a period, one for each tenth of a second in it. */

import { SLOTS_PER_SECOND } from './dips.ts';

const { abs, floor, log, max } = Math;

/** Share of a position's dips that begin in the slot before it, in its own, and in the next one. */
const OFFSET_SHARES = [0.1, 0.75, 0.15] as const;
/** How often a position dips: a beta distribution, with these dips and misses at first. */
const FIRST_DIPS = 2;
const FIRST_MISSES = 1;
/** What was counted is forgotten at this rate per period. */
const FORGOTTEN = 0.05;

export class RegularDips {
  readonly #slots: number;
  /** The positions that the last slot is evidence on, and `observe`'s ratio for each. */
  readonly positions = new Uint16Array(OFFSET_SHARES.length);
  readonly ratios = new Float64Array(OFFSET_SHARES.length);
  readonly #dips: Float32Array;
  readonly #trials: Float32Array;

  constructor(periodSeconds: number) {
    this.#slots = periodSeconds * SLOTS_PER_SECOND;
    this.#dips = new Float32Array(this.#slots);
    this.#trials = new Float32Array(this.#slots);
  }

  /**
   * Sets the ratios: the probability of what was observed / that of a link with the share `share` of dips, wherever they
   * are.
   */
  observe(slot: number, isDip: boolean, share: number): void {
    for (let i = 0; i < OFFSET_SHARES.length; i++) {
      const part = OFFSET_SHARES[i]!;
      const at = slot + 1 - i;
      const position = at - this.#slots * floor(at / this.#slots);
      const dips = this.#dips[position]!;
      const trials = this.#trials[position]!;
      const probability = (part * (FIRST_DIPS + dips)) / (FIRST_DIPS + FIRST_MISSES + trials);
      this.positions[i] = position;
      this.ratios[i] = isDip ? 1 + (probability * (1 - share)) / share : 1 - probability;
      const keep = 1 - FORGOTTEN * part;
      this.#dips[position] = dips * keep + (isDip ? part / OFFSET_SHARES[1] : 0);
      this.#trials[position] = max(this.#dips[position]!, trials * keep + part / OFFSET_SHARES[1]);
    }
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
      const { positions, ratios } = dips;
      dips.observe(slot, isDip, share);
      for (let i = 0; i < positions.length; i++) {
        const position = positions[i]!;
        const weight = max(weights[position]! * ratios[i]!, LEAST_SHARE * first * before);
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
