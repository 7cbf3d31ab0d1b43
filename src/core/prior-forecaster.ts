/**
 * Forecasts the start of a session from the throughput of earlier ones, until this session has observed its own; stores
 * this session's throughput for the next. Last in the chain.
 */

import type { Forecaster, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import {
  type LinkStatistics,
  loadStatistics,
  type OpenStorage,
  saveStatistics,
  withSession,
} from './link-statistics.ts';

/** Throughput is averaged over this much download time. */
const BIN_SECONDS = 1;
/** Sessions with less download time are not stored. */
const MIN_BINS = 5;
/** One-second rates kept for the session's median. */
const BINS_KEPT = 128;
/** Lower rates count as this share of the median, to limit how much an outage widens the spread. */
const FLOOR_SHARE = 0.05;
/** After this much download time, the session's own observations replace the prior. */
const EVIDENCE_SECONDS = 0.5;

/** Quantile levels, and their z-scores in a normal distribution. */
const LEVELS = [0.1, 0.3, 0.5, 0.7, 0.9];
const LEVEL_SCORES = [-1.2816, -0.5244, 0, 0.5244, 1.2816];
/** The outer quantiles differ from the median at least by this factor: place and hour may have changed. */
const LEAST_FACTOR = 2;
const STEP_ENDS_SECONDS = [2, 4, 8, 16, 32, 64];
const RANK_CORRELATION = 0.9;

export interface PriorForecasterOptions {
  /** The stream's origin, asked at the start of each session. */
  origin: () => string | undefined;
  storage: OpenStorage;
}

export class PriorForecaster implements Forecaster {
  readonly name = 'prior';
  readonly #options: PriorForecasterOptions;
  #origin: string | undefined;
  #past: LinkStatistics | undefined;
  #ratesBps: number[] = [];
  #binCount = 0;
  #bits = 0;
  #seconds = 0;

  constructor(options: PriorForecasterOptions) {
    this.#options = options;
  }

  start(_: SessionContext): void {
    this.save();
    this.#origin = this.#options.origin();
    this.#past = this.#origin === undefined ? undefined : loadStatistics(this.#options.storage, this.#origin);
    this.#ratesBps = [];
    this.#binCount = 0;
    this.#bits = 0;
    this.#seconds = 0;
  }

  observe(observation: Observation): void {
    if (observation.kind !== 'throughput') return;
    this.#bits += observation.bits;
    this.#seconds += observation.endSeconds - observation.startSeconds;
    if (this.#seconds < BIN_SECONDS) return;
    this.#ratesBps[this.#binCount++ % BINS_KEPT] = this.#bits / this.#seconds;
    this.#bits = 0;
    this.#seconds = 0;
    // Pages close without notice: save after 5, 10, 20, 40 ... seconds.
    if (Number.isInteger(Math.log2(this.#binCount / MIN_BINS))) this.save();
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    const past = this.#past;
    if (past === undefined || this.#binCount > 0 || this.#seconds > EVIDENCE_SECONDS) return undefined;
    const { medianBps, spread, sessions } = past;
    // Fewer sessions give a wider forecast.
    const least = Math.log(LEAST_FACTOR) * (1 + 1 / sessions);
    const deviation = Math.max(spread, least / LEVEL_SCORES[LEVEL_SCORES.length - 1]!);
    const quantiles = LEVEL_SCORES.map((score) => medianBps * Math.exp(score * deviation));
    return {
      issuedAtMs: nowSeconds * 1000,
      source: this.name,
      stepEndsSeconds: STEP_ENDS_SECONDS,
      levels: LEVELS,
      quantilesBps: STEP_ENDS_SECONDS.map(() => quantiles),
      rankCorrelation: RANK_CORRELATION,
      handovers: [],
    };
  }

  /** Stores the statistics so far; safe to call at any time and often. */
  save(): void {
    if (this.#origin === undefined || this.#binCount < MIN_BINS) return;
    const rates = [...this.#ratesBps].sort((a, b) => a - b);
    const medianBps = rates[rates.length >> 1]!;
    if (!(medianBps > 0)) return;
    const squares = rates.map((rate) => Math.log(Math.max(rate / medianBps, FLOOR_SHARE)) ** 2);
    const spread = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
    saveStatistics(this.#options.storage, this.#origin, withSession(this.#past, { medianBps, spread }));
  }
}
