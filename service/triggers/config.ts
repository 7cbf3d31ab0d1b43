/**
 * The service's config file (JSON): triggers, the webhook that receives them, and flags of the command. A trigger
 * compares a metric, aggregated over a window, with a number or with a multiple of a statistic of the previous windows
 * (T3P: "if latency > 10 x its moving average over the last ten windows").
 */

import { InputError } from '../../abr/errors.ts';

/** Each metric with its aggregation over a window: the mean, or the maximum for those that are 0 or 1 per second. */
export const METRICS = {
  latencyMs: 'mean',
  dropRate: 'mean',
  downlinkUsageBps: 'mean',
  uplinkUsageBps: 'mean',
  obstructed: 'max',
  degradedEpoch: 'max',
  handover: 'max',
} as const;
export type Metric = keyof typeof METRICS;

export const COMPARISONS = ['>', '>=', '<', '<='] as const;
export type Comparison = (typeof COMPARISONS)[number];

export const STATISTICS = ['mean', 'median', 'max', 'min'] as const;
export type Statistic = (typeof STATISTICS)[number];

export type Threshold = number | { times: number; of: Statistic; windows: number };

export interface Trigger {
  /** Letters, digits and dashes. */
  name: string;
  metric: Metric;
  comparison: Comparison;
  threshold: Threshold;
  /** Length of a window. Default 1. */
  windowSeconds: number;
  /** Consecutive windows in which the comparison must hold. Default 1. */
  forWindows: number;
  /** Shortest time between two firings. Default 15. */
  holdOffSeconds: number;
}

export interface ServiceConfig {
  triggers: Trigger[];
  /** URL that triggers are posted to. Default: none. */
  webhook?: string;
  /** Flags of the command, which the service does not read. */
  settings?: unknown;
}

const DEFAULTS = { windowSeconds: 1, forWindows: 1, holdOffSeconds: 15 };

export const BUILT_IN_TRIGGERS: readonly Trigger[] = [
  {
    ...DEFAULTS,
    name: 'latency',
    metric: 'latencyMs',
    comparison: '>',
    threshold: { times: 2, of: 'mean', windows: 10 },
  },
  {
    ...DEFAULTS,
    name: 'latency-spike',
    metric: 'latencyMs',
    comparison: '>',
    threshold: { times: 10, of: 'mean', windows: 10 },
  },
  { ...DEFAULTS, name: 'drops', metric: 'dropRate', comparison: '>=', threshold: 0.2 },
  { ...DEFAULTS, name: 'obstruction', metric: 'obstructed', comparison: '>', threshold: 0 },
  { ...DEFAULTS, name: 'handover', metric: 'handover', comparison: '>', threshold: 0, holdOffSeconds: 5 },
  { ...DEFAULTS, name: 'degraded-epoch', metric: 'degradedEpoch', comparison: '>', threshold: 0 },
];

const MOST_TRIGGERS = 100;

/**
 * Parses the text of a config file. A trigger replaces a built-in one of the same name; `{"builtIn": false}` disables
 * all built-in ones. Throws an `InputError` with file and field.
 */
export function parseConfig(text: string, file: string): ServiceConfig {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may contain a secret.
    throw new InputError(file, 'JSON', 'text that cannot be parsed');
  }
  const config = record(json, { file, path: '', known: ['triggers', 'webhook', 'builtIn', 'settings'] });
  const at = (path: string) => `${file}: ${path}`;
  const { triggers = [], webhook, builtIn = true } = config;
  if (typeof builtIn !== 'boolean') throw new InputError(at('builtIn'), 'true or false', builtIn);
  if (!Array.isArray(triggers) || triggers.length > MOST_TRIGGERS) {
    throw new InputError(at('triggers'), `an array of at most ${MOST_TRIGGERS}`, triggers);
  }
  const own = triggers.map((trigger: unknown, i) => triggerOf(trigger, { file, path: `triggers[${i}]` }));
  own.forEach(({ name }, i) => {
    if (own.findIndex((other) => other.name === name) !== i) {
      throw new InputError(at(`triggers[${i}].name`), 'a unique name', name);
    }
  });
  const kept = builtIn ? BUILT_IN_TRIGGERS.filter(({ name }) => own.every((trigger) => trigger.name !== name)) : [];
  return {
    triggers: [...kept, ...own],
    ...(webhook !== undefined && { webhook: webhookOf(webhook, at('webhook')) }),
    ...('settings' in config && { settings: config['settings'] }),
  };
}

interface Place {
  file: string;
  path: string;
}

function triggerOf(value: unknown, { file, path }: Place): Trigger {
  const known = ['name', 'metric', 'comparison', 'threshold', 'windowSeconds', 'forWindows', 'holdOffSeconds'];
  const trigger: Record<string, unknown> = { ...DEFAULTS, ...record(value, { file, path, known }) };
  const at = (field: string) => `${file}: ${path}.${field}`;
  const { name, windowSeconds, forWindows, holdOffSeconds } = trigger;
  if (typeof name !== 'string' || !/^[A-Za-z0-9-]{1,50}$/.test(name)) {
    throw new InputError(at('name'), '1 to 50 letters, digits and dashes', name);
  }
  return {
    name,
    metric: oneOf(trigger['metric'], Object.keys(METRICS) as Metric[], at('metric')),
    comparison: oneOf(trigger['comparison'], COMPARISONS, at('comparison')),
    threshold: thresholdOf(trigger['threshold'], { file, path: `${path}.threshold` }),
    windowSeconds: whole(windowSeconds, { field: at('windowSeconds'), min: 1, max: 3600 }),
    forWindows: whole(forWindows, { field: at('forWindows'), min: 1, max: 1000 }),
    holdOffSeconds: within(holdOffSeconds, { field: at('holdOffSeconds'), min: 0, max: 86_400 }),
  };
}

function thresholdOf(value: unknown, place: Place): Threshold {
  const field = `${place.file}: ${place.path}`;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || value === null) {
    throw new InputError(field, 'a number, or {"times", "of", "windows"}', value);
  }
  const { times, of, windows } = record(value, { ...place, known: ['times', 'of', 'windows'] });
  return {
    times: within(times, { field: `${field}.times`, min: 0, max: 1e6 }),
    of: oneOf(of, STATISTICS, `${field}.of`),
    windows: whole(windows, { field: `${field}.windows`, min: 1, max: 1000 }),
  };
}

function webhookOf(value: unknown, field: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url.href;
  // Not quoted, because it may contain a secret.
  throw new InputError(field, 'an http or https address', typeof value === 'string' ? 'another text' : value);
}

function record(value: unknown, { file, path, known }: Place & { known: readonly string[] }): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError(path === '' ? file : `${file}: ${path}`, 'an object', value);
  }
  for (const name of Object.keys(value)) {
    const field = path === '' ? name : `${path}.${name}`;
    if (!known.includes(name)) throw new InputError(`${file}: ${field}`, `one of ${known.join(', ')}`, name);
  }
  return value as Record<string, unknown>;
}

function oneOf<Value extends string>(value: unknown, values: readonly Value[], field: string): Value {
  const found = values.find((one) => one === value);
  if (found === undefined) throw new InputError(field, `one of ${values.join(', ')}`, value);
  return found;
}

interface Limits {
  field: string;
  min: number;
  max: number;
}

function whole(value: unknown, { field, min, max }: Limits): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InputError(field, `a whole number from ${min} to ${max}`, value);
}

function within(value: unknown, { field, min, max }: Limits): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw new InputError(field, `a number from ${min} to ${max}`, value);
}
