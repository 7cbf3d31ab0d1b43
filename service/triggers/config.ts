/**
 * The service's config file (JSON): triggers, and where they are sent. A trigger compares a metric, averaged over windows,
 * with a number or with a multiple of what the windows before had (T3P: "if latency > 10 x its moving average over the
 * last ten windows").
 */

import { InputError } from '../../abr/errors.ts';

/** What can be looked at; those of a second or not (0 or 1) count as their greatest within a window. */
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

/** Either a number, or so many times a statistic of the windows before. */
export type Threshold = number | { times: number; of: Statistic; windows: number };

export interface Trigger {
  /** For events and logs: letters, digits and dashes. */
  name: string;
  metric: Metric;
  comparison: Comparison;
  threshold: Threshold;
  /** Length of a window. Default 1. */
  windowSeconds: number;
  /** Windows in a row for which it has to hold. Default 1. */
  forWindows: number;
  /** It does not fire again for so long. Default 15. */
  holdOffSeconds: number;
}

export interface ServiceConfig {
  triggers: Trigger[];
  /** Triggers are posted there. Default: nowhere. */
  webhook?: string;
}

/** Without a config file. */
export const BUILT_IN_TRIGGERS: readonly Trigger[] = [
  {
    name: 'latency',
    metric: 'latencyMs',
    comparison: '>',
    threshold: { times: 2, of: 'mean', windows: 10 },
    windowSeconds: 1,
    forWindows: 1,
    holdOffSeconds: 15,
  },
  {
    name: 'drops',
    metric: 'dropRate',
    comparison: '>=',
    threshold: 0.2,
    windowSeconds: 1,
    forWindows: 1,
    holdOffSeconds: 15,
  },
  {
    name: 'obstruction',
    metric: 'obstructed',
    comparison: '>',
    threshold: 0,
    windowSeconds: 1,
    forWindows: 1,
    holdOffSeconds: 15,
  },
  {
    name: 'handover',
    metric: 'handover',
    comparison: '>',
    threshold: 0,
    windowSeconds: 1,
    forWindows: 1,
    holdOffSeconds: 5,
  },
  {
    name: 'degraded-epoch',
    metric: 'degradedEpoch',
    comparison: '>',
    threshold: 0,
    windowSeconds: 1,
    forWindows: 1,
    holdOffSeconds: 15,
  },
];

const MOST_TRIGGERS = 100;

/**
 * Reads a config file's text. `{"builtIn": false}` leaves the built-in triggers out; a trigger of the same name takes the
 * place of a built-in one. Throws an `InputError` with file and field for what cannot be worked with.
 */
export function parseConfig(text: string, file: string): ServiceConfig {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // What the parser says quotes the text, which may hold a secret.
    throw new InputError(file, 'JSON', text.length);
  }
  const config = record(json, { file, path: '', known: ['triggers', 'webhook', 'builtIn'] });
  const at = (path: string) => `${file}: ${path}`;
  const { triggers = [], webhook, builtIn = true } = config;
  if (typeof builtIn !== 'boolean') throw new InputError(at('builtIn'), 'true or false', builtIn);
  if (!Array.isArray(triggers) || triggers.length > MOST_TRIGGERS) {
    throw new InputError(at('triggers'), `an array of at most ${MOST_TRIGGERS}`, triggers);
  }
  const own = triggers.map((trigger: unknown, i) => triggerOf(trigger, { file, path: `triggers[${i}]` }));
  own.forEach(({ name }, i) => {
    if (own.findIndex((other) => other.name === name) !== i) {
      throw new InputError(at(`triggers[${i}].name`), 'a name of its own', name);
    }
  });
  const kept = builtIn ? BUILT_IN_TRIGGERS.filter(({ name }) => own.every((trigger) => trigger.name !== name)) : [];
  return { triggers: [...kept, ...own], ...(webhook !== undefined && { webhook: webhookOf(webhook, at('webhook')) }) };
}

interface Place {
  file: string;
  path: string;
}

function triggerOf(value: unknown, { file, path }: Place): Trigger {
  const known = ['name', 'metric', 'comparison', 'threshold', 'windowSeconds', 'forWindows', 'holdOffSeconds'];
  const trigger = record(value, { file, path, known });
  const at = (field: string) => `${file}: ${path}.${field}`;
  const { name, windowSeconds = 1, forWindows = 1, holdOffSeconds = 15 } = trigger;
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
  // It may hold a secret: it is not shown.
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
