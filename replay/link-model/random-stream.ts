/** Independent streams of random numbers per purpose, so that a change in one part of the model leaves the others alone. */

import { normal, type Random, seededRandom, seedOf } from '../random.ts';

export class RandomStream {
  private readonly random: Random;

  constructor(seed: number, purpose: string) {
    this.random = seededRandom(seedOf(`${purpose}/${seed}`));
  }

  /** In [from, to). */
  uniform(from = 0, to = 1): number {
    return from + (to - from) * this.random();
  }

  normal(): number {
    return normal(this.random);
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.random());
  }

  /** Mean 1 whatever the spread (standard deviation of ln). */
  lognormalOfMeanOne(spread: number): number {
    return Math.exp(spread * this.normal() - spread ** 2 / 2);
  }

  whole(below: number): number {
    return Math.floor(below * this.random());
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }
}
