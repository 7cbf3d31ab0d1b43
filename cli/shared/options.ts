/** Parses the flags that several commands have. Commander passes every flag as text. */

import { dirname, resolve } from 'node:path';
import { Option } from 'commander';
import { check, InputError, requireText } from '../../abr/errors.ts';
import { type ModelFile, parseModel } from '../../predictor/forecast/model-file.ts';
import { placeOf } from '../../replay/formats/place.ts';
import type { ResolvedScenario } from '../../replay/results.ts';
import { parseScenario, resolveScenario, scenarioNamed } from '../../replay/scenario-file.ts';
import { scaleText } from '../../replay/scenarios.ts';
import type { Trace } from '../../replay/trace.ts';
import { readInput, readJson } from './results-file.ts';

export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** A flag with one of these values. */
export function choice(flags: string, text: string, choices: readonly string[], standard?: string): Option {
  return new Option(flags, text).choices(choices).default(standard);
}

/** Parses a whole number. `note` follows the limits in the error's message. */
export function wholeNumber(
  text: string,
  flag: string,
  { min = 0, max, note = '' }: { min?: number; max: number; note?: string },
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  check(value >= min && value <= max, flag, `a whole number from ${min} to ${max}${note}`, text);
  return value;
}

export function seedOption(text: string): number {
  return wholeNumber(text, '--seed', { max: 0xffffffff });
}

export function jobsOption(text: string): number {
  return wholeNumber(text, '--jobs', { min: 1, max: 1024 });
}

/** A decimal number >= 0 for which `holds` is true. `expected` describes the number in the error's message. */
export function decimalNumber(text: string, flag: string, expected: string, holds = (_: number) => true): number {
  const value = Number(text);
  check(/^\d+(\.\d+)?$/.test(text) && holds(value), flag, expected, text);
  return value;
}

export function positiveNumber(text: string, flag: string): number {
  return decimalNumber(text, flag, 'a number above 0', (value) => value > 0);
}

/** A value that ends in `.json` or contains a `/` is a file, not a name. */
export const isFileName = (value: string) => value.endsWith('.json') || value.includes('/');

/** `--scenario` is a name or a JSON file. */
export function scenarioOption(value: string): ResolvedScenario {
  if (!isFileName(value)) return resolveScenario(scenarioNamed(value));
  const readMedia = (name: string) => readJson(resolve(dirname(value), name), `--scenario ${value}: media`);
  return parseScenario(readInput(value, '--scenario'), value, readMedia);
}

export const WIDE = 'print all columns of the table';
/** Text of the option `--scale`. */
export const SCALE =
  'of the rates: scenario, a factor, or mean:<Mbit/s> (default: a scenario by name scales data sets, not your own traces)';

/**
 * `--scale` of the traces' rates. Without it, a scenario by name scales traces of data sets, not the user's own, and a
 * scenario file says what it does. Reports to `say` what is scaled, before anything is played.
 */
export function scaled<S extends ResolvedScenario>(
  { scenario: given, scale }: { scenario: string; scale?: string },
  scenario: S,
  traces: readonly Trace[],
  say: (text: string) => void,
): { scenario: S; traces: Trace[] } {
  const [, mean, number] = /^(mean:)?(\d*\.?\d+)$/.exec(scale ?? '') ?? [];
  const isKnown = scale === undefined || scale === 'scenario' || Number(number) > 0;
  check(isKnown, '--scale', 'scenario, a factor above 0, or mean:<Mbit/s>', scale);
  const traceScale = mean ? { meanBps: 1e6 * Number(number) } : { factor: Number(number) };
  const changed = number === undefined ? scenario : { ...scenario, traceScale };
  const isForAll = scale !== undefined || isFileName(given);
  const of = traces.map((trace) =>
    isForAll ? { ...trace, metadata: { ...trace.metadata, keepsRates: false } } : trace,
  );
  const kept = of.filter(({ metadata }) => metadata.keepsRates).length;
  const text = scaleText(changed);
  if (text && kept < of.length) say(`${scenario.name}: ${text} (--scale 1: as recorded)\n`);
  const others = kept < of.length ? ` of ${of.length}` : '';
  const [is, plays] = kept === 1 ? ['trace is', 'plays'] : ['traces are', 'play'];
  if (text && kept > 0) say(`${kept}${others} ${is} your own and ${plays} as recorded (--scale scenario: ${text})\n`);
  return { scenario: changed, traces: of };
}

/**
 * `--fold-models` gives each recording group its model, so that no model is evaluated on its training data. The file is
 * `{"<recording group>": "<model file>", ...}`, as `leo-abr train --folds` writes it. File names are relative to its
 * folder. Throws an `InputError` for an unusable map or model, and for a group of the traces without a model, because
 * the shipped model may have been trained on that group.
 */
export function foldModelsOption(file: string, traces: readonly Trace[]): Record<string, ModelFile> {
  const json = readJson(file, '--fold-models');
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  check(isObject, file, 'an object from recording group to model file', json);
  const models = Object.fromEntries(
    Object.entries(json as object).map(([group, name]) => {
      const path = resolve(
        dirname(file),
        requireText(name, placeOf({ file, field: group }), 'the name of a model file'),
      );
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
