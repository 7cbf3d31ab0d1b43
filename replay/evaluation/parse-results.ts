/** Parses results JSON and validates every field that merging, resuming and reporting use. */

import { InputError } from '../../abr/errors.ts';
import { placeOf } from '../formats/place.ts';
import type { Results, SessionResult } from '../results.ts';

/** Returns the fault of a value, or undefined. */
type Check = (value: unknown, field: string) => Fault | undefined;

interface Fault {
  field: string;
  expected: string;
  value: unknown;
}

/**
 * Results from the text of a file, with unchanged values.
 * @throws {InputError} with file and line for invalid JSON (as of a truncated file), with file and field for other
 * violations of the schema.
 */
export function parseResults(text: string, file: string): Results {
  const value = jsonValue(text, { file });
  requireShape(results, value, { file, field: '' });
  const parsed = value as Results;
  for (const [index, session] of parsed.sessions.entries()) {
    checkAgainstScenario(session, parsed.scenario, { file, field: `sessions[${index}]` });
  }
  return parsed;
}

/**
 * As `parseResults`, but also takes partial results that end after any session, as a killed command leaves them. The
 * line that it was writing is left out; there is no summary.
 */
export function parsePartialResults(text: string, file: string): Results {
  const begin = text.indexOf(`\n${SESSIONS_BEGIN}\n`);
  if (begin < 0 || text.endsWith('}\n') || !text.slice(0, begin).includes('"complete":false')) {
    return parseResults(text, file);
  }
  const whole = text.slice(0, text.lastIndexOf('\n')).replace(/,$/, '');
  return parseResults(`${whole}],"summary":[]}`, file);
}

/** The lines around the sessions in the layout of `resultsJson`. */
const SESSIONS_BEGIN = '"sessions":[';
const SESSIONS_END = '],';
/** Lines before the sessions. */
const HEAD_LINES = 3;

/**
 * As `parseResults`, but session by session from the lines of a file of any size, in the layout of `resultsJson`.
 * Resolves to undefined for another layout, after its first lines; parse the whole text then.
 */
export async function parseResultsLines(lines: AsyncIterable<string>, file: string): Promise<Results | undefined> {
  const head: string[] = [];
  const tail: string[] = [];
  const sessions: SessionResult[] = [];
  let part: 'head' | 'sessions' | 'tail' = 'head';
  let scenario: Results['scenario'] | undefined;
  let line = 0;
  for await (const text of lines) {
    line++;
    if (part === 'tail') tail.push(text);
    else if (part === 'sessions') {
      if (text === SESSIONS_END) {
        part = 'tail';
        continue;
      }
      const value = jsonValue(text.replace(/,$/, ''), { file, line });
      const place = { file, line, field: `sessions[${sessions.length}]` };
      requireShape(session, value, place);
      checkAgainstScenario(value as SessionResult, scenario!, place);
      sessions.push(value as SessionResult);
    } else if (text === SESSIONS_BEGIN) {
      ({ scenario } = parseResults(`${head.join('\n')}"sessions":[],"summary":[]}`, file));
      part = 'sessions';
    } else if (head.push(text) > HEAD_LINES) return undefined;
  }
  if (part === 'head') return undefined;
  if (part === 'sessions') {
    throw new InputError(placeOf({ file, line }), 'a session or the end of the list', undefined, 'the end of the file');
  }
  return { ...parseResults(`${head.join('\n')}"sessions":[],${tail.join('\n')}`, file), sessions };
}

interface InFile {
  file: string;
  line?: number;
  field?: string;
}

/** `line` is the text's first line in the file; default 1. */
function jsonValue(text: string, { file, line }: InFile): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = Number(/at position (\d+)/.exec((error as Error).message)?.[1] ?? text.length);
    throw new InputError(
      placeOf({ file, line: (line ?? 1) + text.slice(0, position).split('\n').length - 1 }),
      'results JSON',
      undefined,
      text.trim() === '' ? 'an empty file' : `invalid JSON (${(error as Error).message})`,
    );
  }
}

function requireShape(check: Check, value: unknown, { field = '', ...place }: InFile): void {
  const fault = check(value, field);
  if (fault === undefined) return;
  throw new InputError(placeOf({ ...place, field: fault.field || undefined }), fault.expected, fault.value);
}

function that(expected: string, holds: (value: unknown) => boolean): Check {
  return (value, field) => (holds(value) ? undefined : { field, expected, value });
}

/** Buffer levels and stalls are differences of floating-point times. */
const ROUNDING = 1e-9;
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const text = that('a string', (value) => typeof value === 'string');
const number = that('a number', isNumber);
const notNegative = that('a number >= 0', (value) => isNumber(value) && value >= -ROUNDING);
const positive = that('a number > 0', (value) => isNumber(value) && value > 0);
const count = that('a whole number >= 0', (value) => Number.isInteger(value) && (value as number) >= 0);

function nullable(check: Check): Check {
  return (value, field) => (value === null ? undefined : check(value, field));
}

function optional(check: Check): Check {
  return (value, field) => (value === undefined ? undefined : check(value, field));
}

function list(item: Check, least = 0): Check {
  return (value, field) => {
    if (!Array.isArray(value) || value.length < least) {
      return { field, expected: least > 0 ? `a list of at least ${least}` : 'a list', value };
    }
    for (let i = 0; i < value.length; i++) {
      const fault = item(value[i], `${field}[${i}]`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

/** Unknown keys are allowed: a newer version may have written them. */
function object(shape: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(shape);
  return (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { field, expected: 'an object', value };
    }
    for (const [key, check] of entries) {
      const fault = check((value as Record<string, unknown>)[key], field === '' ? key : `${field}.${key}`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function ascending(check: Check): Check {
  return (value, field) => {
    const fault = check(value, field);
    if (fault !== undefined) return fault;
    const values = value as number[];
    const at = values.findIndex((item, index) => index > 0 && item <= values[index - 1]!);
    return at < 0 ? undefined : { field: `${field}[${at}]`, expected: 'more than the value before', value: values[at] };
  };
}

const qoe = object({ linear: number, log: number, hd: nullable(number) });

const segment = object({
  index: count,
  bitrateBps: positive,
  sizeBits: positive,
  requestedAtSeconds: notNegative,
  downloadSeconds: notNegative,
  bufferLevelSeconds: notNegative,
  stallSeconds: notNegative,
  abandonedBits: notNegative,
  reason: text,
});

const live = object({
  qoe: number,
  watchedSeconds: positive,
  latencySecondsMean: notNegative,
  latencySecondsP95: notNegative,
  stallSecondsPerMinute: notNegative,
  stallsPerMinute: notNegative,
  offRateShare: notNegative,
  rateDeviationMean: notNegative,
  jumps: count,
});

const session = object({
  trace: text,
  dataset: text,
  group: text,
  startSeconds: notNegative,
  algorithm: text,
  seed: number,
  endedBy: that("'end', 'cutoff' or 'fault'", (value) => ['end', 'cutoff', 'fault'].includes(value as string)),
  fault: optional(text),
  segments: list(segment),
  qoe,
  meanBitrateBps: notNegative,
  stallSeconds: notNegative,
  stallCount: count,
  startupSeconds: notNegative,
  switches: count,
  switchBps: notNegative,
  wastedBits: notNegative,
  live: optional(live),
  household: optional(
    object({ name: text, algorithm: text, player: count, joinSeconds: notNegative, linkUtilisation: notNegative }),
  ),
  pastTraceSeconds: optional(positive),
  decisionMicros: optional(object({ p50: notNegative, p99: notNegative })),
});

const scenario = object({
  name: text,
  ladderBps: ascending(list(positive, 1)),
  segmentSeconds: positive,
  segmentCount: count,
  bufferCapSeconds: positive,
  rttSeconds: notNegative,
  mu: notNegative,
  lambda: notNegative,
  live: optional(
    object({
      targetLatencySeconds: positive,
      chunkSeconds: positive,
      encoderLatencySeconds: notNegative,
      timeShiftSeconds: notNegative,
    }),
  ),
  segmentSizesBits: list(list(positive, 1), 1),
});

const results = object({
  schema: that('1 or 2, the versions of results that this command reads', (value) => value === 1 || value === 2),
  tool: object({
    name: text,
    version: text,
    command: text,
    commit: nullable(text),
    seed: number,
    baseline: text,
    shard: optional(text),
    work: optional(text),
    leftOut: optional(list(object({ dataset: text, trace: text, startSeconds: notNegative, reason: text }))),
  }),
  scenario,
  sessions: list(session),
  households: optional(list(object({ household: text, algorithm: text, qoeSum: number, qoeLeast: number }))),
  summary: list(object({ dataset: text, algorithm: text, sessions: count })),
});

/** A bitrate that is not in the ladder belongs to another scenario; a live one needs its metrics. */
function checkAgainstScenario(played: SessionResult, { ladderBps, live }: Results['scenario'], place: InFile): void {
  for (const [i, { bitrateBps }] of played.segments.entries()) {
    if (ladderBps.includes(bitrateBps)) continue;
    const field = `${place.field}.segments[${i}].bitrateBps`;
    throw new InputError(placeOf({ ...place, field }), `one of the ladder (${ladderBps.join(', ')})`, bitrateBps);
  }
  if ((live === undefined) === (played.live === undefined)) return;
  const expected = live === undefined ? 'none in a scenario on demand' : 'the metrics of a live scenario';
  throw new InputError(placeOf({ ...place, field: `${place.field}.live` }), expected, played.live);
}
