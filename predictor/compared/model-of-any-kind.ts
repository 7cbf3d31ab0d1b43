/** Whatever kind of model `leo-abr train` wrote: read by the format that the file names, and made a forecaster of. */

import { InputError } from '../../abr/errors.ts';
import { type BuiltInForecaster, createBuiltInForecaster } from '../built-in/built-in-forecaster.ts';
import { MODEL_FORMAT, type Model, type ModelFile, object, parseModel } from '../built-in/model-file.ts';
import type { ModelSessionOptions } from '../model-session.ts';
import { type BoostedTreesFile, parseBoostedTrees, TREES_FORMAT } from './boosted-trees.ts';
import { type ComparedForecaster, createComparedForecaster } from './compared-forecaster.ts';
import type { ComparedModel } from './compared-model.ts';
import { parseTemporalModel, TEMPORAL_FORMAT, type TemporalModelFile } from './temporal-model.ts';

export type AnyModelFile = ModelFile | BoostedTreesFile | TemporalModelFile;
export type AnyModel = Model | ComparedModel;

const PARSERS: Readonly<Record<AnyModelFile['format'], (value: unknown, where: string) => AnyModel>> = {
  [MODEL_FORMAT]: parseModel,
  [TREES_FORMAT]: parseBoostedTrees,
  [TEMPORAL_FORMAT]: parseTemporalModel,
};

/** Reads a model; throws an `InputError` whose field starts with `where` for anything that is none of the kinds. */
export function parseAnyModel(value: unknown, where = 'model'): AnyModel {
  const { format } = object(value, where);
  if (typeof format === 'string' && Object.hasOwn(PARSERS, format)) {
    return PARSERS[format as AnyModelFile['format']](value, where);
  }
  throw new InputError(`${where}.format`, `one of ${Object.keys(PARSERS).map(quotedFormat).join(', ')}`, format);
}

function quotedFormat(format: string): string {
  return JSON.stringify(format);
}

/** The built-in forecaster on a model of its own kind, or on the shipped one; the compared kinds' otherwise. */
export function createForecasterOf(
  model: AnyModel | undefined,
  options: ModelSessionOptions = {},
): BuiltInForecaster | ComparedForecaster {
  if (model === undefined) return createBuiltInForecaster(options);
  if ('kind' in model) return createComparedForecaster(model, options);
  return createBuiltInForecaster({ ...options, model });
}
