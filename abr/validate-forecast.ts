/** Validates the form of a forecast. Whether it fits the session is for mpc-l/plausibility.ts. */

import type { CapacityPath } from './capacity-path.ts';
import { InputError } from './errors.ts';
import { EPOCH_SECONDS } from './forecast.ts';

/** Faster than any link. */
const GREATEST_RATE_BPS = 1e15;
/** Longer than any plan: a forecast of an hour has wrong units. */
const GREATEST_HORIZON_SECONDS = 3600;
/** Larger forecasts are mistakes, and would take too long to plan on. */
const MOST_STEPS = 128;
const MOST_LEVELS = 64;
const MOST_PATHS = 1024;
const MOST_HANDOVERS = 1024;
/** Of the capacity of 0.1 s to its step's. */
const GREATEST_RATIO = 1000;
/** Times at which a path is tested for NaN and for falling bits. */
const PROBED_SECONDS = [20, 40] as const;
/** Sums of weights may be off by rounding. */
const WEIGHT_SLACK = 1e-6;

/**
 * The first fault of a value as a `Forecast`, in words: field, expectation, received value; undefined if it is valid.
 * Never throws, whatever the value is; an accessor that throws counts as a fault.
 */
export function validateForecast(value: unknown): string | undefined {
  try {
    check(value);
    return undefined;
  } catch (error) {
    const fault = error instanceof InputError ? error : new InputError('forecast', 'values that can be read', error);
    return fault.message;
  }
}

function check(value: unknown): void {
  const forecast = fields(value, 'forecast');
  const { kind, issuedAtMs, source, handovers, rankCorrelation, fluctuation, latency } = forecast;
  need(isNumber(issuedAtMs), 'issuedAtMs', 'a finite number', issuedAtMs);
  need(typeof source === 'string', 'source', 'a string', source);
  need(Array.isArray(handovers) && handovers.length <= MOST_HANDOVERS, 'handovers', 'an array', handovers);
  for (const [i, handover] of handovers.entries()) {
    const { atMs, confidence, dip } = fields(handover, `handovers[${i}]`);
    need(isNumber(atMs), `handovers[${i}].atMs`, 'a finite number', atMs);
    needWithin(confidence, `handovers[${i}].confidence`, [0, 1]);
    if (dip !== undefined) checkDip(fields(dip, `handovers[${i}].dip`), `handovers[${i}].dip`);
  }
  if (kind === 'paths') {
    checkPaths(forecast['paths']);
    return;
  }
  need(kind === undefined || kind === 'quantiles', 'kind', "'quantiles' or 'paths'", kind);
  needWithin(rankCorrelation, 'rankCorrelation', [0, 1]);
  checkQuantiles(forecast, 'quantilesBps', '');
  if (fluctuation !== undefined) {
    const { levels, ratios, correlation } = fields(fluctuation, 'fluctuation');
    const count = countLevels(levels, 'fluctuation.levels');
    checkRow(ratios, 'fluctuation.ratios', { count, greatest: GREATEST_RATIO });
    const isOne = isNumber(correlation) && correlation >= 0 && correlation < 1;
    need(isOne, 'fluctuation.correlation', 'a number from 0 to below 1', correlation);
  }
  if (latency !== undefined) checkQuantiles(fields(latency, 'latency'), 'quantilesMs', 'latency.');
}

function checkDip(dip: Record<string, unknown>, where: string): void {
  const { timingSeconds, depth, levels, seconds } = dip;
  needWithin(timingSeconds, `${where}.timingSeconds`, [0, EPOCH_SECONDS]);
  needWithin(depth, `${where}.depth`, [0, 1]);
  const count = countLevels(levels, `${where}.levels`);
  checkRow(seconds, `${where}.seconds`, { count, greatest: EPOCH_SECONDS });
  const collapse = fields(dip['collapse'], `${where}.collapse`);
  needWithin(collapse['probability'], `${where}.collapse.probability`, [0, 1]);
  needWithin(collapse['depth'], `${where}.collapse.depth`, [0, 1]);
  needWithin(collapse['seconds'], `${where}.collapse.seconds`, [0, EPOCH_SECONDS]);
}

function checkQuantiles(of: Record<string, unknown>, name: string, where: string): void {
  const { stepEndsSeconds, levels } = of;
  const quantiles = of[name];
  const steps = countAscending(stepEndsSeconds, `${where}stepEndsSeconds`, {
    limit: GREATEST_HORIZON_SECONDS,
    most: MOST_STEPS,
  });
  const count = countLevels(levels, `${where}levels`);
  needArray(quantiles, `${where}${name}`, [steps, steps]);
  for (const [step, row] of quantiles.entries()) {
    const field = `${where}${name}[${step}]`;
    const highest = checkRow(row, field, { count, greatest: GREATEST_RATE_BPS });
    // Without a rate above 0 in the last step, no plan would end.
    need(highest > 0 || step < steps - 1, field, 'a rate above 0', highest);
  }
}

/** Requires quantiles that do not cross; returns the highest. */
function checkRow(row: unknown, field: string, { count, greatest }: { count: number; greatest: number }): number {
  needArray(row, field, [count, count]);
  let least = 0;
  // Names of fields take most of the time, so only faults get them.
  for (let i = 0; i < count; i++) {
    if (!isWithin(row[i], least, greatest)) needWithin(row[i], `${field}[${i}]`, [least, greatest]);
    least = row[i] as number;
  }
  return least;
}

function checkPaths(paths: unknown): void {
  needArray(paths, 'paths', [1, MOST_PATHS]);
  let sum = 0;
  for (const [i, one] of paths.entries()) {
    const { weight, path } = fields(one, `paths[${i}]`);
    needWithin(weight, `paths[${i}].weight`, [Number.MIN_VALUE, 1 + WEIGHT_SLACK]);
    sum += weight as number;
    const { cumulativeBits, downloadSeconds } = (path ?? {}) as Partial<CapacityPath>;
    const isPath = typeof cumulativeBits === 'function' && typeof downloadSeconds === 'function';
    need(isPath, `paths[${i}].path`, 'a capacity path', path);
    const [soon, later] = PROBED_SECONDS.map((at) => (path as CapacityPath).cumulativeBits(at));
    const isRising = soon! >= 0 && later! >= soon! && later! < Number.POSITIVE_INFINITY;
    need(isRising, `paths[${i}].path`, 'bits that never fall', `${soon}, then ${later}`);
  }
  need(Math.abs(sum - 1) <= WEIGHT_SLACK, 'paths', 'weights that sum to 1', sum);
}

function countLevels(levels: unknown, field: string): number {
  return countAscending(levels, field, { limit: 1, most: MOST_LEVELS });
}

/** Requires ascending numbers above 0 and below `limit`; returns their count. */
function countAscending(value: unknown, field: string, { limit, most }: { limit: number; most: number }): number {
  needArray(value, field, [1, most]);
  let least = 0;
  for (let i = 0; i < value.length; i++) {
    const number = value[i];
    const isNext = isNumber(number) && number > least && number < limit;
    if (!isNext) need(false, `${field}[${i}]`, `a number above ${least} and below ${limit}`, number);
    least = number as number;
  }
  return value.length;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function fields(value: unknown, field: string): Record<string, unknown> {
  need(typeof value === 'object' && value !== null, field, 'an object', value);
  return value as Record<string, unknown>;
}

function needArray(value: unknown, field: string, [min, max]: readonly [number, number]): asserts value is unknown[] {
  const isOne = Array.isArray(value) && value.length >= min && value.length <= max;
  need(isOne, field, `an array of ${min === max ? min : `${min} to ${max}`}`, value);
}

function isWithin(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

function needWithin(value: unknown, field: string, [min, max]: readonly [number, number]): void {
  need(isWithin(value, min, max), field, `a number from ${min} to ${max}`, value);
}

function need(holds: boolean, field: string, expected: string, got: unknown): asserts holds {
  if (!holds) throw new InputError(field, expected, got);
}
