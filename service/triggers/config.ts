/**
 * The service's config file (JSON): triggers, the webhook that receives them, and flags of the command. A trigger
 * compares the mean of a metric over a window with a number, or with a multiple of its mean over the windows before
 * (T3P: "if latency > 10 x its moving average over the last ten windows").
 */

import { InputError } from '../../abr/errors.ts';

/** Of a second of the dish, and whether a handover was due; `obstructed` and `handover` are 0 or 1. */
export const METRICS = [
  'latencyMs',
  'dropRate',
  'downlinkUsageBps',
  'uplinkUsageBps',
  'obstructed',
  'handover',
] as const;
export type Metric = (typeof METRICS)[number];

export const COMPARISONS = ['>', '>=', '<', '<='] as const;
export type Comparison = (typeof COMPARISONS)[number];

export type Threshold = number | { times: number; of: 'mean'; windows: number };

export interface Trigger {
  /** Letters, digits and dashes. */
  name: string;
  metric: Metric;
  comparison: Comparison;
  threshold: Threshold;
  /** Length of a window. Default 1. */
  windowSeconds: number;
  /** The comparison must hold for this many windows. Default 1. */
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
const latency = { ...DEFAULTS, metric: 'latencyMs', comparison: '>' } as const;

export const BUILT_IN_TRIGGERS: readonly Trigger[] = [
  { ...latency, name: 'latency', threshold: { times: 2, of: 'mean', windows: 10 } },
  { ...latency, name: 'latency-spike', threshold: { times: 10, of: 'mean', windows: 10 } },
  { ...DEFAULTS, name: 'drops', metric: 'dropRate', comparison: '>=', threshold: 0.2 },
  { ...DEFAULTS, name: 'obstruction', metric: 'obstructed', comparison: '>', threshold: 0 },
  { ...DEFAULTS, name: 'handover', metric: 'handover', comparison: '>', threshold: 0, holdOffSeconds: 5 },
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
  const config = record(json, file, ['triggers', 'webhook', 'builtIn', 'settings']);
  const { triggers = [], webhook, builtIn = true } = config;
  if (typeof builtIn !== 'boolean') throw new InputError(`${file}: builtIn`, 'true or false', builtIn);
  if (!Array.isArray(triggers) || triggers.length > MOST_TRIGGERS) {
    throw new InputError(`${file}: triggers`, `an array of at most ${MOST_TRIGGERS}`, triggers);
  }
  const own = triggers.map((trigger: unknown, i) => triggerOf(trigger, `${file}: triggers[${i}]`));
  own.forEach(({ name }, i) => {
    if (own.findIndex((other) => other.name === name) !== i) {
      throw new InputError(`${file}: triggers[${i}].name`, 'a unique name', name);
    }
  });
  const kept = builtIn ? BUILT_IN_TRIGGERS.filter(({ name }) => own.every((trigger) => trigger.name !== name)) : [];
  return {
    triggers: [...kept, ...own],
    ...(webhook !== undefined && { webhook: webhookOf(webhook, `${file}: webhook`) }),
    ...('settings' in config && { settings: config['settings'] }),
  };
}

function triggerOf(value: unknown, place: string): Trigger {
  const known = ['name', 'metric', 'comparison', 'threshold', ...Object.keys(DEFAULTS)];
  const trigger: Record<string, unknown> = { ...DEFAULTS, ...record(value, place, known) };
  const { name, metric, comparison, threshold, windowSeconds, forWindows, holdOffSeconds } = trigger;
  if (typeof name !== 'string' || !/^[A-Za-z0-9-]{1,50}$/.test(name)) {
    throw new InputError(`${place}.name`, '1 to 50 letters, digits and dashes', name);
  }
  return {
    name,
    metric: oneOf(metric, METRICS, `${place}.metric`),
    comparison: oneOf(comparison, COMPARISONS, `${place}.comparison`),
    threshold: thresholdOf(threshold, `${place}.threshold`),
    windowSeconds: number(windowSeconds, `${place}.windowSeconds`, { min: 1, max: 3600, isWhole: true }),
    forWindows: number(forWindows, `${place}.forWindows`, { min: 1, max: 1000, isWhole: true }),
    holdOffSeconds: number(holdOffSeconds, `${place}.holdOffSeconds`, { min: 0, max: 86_400 }),
  };
}

function thresholdOf(value: unknown, place: string): Threshold {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object' || value === null) {
    throw new InputError(place, 'a number, or {"times", "of", "windows"}', value);
  }
  const { times, of, windows } = record(value, place, ['times', 'of', 'windows']);
  return {
    times: number(times, `${place}.times`, { min: 0, max: 1e6 }),
    of: oneOf(of, ['mean'], `${place}.of`),
    windows: number(windows, `${place}.windows`, { min: 1, max: 1000, isWhole: true }),
  };
}

function webhookOf(value: unknown, field: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url.href;
  // Not quoted, because it may contain a secret.
  throw new InputError(field, 'an http or https address', typeof value === 'string' ? 'another text' : value);
}

/** `place`: the file, or a field of it. */
function record(value: unknown, place: string, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InputError(place, 'an object', value);
  }
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return value as Record<string, unknown>;
  const field = place.includes(': ') ? `${place}.${unknown}` : `${place}: ${unknown}`;
  throw new InputError(field, `one of ${known.join(', ')}`, unknown);
}

function oneOf<Value extends string>(value: unknown, values: readonly Value[], field: string): Value {
  const found = values.find((one) => one === value);
  if (found === undefined) throw new InputError(field, `one of ${values.join(', ')}`, value);
  return found;
}

interface Limits {
  min: number;
  max: number;
  isWhole?: boolean;
}

function number(value: unknown, field: string, { min, max, isWhole = false }: Limits): number {
  const isNumber = typeof value === 'number' && (!isWhole || Number.isInteger(value));
  if (isNumber && value >= min && value <= max) return value;
  throw new InputError(field, `a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}`, value);
}
