/** The config file: each trigger compares the mean of a metric with a number, or with its earlier mean (T3P). */

import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { check, InputError } from '../../abr/errors.ts';
import { located } from '../api/refusals.ts';

/** Metrics of a second of the dish, and whether a handover was due. `obstructed` and `handover` are 0 or 1. */
const METRICS = ['latencyMs', 'dropRate', 'downlinkUsageBps', 'uplinkUsageBps', 'obstructed', 'handover'] as const;
export type Metric = (typeof METRICS)[number];

const closed = { additionalProperties: false };
const mean = Type.Object(
  {
    times: Type.Number({ minimum: 0, maximum: 1e6 }),
    of: Type.Enum(['mean']),
    windows: Type.Integer({ minimum: 1, maximum: 1000 }),
  },
  closed,
);
const triggerSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9-]{1,50}$' }),
    metric: Type.Enum(METRICS),
    comparison: Type.Enum(['>', '>=', '<', '<=']),
    threshold: Type.Union([Type.Number(), mean]),
    windowSeconds: Type.Integer({ minimum: 1, maximum: 3600, default: 1 }),
    holdOffSeconds: Type.Number({ minimum: 0, maximum: 86_400, default: 15 }),
  },
  closed,
);
export type Trigger = Static<typeof triggerSchema>;

const configSchema = Type.Object(
  {
    triggers: Type.Array(triggerSchema, { maxItems: 100, default: [] }),
    builtIn: Type.Boolean({ default: true }),
  },
  closed,
);

export interface ServiceConfig {
  triggers: Trigger[];
}

const latency = { metric: 'latencyMs', comparison: '>', windowSeconds: 1, holdOffSeconds: 15 } as const;
const above0 = { comparison: '>', threshold: 0, windowSeconds: 1 } as const;

export const BUILT_IN_TRIGGERS: readonly Trigger[] = [
  { ...latency, name: 'latency', threshold: { times: 2, of: 'mean', windows: 10 } },
  { ...latency, name: 'latency-spike', threshold: { times: 10, of: 'mean', windows: 10 } },
  { ...latency, name: 'drops', metric: 'dropRate', comparison: '>=', threshold: 0.2 },
  { ...above0, name: 'obstruction', metric: 'obstructed', holdOffSeconds: 15 },
  { ...above0, name: 'handover', metric: 'handover', holdOffSeconds: 5 },
];

/** A trigger replaces the built-in trigger of its name. `{"builtIn": false}` disables all. @throws {InputError} */
export function parseConfig(text: string, file: string): ServiceConfig {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may contain a secret.
    throw new InputError(file, 'JSON', 'text that cannot be parsed');
  }
  if (typeof json === 'object' && json !== null && 'webhook' in json) {
    // The address is not quoted, because it may contain a secret.
    const expected = "no webhook since 0.4.0 (read the service's /v1/events?types=trigger)";
    throw new InputError(`${file}: webhook`, expected, undefined, 'one');
  }
  const { triggers, builtIn } = checked(Value.Default(configSchema, json), file);
  const names = triggers.map(({ name }) => name);
  names.forEach((name, i) => {
    check(names.indexOf(name) === i, `${file}: triggers[${i}].name`, 'a unique name', name);
  });
  const kept = builtIn ? BUILT_IN_TRIGGERS.filter(({ name }) => !names.includes(name)) : [];
  return { triggers: [...kept, ...triggers] };
}

function checked(json: unknown, file: string): Static<typeof configSchema> {
  if (Value.Check(configSchema, json)) return json;
  // If a choice has several errors, the error that is deepest inside is the reason.
  const errors = [...Value.Errors(configSchema, json)].sort((a, b) => b.instancePath.length - a.instancePath.length);
  const { instancePath, keyword, message, params } = errors[0]!;
  const { path, found } = located(json, instancePath);
  const allowed = 'allowedValues' in params ? `one of ${params.allowedValues.join(', ')}` : undefined;
  const expected = keyword === 'boolean' ? 'no such field' : message.replace('must be ', '').replace('must ', 'to ');
  throw new InputError(path === '' ? file : `${file}: ${path.slice(1)}`, allowed ?? expected, found);
}
