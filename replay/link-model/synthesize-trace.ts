/** Synthetic traces by preset: characters and mixtures of the Starlink link, and terrestrial links. Browser-safe. */

import { InputError } from '../../abr/errors.ts';
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
  validate({ ...options, durationSeconds, stepSeconds });
  if (isSimplePreset(preset)) {
    const defaults = SIMPLE_DEFAULTS[preset];
    const { mbps = defaults.mbps } = options;
    const steps = Math.round(durationSeconds / stepSeconds);
    const trace: Trace = {
      name,
      stepEndsSeconds: Float64Array.from({ length: steps }, (_, i) => roundTenths((i + 1) * stepSeconds)),
      ratesBps: simpleRatesBps({ preset, seed, mbps, steps, stepSeconds }),
      durationSeconds: roundTenths(steps * stepSeconds),
      rttSeconds: new Float64Array(steps).fill(defaults.rttMs / 1000),
      loss: new Float64Array(steps).fill(defaults.loss),
      metadata: {
        dataset: `synthetic-${preset}`,
        recordingGroup: name,
        ...startOfLink(seed),
        location: 'synthetic',
        licence: 'Apache-2.0',
        other: { synthetic: true, preset, seed, granularity_s: stepSeconds, mean_mbps: mbps },
      },
    };
    return withCapacity(trace, seed);
  }
  const character = characterOf(preset, seed);
  const parameters = STARLINK_CHARACTERS[character];
  const link = synthesizeStarlinkLink({ parameters, seed, durationSeconds, stepSeconds });
  const { startUtcMs, epochPhaseSeconds: phase, ...columns } = link;
  const isLive = character.endsWith('-live');
  return withCapacity(
    {
      name,
      ...columns,
      metadata: {
        dataset: `synthetic-${isLive ? character : character.split('-')[0]}`,
        recordingGroup: name,
        epochPhaseSeconds: phase,
        startUtcMs,
        ...(isLive && { handoverPhaseSeconds: handoverPhaseOf(phase) }),
        location: 'synthetic',
        licence: 'Apache-2.0',
        other: { synthetic: true, preset, character, seed, granularity_s: stepSeconds },
      },
    },
    seed,
  );
}

function validate(options: SynthesizeOptions & { durationSeconds: number; stepSeconds: number }): void {
  const { preset, seed, durationSeconds, stepSeconds, mbps } = options;
  const wrong = (field: string, expected: string, got: unknown): never => {
    throw new InputError(field, expected, got);
  };
  if (!PRESETS.includes(preset)) wrong('preset', `one of ${PRESETS.join(', ')}`, preset);
  if (!(Number.isInteger(seed) && seed >= 0 && seed <= 0xffffffff))
    wrong('seed', 'a whole number from 0 to 2^32 - 1', seed);
  if (!(durationSeconds > 0 && durationSeconds <= MAX_DURATION_SECONDS)) {
    wrong('duration', `seconds, more than 0, at most ${MAX_DURATION_SECONDS}`, durationSeconds);
  }
  if (!(stepSeconds > 0 && isMultiple(stepSeconds, FINE_STEP_SECONDS)))
    wrong('step', 'a multiple of 0.1 s', stepSeconds);
  if (!isMultiple(durationSeconds, stepSeconds))
    wrong('duration', `a multiple of the step (${stepSeconds} s)`, durationSeconds);
  if (mbps !== undefined && !isSimplePreset(preset)) wrong('mbps', `none with ${preset} (its rates are fitted)`, mbps);
  if (mbps !== undefined && !(mbps >= 0.01 && mbps <= 100_000))
    wrong('mbps', 'a rate from 0.01 to 100000 Mbit/s', mbps);
}

function isMultiple(value: number, unit: number): boolean {
  const times = Math.round(value / unit);
  return times >= 1 && Math.abs(value - times * unit) < 1e-6;
}

function roundTenths(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}

function withCapacity(trace: Trace, seed: number): Trace {
  if (trace.ratesBps.some((rate) => rate > 0)) return trace;
  throw new InputError('seed', 'a link with capacity', undefined, `${seed}: blocked from start to end`);
}
