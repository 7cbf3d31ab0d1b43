/**
 * Boosted trees as a compared model: the file that `leo-abr train --kind trees` writes, checked and evaluated. The same numbers
 * as XGBoost's, whose single precision decides which way a feature goes.
 */

import { InputError } from '../../abr/errors.ts';
import { array, base64Bytes, object, parseHeader } from '../built-in/model-file.ts';
import { FEATURES } from '../link-history.ts';
import { base64Floats, finiteBase64Floats } from './base64-floats.ts';
import type { ComparedModel } from './compared-model.ts';

export const TREES_FORMAT = 'leo-abr boosted trees';
export const TREES_VERSION = 1;
/** Deeper ones are a mistake: every tree is stored whole. */
const GREATEST_DEPTH = 12;

export interface BoostedTreesFile {
  format: typeof TREES_FORMAT;
  version: typeof TREES_VERSION;
  name: string;
  features: readonly string[];
  stepEndsSeconds: readonly number[];
  levels: readonly number[];
  rankCorrelation: number;
  /** Of every tree: `2 ** depth` leaves; one that ends earlier has its leaf repeated below. */
  depth: number;
  /** `[step * levels + level]` each: what an output begins with, and the trees whose leaves are added to it. */
  outputs: readonly TreesOfOutput[];
}

/** Binary numbers in base64, little-endian, tree after tree; inner nodes level by level from the root, then leaves left to right. */
export interface TreesOfOutput {
  base: number;
  /** Unsigned bytes: index of the feature that a node looks at. */
  features: string;
  /** 32-bit floats: a feature below it goes left, any other right. */
  thresholds: string;
  /** 32-bit floats. */
  leaves: string;
}

interface Trees {
  base: number;
  features: Uint8Array;
  thresholds: Float32Array;
  leaves: Float32Array;
}

/** Reads a file's content; throws an `InputError` whose field starts with `where` for anything that is not one. */
export function parseBoostedTrees(value: unknown, where = 'model'): ComparedModel {
  const file = object(value, where);
  const header = parseHeader(file, TREES_FORMAT, TREES_VERSION, where);
  const depth = file['depth'];
  if (typeof depth !== 'number' || !Number.isInteger(depth) || depth < 1 || depth > GREATEST_DEPTH) {
    throw new InputError(`${where}.depth`, `a whole number from 1 to ${GREATEST_DEPTH}`, depth);
  }
  const steps = header.stepEndsSeconds.length;
  const levels = header.levels.length;
  const outputs = array(file['outputs'], `${where}.outputs`);
  if (outputs.length !== steps * levels) {
    throw new InputError(`${where}.outputs`, `one per step and level (${steps * levels})`, outputs.length);
  }
  const trees = outputs.map((output, i) => parseTrees(output, depth, `${where}.outputs[${i}]`));
  const inputs = new Float32Array(FEATURES.length);
  return {
    ...header,
    kind: 'boosted trees',
    evaluate(features, _seconds, values) {
      inputs.set(features);
      for (let output = 0; output < trees.length; output++) values[output] = outputOf(trees[output]!, depth, inputs);
      // Trees of one level know nothing of the others'.
      for (let step = 0; step < steps; step++) values.subarray(step * levels, (step + 1) * levels).sort();
    },
  };
}

function parseTrees(value: unknown, depth: number, where: string): Trees {
  const { base, features, thresholds, leaves } = object(value, where);
  if (typeof base !== 'number' || !Number.isFinite(base))
    throw new InputError(`${where}.base`, 'a finite number', base);
  const inner = 2 ** depth - 1;
  const indices = base64Bytes(features, `${where}.features`);
  if (indices.length % inner !== 0) {
    throw new InputError(`${where}.features`, `a multiple of ${inner} bytes, one per inner node`, indices.length);
  }
  const wrong = indices.findIndex((index) => index >= FEATURES.length);
  if (wrong >= 0) throw new InputError(`${where}.features[${wrong}]`, `below ${FEATURES.length}`, indices[wrong]);
  const count = indices.length / inner;
  return {
    base,
    features: indices,
    // Whatever is asked goes left below a leaf: infinity.
    thresholds: requireCount(base64Floats(thresholds, `${where}.thresholds`), count * inner, `${where}.thresholds`),
    leaves: requireCount(finiteBase64Floats(leaves, `${where}.leaves`), count * (inner + 1), `${where}.leaves`),
  };
}

function outputOf({ base, features, thresholds, leaves }: Trees, depth: number, inputs: Float32Array): number {
  const inner = 2 ** depth - 1;
  let sum = base;
  for (let at = 0, leafAt = 0; at < features.length; at += inner, leafAt += inner + 1) {
    let node = 0;
    for (let level = 0; level < depth; level++) {
      node = 2 * node + (inputs[features[at + node]!]! < thresholds[at + node]! ? 1 : 2);
    }
    sum += leaves[leafAt + node - inner]!;
  }
  return sum;
}

function requireCount(numbers: Float32Array, count: number, where: string): Float32Array {
  if (numbers.length === count) return numbers;
  throw new InputError(where, `${count} floats`, numbers.length);
}
