/** Whether a forecast can be planned on. */

import type { CapacityPath } from './capacity-path.ts';
import { describeValue } from './errors.ts';

/** Faster than any link. */
const GREATEST_RATE_BPS = 1e15;
/** Longer than any plan: a forecast of an hour has its units wrong. */
const GREATEST_HORIZON_SECONDS = 3600;
/** More is not a forecast but a mistake, and would take too long to plan on. */
const MOST_STEPS = 128;
const MOST_LEVELS = 64;
const MOST_PATHS = 1024;
const MOST_HANDOVERS = 1024;
/** Where a path is probed for NaN and for running backwards. */
const PROBED_SECONDS = [20, 40] as const;
/** Sums of weights may be off by rounding. */
const WEIGHT_SLACK = 1e-6;

/**
 * What is wrong with a value as a `Forecast`, in words: field, what was expected, what came. Undefined where nothing is.
 * Never throws, whatever is handed in; values are looked at, accessors that throw count as wrong.
 */
export function validateForecast(value: unknown): string | undefined {
  try {
    return faultOf(value);
  } catch (error) {
    return `forecast: expected values that can be read, got ${error instanceof Error ? error.message : String(error)}`;
  }
}

function faultOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return fault('forecast', 'an object', value);
  const forecast = value as Record<string, unknown>;
  const { kind, issuedAtMs, source, handovers } = forecast;
  if (!isNumber(issuedAtMs)) return fault('issuedAtMs', 'a finite number', issuedAtMs);
  if (typeof source !== 'string') return fault('source', 'a string', source);
  if (!Array.isArray(handovers) || handovers.length > MOST_HANDOVERS) return fault('handovers', 'an array', handovers);
  for (let i = 0; i < handovers.length; i++) {
    const { atMs, confidence } = (handovers[i] ?? {}) as Record<string, unknown>;
    if (!isNumber(atMs)) return fault(`handovers[${i}].atMs`, 'a finite number', atMs);
    if (!isWithin(confidence, 0, 1)) return fault(`handovers[${i}].confidence`, 'a number from 0 to 1', confidence);
  }
  if (kind === 'paths') return faultOfPaths(forecast['paths']);
  if (kind !== undefined && kind !== 'quantiles') return fault('kind', "'quantiles' or 'paths'", kind);
  const { rankCorrelation, latency } = forecast;
  if (!isWithin(rankCorrelation, 0, 1)) return fault('rankCorrelation', 'a number from 0 to 1', rankCorrelation);
  const wrong = faultOfQuantiles(forecast, 'quantilesBps', '');
  if (wrong !== undefined || latency === undefined) return wrong;
  if (typeof latency !== 'object' || latency === null) return fault('latency', 'an object', latency);
  return faultOfQuantiles(latency as Record<string, unknown>, 'quantilesMs', 'latency.');
}

function faultOfQuantiles(of: Record<string, unknown>, name: string, where: string): string | undefined {
  const { stepEndsSeconds, levels } = of;
  const quantiles = of[name];
  const wrong =
    faultOfAscending(stepEndsSeconds, `${where}stepEndsSeconds`, {
      limit: GREATEST_HORIZON_SECONDS,
      most: MOST_STEPS,
    }) ?? faultOfAscending(levels, `${where}levels`, { limit: 1, most: MOST_LEVELS });
  if (wrong !== undefined) return wrong;
  const steps = (stepEndsSeconds as number[]).length;
  const count = (levels as number[]).length;
  if (!Array.isArray(quantiles) || quantiles.length !== steps) {
    return fault(`${where}${name}`, `${steps} rows, one per step`, quantiles);
  }
  for (let step = 0; step < steps; step++) {
    const row: unknown = quantiles[step];
    if (!Array.isArray(row) || row.length !== count) {
      return fault(`${where}${name}[${step}]`, `${count} numbers, one per level`, row);
    }
    let least = 0;
    for (let i = 0; i < count; i++) {
      if (!isWithin(row[i], least, GREATEST_RATE_BPS)) {
        const expected = `a number from ${least} (levels do not cross) to ${GREATEST_RATE_BPS}`;
        return fault(`${where}${name}[${step}][${i}]`, expected, row[i]);
      }
      least = row[i] as number;
    }
    // Somewhere there must be something, or there is no end to any plan.
    if (step === steps - 1 && least <= 0) return fault(`${where}${name}[${step}]`, 'a rate above 0', row[count - 1]);
  }
  return undefined;
}

function faultOfPaths(paths: unknown): string | undefined {
  if (!Array.isArray(paths) || paths.length === 0 || paths.length > MOST_PATHS) {
    return fault('paths', `an array of 1 to ${MOST_PATHS}`, paths);
  }
  let sum = 0;
  for (let i = 0; i < paths.length; i++) {
    const { weight, path } = (paths[i] ?? {}) as Record<string, unknown>;
    if (!isWithin(weight, Number.MIN_VALUE, 1 + WEIGHT_SLACK)) {
      return fault(`paths[${i}].weight`, 'a number above 0, at most 1', weight);
    }
    sum += weight as number;
    const { cumulativeBits, downloadSeconds } = (path ?? {}) as Partial<CapacityPath>;
    if (typeof cumulativeBits !== 'function' || typeof downloadSeconds !== 'function') {
      return fault(`paths[${i}].path`, 'a capacity path', path);
    }
    const [soon, later] = PROBED_SECONDS.map((at) => (path as CapacityPath).cumulativeBits(at));
    if (!(soon! >= 0 && later! >= soon! && later! < Number.POSITIVE_INFINITY)) {
      return fault(`paths[${i}].path`, 'bits that never fall', `${soon}, then ${later}`);
    }
  }
  return Math.abs(sum - 1) > WEIGHT_SLACK ? fault('paths', 'weights that sum to 1', sum) : undefined;
}

/** Something, ascending, above 0 and below `limit`. */
function faultOfAscending(value: unknown, where: string, { limit, most }: { limit: number; most: number }) {
  if (!Array.isArray(value) || value.length === 0 || value.length > most) {
    return fault(where, `an array of 1 to ${most}`, value);
  }
  let least = 0;
  for (let i = 0; i < value.length; i++) {
    if (!(isNumber(value[i]) && value[i] > least && value[i] < limit)) {
      return fault(`${where}[${i}]`, `a number above ${least} and below ${limit}`, value[i]);
    }
    least = value[i];
  }
  return undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

function fault(field: string, expected: string, got: unknown): string {
  return `${field}: expected ${expected}, got ${describeValue(got)}`;
}
