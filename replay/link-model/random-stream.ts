/** A stream of random numbers per purpose: a change to one part of the model does not change the others' numbers. */

import { normal, type Random, seededRandom, seedOf } from '../../abr/statistics/random.ts';

export class RandomStream {
  private readonly _random: Random;

  constructor(seed: number, purpose: string) {
    this._random = seededRandom(seedOf(`${purpose}/${seed}`));
  }

  /** Uniform in [from, to). */
  uniform(from = 0, to = 1): number {
    return from + (to - from) * this._random();
  }

  normal(): number {
    return normal(this._random);
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this._random());
  }

  whole(below: number): number {
    return Math.floor(below * this._random());
  }

  chance(probability: number): boolean {
    return this._random() < probability;
  }
}
