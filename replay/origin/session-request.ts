/** Parses the body of a request to create a session. */

import { InputError } from '../../abr/errors.ts';
import { ADDRESSINGS, PADDINGS } from '../media/index.ts';
import type { ResolvedScenario } from '../results.ts';
import type { EncoderPause, Scenario } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { DELIVERIES } from './delivery.ts';
import type { ReplaySession, SessionSpec } from './session.ts';

export interface Catalogue {
  traces: ReadonlyMap<string, Trace>;
  scenarios: Readonly<Record<string, Scenario | ResolvedScenario>>;
  sessions: ReadonlyMap<string, ReplaySession>;
}

const FIELDS = [
  'trace',
  'scenario',
  'startSeconds',
  'segmentCount',
  'link',
  'targetLatencySeconds',
  'encoderPauses',
  'delivery',
  'media',
];

type Check<T> = (value: unknown, field: string) => T;

/**
 * `{"trace": name, "scenario": name, "startSeconds"?: 0, "segmentCount"?: all, "link"?: the id of a session that shares its
 * link, "targetLatencySeconds"?: the scenario's, "encoderPauses"?: [{"fromSeconds", "seconds"}], "delivery"?: "length",
 * "media"?: {"addressing"?, "periods"?, "audio"?, "padding"?}}`.
 * @throws {InputError} that names the field.
 */
export function parseSessionRequest(text: string, { traces, scenarios, sessions }: Catalogue): SessionSpec {
  const request = bodyObject(text);
  rejectUnknown(request, FIELDS, '');

  const { trace, scenario: scenarioField } = request;
  const traceName = asName([...traces.keys()])(trace, 'trace');
  const scenarioName = asName(Object.keys(scenarios))(scenarioField, 'scenario');
  const scenario = scenarios[scenarioName]!;
  const startSeconds = optional(request, 'startSeconds', asSeconds);
  const isCount = (n: number) => Number.isInteger(n) && n >= 1 && n <= scenario.segmentCount;
  const segmentCount = optional(request, 'segmentCount', asNumber(`1 to ${scenario.segmentCount}`, isCount));
  const link = optional(request, 'link', (id, field) => {
    const session = sessions.get(String(id));
    if (session === undefined) throw new InputError(field, 'the id of a session', id);
    return session;
  });
  const live = {
    ...optional(request, 'targetLatencySeconds', asSeconds),
    ...optional(request, 'encoderPauses', asPauses),
  };
  const delivery = optional(request, 'delivery', asName(DELIVERIES));
  const media = optional(request, 'media', asMedia);
  return {
    trace: traces.get(traceName)!,
    scenario,
    ...startSeconds,
    ...segmentCount,
    ...link,
    ...live,
    ...delivery,
    ...media,
  };
}

const asSeconds: Check<number> = (value, field) => asNumber('a number >= 0', (n) => n >= 0)(value, field);

const asPauses: Check<EncoderPause[]> = (value, field) => {
  if (!Array.isArray(value)) throw new InputError(field, 'a list of pauses', value);
  return value.map((entry: unknown, i) => {
    const pause = asObject(entry, `${field}[${i}]`);
    rejectUnknown(pause, ['fromSeconds', 'seconds'], `${field}[${i}].`);
    return {
      fromSeconds: asSeconds(pause['fromSeconds'], `${field}[${i}].fromSeconds`),
      seconds: asSeconds(pause['seconds'], `${field}[${i}].seconds`),
    };
  });
};

const asMedia: Check<NonNullable<SessionSpec['media']>> = (value, field) => {
  const media = asObject(value, field);
  rejectUnknown(media, ['addressing', 'periods', 'audio', 'padding'], `${field}.`);
  const addressing = optional(media, 'addressing', asName(ADDRESSINGS), field);
  const padding = optional(media, 'padding', asName(PADDINGS), field);
  const asCount = asNumber('a whole number >= 1', (n) => Number.isInteger(n) && n >= 1);
  const periods = optional(media, 'periods', asCount, field);
  const audio = optional(media, 'audio', asFlag, field);
  return { ...addressing, ...padding, ...periods, ...audio } as ReturnType<typeof asMedia>;
};

const asFlag: Check<boolean> = (value, field) => {
  if (typeof value !== 'boolean') throw new InputError(field, 'true or false', value);
  return value;
};

function asObject(value: unknown, field: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new InputError(field, 'a JSON object', value);
}

/** The JSON object in a request's body. */
export function bodyObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InputError('body', 'a JSON object', text);
  }
  return asObject(value, 'body');
}

function asName<Name extends string>(names: readonly Name[]): Check<Name> {
  return (value, field) => {
    const name = names.find((known) => known === value);
    if (name !== undefined) return name;
    throw new InputError(field, `one of ${names.join(', ') || '(none available)'}`, value);
  };
}

function asNumber(expected: string, holds: (value: number) => boolean): Check<number> {
  return (value, field) => {
    if (typeof value === 'number' && holds(value)) return value;
    throw new InputError(field, expected, value);
  };
}

/** `{ key: value }`, or `{}` if the object lacks the key. */
function optional<K extends string, T>(
  object: Record<string, unknown>,
  key: K,
  check: Check<T>,
  within?: string,
): Partial<Record<K, T>> {
  if (object[key] === undefined) return {};
  const field = within === undefined ? key : `${within}.${key}`;
  return { [key]: check(object[key], field) } as Partial<Record<K, T>>;
}

function rejectUnknown(object: Record<string, unknown>, known: readonly string[], prefix: string): void {
  for (const key of Object.keys(object)) {
    if (known.includes(key)) continue;
    throw new InputError(`${prefix}${key}`, `one of ${known.join(', ')}`, object[key]);
  }
}
