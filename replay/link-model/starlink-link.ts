/** A synthetic Starlink link; docs/findings.md compares it with recordings. Browser-safe. */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { handoverPhaseOf, type Trace, type TraceMetadata } from '../trace.ts';
import { RandomStream } from './random-stream.ts';
import {
  STARLINK_MIXTURES,
  type StarlinkCharacter,
  type StarlinkMixture,
  type StarlinkParameters,
} from './starlink-parameters.ts';

/** The model's own step. Coarser traces are means of these steps, so that a seed is the same link at every step. */
export const FINE_STEP_SECONDS = 0.1;
const FINE_STEPS_PER_SECOND = 10;
const FINE_STEPS_PER_EPOCH = EPOCH_SECONDS * FINE_STEPS_PER_SECOND;
const MAX_BLOCKAGE_SECONDS = 60;
/** A cut's middle after the boundary: mean and standard deviation; standard deviation of the ln of its length. */
const CUT = { middleSeconds: 0.05, middleSpread: 0.04, lengthSpread: 0.4 };
/** A handover raises the round-trip time by 30 to 50 ms for 0.2 s. */
const HANDOVER_RTT_MS = { from: 30, to: 50 };
const HANDOVER_RTT_STEPS = 2;
/** Range of a trace's mean packet loss, and the factor of loss during a handover. */
const LOSS = { from: 0.01, to: 0.02 };
const HANDOVER_LOSS_FACTOR = 3;
/** Each synthetic trace starts at a random minute of the year from here. */
const FIRST_START_UTC_MS = Date.UTC(2025, 0, 1);
const MINUTES_OF_YEAR = 365 * 24 * 60;

export interface StarlinkLinkOptions {
  parameters: StarlinkParameters;
  seed: number;
  durationSeconds: number;
  /** A multiple of 0.1 s that divides the duration. Default 1. */
  stepSeconds?: number;
}

type Columns = 'stepEndsSeconds' | 'ratesBps' | 'durationSeconds' | 'rttSeconds' | 'loss';
export type SyntheticLink = Required<Pick<Trace, Columns> & Pick<TraceMetadata, 'epochPhaseSeconds' | 'startUtcMs'>>;

/** The character of a preset: the preset itself, or the character that this seed draws from a mixture. */
export function characterOf(preset: StarlinkCharacter | StarlinkMixture, seed: number): StarlinkCharacter {
  if (preset !== 'stationary' && preset !== 'driving') return preset;
  const characters = STARLINK_MIXTURES[preset];
  return characters[new RandomStream(seed, 'character').whole(characters.length)]!;
}

/** Draws a link. The same options give the same numbers; rates are whole 10 kbit/s, RTT 0.1 ms, loss 0.001. */
export function synthesizeStarlinkLink(options: StarlinkLinkOptions): SyntheticLink {
  const { parameters, seed, durationSeconds, stepSeconds = 1 } = options;
  const finePerStep = Math.round(stepSeconds * FINE_STEPS_PER_SECOND);
  const steps = Math.round(durationSeconds / stepSeconds);
  const n = steps * finePerStep;

  const start = startOfLink(seed);
  const boundaryOffset = handoverPhaseOf(start.epochPhaseSeconds) * FINE_STEPS_PER_SECOND;

  const mbps = fineRatesMbps({ parameters, seed, n, boundaryOffset });
  const latency = fineLatency({ parameters, seed, n, boundaryOffset, mbps });

  const link: SyntheticLink = {
    stepEndsSeconds: new Float64Array(steps),
    ratesBps: new Float64Array(steps),
    // Dividing avoids the rounding noise of a product with 0.1.
    durationSeconds: n / FINE_STEPS_PER_SECOND,
    rttSeconds: new Float64Array(steps),
    loss: new Float64Array(steps),
    ...start,
  };
  for (let step = 0; step < steps; step++) {
    let rate = 0;
    let rtt = 0;
    let handoverRtt = 0;
    let lost = 0;
    let answered = 0;
    for (let i = step * finePerStep; i < (step + 1) * finePerStep; i++) {
      rate += mbps[i]!;
      lost += latency.loss[i]!;
      if (latency.loss[i]! >= 1) continue;
      answered++;
      rtt += latency.rttMs[i]!;
      handoverRtt = Math.max(handoverRtt, latency.handoverMs[i]!);
    }
    link.stepEndsSeconds[step] = ((step + 1) * finePerStep) / FINE_STEPS_PER_SECOND;
    link.ratesBps[step] = Math.round((rate / finePerStep) * 100) * 10_000;
    // Add the handover's peak, not its mean: 0.2 s would vanish in the mean of a second.
    link.rttSeconds[step] = answered === 0 ? Number.NaN : Math.round((rtt / answered + handoverRtt) * 10) / 10_000;
    link.loss[step] = Math.round((lost / finePerStep) * 1000) / 1000;
  }
  return link;
}

/** A whole second of 2025, so that boundaries fall between samples, as they nearly do in recordings. */
export function startOfLink(seed: number): Pick<SyntheticLink, 'epochPhaseSeconds' | 'startUtcMs'> {
  const clock = new RandomStream(seed, 'clock');
  const epochPhaseSeconds = clock.whole(60);
  const minuteMs = FIRST_START_UTC_MS + clock.whole(MINUTES_OF_YEAR) * 60_000;
  return { epochPhaseSeconds, startUtcMs: minuteMs + epochPhaseSeconds * 1000 };
}

interface FineOptions {
  parameters: StarlinkParameters;
  seed: number;
  n: number;
  /** Index of the first boundary. */
  boundaryOffset: number;
}

/** Capacity in Mbit/s per fine step. */
function fineRatesMbps({ parameters: p, seed, n, boundaryOffset }: FineOptions): Float64Array {
  const perTrace = new RandomStream(seed, 'trace');
  const epochs = new RandomStream(seed, 'epochs');
  const inside = new RandomStream(seed, 'inside');
  const dips = new RandomStream(seed, 'dips');
  const surroundings = new RandomStream(seed, 'surroundings');
  const noise = new RandomStream(seed, 'noise');

  const ceiling = p.ceilingMbps * Math.exp(p.ceilingSpread * perTrace.normal());
  const meanDeviate = perTrace.normal();
  const mean = p.meanZ + p.meanSpread * meanDeviate;
  const variability = Math.exp(p.variabilitySpread * perTrace.normal() - p.variabilityByMean * meanDeviate);

  const slowKeep = Math.exp(-FINE_STEP_SECONDS / p.slowSeconds);
  const slowNew = Math.sqrt(1 - slowKeep ** 2);
  const aroundKeep = Math.exp(-FINE_STEP_SECONDS / p.surroundingsSeconds);
  const aroundNew = Math.sqrt(1 - aroundKeep ** 2);
  const fastKeep = Math.exp(-FINE_STEP_SECONDS / p.fastSeconds);
  const fastNew = Math.sqrt(1 - fastKeep ** 2);
  const offsetNew = Math.sqrt(1 - p.epochCorrelation ** 2);

  const badness = () => (epochs.chance(p.badEpochShare) ? epochs.exponential(p.badEpochDepth) : 0);
  let offset = epochs.normal();
  let bad = badness();
  let slow = inside.normal();
  let fast = inside.normal();
  let dip = 0;
  const dipStep = p.dipSeconds > 0 ? FINE_STEP_SECONDS / p.dipSeconds : 1;
  let dipLeft = 0;
  let around = surroundings.normal();

  const mbps = new Float64Array(n);
  const deviates = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    if (i % FINE_STEPS_PER_EPOCH === boundaryOffset) {
      // Draw at every boundary, kept or not, so that `keepShare` does not change the later random numbers.
      const kept = epochs.chance(p.keepShare);
      const nextOffset = p.epochCorrelation * offset + offsetNew * epochs.normal();
      const nextBad = badness();
      if (!kept) {
        offset = nextOffset;
        bad = nextBad;
        slow = inside.normal();
      }
      dip = Math.min(1, dips.uniform(0, 2 * p.dipDepth));
      dipLeft = 1;
    }
    const inEpoch = p.epochSpread * offset + p.slowSpread * slow + p.fastSpread * fast;
    const z = mean - bad + p.surroundingsSpread * around + variability * (inEpoch + p.noiseSpread * noise.normal());
    deviates[i] = around;
    mbps[i] = (ceiling / (1 + Math.exp(-z))) * (1 - dip * dipLeft);
    around = aroundKeep * around + aroundNew * surroundings.normal();
    slow = slowKeep * slow + slowNew * inside.normal();
    fast = fastKeep * fast + fastNew * inside.normal();
    dipLeft = Math.max(0, dipLeft - dipStep);
  }
  if (p.cutDepth > 0) cut(mbps, { parameters: p, boundaryOffset, random: new RandomStream(seed, 'cuts') });
  fade(mbps, p, new RandomStream(seed, 'fades'));
  block(mbps, { parameters: p, surroundings: deviates, random: new RandomStream(seed, 'blockages') });
  return mbps;
}

/** Cuts at boundaries: little capacity for some 0.1 s; after some of them it returns linearly. */
function cut(
  mbps: Float64Array,
  options: { parameters: StarlinkParameters; boundaryOffset: number; random: RandomStream },
): void {
  const { parameters: p, boundaryOffset, random } = options;
  for (let boundary = boundaryOffset; boundary < mbps.length; boundary += FINE_STEPS_PER_EPOCH) {
    const middle = CUT.middleSeconds + CUT.middleSpread * random.normal();
    const length = p.cutSeconds * Math.exp(CUT.lengthSpread * random.normal());
    const from = middle - length / 2;
    const to = middle + length / 2;
    const back = random.chance(p.collapseShare) ? p.collapseSeconds : 0;
    // Missing capacity up to a time after the boundary, in seconds: its full depth, then a falling ramp.
    const missing = (seconds: number) => {
      const ramp = Math.max(0, Math.min(back, seconds - to));
      return Math.max(0, Math.min(seconds, to) - from) + (back > 0 ? ramp - ramp ** 2 / (2 * back) : 0);
    };
    for (let k = Math.floor(from / FINE_STEP_SECONDS); k * FINE_STEP_SECONDS < to + back; k++) {
      const i = boundary + k;
      if (i < 0 || i >= mbps.length) continue;
      const share = (missing((k + 1) * FINE_STEP_SECONDS) - missing(k * FINE_STEP_SECONDS)) / FINE_STEP_SECONDS;
      mbps[i]! *= 1 - p.cutDepth * share;
    }
  }
}

/** Short fades: only a share of the capacity remains for some time. */
function fade(mbps: Float64Array, p: StarlinkParameters, random: RandomStream): void {
  if (p.fadesPerHour <= 0) return;
  let seconds = random.exponential(3600 / p.fadesPerHour);
  while (seconds * FINE_STEPS_PER_SECOND < mbps.length) {
    const end = seconds + random.exponential(p.fadeSeconds);
    const left = random.uniform(0.1, 0.8);
    const to = Math.min(mbps.length, Math.round(end * FINE_STEPS_PER_SECOND));
    for (let i = Math.round(seconds * FINE_STEPS_PER_SECOND); i < to; i++) mbps[i]! *= left;
    seconds = end + random.exponential(3600 / p.fadesPerHour);
  }
}

/** Blockages: no capacity, then a linear recovery. Bad surroundings make them more frequent. */
function block(
  mbps: Float64Array,
  options: { parameters: StarlinkParameters; surroundings: Float64Array; random: RandomStream },
): void {
  const { parameters: p, surroundings, random } = options;
  const spread = p.blockageIntensitySpread;
  // The factor is log-normal with mean 1.
  const perHour = p.blockagesPerHour * Math.exp(spread * random.normal() - spread ** 2 / 2);
  const perStep = (perHour / 3600) * FINE_STEP_SECONDS * Math.exp(-(p.blockageClustering ** 2) / 2);
  const recoverySteps = Math.round(p.recoverySeconds * FINE_STEPS_PER_SECOND);
  // Time to the next blockage in units of the mean wait; it elapses at the momentary rate of blockages.
  let wait = random.exponential(1);
  for (let i = 0; i < mbps.length; i++) {
    wait -= perStep * Math.exp(-p.blockageClustering * surroundings[i]!);
    if (wait > 0) continue;
    const length = Math.min(MAX_BLOCKAGE_SECONDS, p.blockageSeconds * Math.exp(p.blockageSpread * random.normal()));
    const end = i + Math.max(1, Math.round(length * FINE_STEPS_PER_SECOND));
    for (; i < Math.min(end, mbps.length); i++) mbps[i] = 0;
    for (let k = 0; k < recoverySteps && end + k < mbps.length; k++) mbps[end + k]! *= (k + 0.5) / recoverySteps;
    wait = random.exponential(1);
  }
}

/** Per fine step: round-trip time in ms without handovers, the handovers' addition, and loss (1 while blocked). */
function fineLatency({ parameters: p, seed, n, boundaryOffset, mbps }: FineOptions & { mbps: Float64Array }) {
  const perTrace = new RandomStream(seed, 'latency of the trace');
  const epochs = new RandomStream(seed, 'latency of epochs');
  const inside = new RandomStream(seed, 'latency inside');
  const traceMs = p.rttMs * Math.exp(0.15 * perTrace.normal());
  const meanLoss = perTrace.uniform(LOSS.from, LOSS.to);
  const epochMs = () => traceMs * Math.exp(p.rttEpochSpread * epochs.normal());
  const rttMs = new Float64Array(n);
  const handoverMs = new Float64Array(n);
  const loss = new Float64Array(n);
  let base = epochMs();
  let sinceBoundary = HANDOVER_RTT_STEPS;
  let handover = 0;
  for (let i = 0; i < n; i++) {
    if (i % FINE_STEPS_PER_EPOCH === boundaryOffset) {
      base = epochMs();
      handover = epochs.uniform(HANDOVER_RTT_MS.from, HANDOVER_RTT_MS.to);
      sinceBoundary = 0;
    }
    const inHandover = sinceBoundary++ < HANDOVER_RTT_STEPS;
    // Queueing only adds delay: the jitter is exponential above a floor.
    rttMs[i] = base - p.rttJitterMs / 2 + inside.exponential(p.rttJitterMs);
    handoverMs[i] = inHandover ? handover : 0;
    const drawn = inside.exponential(meanLoss) * (inHandover ? HANDOVER_LOSS_FACTOR : 1);
    loss[i] = mbps[i] === 0 ? 1 : Math.min(1, drawn);
  }
  return { rttMs, handoverMs, loss };
}
