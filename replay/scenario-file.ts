/** Scenarios by name or from JSON, validated and with their segment sizes. Browser-safe. */

import { InputError } from '../abr/errors.ts';
import { FieldCheck, jsonObject, type NumberRule, nameOf } from './formats/field-check.ts';
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

const OTHER_FIELDS = ['segmentCount', 'mu', 'traceScale', 'browser', 'live', 'segmentSizesBits'];
const FIELDS = ['name', 'ladderBps', ...Object.keys(NUMBERS), ...OTHER_FIELDS];

const PLAYBACK_RATES = { min: { min: 0.5, max: 1, default: 0.95 }, max: { min: 1, max: 2, default: 1.05 } };

/** @throws {InputError} with the known names. */
export function scenarioNamed(name: string, field = '--scenario'): Scenario {
  const scenario = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
  if (scenario !== undefined) return scenario;
  const names = Object.keys(SCENARIOS).join(', ');
  throw new InputError(field, `one of ${names}, or a .json file`, name);
}

/** The scenario with segment sizes: its own if it has any, else seeded ones. */
export function resolveScenario(scenario: Scenario | ResolvedScenario): ResolvedScenario {
  return 'segmentSizesBits' in scenario ? scenario : { ...scenario, segmentSizesBits: segmentSizesBits(scenario) };
}

/**
 * A scenario from the text of a JSON file: the fields of `Scenario`, and optionally sizes that replace the seeded ones:
 * `segmentSizesBits` (`[segment][representation]`). `file` is for messages, and without folder and ending the default of
 * `name`. Other defaults: `mu` the top bitrate in Mbit/s, `lambda` 1, `payloadShare` 0.95, `traceScale` `{"factor": 1}`, `sizeSpread` 0.1, `sizeSeed` 1, each field of `browser` the measured one,
 * `segmentCount` the number of given sizes; of `live` `chunkSeconds` a segment's duration, `encoderLatencySeconds` 0.3,
 * `timeShiftSeconds` 20, `playbackRates` 0.95 to 1.05.
 * @throws {InputError} with file and field, also for unknown fields.
 */
export function parseScenario(text: string, file: string): ResolvedScenario {
  const check = new FieldCheck(file, jsonObject(text, file));
  const { fields } = check;
  check.known(FIELDS);

  const ladderBps = check.numbers('ladderBps');
  if (ladderBps.length === 0 || ladderBps.some((bps, i) => !(bps > (ladderBps[i - 1] ?? 0)))) {
    check.wrong('ladderBps', 'bitrates in bit/s, above 0 and ascending');
  }
  const sizes = sizesFrom(check, ladderBps);
  const numbers = check.each(NUMBERS);
  const { segmentSeconds, bufferCapSeconds } = numbers;
  const segmentCount = check.number('segmentCount', { whole: true, min: 1, default: sizes?.length });
  const browser = browserFrom(check, fields['browser']);
  if (!(browser.stallLevelSeconds < segmentSeconds)) {
    check.wrong('browser.stallLevelSeconds', `less than segmentSeconds (${segmentSeconds})`, browser.stallLevelSeconds);
  }
  if (!(bufferCapSeconds > segmentSeconds + browser.stallLevelSeconds)) {
    const least = segmentSeconds + browser.stallLevelSeconds;
    check.wrong('bufferCapSeconds', `more than segmentSeconds + browser.stallLevelSeconds (${least})`);
  }
  if (sizes !== undefined && sizes.length < segmentCount) {
    check.wrong('segmentCount', `at most ${sizes.length}, the number of segments with sizes`);
  }
  const scenario: Scenario = {
    name: check.text('name', nameOf(file)),
    ...{ ladderBps, ...numbers, segmentCount },
    mu: check.number('mu', { min: 0, default: ladderBps[ladderBps.length - 1]! / 1e6 }),
    traceScale: traceScaleFrom(check, fields['traceScale']),
    browser,
    ...(fields['live'] !== undefined && { live: liveFrom(check, { segmentSeconds, segmentCount }) }),
  };
  return sizes === undefined
    ? resolveScenario(scenario)
    : { ...scenario, segmentSizesBits: sizes.slice(0, segmentCount) };
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

function liveFrom(check: FieldCheck, stream: { segmentSeconds: number; segmentCount: number }): LiveStream {
  const given = check.object('live', check.fields['live']);
  const known = ['chunkSeconds', 'encoderLatencySeconds', 'targetLatencySeconds', 'timeShiftSeconds', 'playbackRates'];
  check.known(known, 'live.', given);
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
    playbackRates: check.each(PLAYBACK_RATES, 'live.playbackRates.', rates),
  };
}

function sizesFrom(check: FieldCheck, ladderBps: readonly number[]): number[][] | undefined {
  const sizes = check.fields['segmentSizesBits'];
  if (sizes === undefined) return undefined;
  if (!Array.isArray(sizes) || sizes.length === 0) check.wrong('segmentSizesBits', 'a row of sizes per segment');
  return (sizes as unknown[]).map((row, segment) => {
    const field = `segmentSizesBits[${segment}]`;
    if (!Array.isArray(row) || row.length !== ladderBps.length) {
      check.wrong(field, `${ladderBps.length} sizes, one per bitrate of the ladder`, row);
    }
    return (row as unknown[]).map((bits, i) => check.number(`${field}[${i}]`, { above: 0 }, bits));
  });
}
