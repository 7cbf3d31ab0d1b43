/**
 * What a session has seen of its link, kept in constant memory, and the features that forecasts are made from.
 *
 * All features are scale-free: rates enter only as logarithms of ratios to a reference rate (the average of the last
 * couple of busy seconds), so that a link twice as fast gives the same features.
 */

import type { Observation } from '../abr/forecast.ts';

/** Busy time after which an average has forgotten all but 1/e of what was before, per average kept. */
const AVERAGE_SECONDS = [0.4, 2, 8, 30, 120] as const;
/** Index of the average that is the reference. */
const REFERENCE = 1;
/** The reference never falls below this share of the long average: a dead second is not a new scale. */
const REFERENCE_FLOOR_SHARE = 0.03;
const LONG_AVERAGE = 3;
/** One-second bins of busy time remembered for extremes and spread. */
const BINS = 64;
/** Epochs remembered for the spread of levels. */
const EPOCHS = 8;
const EPOCH_SECONDS = 15;
/** Rates below this share of the reference count as this share: a logarithm needs a floor. */
const RATE_FLOOR_SHARE = 0.02;

/** Number of features of `LinkHistory.features`. */
export const FEATURE_COUNT = 27;
/** Hat functions that the time to the next handover is spread over. */
const PHASE_HATS = 8;

export class LinkHistory {
  private readonly bits = new Float64Array(AVERAGE_SECONDS.length);
  private readonly busy = new Float64Array(AVERAGE_SECONDS.length);
  private readonly binRates = new Float64Array(BINS);
  private readonly binEnds = new Float64Array(BINS);
  private binCount = 0;
  private openBits = 0;
  private openBusy = 0;
  private lastSeenSeconds = 0;
  private busyInAll = 0;
  private epochIndex = Number.NaN;
  private epochBits = 0;
  private epochBusy = 0;
  private readonly epochRates = new Float64Array(EPOCHS);
  private epochCount = 0;
  /** Session second of some handover; NaN while unknown. */
  private handoverSeconds = Number.NaN;

  /** Tells where the handovers are: any one of them, in seconds of the session. NaN = unknown. */
  setHandover(atSeconds: number): void {
    this.handoverSeconds = atSeconds;
  }

  observe(observation: Observation): void {
    if (observation.kind !== 'throughput') return;
    const { startSeconds, endSeconds, bits } = observation;
    const duration = endSeconds - startSeconds;
    if (!(duration > 0) || !(bits >= 0)) return;
    for (let i = 0; i < AVERAGE_SECONDS.length; i++) {
      const keep = Math.exp(-duration / AVERAGE_SECONDS[i]!);
      this.bits[i] = this.bits[i]! * keep + bits;
      this.busy[i] = this.busy[i]! * keep + duration;
    }
    this.busyInAll += duration;
    this.lastSeenSeconds = endSeconds;
    this.observeEpoch(endSeconds, bits, duration);
    this.openBits += bits;
    this.openBusy += duration;
    if (this.openBusy >= 0.999) {
      const at = this.binCount % BINS;
      this.binRates[at] = this.openBits / this.openBusy;
      this.binEnds[at] = endSeconds;
      this.binCount++;
      this.openBits = 0;
      this.openBusy = 0;
    }
  }

  private observeEpoch(atSeconds: number, bits: number, duration: number): void {
    if (Number.isNaN(this.handoverSeconds)) return;
    const index = Math.floor((atSeconds - duration / 2 - this.handoverSeconds) / EPOCH_SECONDS);
    if (index !== this.epochIndex) {
      if (this.epochBusy > 0.5) {
        this.epochRates[this.epochCount % EPOCHS] = this.epochBits / this.epochBusy;
        this.epochCount++;
      }
      this.epochIndex = index;
      this.epochBits = 0;
      this.epochBusy = 0;
    }
    this.epochBits += bits;
    this.epochBusy += duration;
  }

  /** Busy seconds seen in all. */
  get observedSeconds(): number {
    return this.busyInAll;
  }

  /** The rate that everything is relative to, bit/s; NaN before anything was seen. */
  referenceBps(): number {
    if (this.busyInAll <= 0) return Number.NaN;
    const floor = REFERENCE_FLOOR_SHARE * (this.bits[LONG_AVERAGE]! / this.busy[LONG_AVERAGE]!);
    return Math.max(this.bits[REFERENCE]! / this.busy[REFERENCE]!, floor, 1);
  }

  /** Writes the features of this moment into `into`; false when there is nothing to go on yet. */
  features(nowSeconds: number, into: Float64Array): boolean {
    const reference = this.referenceBps();
    if (Number.isNaN(reference)) return false;
    const log = (rate: number) => Math.log(Math.max(rate / reference, RATE_FLOOR_SHARE));
    let at = 0;
    for (let i = 0; i < AVERAGE_SECONDS.length; i++) {
      into[at++] = i === REFERENCE ? 0 : log(this.bits[i]! / this.busy[i]!);
    }
    // Extremes and spread of the last 10 and 40 s (of wall clock), in one-second bins.
    let low10 = 0;
    let low40 = 0;
    let high40 = 0;
    let n15 = 0;
    let sum15 = 0;
    let square15 = 0;
    let n60 = 0;
    let sum60 = 0;
    let square60 = 0;
    for (let i = 0; i < Math.min(this.binCount, BINS); i++) {
      const age = nowSeconds - this.binEnds[i]!;
      if (age > 90) continue;
      const value = log(this.binRates[i]!);
      if (age <= 10) low10 = Math.min(low10, value);
      if (age <= 40) {
        low40 = Math.min(low40, value);
        high40 = Math.max(high40, value);
      }
      if (age <= 15) {
        n15++;
        sum15 += value;
        square15 += value * value;
      }
      n60++;
      sum60 += value;
      square60 += value * value;
    }
    into[at++] = low10;
    into[at++] = low40;
    into[at++] = high40;
    into[at++] = n15 > 1 ? Math.sqrt(Math.max(0, square15 / n15 - (sum15 / n15) ** 2)) : 0.2;
    into[at++] = n60 > 1 ? Math.sqrt(Math.max(0, square60 / n60 - (sum60 / n60) ** 2)) : 0.3;
    into[at++] = n60 > 0 ? sum60 / n60 : 0;
    into[at++] = Math.min(8, Math.max(0, nowSeconds - this.lastSeenSeconds)) / 4;
    into[at++] = Math.log1p(Math.min(120, this.busyInAll)) / 2;
    // The epoch.
    const known = !Number.isNaN(this.handoverSeconds);
    const position = known ? modulo(nowSeconds - this.handoverSeconds, EPOCH_SECONDS) : 0;
    const hat = (position / EPOCH_SECONDS) * PHASE_HATS;
    for (let i = 0; i < PHASE_HATS; i++) into[at + i] = 0;
    if (known) {
      const low = Math.floor(hat) % PHASE_HATS;
      into[at + low] = 1 - (hat - Math.floor(hat));
      into[at + ((low + 1) % PHASE_HATS)]! += hat - Math.floor(hat);
    }
    at += PHASE_HATS;
    const index = known ? Math.floor((nowSeconds - this.handoverSeconds) / EPOCH_SECONDS) : 0;
    const sameEpoch = known && index === this.epochIndex;
    into[at++] = sameEpoch && this.epochBusy > 0 ? log(this.epochBits / this.epochBusy) : 0;
    into[at++] = sameEpoch ? Math.log1p(this.epochBusy) / 2 : 0;
    let levels = 0;
    let levelSum = 0;
    let levelSquare = 0;
    for (let i = 0; i < Math.min(this.epochCount, EPOCHS); i++) {
      const value = log(this.epochRates[i]!);
      levels++;
      levelSum += value;
      levelSquare += value * value;
    }
    into[at++] = levels > 0 ? levelSum / levels : 0;
    into[at++] = levels > 1 ? Math.sqrt(Math.max(0, levelSquare / levels - (levelSum / levels) ** 2)) : 0.3;
    into[at++] = Math.min(levels, 8) / 8;
    into[at++] = known ? 1 : 0;
    return true;
  }
}

function modulo(value: number, by: number): number {
  return value - by * Math.floor(value / by);
}
