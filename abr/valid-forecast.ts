/** The form of a forecast, checked once: controllers take checked ones only. Whether it fits the session, they judge. */

import type { CapacityPath } from './capacity-path.ts';
import {
  check,
  InputError,
  isFrom,
  requireArray,
  requireAscending,
  requireCorrelation,
  requireFrom,
  requireObject,
} from './errors.ts';
import { EPOCH_SECONDS, type Forecast, type ValidForecast } from './forecast.ts';

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
 * Returns a value that is a forecast, or throws an `InputError` with its first fault, whatever the value is: an accessor
 * that throws counts as a fault.
 */
export function validForecast<F extends Forecast>(value: F): ValidForecast<F>;
export function validForecast(value: unknown): ValidForecast;
export function validForecast(value: unknown): ValidForecast {
  try {
    checkForecast(requireObject(value, 'forecast'));
  } catch (error) {
    throw error instanceof InputError ? error : new InputError('forecast', 'values that can be read', error);
  }
  return value as ValidForecast;
}

function checkForecast(forecast: Record<string, unknown>): void {
  const { kind, issuedAtMs, source, handovers, rankCorrelation, fluctuation } = forecast;
  check(Number.isFinite(issuedAtMs), 'issuedAtMs', 'a finite number', issuedAtMs);
  check(typeof source === 'string', 'source', 'a string', source);
  for (const [i, handover] of requireArray(handovers, 'handovers', 0, MOST_HANDOVERS).entries()) {
    const { atMs, confidence, dip } = requireObject(handover, `handovers[${i}]`);
    check(Number.isFinite(atMs), `handovers[${i}].atMs`, 'a finite number', atMs);
    requireFrom(confidence, `handovers[${i}].confidence`, 0, 1);
    if (dip !== undefined) checkDip(requireObject(dip, `handovers[${i}].dip`), `handovers[${i}].dip`);
  }
  if (kind === 'paths') {
    checkPaths(forecast['paths']);
    return;
  }
  check(kind === undefined || kind === 'quantiles', 'kind', "'quantiles' or 'paths'", kind);
  requireFrom(rankCorrelation, 'rankCorrelation', 0, 1);
  checkQuantiles(forecast);
  if (fluctuation !== undefined) {
    const { levels, ratios, correlation } = requireObject(fluctuation, 'fluctuation');
    checkRow(ratios, 'fluctuation.ratios', requireLevels(levels, 'fluctuation.levels'), GREATEST_RATIO);
    requireCorrelation(correlation, 'fluctuation.correlation');
  }
}

function checkDip(dip: Record<string, unknown>, where: string): void {
  const { timingSeconds, depth, levels, seconds } = dip;
  requireFrom(timingSeconds, `${where}.timingSeconds`, 0, EPOCH_SECONDS);
  requireFrom(depth, `${where}.depth`, 0, 1);
  checkRow(seconds, `${where}.seconds`, requireLevels(levels, `${where}.levels`), EPOCH_SECONDS);
  const collapse = requireObject(dip['collapse'], `${where}.collapse`);
  requireFrom(collapse['probability'], `${where}.collapse.probability`, 0, 1);
  requireFrom(collapse['depth'], `${where}.collapse.depth`, 0, 1);
  requireFrom(collapse['seconds'], `${where}.collapse.seconds`, 0, EPOCH_SECONDS);
}

function checkQuantiles({ stepEndsSeconds, levels, quantilesBps }: Record<string, unknown>): void {
  const steps = requireAscending(stepEndsSeconds, 'stepEndsSeconds', GREATEST_HORIZON_SECONDS, MOST_STEPS).length;
  const count = requireLevels(levels, 'levels');
  for (const [step, row] of requireArray(quantilesBps, 'quantilesBps', steps, steps).entries()) {
    const highest = checkRow(row, `quantilesBps[${step}]`, count, GREATEST_RATE_BPS);
    // Without a rate above 0 in the last step, no plan would end.
    check(highest > 0 || step < steps - 1, `quantilesBps[${step}]`, 'a rate above 0', highest);
  }
}

/** Requires `count` quantiles that do not cross; returns the highest. */
function checkRow(value: unknown, field: string, count: number, greatest: number): number {
  const row = requireArray(value, field, count, count);
  let least = 0;
  // Names of fields take most of the time, so only faults get them.
  for (let i = 0; i < count; i++) {
    if (!isFrom(row[i], least, greatest)) requireFrom(row[i], `${field}[${i}]`, least, greatest);
    least = row[i] as number;
  }
  return least;
}

function checkPaths(paths: unknown): void {
  let sum = 0;
  for (const [i, one] of requireArray(paths, 'paths', 1, MOST_PATHS).entries()) {
    const { weight, path } = requireObject(one, `paths[${i}]`);
    sum += requireFrom(weight, `paths[${i}].weight`, Number.MIN_VALUE, 1 + WEIGHT_SLACK);
    const { cumulativeBits, downloadSeconds } = (path ?? {}) as Partial<CapacityPath>;
    const isPath = typeof cumulativeBits === 'function' && typeof downloadSeconds === 'function';
    check(isPath, `paths[${i}].path`, 'a capacity path', path);
    const [soon, later] = PROBED_SECONDS.map((at) => (path as CapacityPath).cumulativeBits(at));
    const isRising = soon! >= 0 && later! >= soon! && later! < Number.POSITIVE_INFINITY;
    check(isRising, `paths[${i}].path`, 'bits that never fall', `${soon}, then ${later}`);
  }
  check(Math.abs(sum - 1) <= WEIGHT_SLACK, 'paths', 'weights that sum to 1', sum);
}

function requireLevels(levels: unknown, field: string): number {
  return requireAscending(levels, field, 1, MOST_LEVELS).length;
}
