/** The fixed table of random numbers behind the futures. */

import { minimalStandard } from '../statistics/random.ts';
import { MAX_STEPS } from './forecast-steps.ts';
import { binScores } from './rank-chain.ts';

/** Attempts at a shuffle, and the share of its variance that must be new. */
const SHUFFLES = 32;
const LEAST_NEW_SHARE = 0.1;

/**
 * Standard normal innovations `[step * count + future]`. Step 0 has an ascending number per equal share of the
 * probability. Later steps have the same numbers shuffled, made orthogonal to the steps before them.
 */
export function drawInnovations(count: number, seed: number): Float64Array {
  const random = minimalStandard(seed);
  const table = new Float64Array(count * MAX_STEPS);
  const shuffled = binScores(count);
  table.set(shuffled);
  const length = dot(shuffled, shuffled);
  for (let step = 1; step < MAX_STEPS; step++) {
    const column = table.subarray(step * count, (step + 1) * count);
    // A few futures cannot be uncorrelated with many earlier steps.
    const first = Math.max(0, step - (count >> 1));
    let left = 0;
    for (let attempt = 0; attempt < SHUFFLES && left < LEAST_NEW_SHARE * length; attempt++) {
      shuffle(shuffled, random);
      column.set(shuffled);
      for (let before = first; before < step; before++) {
        const other = table.subarray(before * count, (before + 1) * count);
        const common = dot(column, other) / length;
        for (let i = 0; i < count; i++) column[i] = column[i]! - common * other[i]!;
      }
      left = dot(column, column);
    }
    const scale = Math.sqrt(length / left);
    for (let i = 0; i < count; i++) column[i] = column[i]! * scale;
  }
  return table;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function shuffle(values: Float64Array, random: () => number): void {
  for (let i = values.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const value = values[i]!;
    values[i] = values[j]!;
    values[j] = value;
  }
}
