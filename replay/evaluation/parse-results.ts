/** Parses results JSON and validates every field that merging, resuming and reporting use. */

import { InputError } from '../../abr/errors.ts';
import { placeOf } from '../formats/place.ts';
import type { Results, SessionResult } from '../results.ts';

/** The lines around the sessions in the layout of `resultsJson`. */
const SESSIONS_BEGIN = '"sessions":[';
const SESSIONS_END = '],';

/**
 * Results, with unchanged values, from the text or the lines of a file. In the layout of `resultsJson` each line is parsed
 * by itself, so that a file may be longer than a string. `allowPartial`: partial results may end after any session, as a
 * killed command leaves them; the line that it was writing is left out, and there is no summary.
 * @throws {InputError} with file and line for invalid JSON (as of a truncated file), with file and field for other
 * violations of the schema.
 */
export function parseResults(
  input: string | Iterable<string>,
  file: string,
  { allowPartial = false }: { allowPartial?: boolean } = {},
): Results {
  const head: string[] = [];
  const tail: string[] = [];
  const sessions: SessionResult[] = [];
  let part: 'head' | 'sessions' | 'tail' = 'head';
  let frame: Results | undefined;
  let broken: unknown;
  let line = 0;
  for (const text of typeof input === 'string' ? input.split('\n') : input) {
    if (broken !== undefined) throw broken;
    line++;
    if (part === 'tail') tail.push(text);
    else if (part === 'head' && text === SESSIONS_BEGIN) {
      frame = resultsOf(`${head.join('\n')}"sessions":[],"summary":[]}`, file);
      part = 'sessions';
    } else if (part === 'head') head.push(text);
    else if (text === SESSIONS_END) part = 'tail';
    else if (text !== '') {
      try {
        sessions.push(sessionOf(text, frame!, { file, line, field: `sessions[${sessions.length}]` }));
      } catch (error) {
        broken = error;
      }
    }
  }
  if (part === 'head') return resultsOf(head.join('\n'), file);
  if (part === 'tail') return { ...resultsOf(`${head.join('\n')}"sessions":[],${tail.join('\n')}`, file), sessions };
  if (allowPartial && frame!.tool['complete'] === false) return { ...frame!, sessions };
  const where = placeOf({ file, line });
  throw broken ?? new InputError(where, 'a session or the end of the list', undefined, 'the end of the file');
}

function resultsOf(text: string, file: string): Results {
  const value = jsonValue(text, { file });
  requireShape(results, value, { file, field: '' });
  const parsed = value as Results;
  for (const [index, played] of parsed.sessions.entries()) {
    checkAgainstScenario(played, parsed.scenario, { file, field: `sessions[${index}]` });
  }
  return parsed;
}

function sessionOf(text: string, { scenario }: Results, place: InFile): SessionResult {
  const value = jsonValue(text.replace(/,$/, ''), place);
  requireShape(session, value, place);
  checkAgainstScenario(value as SessionResult, scenario, place);
  return value as SessionResult;
}

interface InFile {
  file: string;
  line?: number;
  field: string;
}

/** `line` is the text's first line in the file; default 1. */
function jsonValue(text: string, { file, line = 1 }: { file: string; line?: number }): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = Number(/at position (\d+)/.exec((error as Error).message)?.[1] ?? text.length);
    throw new InputError(
      placeOf({ file, line: line + text.slice(0, position).split('\n').length - 1 }),
      'results JSON',
      undefined,
      text.trim() === '' ? 'an empty file' : `invalid JSON (${(error as Error).message})`,
    );
  }
}

/** Returns the fault of a value, or undefined. */
type Check = (value: unknown, field: string) => Fault | undefined;

interface Fault {
  field: string;
  expected: string;
  value: unknown;
}

function requireShape(check: Check, value: unknown, { field, ...place }: InFile): void {
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

/** Keys that end with `?` may be absent. Unknown keys are allowed: a newer version may have written them. */
function object(shape: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(shape).map(
    ([key, check]) => [key.replace('?', ''), check, key.endsWith('?')] as const,
  );
  return (value, field) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { field, expected: 'an object', value };
    }
    for (const [key, check, isOptional] of entries) {
      const member = (value as Record<string, unknown>)[key];
      if (isOptional && member === undefined) continue;
      const fault = check(member, field === '' ? key : `${field}.${key}`);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

/** The same check for several keys. */
function each(check: Check, ...keys: string[]): Record<string, Check> {
  return Object.fromEntries(keys.map((key) => [key, check]));
}

const ascendingList: Check = (value, field) => {
  const fault = list(positive, 1)(value, field);
  if (fault !== undefined) return fault;
  const values = value as number[];
  const at = values.findIndex((item, index) => index > 0 && item <= values[index - 1]!);
  return at < 0 ? undefined : { field: `${field}[${at}]`, expected: 'more than the value before', value: values[at] };
};

const segment = object({
  ...each(positive, 'bitrateBps', 'sizeBits'),
  ...each(notNegative, 'requestedAtSeconds', 'downloadSeconds', 'bufferLevelSeconds', 'stallSeconds', 'abandonedBits'),
  ...{ index: count, reason: text },
});

const live = object({
  ...{ qoe: number, watchedSeconds: positive, jumps: count },
  ...each(notNegative, 'latencySecondsMean', 'latencySecondsP95', 'stallSecondsPerMinute', 'stallsPerMinute'),
  ...each(notNegative, 'offRateShare', 'rateDeviationMean'),
});

const session = object({
  ...each(text, 'trace', 'dataset', 'group', 'algorithm', 'fault?'),
  ...each(notNegative, 'startSeconds', 'meanBitrateBps', 'stallSeconds', 'startupSeconds', 'switchBps', 'wastedBits'),
  ...each(count, 'stallCount', 'switches'),
  seed: number,
  endedBy: that("'end', 'cutoff' or 'fault'", (value) => ['end', 'cutoff', 'fault'].includes(value as string)),
  segments: list(segment),
  qoe: object({ ...each(number, 'linear', 'log'), hd: nullable(number) }),
  'live?': live,
  'household?': object({
    ...each(text, 'name', 'algorithm'),
    ...each(notNegative, 'joinSeconds', 'linkUtilisation'),
    player: count,
  }),
  'pastTraceSeconds?': positive,
  'decisionMicros?': object(each(notNegative, 'p50', 'p99')),
});

const results = object({
  schema: that('1 or 2, the versions of results that this command reads', (value) => value === 1 || value === 2),
  tool: object({
    ...each(text, 'name', 'version', 'command', 'baseline', 'shard?', 'work?'),
    ...{ seed: number, commit: nullable(text) },
    'leftOut?': list(object({ ...each(text, 'dataset', 'trace', 'reason'), startSeconds: notNegative })),
  }),
  scenario: object({
    ...each(positive, 'segmentSeconds', 'bufferCapSeconds'),
    ...each(notNegative, 'rttSeconds', 'mu', 'lambda'),
    ...{ name: text, segmentCount: count, ladderBps: ascendingList, segmentSizesBits: list(list(positive, 1), 1) },
    'live?': object({
      ...each(positive, 'targetLatencySeconds', 'chunkSeconds'),
      ...each(notNegative, 'encoderLatencySeconds', 'timeShiftSeconds'),
    }),
  }),
  sessions: list(session),
  'households?': list(object({ ...each(text, 'household', 'algorithm'), ...each(number, 'qoeSum', 'qoeLeast') })),
  summary: list(object({ ...each(text, 'dataset', 'algorithm'), sessions: count })),
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
