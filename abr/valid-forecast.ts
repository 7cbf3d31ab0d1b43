/** Checks the form of a forecast. Controllers judge whether a valid forecast fits the session. */

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
import type { CapacityPath } from './mpc/capacity-path.ts';

/** Faster than any link. */
const GREATEST_RATE_BPS = 1e15;
/** A forecast of an hour has wrong units. */
const GREATEST_HORIZON_SECONDS = 3600;
/** Larger forecasts would take too long to plan on. */
const MOST_STEPS = 128;
const MOST_LEVELS = 64;
const MOST_HANDOVERS = 1024;
/** Greatest ratio of the capacity in 0.1 s to the step's capacity. */
const GREATEST_RATIO = 1000;
/** Times at which a path is tested for NaN and for falling bits. */
const PROBED_SECONDS = [20, 40] as const;

/** Throws unless the value of a field of `owner` is valid. */
type Rule = (value: unknown, field: string, owner: Record<string, unknown>) => unknown;
/** Rules of fields, in the order of their checks. */
type Rules = Readonly<Record<string, Rule>>;

const FINITE: Rule = (value, field) => check(Number.isFinite(value), field, 'a finite number', value);
const SHARE: Rule = (value, field) => requireFrom(value, field, 0, 1);
const WITHIN_EPOCH: Rule = (value, field) => requireFrom(value, field, 0, EPOCH_SECONDS);
const LEVELS: Rule = (value, field) => requireAscending(value, field, 1, MOST_LEVELS);

const object =
  (rules: Rules): Rule =>
  (value, field) =>
    checkFields(requireObject(value, field), rules, `${field}.`);
const optional =
  (rules: Rules): Rule =>
  (value, field, owner) =>
    value === undefined || object(rules)(value, field, owner);
/** Requires a quantile at each of the owner's levels. */
const quantiles =
  (greatest: number): Rule =>
  (value, field, owner) =>
    requireRow(value, field, owner['levels'], greatest);

const HANDOVER = object({
  atMs: FINITE,
  confidence: SHARE,
  dip: optional({
    timingSeconds: WITHIN_EPOCH,
    depth: SHARE,
    levels: LEVELS,
    seconds: quantiles(EPOCH_SECONDS),
    collapse: object({ probability: SHARE, depth: SHARE, seconds: WITHIN_EPOCH }),
  }),
});

const COMMON_RULES: Rules = {
  issuedAtMs: FINITE,
  source: (value, field) => check(typeof value === 'string', field, 'a string', value),
  handovers(value, field, owner) {
    for (const [i, one] of requireArray(value, field, 0, MOST_HANDOVERS).entries())
      HANDOVER(one, `${field}[${i}]`, owner);
  },
};

const QUANTILE_RULES: Rules = {
  ...COMMON_RULES,
  kind: (value, field) => check(value === undefined || value === 'quantiles', field, "'quantiles' or 'path'", value),
  rankCorrelation: SHARE,
  stepEndsSeconds: (value, field) => requireAscending(value, field, GREATEST_HORIZON_SECONDS, MOST_STEPS),
  levels: LEVELS,
  quantilesBps(value, field, { stepEndsSeconds, levels }) {
    const steps = (stepEndsSeconds as unknown[]).length;
    let highest = 0;
    const rows = requireArray(value, field, steps, steps);
    for (let step = 0; step < steps; step++) {
      highest = requireRow(rows[step], `${field}[${step}]`, levels, GREATEST_RATE_BPS);
    }
    // Without a rate above 0 in the last step, no plan would end.
    check(highest > 0, `${field}[${steps - 1}]`, 'a rate above 0', highest);
  },
  fluctuation: optional({ levels: LEVELS, ratios: quantiles(GREATEST_RATIO), correlation: requireCorrelation }),
};

const PATH_RULES: Rules = {
  ...COMMON_RULES,
  path(value, field) {
    const { cumulativeBits, downloadSeconds } = (value || {}) as Partial<CapacityPath>;
    const isPath = typeof cumulativeBits === 'function' && typeof downloadSeconds === 'function';
    check(isPath, field, 'a capacity path', value);
    const [soon, later] = PROBED_SECONDS.map((at) => (value as CapacityPath).cumulativeBits(at));
    const isRising = soon! >= 0 && later! >= soon! && later! < Number.POSITIVE_INFINITY;
    check(isRising, field, 'bits that never fall', `${soon}, then ${later}`);
  },
};

/** Returns `value` if it is a forecast, else throws an `InputError` with its first fault. A throwing accessor is a fault. */
export function validForecast<F extends Forecast>(value: F): ValidForecast<F>;
export function validForecast(value: unknown): ValidForecast;
export function validForecast(value: unknown): ValidForecast {
  try {
    const forecast = requireObject(value, 'forecast');
    checkFields(forecast, forecast['kind'] === 'path' ? PATH_RULES : QUANTILE_RULES);
  } catch (error) {
    throw error instanceof InputError ? error : new InputError('forecast', 'values that can be read', error);
  }
  return value as ValidForecast;
}

function checkFields(owner: Record<string, unknown>, rules: Rules, prefix = ''): void {
  for (const name of Object.keys(rules)) rules[name]!(owner[name], prefix + name, owner);
}

/** Requires a quantile at each level that is at least the quantile before it. Returns the highest quantile. */
function requireRow(value: unknown, field: string, levels: unknown, greatest: number): number {
  const { length } = levels as unknown[];
  const row = requireArray(value, field, length, length);
  let least = 0;
  for (let i = 0; i < length; i++) {
    const quantile = row[i];
    // Names of fields take most of the time, so only faults are named.
    if (!isFrom(quantile, least, greatest)) requireFrom(quantile, `${field}[${i}]`, least, greatest);
    least = quantile as number;
  }
  return least;
}
