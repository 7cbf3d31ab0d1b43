/** Terrestrial links, which a controller must not mistake for low-Earth-orbit links. Seeded. Browser-safe. */

import { RandomStream } from './random-stream.ts';
import { FINE_STEP_SECONDS } from './starlink-link.ts';

export const SIMPLE_PRESETS = ['constant', 'cable', 'square', 'lte'] as const;
export type SimplePreset = (typeof SIMPLE_PRESETS)[number];

/** Default mean rate (Mbit/s), round-trip time (ms) and loss of each preset. */
export const SIMPLE_DEFAULTS: Readonly<Record<SimplePreset, { mbps: number; rttMs: number; loss: number }>> = {
  constant: { mbps: 50, rttMs: 20, loss: 0 },
  cable: { mbps: 100, rttMs: 15, loss: 0 },
  square: { mbps: 40, rttMs: 20, loss: 0 },
  lte: { mbps: 25, rttMs: 45, loss: 0.001 },
};

/** Standard deviation of a cable link's rate as a share of its mean. */
const CABLE_NOISE = 0.05;
/** Amplitude of the square wave as a share of its mean. Its period must not be a multiple of an epoch. */
const SQUARE_SWING = 0.6;
const SQUARE_PERIOD_SECONDS = 40;
/** LTE-like: ln rate has a slow part (shadowing, load) and a fast part (scheduling); cells change at random moments. */
const LTE = { slowSpread: 0.5, slowSeconds: 20, fastSpread: 0.25, fastSeconds: 1.5, cellSeconds: 45, cellSpread: 0.35 };

export function isSimplePreset(preset: string): preset is SimplePreset {
  return (SIMPLE_PRESETS as readonly string[]).includes(preset);
}

/** Rates in bit/s (whole 10 kbit/s) per step. `mbps` is the mean of the model, not of the drawn link. */
export function simpleRatesBps(options: {
  preset: SimplePreset;
  seed: number;
  mbps: number;
  steps: number;
  stepSeconds: number;
}): Float64Array {
  const { preset, seed, mbps, steps, stepSeconds } = options;
  const random = new RandomStream(seed, preset);
  const rates = new Float64Array(steps);
  if (preset === 'lte') lteRates(rates, { random, mbps, finePerStep: Math.round(stepSeconds / FINE_STEP_SECONDS) });
  else for (let i = 0; i < steps; i++) rates[i] = mbps * shareOfMean(preset, random, i * stepSeconds);
  return rates.map((rate) => Math.round(rate * 100) * 10_000);
}

function shareOfMean(preset: Exclude<SimplePreset, 'lte'>, random: RandomStream, seconds: number): number {
  if (preset === 'constant') return 1;
  if (preset === 'cable') return Math.max(0, 1 + CABLE_NOISE * random.normal());
  return 1 + (seconds % SQUARE_PERIOD_SECONDS < SQUARE_PERIOD_SECONDS / 2 ? SQUARE_SWING : -SQUARE_SWING);
}

function lteRates(
  rates: Float64Array,
  { random, mbps, finePerStep }: { random: RandomStream; mbps: number; finePerStep: number },
): void {
  const slowKeep = Math.exp(-FINE_STEP_SECONDS / LTE.slowSeconds);
  const fastKeep = Math.exp(-FINE_STEP_SECONDS / LTE.fastSeconds);
  const variance = LTE.slowSpread ** 2 + LTE.fastSpread ** 2 + LTE.cellSpread ** 2;
  let slow = random.normal();
  let fast = random.normal();
  let cell = random.normal();
  for (let i = 0; i < rates.length; i++) {
    let sum = 0;
    for (let k = 0; k < finePerStep; k++) {
      slow = slowKeep * slow + Math.sqrt(1 - slowKeep ** 2) * random.normal();
      fast = fastKeep * fast + Math.sqrt(1 - fastKeep ** 2) * random.normal();
      if (random.chance(FINE_STEP_SECONDS / LTE.cellSeconds)) cell = random.normal();
      sum += Math.exp(LTE.slowSpread * slow + LTE.fastSpread * fast + LTE.cellSpread * cell - variance / 2);
    }
    rates[i] = (mbps * sum) / finePerStep;
  }
}
