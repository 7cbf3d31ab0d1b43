/** Reading results JSON: every field that merging, resuming and reporting rely on is checked, by name and place. */

import { InputError } from '../../abr/errors.ts';
import { placeOf } from '../formats/place.ts';
import type { Results, SessionResult } from '../results.ts';

/** Says what is wrong with a value, or that it is right (`undefined`). */
type Check = (value: unknown, field: string) => Fault | undefined;

interface Fault {
  field: string;
  expected: string;
  value: unknown;
}

/**
 * Results from the text of a file; the values are those of the JSON, untouched. Throws an `InputError` with file and
 * line for text that is not JSON (as a file cut short), with file and field for anything that is not the schema.
 */
export function parseResults(text: string, file: string): Results {
  const value = jsonValue(text, { file });
  requireShape(results, value, { file, field: '' });
  const parsed = value as Results;
  const ladder = new Set(parsed.scenario.ladderBps);
  for (const [index, session] of parsed.sessions.entries()) {
    checkSegmentsAgainstLadder(session, ladder, { file, field: `sessions[${index}]` });
  }
  return parsed;
}

/** How a line of a results file begins its sessions, and how one ends them (`resultsJson`). */
const SESSIONS_BEGIN = '"sessions":[';
const SESSIONS_END = '],';
/** Lines before the sessions. */
const HEAD_LINES = 3;

/**
 * The same from the lines of a file, however large: one session at a time, as `resultsJson` writes them. Undefined for any
 * other layout, found out in its first lines; then `parseResults` of the whole text is the way.
 */
export async function parseResultsLines(lines: AsyncIterable<string>, file: string): Promise<Results | undefined> {
  const head: string[] = [];
  const tail: string[] = [];
  const sessions: SessionResult[] = [];
  let part: 'head' | 'sessions' | 'tail' = 'head';
  let ladder = new Set<number>();
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
      checkSegmentsAgainstLadder(value as SessionResult, ladder, place);
      sessions.push(value as SessionResult);
    } else if (text === SESSIONS_BEGIN) {
      ladder = new Set(parseResults(`${head.join('\n')}"sessions":[],"summary":[]}`, file).scenario.ladderBps);
      part = 'sessions';
    } else if (head.push(text) > HEAD_LINES) return undefined;
  }
  if (part === 'head') return undefined;
  if (part === 'sessions')
    throw new InputError(placeOf({ file, line }), 'more sessions, or their end', undefined, 'the end of the file');
  return { ...parseResults(`${head.join('\n')}"sessions":[],${tail.join('\n')}`, file), sessions };
}

interface InFile {
  file: string;
  line?: number;
  field?: string;
}

/** Lines count from that of `place` where the text is a piece of a file. */
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

/** Levels and stalls are differences of floating-point times. */
const ROUNDING = 1e-9;
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const text = that('a string', (value) => typeof value === 'string');
const number = that('a number', isNumber);
const notNegative = that('a number >= 0', (value) => isNumber(value) && value >= -ROUNDING);
const positive = that('a number > 0', (value) => isNumber(value) && value > 0);
const count = that('a whole number >= 0', (value) => Number.isInteger(value) && (value as number) >= 0);
const isNull: Check = that('null', (value) => value === null);

function either(...checks: Check[]): Check {
  return (value, field) => {
    let first: Fault | undefined;
    for (const check of checks) {
      const fault = check(value, field);
      if (fault === undefined) return undefined;
      first ??= fault;
    }
    return first;
  };
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

/** Keys beyond those of the shape are let through: they belong to a newer writer. */
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

const qoe = object({ linear: number, log: number, hd: either(number, isNull) });

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
  qoeUpperBound: optional(qoe),
  meanBitrateBps: notNegative,
  stallSeconds: notNegative,
  stallCount: count,
  startupSeconds: notNegative,
  switches: count,
  switchBps: notNegative,
  wastedBits: notNegative,
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
  segmentSizesBits: list(list(positive, 1), 1),
});

const results = object({
  schema: that('1, the version of results this command reads', (value) => value === 1),
  tool: object({
    name: text,
    version: text,
    command: text,
    commit: either(text, isNull),
    seed: number,
    baseline: text,
    shard: optional(text),
  }),
  scenario,
  sessions: list(session),
  summary: list(object({ dataset: text, algorithm: text, sessions: count })),
});

/** A row whose bitrate is not in the ladder would be of another scenario. */
function checkSegmentsAgainstLadder({ segments }: SessionResult, ladder: ReadonlySet<number>, place: InFile): void {
  for (const [i, { bitrateBps }] of segments.entries()) {
    if (ladder.has(bitrateBps)) continue;
    const field = `${place.field}.segments[${i}].bitrateBps`;
    throw new InputError(placeOf({ ...place, field }), `one of the ladder (${[...ladder].join(', ')})`, bitrateBps);
  }
}
