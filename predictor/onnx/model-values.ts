/** Validates the outputs of a model. */

import { InputError } from '../../abr/errors.ts';
import type { ModelOutline } from '../forecast/model-outline.ts';

/** Quantiles of float32 sums may cross by this much. */
const CROSSING_SLACK = 1e-4;

/** The outputs `[step * levels + level]`, sorted. @throws {InputError} for numbers that are not quantiles. */
export function modelValues(
  quantiles: Float32Array,
  { stepEndsSeconds, levels }: Pick<ModelOutline, 'stepEndsSeconds' | 'levels'>,
): Float64Array {
  const size = stepEndsSeconds.length * levels.length;
  if (quantiles.length !== size) throw new InputError('quantiles', `${size} numbers`, quantiles.length);
  const values = Float64Array.from(quantiles);
  for (let i = 0; i < values.length; i++) {
    const least = i % levels.length === 0 ? Number.NEGATIVE_INFINITY : values[i - 1]!;
    if (!(Number.isFinite(values[i]) && values[i]! >= least - CROSSING_SLACK)) {
      throw new InputError(`quantiles[${i}]`, `a number from ${least}`, values[i]);
    }
    values[i] = Math.max(least, values[i]!);
  }
  return values;
}
