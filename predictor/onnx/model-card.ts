/** The card in an ONNX file describes the model's inputs, outputs, training data and scores. */

import {
  check,
  InputError,
  parsedJson,
  requireArray,
  requireAscending,
  requireCorrelation,
  requireObject,
  requireText,
} from '../../abr/errors.ts';
import type { ModelOutline } from '../forecast/quantile-forecaster.ts';
import { FEATURES } from '../link/features.ts';

export const CARD_FORMAT = 'leo-abr forecaster';
export const CARD_SCHEMA = 1;
export const CARD_KEY = 'leo_abr_card';
/** Rates are relative to the session's reference rate, so that the model is scale-free. */
export const OUTPUT_UNIT = 'ln(rate / reference rate)';

export interface ModelCard {
  format: typeof CARD_FORMAT;
  schema: typeof CARD_SCHEMA;
  /** Forecasts of the model have the source `model:<name>`. */
  name: string;
  /** The training program. Programs do not use, or check, `tool`, `data`, `training` and `scores`. */
  tool: { name: string; version: string };
  /** A float32 tensor `[batch, features]`. */
  input: {
    name: string;
    /** In the tensor's order: names of `FEATURES`, their meaning and unit. */
    features: readonly { name: string; meaning: string }[];
  };
  /** A float32 tensor `[batch, steps, levels]`, ascending along the levels, with the median in the middle. */
  output: { name: string; unit: typeof OUTPUT_UNIT } & Pick<ModelOutline, 'stepEndsSeconds' | 'levels'>;
  rankCorrelation: ModelOutline['rankCorrelation'];
  data: readonly { dataset: string; licences: readonly string[] }[];
  training: Readonly<Record<string, unknown>>;
  /** Scores on unseen data. */
  scores: Readonly<Record<string, unknown>>;
  /** An example, evaluated when the model is loaded to detect a broken file or runtime. */
  check: { features: readonly number[]; quantiles: readonly number[] };
}

/** @throws {InputError} */
export function parseModelCard(json: string): ModelCard {
  return checkModelCard(parsedJson(json, 'card'));
}

/** @throws {InputError} */
export function checkModelCard(value: unknown): ModelCard {
  const card = requireObject(value, 'card');
  check(card['format'] === CARD_FORMAT, 'card.format', JSON.stringify(CARD_FORMAT), card['format']);
  check(card['schema'] === CARD_SCHEMA, 'card.schema', JSON.stringify(CARD_SCHEMA), card['schema']);
  requireText(card['name'], 'card.name');
  const input = requireObject(card['input'], 'card.input');
  requireText(input['name'], 'card.input.name');
  const features = requireArray(input['features'], 'card.input.features').map((feature, i) => {
    const { name } = requireObject(feature, `card.input.features[${i}]`);
    const isKnown = FEATURES.some((known) => known.name === name);
    check(isKnown, `card.input.features[${i}].name`, 'a feature of this version of leo-abr', name);
    return name;
  });
  check(new Set(features).size === features.length, 'card.input.features', 'each name once', features);

  const output = requireObject(card['output'], 'card.output');
  requireText(output['name'], 'card.output.name');
  check(output['unit'] === OUTPUT_UNIT, 'card.output.unit', JSON.stringify(OUTPUT_UNIT), output['unit']);
  const stepEnds = requireAscending(output['stepEndsSeconds'], 'card.output.stepEndsSeconds', 3600);
  const levels = requireAscending(output['levels'], 'card.output.levels', 1);
  const isCentred = levels.length % 2 === 1 && levels.length > 1 && levels[levels.length >> 1] === 0.5;
  check(isCentred, 'card.output.levels', 'an odd number of levels, 3 or more, 0.5 in the middle', levels.join(', '));
  requireCorrelation(card['rankCorrelation'], 'card.rankCorrelation');

  const example = requireObject(card['check'], 'card.check');
  requireNumbers(example['features'], 'card.check.features', features.length);
  requireNumbers(example['quantiles'], 'card.check.quantiles', stepEnds.length * levels.length);
  return card as unknown as ModelCard;
}

/** Rounding of float32 may make quantiles cross by this much. */
const CROSSING_SLACK = 1e-4;

/** The model of a card, without its evaluation: inputs for it, and outputs of it. */
export function cardModel({ name, input, output, rankCorrelation }: ModelCard) {
  const { stepEndsSeconds, levels } = output;
  const indices = input.features.map((wanted) => FEATURES.findIndex((feature) => feature.name === wanted.name));
  const size = stepEndsSeconds.length * levels.length;
  return {
    source: `model:${name}`,
    ...{ stepEndsSeconds, levels, rankCorrelation },
    /** Features in the model's order. */
    inputsOf: (features: Float64Array) => Float32Array.from(indices, (at) => features[at]!),
    /** @throws {InputError} for numbers that are not quantiles */
    valuesOf(quantiles: Float32Array): Float64Array {
      if (quantiles.length !== size) throw new InputError('quantiles', `${size} numbers`, quantiles.length);
      const values = Float64Array.from(quantiles);
      for (let i = 0; i < size; i++) {
        const least = i % levels.length === 0 ? Number.NEGATIVE_INFINITY : values[i - 1]!;
        if (!(Number.isFinite(values[i]) && values[i]! >= least - CROSSING_SLACK)) {
          throw new InputError(`quantiles[${i}]`, `a number from ${least}`, values[i]);
        }
        values[i] = Math.max(least, values[i]!);
      }
      return values;
    },
  };
}

function requireNumbers(value: unknown, where: string, count: number): void {
  for (const [i, number] of requireArray(value, where, count, count).entries())
    check(Number.isFinite(number), `${where}[${i}]`, 'a finite number', number);
}
