/** The report of a session at its end, one flat object, so that each field is a column; and its check. */

import { check, parsedJson, requireFrom, requireInteger, requireObject } from '../abr/errors.ts';

export const SESSION_REPORT_VERSION = 1;
/** Clusters per trial. A viewer, or a session, is in one cluster. */
export const CLUSTER_COUNT = 1000;
export const MAX_REPORT_BYTES = 4096;
export const MAX_OBSERVATIONS = 2000;

/** `with`: a field that must be present, too. `atMost`: a field that is a limit. `qoeSeconds`: first seconds that a QoE covers. */
export type FieldRule = { optional?: true; with?: string; atMost?: string; qoeSeconds?: number; isPerceived?: true } & (
  | { min: number; max: number; whole?: true }
  | { pattern: RegExp }
  | { values: readonly (string | boolean)[] }
);

export const REPORT_NAME = /^[\w .:+-]{1,64}$/;

const optional = true;
const name = { pattern: REPORT_NAME } as const;
const assigned = { optional, with: 'trial' } as const;
const seconds = { min: 0, max: 86_400 } as const;
const bits = { min: 0, max: 1e15 } as const;
const count = { min: 0, max: 1e5, whole: true } as const;
const share = { min: 0, max: 1, optional } as const;
const below = { ...share, with: 'below50Share' } as const;
const played = { optional, with: 'qoe' } as const;
const bitrate = { min: 0, max: 1e9, ...played } as const;
const qoe = { min: -1e6, max: 1e3, ...played, atMost: 'topBitrateBps' } as const;
const throughput = { min: 0, max: 1e11, optional, with: 'throughput50Bps' } as const;
const flag = { values: [true, false] } as const;

/** For pages, collectors and queries. docs/trials.md has the meanings. Any day is valid: a viewer's clock may be wrong. */
export const SESSION_REPORT_FIELDS = {
  version: { min: SESSION_REPORT_VERSION, max: SESSION_REPORT_VERSION, whole: true },
  id: { pattern: /^[0-9a-f]{16}$/ },
  day: { pattern: /^20\d\d-\d\d-\d\d$/ },
  leoAbr: name,
  player: { values: ['dash.js', 'hls.js', 'shaka'] },
  playerVersion: name,
  browser: { values: ['chromium', 'firefox', 'webkit', 'other'] },
  live: flag,
  controller: name,
  trial: { ...name, optional },
  arm: { ...name, ...assigned },
  armShare: { min: 1e-6, max: 1, ...assigned },
  unit: { values: ['session', 'viewer'], ...assigned },
  cluster: { min: 0, max: CLUSTER_COUNT - 1, whole: true, ...assigned },
  ended: { values: ['end', 'source', 'detached', 'page'] },
  started: flag,
  startupSeconds: seconds,
  watchedSeconds: { min: 0, max: 604_800 },
  stallSeconds: seconds,
  stallCount: count,
  meanBitrateBps: { ...bitrate, atMost: 'topBitrateBps' },
  topBitrateBps: bitrate,
  switches: count,
  perceivedQoe: { min: -1e6, max: 100, optional, qoeSeconds: 604_800, isPerceived: true },
  qoe: { ...qoe, atMost: 'meanBitrateBps', qoeSeconds: 604_800 },
  qoeFirst30Seconds: { ...qoe, qoeSeconds: 30 },
  qoeFirst60Seconds: { ...qoe, qoeSeconds: 60 },
  latencySeconds: { ...seconds, optional },
  offRateShare: share,
  requestedBits: bits,
  wastedBits: { ...bits, atMost: 'requestedBits' },
  receivedBits: { ...bits, optional },
  aboveEnoughBits: { ...bits, optional, atMost: 'requestedBits' },
  throughput10Bps: { ...throughput, atMost: 'throughput50Bps' },
  throughput50Bps: { ...throughput, atMost: 'throughput90Bps' },
  throughput90Bps: throughput,
  rhythm: { ...flag, optional },
  forecasts: { ...count, optional },
  below10Share: { ...below, atMost: 'below50Share' },
  below50Share: { ...below, atMost: 'below90Share' },
  below90Share: below,
  faults: { pattern: /^[a-z-]{1,32}(,[a-z-]{1,32}){0,15}$/, optional },
  observations: { pattern: /^,*\d{1,8}(,+\d{1,8})*$/, optional, with: 'observedFromMs' },
  observedFromMs: { min: 1.5e12, max: 5e12, whole: true, optional, with: 'observations' },
} as const satisfies Record<string, FieldRule>;

type Fields = typeof SESSION_REPORT_FIELDS;
type Values<R> = R extends { values: readonly (infer V)[] } ? V : R extends { pattern: RegExp } ? string : number;
type OptionalName = { [K in keyof Fields]: Fields[K] extends { optional: true } ? K : never }[keyof Fields];

/** Unknown fields and fields that do not apply are absent, never null. docs/trials.md has meanings and units. */
export type SessionReport = { [K in Exclude<keyof Fields, OptionalName>]: Values<Fields[K]> } & {
  [K in OptionalName]?: Values<Fields[K]>;
};

/** Returns `value` if it is a report of this version, else throws an `InputError` that names the field below `path`. */
export function validSessionReport(value: unknown, path = 'report'): SessionReport {
  const report = requireObject(value, path);
  const has = (name: string) => Object.keys(report).includes(name);
  const unknown = Object.keys(report).find((name) => !Object.keys(SESSION_REPORT_FIELDS).includes(name));
  check(unknown === undefined, `${path}.${unknown}`, 'a field of the report', report[unknown!]);
  for (const [name, rule] of Object.entries<FieldRule>(SESSION_REPORT_FIELDS)) {
    const { optional, with: partner = name, atMost = name, qoeSeconds, isPerceived } = rule;
    const { [name]: own, [atMost]: limit } = report;
    if (has(name) || !optional) checkValue(own, `${path}.${name}`, rule);
    const [given, absent] = has(name) ? [name, partner] : [partner, name];
    check(has(absent) || !has(given), `${path}.${absent}`, `a value beside ${given}`, undefined);
    if (typeof limit !== 'number') continue;
    const { topBitrateBps = 0 } = report as { topBitrateBps?: number };
    const [best, most] = isPerceived ? [100, 100] : [topBitrateBps / 1e6, 1.0001e-6 * limit];
    if (qoeSeconds) requireFrom(own, `${path}.${name}`, leastQoe(report as never, best, qoeSeconds), most);
    else check(!((own as number) > limit), `${path}.${name}`, `at most ${atMost} (${limit})`, own);
  }
  const { day } = value as SessionReport;
  check(new Date(Date.parse(day) || 0).toISOString().startsWith(day), `${path}.day`, 'a day of the calendar', day);
  return value as SessionReport;
}

/** A stall, a second of waiting and a switch cost at most 4 s of the best. The QoE covers at least 1 % of what was watched. */
const leastQoe = ({ watchedSeconds: watched, ...of }: SessionReport, best: number, seconds: number) =>
  (-4 * best * (1 + of.startupSeconds + of.stallSeconds + of.stallCount + of.switches)) /
  Math.min(watched / 100, seconds);

/** Parses a report from a line of JSON. Throws an `InputError` for an invalid line. */
export function parseSessionReport(line: string, path = 'report'): SessionReport {
  check(line.length <= MAX_REPORT_BYTES, path, `at most ${MAX_REPORT_BYTES} bytes`, line.length);
  return validSessionReport(parsedJson(line, path), path);
}

function checkValue(value: unknown, path: string, rule: FieldRule): void {
  if ('values' in rule) check(rule.values.includes(value as string), path, rule.values.join(' or '), value);
  else if ('pattern' in rule) {
    const isLike = typeof value === 'string' && value.length <= MAX_OBSERVATIONS && rule.pattern.test(value);
    check(isLike, path, `text like ${rule.pattern.source}`, value);
  } else if (rule.whole) requireInteger(value, path, rule);
  else requireFrom(value, path, rule.min, rule.max);
}
