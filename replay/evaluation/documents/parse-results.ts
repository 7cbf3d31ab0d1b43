/** Parses results JSON and validates every field that merging, resuming and reporting use. */

import { check, InputError, requireAscending, requireObject } from '../../../abr/errors.ts';
import { placeOf } from '../../formats/place.ts';
import { each, list, number, object, that, type ValueCheck } from '../../formats/shape.ts';
import type { Results, SessionResult } from '../../results.ts';

/** Lines before and after the sessions in the layout of `resultsJson`. */
const SESSIONS_BEGIN = '"sessions":[';
const SESSIONS_END = '],';

/**
 * Returns the results in the text or the lines of a file, with unchanged values. In the layout of `resultsJson` each
 * line is parsed by itself, so that a file may be longer than a string. `allowPartial`: partial results, which a killed
 * command leaves, may end after any session. The unfinished line is left out, and `summary` is empty.
 * @throws {InputError} with file and line for invalid JSON (such as a truncated file), with file and field for other
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
        sessions.push(sessionOf(text, frame!.scenario, { file, line, field: `sessions[${sessions.length}]` }));
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
  const value: unknown = requireObject(jsonValue(text, file), file);
  results(value, `${file}: `);
  const parsed = value as Results;
  for (const [i, played] of parsed.sessions.entries()) {
    checkAgainstScenario(played, parsed.scenario, `${file}: sessions[${i}]`);
  }
  return parsed;
}

function sessionOf(
  text: string,
  scenario: Results['scenario'],
  at: { file: string; line: number; field: string },
): SessionResult {
  const value = jsonValue(text.replace(/,$/, ''), at.file, at.line);
  const place = placeOf(at);
  session(value, place);
  checkAgainstScenario(value as SessionResult, scenario, place);
  return value as SessionResult;
}

/** `line` is the number of the text's first line in the file. Default 1. */
function jsonValue(text: string, file: string, line = 1): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    // The message for a short text has no position.
    const position = Number(/at position (\d+)/.exec(message)?.[1] ?? (/end of/.test(message) ? text.length : 0));
    throw new InputError(
      placeOf({ file, line: line + text.slice(0, position).split('\n').length - 1 }),
      'results JSON',
      undefined,
      text.trim() === '' ? 'an empty file' : `invalid JSON (${message})`,
    );
  }
}

/** Buffer levels and stalls are differences of floating-point times. */
const ROUNDING = 1e-9;
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const text = that('a string', (value) => typeof value === 'string');
const anyNumber = number();
const notNegative = that('a number >= 0', (value) => isNumber(value) && value >= -ROUNDING);
const positive = that('a number > 0', (value) => isNumber(value) && value > 0);
const count = that('a whole number >= 0', (value) => Number.isInteger(value) && (value as number) >= 0);

function nullable(item: ValueCheck): ValueCheck {
  return (value, place) => value === null || item(value, place);
}

const ascendingList: ValueCheck = (value, place) => requireAscending(value, place, Number.POSITIVE_INFINITY);

const segment = object({
  ...each(positive, 'bitrateBps', 'sizeBits'),
  ...each(notNegative, 'requestedAtSeconds', 'downloadSeconds', 'bufferLevelSeconds', 'stallSeconds', 'abandonedBits'),
  ...{ index: count, reason: text },
});

const live = object({
  ...{ qoe: anyNumber, watchedSeconds: positive, jumps: count },
  ...each(notNegative, 'latencySecondsMean', 'latencySecondsP95', 'stallSecondsPerMinute', 'stallsPerMinute'),
  ...each(notNegative, 'offRateShare', 'rateDeviationMean'),
});

const session = object({
  ...each(text, 'trace', 'dataset', 'group', 'algorithm', 'fault?'),
  ...each(notNegative, 'startSeconds', 'meanBitrateBps', 'stallSeconds', 'startupSeconds', 'switchBps', 'wastedBits'),
  ...each(count, 'stallCount', 'freezeCount', 'shortFreezeCount', 'switches'),
  seed: anyNumber,
  endedBy: that("'end', 'cutoff' or 'fault'", (value) => ['end', 'cutoff', 'fault'].includes(value as string)),
  segments: list(segment),
  qoe: object({ ...each(anyNumber, 'linear', 'log', 'perceived'), hd: nullable(anyNumber) }),
  'live?': live,
  'household?': object({
    ...each(text, 'name', 'algorithm'),
    ...each(notNegative, 'joinSeconds', 'linkUtilisation', 'trafficBps?'),
    player: count,
  }),
  'pastTraceSeconds?': positive,
  'slowLinkBps?': notNegative,
  'handoversAtSeconds?': notNegative,
  'decisionMicros?': object(each(notNegative, 'p50', 'p99')),
});

const row = object({ ...each(text, 'dataset', 'algorithm'), sessions: count });

const results = object({
  schema: that('1 or 2, the versions of results that this command reads', (value) => value === 1 || value === 2),
  tool: object({
    ...each(text, 'name', 'version', 'command', 'baseline', 'shard?', 'work?'),
    ...{ seed: anyNumber, commit: nullable(text) },
    'bench?': object({
      ...{ tier: text, rejectedRuns: count, 'kernel?': object({ congestionControl: text }) },
      parts: list(object({ rejections: list(object({ algorithm: text })) })),
    }),
    'household?': object({ name: text, players: list(object({ 'algorithm?': text, joinSeconds: notNegative })) }),
    'unscaledDatasets?': list(text),
    'leftOut?': list(object({ ...each(text, 'dataset', 'trace', 'reason'), startSeconds: notNegative })),
  }),
  scenario: object({
    ...each(positive, 'segmentSeconds', 'bufferCapSeconds'),
    ...each(notNegative, 'rttSeconds', 'mu', 'lambda'),
    ...{ name: text, segmentCount: count, ladderBps: ascendingList, segmentSizesBits: list(list(positive, 1), 1) },
    traceScale: object(each(positive, 'factor?', 'meanBps?')),
    'lines?': list(positive, 1),
    'qualities?': list(list(notNegative, 1), 1),
    'live?': object({
      ...each(positive, 'targetLatencySeconds', 'chunkSeconds'),
      ...each(notNegative, 'encoderLatencySeconds', 'timeShiftSeconds'),
    }),
  }),
  sessions: list(session),
  'households?': list(object({ ...each(text, 'household', 'algorithm'), ...each(anyNumber, 'qoeSum', 'qoeLeast') })),
  summary: list(row),
  'byLink?': list(row),
});

/** Refuses bitrates that are not in the ladder, and live metrics that lack or do not belong. */
function checkAgainstScenario(played: SessionResult, { ladderBps, live }: Results['scenario'], place: string): void {
  for (const [i, { bitrateBps }] of played.segments.entries()) {
    if (ladderBps.includes(bitrateBps)) continue;
    const expected = `one of the ladder (${ladderBps.join(', ')})`;
    throw new InputError(`${place}.segments[${i}].bitrateBps`, expected, bitrateBps);
  }
  const expected = live === undefined ? 'none in a scenario on demand' : 'the metrics of a live scenario';
  check((live === undefined) === (played.live === undefined), `${place}.live`, expected, played.live);
}
