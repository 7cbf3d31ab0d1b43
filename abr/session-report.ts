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

/**
 * Seconds are of the clock, not of media, and bits are of video. A field that is optional here is absent where it does not
 * apply or is not known; none is null. docs/trials.md has the same for readers without TypeScript.
 */
export interface SessionReport {
  version: typeof SESSION_REPORT_VERSION;
  /** 16 hexadecimal digits, random, of this report alone: tells a report from its repetition. */
  id: string;
  /** UTC day on which the session began, by the viewer's clock: `2026-01-31`. */
  day: string;
  /** Version of the package `leo-abr` that has measured. */
  leoAbr: string;
  player: 'dash.js' | 'hls.js' | 'shaka';
  playerVersion: string;
  /** The engine, by the user agent; of no version. */
  browser: 'chromium' | 'firefox' | 'webkit' | 'other';
  live: boolean;
  /** Who chose the bitrate: a controller of the plugin by its name, or `player` for the player's own algorithm. */
  controller: string;

  /** Name of the trial. These five fields are there together, or none of them is. */
  trial?: string;
  /** Name of the arm. */
  arm?: string;
  /** The probability with which a session or viewer gets into this arm, above 0 to 1. */
  armShare?: number;
  /** What is assigned to an arm: the attachment to a player (its sessions share the arm), or the viewer. */
  unit?: 'session' | 'viewer';
  /** 0 to 999. Sessions of a viewer share it (unit `session`: those of an attachment), and so do other viewers. */
  cluster?: number;

  /** `end`: the media ended; `source`: the player got another source or lost it; `detached`; `page`: the page went away. */
  ended: 'end' | 'source' | 'detached' | 'page';
  /** There was a first picture. */
  started: boolean;
  /** From the source, or the viewer's later start, to the first picture; or to the end, if there was none. 0 to 86,400. */
  startupSeconds: number;
  /** Time in which pictures moved: neither startup nor stalls nor pauses. 0 to 604,800. */
  watchedSeconds: number;
  /** Waiting for media after the first picture; not after a seek of the viewer's, and not while paused. 0 to 86,400. */
  stallSeconds: number;
  stallCount: number;
  /** Bitrate of the media that played, weighted by its duration. Absent if none played. */
  meanBitrateBps?: number;
  /** Highest bitrate of the manifest: QoE charges its Mbit/s for a second of waiting. */
  topBitrateBps?: number;
  /** Changes of the bitrate that played. */
  switches: number;
  /** QoE-linear (abr/qoe.ts) in Mbit/s per 4 s of media, of all that played. Absent if nothing played. */
  qoe?: number;
  /** The same of the first 30 and 60 s of media that played, or of all if it was less. */
  qoeFirst30Seconds?: number;
  qoeFirst60Seconds?: number;

  /** Mean live latency while playing; only live. 0 to 86,400. */
  latencySeconds?: number;
  /** Share of `watchedSeconds` at a playback rate that differs from 1 by 1 % or more; only live. */
  offRateShare?: number;

  /** Bits of the video segments that were requested, and what was received of those that were abandoned. */
  requestedBits: number;
  wastedBits: number;
  /** Quantiles of the throughput in the seconds with a download. Absent without 5 of them. */
  throughput10Bps?: number;
  throughput50Bps?: number;
  throughput90Bps?: number;
  /** The link changed in a rhythm of 15 s, as it does behind a Starlink dish. Absent while that is not known. */
  rhythm?: boolean;

  /** Outcomes with which forecasts were compared. The next three fields are there if it is above 0. */
  forecasts?: number;
  /** Share of the outcomes below the forecasts' quantiles at 10, 50 and 90 %. */
  below10Share?: number;
  below50Share?: number;
  below90Share?: number;
  /** Codes of the plugin's faults, each once. */
  faults: readonly string[];

  /**
   * With `observations: true`: throughput in kbit/s of each second from `observedFromMs` on, separated by commas; nothing
   * between two commas for a second without a download. At most 2,000 characters: a long session's first part.
   */
  observations?: string;
  /** UTC in ms of the first of these seconds, by the viewer's clock. */
  observedFromMs?: number;
}

/** What a field may be. `optional`: it may be absent. */
export type FieldRule =
  | { type: 'number'; min: number; max: number; whole?: boolean; optional?: boolean }
  | { type: 'text'; pattern: RegExp; optional?: boolean }
  | { type: 'choice'; values: readonly (string | number)[]; optional?: boolean }
  | { type: 'boolean'; optional?: boolean }
  /** An array of at most `most` different texts. */
  | { type: 'texts'; pattern: RegExp; most: number; optional?: boolean };

/** Names of trials, arms, controllers and versions. */
export const REPORT_NAME = /^[\w .:+-]{1,64}$/;

const optional = true;
const name = { type: 'text', pattern: REPORT_NAME } as const;
const seconds = { type: 'number', min: 0, max: 86_400 } as const;
const bits = { type: 'number', min: 0, max: 1e15 } as const;
const bitrate = { type: 'number', min: 0, max: 1e9, optional } as const;
const throughput = { type: 'number', min: 0, max: 1e11, optional } as const;
const share = { type: 'number', min: 0, max: 1, optional } as const;
const count = { type: 'number', min: 0, max: 1e5, whole: true } as const;
const qoe = { type: 'number', min: -1e6, max: 1e3, optional } as const;
const flag = { type: 'boolean' } as const;

/** The rule of each field: what `validSessionReport` checks, and what a query over reports has to check again. */
export const SESSION_REPORT_FIELDS: Readonly<Record<keyof SessionReport, FieldRule>> = {
  version: { type: 'choice', values: [SESSION_REPORT_VERSION] },
  id: { type: 'text', pattern: /^[0-9a-f]{16}$/ },
  day: { type: 'text', pattern: /^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/ },
  leoAbr: name,
  player: { type: 'choice', values: ['dash.js', 'hls.js', 'shaka'] },
  playerVersion: name,
  browser: { type: 'choice', values: ['chromium', 'firefox', 'webkit', 'other'] },
  live: flag,
  controller: name,
  trial: { ...name, optional },
  arm: { ...name, optional },
  armShare: { type: 'number', min: 1e-6, max: 1, optional },
  unit: { type: 'choice', values: ['session', 'viewer'], optional },
  cluster: { type: 'number', min: 0, max: CLUSTER_COUNT - 1, whole: true, optional },
  ended: { type: 'choice', values: ['end', 'source', 'detached', 'page'] },
  started: flag,
  startupSeconds: seconds,
  watchedSeconds: { type: 'number', min: 0, max: 604_800 },
  stallSeconds: seconds,
  stallCount: count,
  meanBitrateBps: bitrate,
  topBitrateBps: bitrate,
  switches: count,
  qoe,
  qoeFirst30Seconds: qoe,
  qoeFirst60Seconds: qoe,
  latencySeconds: { ...seconds, optional },
  offRateShare: share,
  requestedBits: bits,
  wastedBits: bits,
  throughput10Bps: throughput,
  throughput50Bps: throughput,
  throughput90Bps: throughput,
  rhythm: { type: 'boolean', optional },
  forecasts: { ...count, optional },
  below10Share: share,
  below50Share: share,
  below90Share: share,
  faults: { type: 'texts', pattern: /^[a-z-]{1,32}$/, most: 16 },
  observations: { type: 'text', pattern: new RegExp(`^[\\d,]{1,${MAX_OBSERVATIONS}}$`), optional },
  observedFromMs: { type: 'number', min: 1.5e12, max: 5e12, whole: true, optional },
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
  const fields = Object.entries(SESSION_REPORT_FIELDS);
  for (const name of Object.keys(report)) {
    check(Object.hasOwn(SESSION_REPORT_FIELDS, name), `${path}.${name}`, 'a field of the report', report[name]);
  }
  for (const [name, rule] of fields) {
    const isAbsent = !Object.hasOwn(report, name);
    if (isAbsent && rule.optional) continue;
    const expected = problem(rule, report[name]);
    check(expected === undefined, `${path}.${name}`, expected!, report[name]);
  }
  for (const names of TOGETHER) {
    const absent = names.find((name) => !Object.hasOwn(report, name));
    const present = names.find((name) => Object.hasOwn(report, name));
    if (absent && present) throw new InputError(`${path}.${absent}`, `a value beside ${present}`, undefined);
  }
  for (const [lesser, greater] of ORDERED) {
    const [low, high] = [report[lesser], report[greater]] as [number?, number?];
    if (low! > high!) throw new InputError(`${path}.${lesser}`, `at most ${greater} (${high})`, low);
  }
  return value as SessionReport;
}

/** The expectation that `value` does not meet; undefined if it meets all. */
function problem(rule: FieldRule, value: unknown): string | undefined {
  switch (rule.type) {
    case 'number': {
      const { min, max, whole } = rule;
      const holds = isFrom(value, min, max) && (!whole || Number.isInteger(value));
      return holds ? undefined : `a ${whole ? 'whole ' : ''}number from ${min} to ${max}`;
    }
    case 'text':
      return isText(value, rule.pattern) ? undefined : `text like ${rule.pattern.source}`;
    case 'choice':
      return rule.values.includes(value as string) ? undefined : rule.values.join(' or ');
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'texts': {
      const { pattern, most } = rule;
      const holds =
        Array.isArray(value) &&
        value.length <= most &&
        value.every((one) => isText(one, pattern)) &&
        new Set(value).size === value.length;
      return holds ? undefined : `at most ${most} different texts like ${pattern.source}`;
    }
  }
}

const isText = (value: unknown, pattern: RegExp) => typeof value === 'string' && pattern.test(value);
