/** Scenarios by name or from JSON, validated and with their segment sizes. Browser-safe. */

import { InputError, unknownName } from '../abr/errors.ts';
import { FieldCheck, jsonObject, type NumberRule, nameOf } from './formats/field-check.ts';
import { placeOf } from './formats/place.ts';
import { parseQuality } from './quality-file.ts';
import type { ResolvedScenario } from './results.ts';
import {
  type BrowserModel,
  type LiveStream,
  MEASURED_BROWSER,
  SCENARIOS,
  type Scenario,
  segmentSizesBits,
} from './scenarios.ts';

/** The fields that are numbers, and do not depend on others. */
const NUMBERS = {
  segmentSeconds: { above: 0 },
  bufferCapSeconds: { above: 0 },
  rttSeconds: { min: 0 },
  lambda: { min: 0, default: 1 },
  payloadShare: { above: 0, max: 1, default: 0.95 },
  sizeSpread: { min: 0, max: 2, default: 0.1 },
  sizeSeed: { whole: true, min: 0, default: 1 },
} as const satisfies Record<string, NumberRule>;

const OTHER_FIELDS = [
  'lines',
  'segmentCount',
  'mu',
  'traceScale',
  'browser',
  'assumed',
  'live',
  'segmentSizesBits',
  'qualities',
  'media',
];
/** Fields that `media` replaces. */
const MEDIA_FIELDS = [
  'ladderBps',
  'segmentSeconds',
  'segmentSizesBits',
  'qualities',
  'sizeSpread',
  'sizeSeed',
  'lines',
];
const FIELDS = ['name', 'ladderBps', ...Object.keys(NUMBERS), ...OTHER_FIELDS];

/** Weeks of video have fewer. */
const MOST_SEGMENTS = 1e6;
/** Bitrates in Mbit/s are a common error. */
const LEAST_BPS = 1000;

const PLAYBACK_RATES = { min: { min: 0.5, max: 1, default: 0.95 }, max: { min: 1, max: 2, default: 1.05 } };

/** @throws {InputError} with the known names. */
export function scenarioNamed(name: string): Scenario {
  const scenario = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
  if (scenario !== undefined) return scenario;
  throw unknownName('--scenario', Object.keys(SCENARIOS), name, ', or a .json file');
}

/** The scenario with segment sizes: its own sizes, if any, else seeded sizes. */
export function resolveScenario(scenario: Scenario | ResolvedScenario): ResolvedScenario {
  return 'segmentSizesBits' in scenario ? scenario : { ...scenario, segmentSizesBits: segmentSizesBits(scenario) };
}

/**
 * Parses a scenario: the fields of `Scenario`, and optionally `segmentSizesBits` (instead of seeded sizes) and
 * `qualities` (instead of modelled qualities), both `[segment][representation]`. `media` names a `quality.json` with
 * both, the ladder and the segments' duration; `readMedia` reads it. `file` is for messages; its name without folder
 * and ending is the default of `name`. Other defaults: `mu` the top bitrate in Mbit/s, `lambda` 1, `payloadShare` 0.95,
 * `traceScale` `{"factor": 1}`, `sizeSpread` 0.1, `sizeSeed` 1, `browser` as measured, `assumed` by `assumedLink`,
 * `segmentCount` the number of given sizes, `lines` usual ones. In `live`: `chunkSeconds` a segment's duration,
 * `encoderLatencySeconds` 0.3, `timeShiftSeconds` 20, `depthSeconds` `timeShiftSeconds`, `playbackRates` 0.95 to 1.05.
 * @throws {InputError} with file and field, also for unknown fields.
 */
export function parseScenario(text: string, file: string, readMedia?: (name: string) => unknown): ResolvedScenario {
  const check = withMedia(new FieldCheck(file, jsonObject(text, file)), readMedia);
  const { fields } = check;

  const ladderBps = check.numbers('ladderBps');
  if (ladderBps.length === 0 || ladderBps.some((bps, i) => !(bps > (ladderBps[i - 1] ?? LEAST_BPS)))) {
    check.wrong('ladderBps', `bitrates in bit/s, above ${LEAST_BPS} and ascending`);
  }
  const sizes = rowsFrom(check, 'segmentSizesBits', ladderBps.length, { above: 0 });
  const qualities = rowsFrom(check, 'qualities', ladderBps.length, { min: 0, max: 100 });
  const numbers = check.each(NUMBERS);
  const { segmentSeconds, bufferCapSeconds } = numbers;
  const segmentCount = check.number('segmentCount', {
    whole: true,
    min: 1,
    max: MOST_SEGMENTS,
    default: sizes?.length,
  });
  const browser = browserFrom(check, fields['browser']);
  if (!(browser.stallLevelSeconds < segmentSeconds)) {
    check.wrong('browser.stallLevelSeconds', `less than segmentSeconds (${segmentSeconds})`, browser.stallLevelSeconds);
  }
  if (!(bufferCapSeconds > segmentSeconds + browser.stallLevelSeconds)) {
    const least = segmentSeconds + browser.stallLevelSeconds;
    check.wrong('bufferCapSeconds', `more than segmentSeconds + browser.stallLevelSeconds (${least})`);
  }
  for (const [name, rows] of Object.entries({ sizes, qualities })) {
    if (rows === undefined || rows.length >= segmentCount) continue;
    check.wrong('segmentCount', `at most ${rows.length}, the number of segments with ${name}`);
  }
  const scenario: Scenario = {
    name: check.text('name', nameOf(file)),
    ...{ ladderBps, ...numbers, segmentCount },
    ...(fields['lines'] !== undefined && { lines: linesFrom(check, ladderBps.length) }),
    mu: check.number('mu', { min: 0, default: ladderBps[ladderBps.length - 1]! / 1e6 }),
    traceScale: traceScaleFrom(check, fields['traceScale']),
    browser,
    ...(fields['assumed'] !== undefined && { assumed: assumedFrom(check) }),
    ...(fields['live'] !== undefined && { live: liveFrom(check, { segmentSeconds, segmentCount }) }),
  };
  const resolved =
    sizes === undefined ? resolveScenario(scenario) : { ...scenario, segmentSizesBits: sizes.slice(0, segmentCount) };
  return { ...resolved, ...(qualities && { qualities: qualities.slice(0, segmentCount) }) };
}

function linesFrom(check: FieldCheck, representations: number): number[] {
  const lines = check.numbers('lines');
  if (lines.length !== representations || lines.some((one) => !(one > 0))) {
    check.wrong('lines', `${representations} numbers above 0, one per bitrate of the ladder`);
  }
  return lines;
}

/** The fields, with the fields of the file that `media` names. */
function withMedia(check: FieldCheck, readMedia: ((name: string) => unknown) | undefined): FieldCheck {
  const { file, fields } = check;
  check.known(FIELDS);
  if (fields['media'] === undefined) return check;
  const { media: _, ...others } = fields;
  for (const field of MEDIA_FIELDS) if (field in others) check.wrong(field, 'none beside media');
  const name = check.text('media', '');
  if (readMedia === undefined) return check.wrong('media', 'none, because no files can be read here');
  return new FieldCheck(file, { ...others, ...measuredMedia(readMedia(name), name) });
}

function traceScaleFrom(check: FieldCheck, value: unknown): Scenario['traceScale'] {
  if (value === undefined) return { factor: 1 };
  const scale = check.object('traceScale', value);
  const [key, ...others] = Object.keys(scale);
  if ((key !== 'factor' && key !== 'meanBps') || others.length > 0) {
    check.wrong('traceScale', '{"factor": ...} or {"meanBps": ...}');
  }
  const number = check.number(`traceScale.${key}`, { above: 0 }, scale[key!]);
  return key === 'factor' ? { factor: number } : { meanBps: number };
}

function browserFrom(check: FieldCheck, value: unknown): BrowserModel {
  if (value === undefined) return MEASURED_BROWSER;
  const given = check.object('browser', value);
  check.known(Object.keys(MEASURED_BROWSER), 'browser.', given);
  const rules = Object.entries(MEASURED_BROWSER).map(([name, measured]) => [name, { min: 0, default: measured }]);
  return check.each<keyof BrowserModel>(Object.fromEntries(rules), 'browser.', given);
}

function assumedFrom(check: FieldCheck): NonNullable<Scenario['assumed']> {
  const given = check.object('assumed', check.fields['assumed']);
  check.known(['playerBps', 'browserBps'], 'assumed.', given);
  return check.each({ playerBps: { min: 0 }, browserBps: { min: 0, default: 0 } }, 'assumed.', given);
}

function liveFrom(check: FieldCheck, stream: { segmentSeconds: number; segmentCount: number }): LiveStream {
  const given = check.object('live', check.fields['live']);
  const numbers = ['chunkSeconds', 'encoderLatencySeconds', 'targetLatencySeconds', 'timeShiftSeconds', 'depthSeconds'];
  check.known([...numbers, 'playbackRates'], 'live.', given);
  const field = (key: string, rule: NumberRule) => check.number(`live.${key}`, rule, given[key]);
  const { segmentSeconds, segmentCount } = stream;
  const chunkSeconds = field('chunkSeconds', { above: 0, max: segmentSeconds, default: segmentSeconds });
  const chunks = segmentSeconds / chunkSeconds;
  if (Math.abs(chunks - Math.round(chunks)) > 1e-9) {
    check.wrong('live.chunkSeconds', `a divisor of segmentSeconds (${segmentSeconds})`, chunkSeconds);
  }
  const encoderLatencySeconds = field('encoderLatencySeconds', { min: 0, default: 0.3 });
  const rates = given['playbackRates'] === undefined ? {} : check.object('live.playbackRates', given['playbackRates']);
  return {
    chunkSeconds,
    encoderLatencySeconds,
    targetLatencySeconds: field('targetLatencySeconds', { above: chunkSeconds + encoderLatencySeconds }),
    // The encoder outlives the join.
    timeShiftSeconds: field('timeShiftSeconds', { min: 0, max: (segmentCount - 1) * segmentSeconds, default: 20 }),
    ...(given['depthSeconds'] !== undefined && { depthSeconds: field('depthSeconds', { min: 0 }) }),
    playbackRates: check.each(PLAYBACK_RATES, 'live.playbackRates.', rates),
  };
}

/** `[segment][representation]` */
function rowsFrom(check: FieldCheck, field: string, representations: number, rule: NumberRule) {
  const rows = check.fields[field];
  if (rows === undefined) return undefined;
  if (!Array.isArray(rows) || rows.length === 0) check.wrong(field, 'a row per segment');
  return (rows as unknown[]).map((row, segment) => {
    const place = `${field}[${segment}]`;
    if (!Array.isArray(row) || row.length !== representations) {
      check.wrong(place, `${representations} numbers, one per bitrate of the ladder`, row);
    }
    return (row as unknown[]).map((number, i) => check.number(`${place}[${i}]`, rule, number));
  });
}

/**
 * Reads the representations by bitrate, and the segments that all representations have. `file` is for messages.
 * @throws {InputError} with file and field, also if two representations have the same bitrate.
 */
function measuredMedia(value: unknown, file: string) {
  const { representations, segmentSeconds } = parseQuality(value, file);
  const ladder = Object.values(representations).sort((a, b) => a.bitrateBps - b.bitrateBps);
  const ladderBps = ladder.map(({ bitrateBps }) => bitrateBps);
  const twice = ladderBps.find((bps, i) => bps === ladderBps[i + 1]);
  const field = placeOf({ file, field: 'representations' });
  if (twice !== undefined) throw new InputError(field, 'different bitrates', undefined, `${twice} twice`);
  if (ladder.some(({ seconds }) => seconds)) {
    throw new InputError(
      field,
      'the same boundaries of segments in all representations',
      undefined,
      'durations that differ',
    );
  }
  const segmentCount = Math.min(...ladder.map(({ bytes }) => bytes.length));
  const rows = (of: (one: (typeof ladder)[number], index: number) => number) =>
    Array.from({ length: segmentCount }, (_, index) => ladder.map((one) => of(one, index)));
  return {
    ...{ ladderBps, segmentSeconds },
    segmentSizesBits: rows(({ bytes }, index) => bytes[index]! * 8),
    qualities: rows(({ quality }, index) => quality[index]!),
  };
}
