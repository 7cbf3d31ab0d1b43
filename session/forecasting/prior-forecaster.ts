/**
 * Forecasts the start of a session from the throughput of earlier ones, until this session has observed its own;
 * stores this session's throughput for the next, per origin of the stream. Last in the chain. A storage that is
 * full, blocked or has foreign content is no error.
 */

import type { Forecaster, Observation, QuantileForecast } from '../../abr/forecast.ts';
import type { Host } from '../host.ts';
import { attempt } from '../page/events.ts';
import type { PlayerPort } from '../player-port.ts';

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

export const STORAGE_KEY = 'leo-abr';
const MAX_ORIGINS = 20;
/** Older statistics may be of another link. */
const MAX_AGE_DAYS = 30;
/** The past counts for at most this many sessions, so that new ones still matter. */
const MAX_WEIGHT = 4;
const MS_PER_DAY = 86_400_000;

/**
 * What earlier sessions predict: the median throughput, the standard deviation of ln(throughput) within and between
 * sessions, their number, and the UTC day of the last, counted from 1970.
 */
type Statistics = [medianBps: number, spread: number, sessions: number, day: number];

export interface PriorForecasterOptions {
  /** The player, whose stream's origin is asked at the start of each session. */
  port: Pick<PlayerPort, 'manifestUrl'>;
  host: Pick<Host, 'storage' | 'utcMs' | 'absoluteUrl'>;
}

export class PriorForecaster implements Forecaster {
  readonly name = 'prior';
  private _origin: string | undefined;
  private _past: Statistics | undefined;
  // `start` sets them.
  private _ratesBps!: number[];
  private _binCount!: number;
  private _bits!: number;
  private _seconds!: number;

  constructor(private readonly _options: PriorForecasterOptions) {}

  start(): void {
    this.save();
    this._origin = this._originOfStream();
    this._past = this._origin === undefined ? undefined : this._stored()[this._origin];
    this._ratesBps = [];
    this._binCount = 0;
    this._bits = 0;
    this._seconds = 0;
  }

  observe(observation: Observation): void {
    if (observation.kind !== 'throughput') return;
    this._bits += observation.bits;
    this._seconds += observation.endSeconds - observation.startSeconds;
    if (this._seconds < BIN_SECONDS) return;
    this._ratesBps[this._binCount++ % BINS_KEPT] = this._bits / this._seconds;
    this._bits = 0;
    this._seconds = 0;
    // Pages close without notice: save after 5, 10, 20, 40 ... seconds.
    if (Number.isInteger(Math.log2(this._binCount / MIN_BINS))) this.save();
  }

  latest(nowSeconds: number): QuantileForecast | undefined {
    if (this._past === undefined || this._binCount > 0 || this._seconds > EVIDENCE_SECONDS) return undefined;
    const [medianBps, spread, sessions] = this._past;
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
    if (this._origin === undefined || this._binCount < MIN_BINS) return;
    const rates = [...this._ratesBps].sort((a, b) => a - b);
    const medianBps = rates[rates.length >> 1]!;
    if (!(medianBps > 0)) return;
    const squares = rates.map((rate) => Math.log(Math.max(rate / medianBps, FLOOR_SHARE)) ** 2);
    const spread = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
    const own = withSession(this._past, { medianBps, spread, day: this._today() });
    const all = { ...this._stored(), [this._origin]: own };
    // Others may be of the same day.
    const dayOf = (origin: string) => (origin === this._origin ? Number.POSITIVE_INFINITY : all[origin]![3]);
    const newest = Object.keys(all).sort((a, b) => dayOf(b) - dayOf(a));
    const kept = newest.slice(0, MAX_ORIGINS);
    attempt(() => this._options.host.storage()!.setItem(STORAGE_KEY, JSON.stringify(all, kept)));
  }

  /** By origin. */
  private _stored(): Record<string, Statistics> {
    const stored: unknown = attempt(() => JSON.parse(this._options.host.storage()!.getItem(STORAGE_KEY)!));
    const recent: Record<string, Statistics> = {};
    for (const [origin, value] of Object.entries(stored || {}))
      if (isRecent(value, this._today())) recent[origin] = value;
    return recent;
  }

  private _today(): number {
    return Math.floor(this._options.host.utcMs() / MS_PER_DAY);
  }

  /** `https://host:port` of the manifest; undefined if it has no URL. */
  private _originOfStream(): string | undefined {
    const { port, host } = this._options;
    return attempt(() => {
      const url = port.manifestUrl();
      return typeof url === 'string' ? host.absoluteUrl(url).origin : undefined;
    });
  }
}

/** Statistics after one more session; a difference from the past widens the spread. */
function withSession(
  past: Statistics | undefined,
  { medianBps, spread, day }: { medianBps: number; spread: number; day: number },
): Statistics {
  const [pastBps, pastSpread, sessions] = past ?? [medianBps, spread, 0];
  const share = 1 / (Math.min(sessions, MAX_WEIGHT) + 1);
  const change = Math.log(medianBps / pastBps);
  const variance = (1 - share) * pastSpread ** 2 + share * spread ** 2 + share * (1 - share) * change ** 2;
  const rounded = Math.round(1000 * Math.sqrt(variance)) / 1000;
  return [Math.round(pastBps * Math.exp(share * change)), rounded, sessions + 1, day];
}

function isRecent(value: unknown, today: number): value is Statistics {
  if (!Array.isArray(value) || value.length !== 4 || !value.every(Number.isFinite)) return false;
  const [medianBps, spread, sessions, day] = value as Statistics;
  const ageDays = today - day;
  return medianBps > 0 && spread >= 0 && spread < 10 && sessions >= 1 && ageDays >= -1 && ageDays <= MAX_AGE_DAYS;
}
