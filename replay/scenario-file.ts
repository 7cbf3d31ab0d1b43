/** Scenarios by name or from JSON, validated and with their segment sizes. Browser-safe. */

import { check, InputError, requireObject, unknownName } from '../abr/errors.ts';
import { placeOf } from './formats/place.ts';
import { each, exactly, jsonObject, list, nameOf, number, text } from './formats/shape.ts';
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

/** Weeks of video have fewer. */
const MOST_SEGMENTS = 1e6;
/** Bitrates in Mbit/s are a common error. */
const LEAST_BPS = 1000;

const above0 = number({ above: 0 });
const from0 = number({ min: 0 });
const segmentNumber = number({ whole: true, min: 1, max: MOST_SEGMENTS });

/** The fields, as far as they do not depend on each other. */
const SCENARIO = exactly({
  'name?': text,
  // Results have whole bit/s.
  ladderBps: list(number({ whole: true })),
  ...each(above0, 'segmentSeconds', 'bufferCapSeconds'),
  rttSeconds: from0,
  'lambda?': from0,
  'payloadShare?': number({ above: 0, max: 1 }),
  'sizeSpread?': number({ min: 0, max: 2 }),
  'sizeSeed?': number({ whole: true, min: 0 }),
  'lines?': list(above0),
  'segmentCount?': segmentNumber,
  'mu?': from0,
  'traceScale?': (value, place) => {
    const [[key, scale] = [''], ...others] = Object.entries(requireObject(value, place));
    const isOne = ['factor', 'meanBps'].includes(key) && others.length === 0;
    check(isOne, place, '{"factor": ...} or {"meanBps": ...}', value);
    above0(scale, `${place}.${key}`);
  },
  'browser?': exactly(each(from0, ...Object.keys(MEASURED_BROWSER).map((name) => `${name}?`))),
  'assumed?': exactly({ playerBps: from0, 'browserBps?': from0 }),
  'live?': exactly({
    'chunkSeconds?': above0,
    ...each(from0, 'encoderLatencySeconds?', 'timeShiftSeconds?', 'depthSeconds?'),
    targetLatencySeconds: number(),
    'playbackRates?': exactly({ 'min?': number({ min: 0.5, max: 1 }), 'max?': number({ min: 1, max: 2 }) }),
  }),
  'segmentSizesBits?': list(list(above0), 1),
  'qualities?': list(list(number({ min: 0, max: 100 })), 1),
  'media?': text,
});
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

type Given = Pick<Scenario, 'ladderBps' | 'segmentSeconds' | 'bufferCapSeconds' | 'rttSeconds'> &
  Partial<Omit<ResolvedScenario, 'browser' | 'assumed' | 'live'>> & {
    browser?: Partial<BrowserModel>;
    assumed?: { playerBps: number; browserBps?: number };
    live?: Partial<LiveStream> & Pick<LiveStream, 'targetLatencySeconds'>;
  };

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
export function parseScenario(json: string, file: string, readMedia?: (name: string) => unknown): ResolvedScenario {
  const fields = withMedia(jsonObject(json, file), file, readMedia);
  SCENARIO(fields, `${file}: `);
  const { segmentSizesBits: sizes, qualities, browser: delays, assumed, live, ...given } = fields as unknown as Given;
  const { ladderBps, segmentSeconds, bufferCapSeconds, rttSeconds, lines } = given;
  const at = (field: string) => placeOf({ file, field });
  const isLadder = ladderBps.length > 0 && ladderBps.every((bps, i) => bps > (ladderBps[i - 1] ?? LEAST_BPS));
  check(isLadder, at('ladderBps'), `bitrates in bit/s, above ${LEAST_BPS} and ascending`, ladderBps);
  const perBitrate = (what: string) => `${ladderBps.length} numbers${what}, one per bitrate of the ladder`;
  check(!lines || lines.length === ladderBps.length, at('lines'), perBitrate(' above 0'), lines);
  const browser = { ...MEASURED_BROWSER, ...delays };
  const { stallLevelSeconds } = browser;
  const less = `less than segmentSeconds (${segmentSeconds})`;
  check(stallLevelSeconds < segmentSeconds, at('browser.stallLevelSeconds'), less, stallLevelSeconds);
  const least = segmentSeconds + stallLevelSeconds;
  const more = `more than segmentSeconds + browser.stallLevelSeconds (${least})`;
  check(bufferCapSeconds > least, at('bufferCapSeconds'), more, bufferCapSeconds);
  const segmentCount = (given.segmentCount ?? sizes?.length)!;
  segmentNumber(segmentCount, at('segmentCount'));
  for (const [name, rows = []] of Object.entries({ segmentSizesBits: sizes, qualities })) {
    for (const [i, row] of rows.entries()) {
      check(row.length === ladderBps.length, at(`${name}[${i}]`), perBitrate(''), row);
    }
    const most = `at most ${rows.length}, the number of segments with ${name === 'qualities' ? name : 'sizes'}`;
    check(rows.length === 0 || rows.length >= segmentCount, at('segmentCount'), most, segmentCount);
  }
  const numbers = { segmentSeconds, bufferCapSeconds, rttSeconds, lambda: 1, payloadShare: 0.95, sizeSpread: 0.1 };
  const scenario: Scenario = {
    ...{ name: nameOf(file), ladderBps, ...numbers, sizeSeed: 1, segmentCount, ...(lines && { lines }) },
    ...{ mu: ladderBps.at(-1)! / 1e6, traceScale: { factor: 1 }, browser, ...given },
    ...(assumed && { assumed: { playerBps: assumed.playerBps, browserBps: assumed.browserBps ?? 0 } }),
    ...(live && { live: liveFrom(live, at, { segmentSeconds, segmentCount }) }),
  };
  const resolved = sizes ? { ...scenario, segmentSizesBits: sizes.slice(0, segmentCount) } : resolveScenario(scenario);
  return { ...resolved, ...(qualities && { qualities: qualities.slice(0, segmentCount) }) };
}

/** The fields, with the fields of the file that `media` names. */
function withMedia(fields: Record<string, unknown>, file: string, readMedia?: (name: string) => unknown) {
  const { media, ...others } = fields;
  if (media === undefined) return fields;
  const at = (field: string) => placeOf({ file, field });
  for (const field of MEDIA_FIELDS) check(!(field in others), at(field), 'none beside media', others[field]);
  text(media, at('media'));
  check(readMedia !== undefined, at('media'), 'none, because no files can be read here', media);
  return { ...others, ...measuredMedia(readMedia(media as string), media as string) };
}

function liveFrom(
  given: NonNullable<Given['live']>,
  at: (field: string) => string,
  { segmentSeconds, segmentCount }: Pick<Scenario, 'segmentSeconds' | 'segmentCount'>,
): LiveStream {
  const { chunkSeconds = segmentSeconds, encoderLatencySeconds = 0.3, timeShiftSeconds = 20 } = given;
  const { targetLatencySeconds, playbackRates } = given;
  number({ above: 0, max: segmentSeconds })(chunkSeconds, at('live.chunkSeconds'));
  const chunks = segmentSeconds / chunkSeconds;
  const isDivisor = Math.abs(chunks - Math.round(chunks)) <= 1e-9;
  check(isDivisor, at('live.chunkSeconds'), `a divisor of segmentSeconds (${segmentSeconds})`, chunkSeconds);
  number({ above: chunkSeconds + encoderLatencySeconds })(targetLatencySeconds, at('live.targetLatencySeconds'));
  // The encoder outlives the join.
  number({ min: 0, max: (segmentCount - 1) * segmentSeconds })(timeShiftSeconds, at('live.timeShiftSeconds'));
  const times = { chunkSeconds, encoderLatencySeconds, targetLatencySeconds, timeShiftSeconds };
  return { ...times, ...given, playbackRates: { min: 0.95, max: 1.05, ...playbackRates } };
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
