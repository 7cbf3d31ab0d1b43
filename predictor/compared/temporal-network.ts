/**
 * A temporal convolution network for quantiles of the capacity, on the seconds that a session has seen and what else is known of
 * the moment. The same as predictor/training/leo_abr_training/session_temporal.py, which fits it.
 *
 * Each convolution takes neighbours side by side, and only the newest output is wanted in the end: so each is a matrix product
 * over consecutive pieces of what the one before gave.
 */

import { type Layer, LEAK, QuantileNetworks } from '../built-in/quantile-network.ts';
import { EPOCH_SECONDS, FEATURES } from '../link-history.ts';
import { SECONDS_SEEN, type SeenSeconds } from './compared-model.ts';

/**
 * Of a second: ln of its rate to the reference, 1 where there was one (else all are 0), ln(1 + its age) / 3, sine and cosine of
 * the position of its middle in the epoch, and how much of it lies in the epoch of the moment; the last three are 0 where no
 * handover is known.
 */
export const CHANNELS = ['ratio', 'seen', 'age', 'epoch-sine', 'epoch-cosine', 'this-epoch'] as const;
/** Features as they are, and then sine and cosine of the moment's own position in the epoch, 0 where that is not known. */
const MOMENT_FEATURES = ['observed', 'level-120s', 'level-0.4s', 'level-2s', 'silence', 'unseen'] as const;
export const MOMENT_INPUTS = [...MOMENT_FEATURES, 'now-sine', 'now-cosine'] as const;

const AGE_SCALE = 3;
const indexOf = (name: string): number => FEATURES.findIndex((feature) => feature.name === name);
const MOMENT_FEATURE_INDICES = MOMENT_FEATURES.map(indexOf);
const FIRST_HAT = indexOf('epoch-phase-0');
const HATS = FEATURES.filter(({ name }) => name.startsWith('epoch-phase-')).length;
const HANDOVER_KNOWN = indexOf('handover-known');

/** A dense layer and the head. */
const LAST_LAYERS = 2;

export class TemporalNetworks {
  readonly #convolutions: readonly (readonly Layer[])[];
  /** What follows the convolutions is a network like the built-in ones, on their outcome and the moment. */
  readonly #ends: readonly QuantileNetworks[];
  readonly #history = new Float64Array(SECONDS_SEEN * CHANNELS.length);
  readonly #moment = new Float64Array(MOMENT_INPUTS.length);
  readonly #outputs: Float64Array;

  /**
   * Each network: convolutions, whose weights are `[position, channel][output]` and which leave one position of the
   * seconds; a dense layer of what they give and `MOMENT_INPUTS`; and the head. `levelCount` is odd.
   */
  constructor(networks: readonly (readonly Layer[])[], stepCount: number, levelCount: number) {
    this.#convolutions = networks.map((layers) => layers.slice(0, -LAST_LAYERS));
    this.#ends = networks.map((layers) => new QuantileNetworks([layers.slice(-LAST_LAYERS)], stepCount, levelCount));
    this.#outputs = new Float64Array(stepCount * levelCount);
  }

  /** Writes `[step * levelCount + level]`, ln of ratios to the reference rate, into `into`, ascending by level. */
  evaluate(features: Float64Array, seconds: SeenSeconds, into: Float64Array): void {
    writeInputs(features, seconds, this.#history, this.#moment);
    into.fill(0);
    this.#convolutions.forEach((layers, n) => {
      this.#ends[n]!.evaluate(
        Float64Array.of(...layers.reduce<Float64Array>(convolved, this.#history), ...this.#moment),
        this.#outputs,
      );
      for (let i = 0; i < into.length; i++) into[i]! += this.#outputs[i]! / this.#ends.length;
    });
  }
}

/** `[position][output]` of a convolution, after the leaky ReLU. */
function convolved(values: Float64Array, { weights, biases }: Layer): Float64Array {
  const outputCount = biases.length;
  const inputCount = weights.length / outputCount;
  const outputs = new Float64Array((values.length / inputCount) * outputCount);
  for (let begin = 0, first = 0; begin < values.length; begin += inputCount, first += outputCount) {
    const into = outputs.subarray(first, first + outputCount);
    into.set(biases);
    for (let i = 0, at = 0; i < inputCount; i++) {
      const value = values[begin + i]!;
      for (let j = 0; j < outputCount; j++) into[j]! += value * weights[at++]!;
    }
    for (let j = 0; j < outputCount; j++) if (into[j]! < 0) into[j]! *= LEAK;
  }
  return outputs;
}

function writeInputs(
  features: Float64Array,
  { ratios, ages }: SeenSeconds,
  history: Float64Array,
  moment: Float64Array,
): void {
  const epochSecond = epochSecondOf(features);
  const turn = (2 * Math.PI) / EPOCH_SECONDS;
  history.fill(0);
  for (let i = 0; i < SECONDS_SEEN; i++) {
    const age = ages[i]!;
    if (Number.isNaN(age)) continue;
    const at = i * CHANNELS.length;
    history[at] = ratios[i]!;
    history[at + 1] = 1;
    history[at + 2] = Math.log1p(age) / AGE_SCALE;
    if (epochSecond === undefined) continue;
    const middle = epochSecond - age - 0.5;
    history[at + 3] = Math.sin(turn * middle);
    history[at + 4] = Math.cos(turn * middle);
    history[at + 5] = Math.min(1, Math.max(0, epochSecond - age));
  }
  MOMENT_FEATURE_INDICES.forEach((feature, i) => {
    moment[i] = features[feature]!;
  });
  const now = MOMENT_FEATURE_INDICES.length;
  moment[now] = epochSecond === undefined ? 0 : Math.sin(turn * epochSecond);
  moment[now + 1] = epochSecond === undefined ? 0 : Math.cos(turn * epochSecond);
}

/** Seconds since the last handover, from the hats that the features spread the position over; undefined where not known. */
function epochSecondOf(features: Float64Array): number | undefined {
  if (features[HANDOVER_KNOWN] !== 1) return undefined;
  const hat = (i: number) => features[FIRST_HAT + (i % HATS)]!;
  let first = 0;
  for (let i = 1; i < HATS; i++) if (hat(i) + hat(i + 1) > hat(first) + hat(first + 1)) first = i;
  return (((first + hat(first + 1)) % HATS) / HATS) * EPOCH_SECONDS;
}
