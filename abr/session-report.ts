/**
 * What a page reports of a session at its end, and the check of such a report. One flat object, so that each field is a
 * column of a table. A page's report is input from outside like any other: only what passes `validSessionReport` counts.
 */

import { check, InputError, isFrom, requireObject } from './errors.ts';

/** Of the shape below. A report with another version is not valid. */
export const SESSION_REPORT_VERSION = 1;
/** A viewer, or a session, is in one of so many clusters per trial. */
export const CLUSTER_COUNT = 1000;
/** The longest report, as a line of JSON. */
export const MAX_REPORT_BYTES = 4096;
/** The longest `observations`, in characters. */
export const MAX_OBSERVATIONS = 2000;

/** What a field may be. `optional`: it may be absent. */
export type FieldRule = { optional?: true } & (
  | { min: number; max: number; whole?: true }
  | { pattern: RegExp }
  | { values: readonly (string | boolean)[] }
);

/** Names of trials, arms, controllers and versions. */
export const REPORT_NAME = /^[\w .:+-]{1,64}$/;

const optional = true;
const name = { pattern: REPORT_NAME } as const;
const seconds = { min: 0, max: 86_400 } as const;
const bits = { min: 0, max: 1e15 } as const;
const bitrate = { min: 0, max: 1e9, optional } as const;
const throughput = { min: 0, max: 1e11, optional } as const;
const share = { min: 0, max: 1, optional } as const;
const count = { min: 0, max: 1e5, whole: true } as const;
const qoe = { min: -1e6, max: 1e3, optional } as const;
const flag = { values: [true, false] } as const;

/**
 * The rule of each field: what `validSessionReport` checks, and what a query over reports has to check again. Seconds are
 * of the clock, not of media, and bits are of video. docs/trials.md has what a reader of reports needs.
 */
export const SESSION_REPORT_FIELDS = {
  version: { min: SESSION_REPORT_VERSION, max: SESSION_REPORT_VERSION, whole: true },
  /** Random, of this report alone: tells a report from its repetition. */
  id: { pattern: /^[0-9a-f]{16}$/ },
  /** UTC day on which the session began, by the viewer's clock. */
  day: { pattern: /^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/ },
  /** Version of the package that has measured. */
  leoAbr: name,
  player: { values: ['dash.js', 'hls.js', 'shaka'] },
  playerVersion: name,
  /** The engine, by the user agent. */
  browser: { values: ['chromium', 'firefox', 'webkit', 'other'] },
  live: flag,
  /** Who chose the bitrate: a controller of the plugin by its name, or `player` for the player's own algorithm. */
  controller: name,
  trial: { ...name, optional },
  arm: { ...name, optional },
  /** The probability of this arm. */
  armShare: { min: 1e-6, max: 1, optional },
  /** What is assigned to an arm. */
  unit: { values: ['session', 'viewer'], optional },
  /** Sessions of a viewer (unit `session`: of an attachment) share it, and so do other viewers. */
  cluster: { min: 0, max: CLUSTER_COUNT - 1, whole: true, optional },
  /** `end`: the media ended; `source`: the player got another source or lost it; `page`: the page went away. */
  ended: { values: ['end', 'source', 'detached', 'page'] },
  /** There was a first picture. */
  started: flag,
  /** From the source, or the viewer's later start, to the first picture; or to the end, if there was none. */
  startupSeconds: seconds,
  /** Pictures moved: neither startup nor stalls nor pauses. */
  watchedSeconds: { min: 0, max: 604_800 },
  /** Waiting for media after the first picture; not after a seek of the viewer's, and not while paused. */
  stallSeconds: seconds,
  stallCount: count,
  /** Of the media that played. The next five are absent if none played. */
  meanBitrateBps: bitrate,
  /** Highest bitrate of the manifest: QoE charges its Mbit/s for a second of waiting. */
  topBitrateBps: bitrate,
  switches: count,
  /** QoE-linear (abr/qoe.ts) in Mbit/s per 4 s of media. */
  qoe,
  /** The same of the first media that played, or of all if it was less. */
  qoeFirst30Seconds: qoe,
  qoeFirst60Seconds: qoe,
  /** Mean live latency while playing; only live. */
  latencySeconds: { ...seconds, optional },
  /** Share of `watchedSeconds` at a playback rate that differs from 1 by 1 % or more; only live. */
  offRateShare: share,
  /** Bits of the video segments that were requested, and what was received of those that were abandoned. */
  requestedBits: bits,
  wastedBits: bits,
  /** Quantiles of the throughput in the seconds with a download. Absent without 5 of them. */
  throughput10Bps: throughput,
  throughput50Bps: throughput,
  throughput90Bps: throughput,
  /** The link changed in a rhythm of 15 s, as it does behind a Starlink dish. Absent while that is not known. */
  rhythm: { ...flag, optional },
  /** Outcomes with which forecasts were compared, and their shares below the quantiles at 10, 50 and 90 %. */
  forecasts: { ...count, optional },
  below10Share: share,
  below50Share: share,
  below90Share: share,
  /** Codes of the plugin's faults, each once, separated by commas. */
  faults: { pattern: /^[a-z-]{1,32}(,[a-z-]{1,32}){0,15}$/, optional },
  /** Throughput in kbit/s of each second, separated by commas; nothing between them for a second without a download. */
  observations: { pattern: /^[\d,]{1,1000}[\d,]{0,1000}$/, optional },
  /** UTC in ms of the first of these seconds, by the viewer's clock. */
  observedFromMs: { min: 1.5e12, max: 5e12, whole: true, optional },
} as const satisfies Record<string, FieldRule>;

type Fields = typeof SESSION_REPORT_FIELDS;
type Values<R> = R extends { values: readonly (infer V)[] } ? V : R extends { pattern: RegExp } ? string : number;
type OptionalName = { [K in keyof Fields]: Fields[K] extends { optional: true } ? K : never }[keyof Fields];

/** What is unknown or does not apply is absent; nothing is null. */
export type SessionReport = { [K in Exclude<keyof Fields, OptionalName>]: Values<Fields[K]> } & {
  [K in OptionalName]?: Values<Fields[K]>;
};

/** Fields that are there together or not at all. */
export const TOGETHER: readonly (readonly (keyof SessionReport)[])[] = [
  ['trial', 'arm', 'armShare', 'unit', 'cluster'],
  ['throughput10Bps', 'throughput50Bps', 'throughput90Bps'],
  ['meanBitrateBps', 'topBitrateBps', 'qoe', 'qoeFirst30Seconds', 'qoeFirst60Seconds'],
  ['below10Share', 'below50Share', 'below90Share'],
  ['observations', 'observedFromMs'],
];

/** Of each pair, the first field is not above the second, where both are there. */
export const ORDERED: readonly (readonly [keyof SessionReport, keyof SessionReport])[] = [
  ['wastedBits', 'requestedBits'],
  ['meanBitrateBps', 'topBitrateBps'],
  ['throughput10Bps', 'throughput50Bps'],
  ['throughput50Bps', 'throughput90Bps'],
  ['below10Share', 'below50Share'],
  ['below50Share', 'below90Share'],
];

/** Returns `value` if it is a report of this version, else throws an `InputError` that names the field below `path`. */
export function validSessionReport(value: unknown, path = 'report'): SessionReport {
  const report = requireObject(value, path);
  const has = (name: string) => Object.hasOwn(report, name);
  for (const name of Object.keys(report)) {
    check(Object.hasOwn(SESSION_REPORT_FIELDS, name), `${path}.${name}`, 'a field of the report', report[name]);
  }
  for (const [name, rule] of Object.entries<FieldRule>(SESSION_REPORT_FIELDS)) {
    const expected = rule.optional && !has(name) ? undefined : unmet(rule, has(name) ? report[name] : undefined);
    check(expected === undefined, `${path}.${name}`, expected!, report[name]);
  }
  for (const names of TOGETHER) {
    const absent = names.find((name) => !has(name));
    const present = names.find(has);
    if (absent && present) throw new InputError(`${path}.${absent}`, `a value beside ${present}`, undefined);
  }
  for (const [lesser, greater] of ORDERED) {
    const [low, high] = [report[lesser], report[greater]] as [number?, number?];
    if (low! > high!) throw new InputError(`${path}.${lesser}`, `at most ${greater} (${high})`, low);
  }
  return value as SessionReport;
}

/** The expectation that `value` does not meet; undefined if it meets all. */
function unmet(rule: FieldRule, value: unknown): string | undefined {
  if ('values' in rule) return rule.values.includes(value as string) ? undefined : rule.values.join(' or ');
  if ('pattern' in rule) {
    return typeof value === 'string' && rule.pattern.test(value) ? undefined : `text like ${rule.pattern.source}`;
  }
  const { min, max, whole } = rule;
  const isOne = isFrom(value, min, max) && (!whole || Number.isInteger(value));
  return isOne ? undefined : `a ${whole ? 'whole ' : ''}number from ${min} to ${max}`;
}
