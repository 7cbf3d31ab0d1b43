/** A stream of random numbers per purpose: a change to one part of the model does not change the others' numbers. */

import { normal, type Random, seededRandom, seedOf } from '../../abr/statistics/random.ts';

export class RandomStream {
  private readonly random: Random;

  constructor(seed: number, purpose: string) {
    this.random = seededRandom(seedOf(`${purpose}/${seed}`));
  }

  /** Uniform in [from, to). */
  uniform(from = 0, to = 1): number {
    return from + (to - from) * this.random();
  }

  normal(): number {
    return normal(this.random);
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.random());
  }

  whole(below: number): number {
    return Math.floor(below * this.random());
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }
}
