/** Synthetic traces by preset: characters and mixtures of the Starlink link, and terrestrial links. Browser-safe. */

import { check, InputError, isFrom } from '../../abr/errors.ts';
import { handoverPhaseOf, type Trace } from '../trace.ts';
import { isSimplePreset, SIMPLE_DEFAULTS, SIMPLE_PRESETS, type SimplePreset, simpleRatesBps } from './simple-links.ts';
import { characterOf, FINE_STEP_SECONDS, startOfLink, synthesizeStarlinkLink } from './starlink-link.ts';
import {
  STARLINK_CHARACTERS,
  STARLINK_MIXTURES,
  type StarlinkCharacter,
  type StarlinkMixture,
} from './starlink-parameters.ts';

export type Preset = StarlinkCharacter | StarlinkMixture | SimplePreset;

export const PRESETS: readonly Preset[] = [
  ...(Object.keys(STARLINK_MIXTURES) as StarlinkMixture[]),
  ...(Object.keys(STARLINK_CHARACTERS) as StarlinkCharacter[]),
  ...SIMPLE_PRESETS,
];

export interface SynthesizeOptions {
  preset: Preset;
  /** A whole number from 0 to 2^32 - 1. The same options give the same trace. */
  seed: number;
  /** Default 600; at most a week. */
  durationSeconds?: number;
  /** A multiple of 0.1 that divides the duration. A seed gives the same Starlink link at every step. Default 1. */
  stepSeconds?: number;
  /** Default `<preset>-<seed>`. */
  name?: string;
  /** Mean rate in Mbit/s, for terrestrial links only. Default: the preset's. */
  mbps?: number;
}

const MAX_DURATION_SECONDS = 7 * 86_400;

/** Draws a trace; its metadata record the preset and the seed. @throws {InputError} for wrong options. */
export function synthesizeTrace(options: SynthesizeOptions): Trace {
  const { preset, seed, durationSeconds = 600, stepSeconds = 1, name = `${preset}-${seed}` } = options;
  const span = { durationSeconds, stepSeconds };
  validate({ ...options, ...span });
  const { dataset, clock, other, ...columns } = isSimplePreset(preset)
    ? simpleLink({ preset, seed, ...span, mbps: options.mbps })
    : starlinkLink({ preset, seed, ...span });
  const isAlive = columns.ratesBps.some((rate) => rate > 0);
  if (!isAlive) throw new InputError('seed', 'a link with capacity', undefined, `${seed}: blocked from start to end`);
  const metadata = { dataset, recordingGroup: name, ...clock, location: 'synthetic', licence: 'Apache-2.0', other };
  return { name, ...columns, metadata };
}

interface LinkOptions<Name extends Preset> extends Required<Omit<SynthesizeOptions, 'name' | 'mbps'>> {
  preset: Name;
  mbps?: number | undefined;
}

function simpleLink({ preset, seed, durationSeconds, stepSeconds, ...more }: LinkOptions<SimplePreset>) {
  const { rttMs, loss, mbps: usual } = SIMPLE_DEFAULTS[preset];
  const { mbps = usual } = more;
  const steps = Math.round(durationSeconds / stepSeconds);
  return {
    stepEndsSeconds: Float64Array.from({ length: steps }, (_, i) => roundTenths((i + 1) * stepSeconds)),
    ratesBps: simpleRatesBps({ preset, seed, mbps, steps, stepSeconds }),
    durationSeconds: roundTenths(steps * stepSeconds),
    rttSeconds: new Float64Array(steps).fill(rttMs / 1000),
    loss: new Float64Array(steps).fill(loss),
    dataset: `synthetic-${preset}`,
    clock: startOfLink(seed),
    other: { synthetic: true, preset, seed, granularity_s: stepSeconds, mean_mbps: mbps },
  };
}

function starlinkLink({ preset, seed, ...span }: LinkOptions<StarlinkCharacter | StarlinkMixture>) {
  const character = characterOf(preset, seed);
  const link = synthesizeStarlinkLink({ parameters: STARLINK_CHARACTERS[character], seed, ...span });
  const { startUtcMs, epochPhaseSeconds, ...columns } = link;
  const isLive = character.endsWith('-live');
  return {
    ...columns,
    dataset: `synthetic-${isLive ? character : character.split('-')[0]}`,
    clock: {
      ...{ startUtcMs, epochPhaseSeconds },
      ...(isLive && { handoverPhaseSeconds: handoverPhaseOf(epochPhaseSeconds) }),
    },
    other: { synthetic: true, preset, character, seed, granularity_s: span.stepSeconds },
  };
}

function validate(options: SynthesizeOptions & { durationSeconds: number; stepSeconds: number }): void {
  const { preset, seed, durationSeconds, stepSeconds, mbps } = options;
  check(PRESETS.includes(preset), 'preset', `one of ${PRESETS.join(', ')}`, preset);
  check(Number.isInteger(seed) && isFrom(seed, 0, 0xffffffff), 'seed', 'a whole number from 0 to 2^32 - 1', seed);
  const hasDuration = durationSeconds > 0 && durationSeconds <= MAX_DURATION_SECONDS;
  check(hasDuration, 'duration', `seconds, more than 0, at most ${MAX_DURATION_SECONDS}`, durationSeconds);
  check(isMultiple(stepSeconds, FINE_STEP_SECONDS), 'step', 'a multiple of 0.1 s', stepSeconds);
  check(
    isMultiple(durationSeconds, stepSeconds),
    'duration',
    `a multiple of the step (${stepSeconds} s)`,
    durationSeconds,
  );
  if (mbps === undefined) return;
  check(isSimplePreset(preset), 'mbps', `none with ${preset} (its rates are fitted)`, mbps);
  check(isFrom(mbps, 0.01, 100_000), 'mbps', 'a rate from 0.01 to 100000 Mbit/s', mbps);
}

function isMultiple(value: number, unit: number): boolean {
  const times = Math.round(value / unit);
  return times >= 1 && Math.abs(value - times * unit) < 1e-6;
}

function roundTenths(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}
