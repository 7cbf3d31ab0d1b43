/** The values of flags that several commands have; commander passes every flag as text. */

import { dirname, resolve } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import { type ModelFile, parseModel } from '../../predictor/forecast/model-file.ts';
import { placeOf } from '../../replay/formats/place.ts';
import type { ResolvedScenario } from '../../replay/results.ts';
import { parseScenario, resolveScenario, scenarioNamed } from '../../replay/scenario-file.ts';
import type { Trace } from '../../replay/trace.ts';
import { readInput, readJson } from './results-file.ts';

export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** `note` follows the limits in the error's message. */
export function wholeNumber(
  text: string,
  flag: string,
  { min = 0, max, note = '' }: { min?: number; max: number; note?: string },
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new InputError(flag, `a whole number from ${min} to ${max}${note}`, text);
}

export function seedOption(text: string): number {
  return wholeNumber(text, '--seed', { max: 0xffffffff });
}

export function jobsOption(text: string): number {
  return wholeNumber(text, '--jobs', { min: 1, max: 1024 });
}

/** A decimal number >= 0 for which `holds` is true; `expected` describes it in the error's message. */
export function decimalNumber(
  text: string,
  flag: string,
  { expected, holds = () => true }: { expected: string; holds?: (value: number) => boolean },
): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && holds(value)) return value;
  throw new InputError(flag, expected, text);
}

export function positiveNumber(text: string, flag: string): number {
  return decimalNumber(text, flag, { expected: 'a number above 0', holds: (value) => value > 0 });
}

/** `--scenario`: a name, or a JSON file, which ends in `.json` or contains a `/`. */
export function scenarioOption(value: string): ResolvedScenario {
  if (!value.endsWith('.json') && !value.includes('/')) return resolveScenario(scenarioNamed(value));
  const readMedia = (name: string) => readJson(resolve(dirname(value), name), `--scenario ${value}: media`);
  return parseScenario(readInput(value, '--scenario'), value, readMedia);
}

/**
 * `--fold-models`: the models by recording group, so that no model is evaluated on its training data, from
 * `{"<recording group>": "<model file>", ...}`, as `leo-abr train --folds` writes it; file names are relative to the map's
 * folder. Throws an `InputError` for an unusable map or model, and for a group of the traces without a model: the shipped
 * one would take its place, and may have been trained on the group.
 */
export function foldModelsOption(file: string, traces: readonly Trace[]): Record<string, ModelFile> {
  const json = readJson(file, '--fold-models');
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new InputError(file, 'an object from recording group to model file', json);
  }
  const models = Object.fromEntries(
    Object.entries(json).map(([group, name]) => {
      if (typeof name !== 'string' || name === '') {
        throw new InputError(placeOf({ file, field: group }), 'the name of a model file', name);
      }
      const path = resolve(dirname(file), name);
      const model = readJson(path, '--fold-models') as ModelFile;
      parseModel(model, path);
      return [group, model];
    }),
  );
  for (const { metadata } of traces) {
    if (Object.hasOwn(models, metadata.recordingGroup)) continue;
    const place = placeOf({ file, field: metadata.recordingGroup });
    throw new InputError(place, 'a model for each recording group of the traces', undefined, 'none for this one');
  }
  return models;
}
