/**
 * Which of the service's forecasts a session plans on. It has a forecaster of its own to fall back on, which has seen all
 * that the session has, at once; the service has seen other players and other days, half a second later. So a forecast
 * of the service is let through only where it may know better:
 *
 * - it is fresh;
 * - what came since it was made does not contradict it;
 * - it is not of a service that has seen less of the link than this session (it was restarted a moment ago);
 * - its forecasts have come true so far (`ForecastJudge`).
 */

import type { QuantileForecast } from '../../abr/forecast.ts';
import { ForecastJudge } from './forecast-judge.ts';

/** The newest bits that a forecast made before them is held against, in seconds of use. */
const NEWS_SECONDS = 0.5;
/** Less is no news. */
const LEAST_NEWS_SECONDS = 0.15;
/** Bits older than this are none. */
const NEWS_OLDEST_SECONDS = 1.5;
/** What came lies below this level of the forecast, or as far up: it did not foresee that. */
const CONTRADICTED_LEVEL = 0.1;
/** Levels are sums of decimal fractions at times. */
const ROUNDING = 1e-9;
/** A service that has seen so much of the link has nothing to catch up on; a session that has seen so little, no lead. */
const EXPERIENCED_SECONDS = 60;
const LEAST_LEAD_SECONDS = 10;

export interface ForecastGateOptions {
  /** A forecast of this age is not used. Seconds. */
  staleSeconds: number;
}

export class ForecastGate {
  readonly #staleSeconds: number;
  readonly #judge = new ForecastJudge();
  /** The newest pieces of throughput, in order of time. */
  #news: { startSeconds: number; endSeconds: number; bits: number }[] = [];
  /** Seconds of downloading that this session has seen. */
  #seenSeconds = 0;

  constructor({ staleSeconds }: ForecastGateOptions) {
    this.#staleSeconds = staleSeconds;
  }

  /** The service's forecasts did not come true, and are left out. */
  get isDistrusted(): boolean {
    return this.#judge.isDropped;
  }

  /** Another session: what was found out of the service stays, what was seen of the link does not. */
  start(): void {
    this.#judge.start();
    this.#news = [];
    this.#seenSeconds = 0;
  }

  /** `bits` came, on the session's clock, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    if (!(endSeconds > startSeconds && startSeconds >= 0 && bits >= 0 && endSeconds < 1e8)) return;
    this.#judge.observe(startSeconds, endSeconds, bits);
    this.#seenSeconds += endSeconds - startSeconds;
    this.#news.push({ startSeconds, endSeconds, bits });
    while (this.#news[0]!.endSeconds < endSeconds - NEWS_OLDEST_SECONDS) this.#news.shift();
  }

  /** A new forecast, on the session's clock, times the player's share. */
  hear(forecast: QuantileForecast, nowSeconds: number): void {
    this.#judge.hear(forecast, nowSeconds);
  }

  /**
   * Whether to plan on this one. `experienceSeconds`: downloading that the service has seen; undefined where it does not
   * say, which counts as enough.
   */
  admits(forecast: QuantileForecast, nowSeconds: number, experienceSeconds = EXPERIENCED_SECONDS): boolean {
    const age = nowSeconds - forecast.issuedAtMs / 1000;
    if (!(age < this.#staleSeconds)) return false;
    const seenSeconds = this.#seenSeconds;
    // The other half is the older one.
    const leastSeconds = seenSeconds < LEAST_LEAD_SECONDS ? 0 : Math.min(EXPERIENCED_SECONDS, seenSeconds / 2);
    if (experienceSeconds < leastSeconds) return false;
    return !this.#isContradicted(forecast, nowSeconds) && this.#judge.accepts(forecast, nowSeconds);
  }

  #isContradicted(forecast: QuantileForecast, nowSeconds: number): boolean {
    const issuedSeconds = forecast.issuedAtMs / 1000;
    const oldest = Math.max(issuedSeconds, nowSeconds - NEWS_OLDEST_SECONDS);
    let bits = 0;
    let seconds = 0;
    for (let i = this.#news.length - 1; i >= 0 && seconds < NEWS_SECONDS; i--) {
      const { startSeconds, endSeconds, bits: ofPiece } = this.#news[i]!;
      const part = endSeconds - Math.max(startSeconds, oldest);
      if (part <= 0) break;
      bits += (ofPiece * part) / (endSeconds - startSeconds);
      seconds += part;
    }
    if (seconds < LEAST_NEWS_SECONDS) return false;
    const { stepEndsSeconds, levels, quantilesBps } = forecast;
    const age = nowSeconds - issuedSeconds;
    const step = stepEndsSeconds.findIndex((end) => age < end);
    const row = quantilesBps[step];
    if (row === undefined) return false;
    let lowBps = 0;
    let highBps = Number.POSITIVE_INFINITY;
    for (let i = 0; i < levels.length; i++) {
      if (levels[i]! <= CONTRADICTED_LEVEL + ROUNDING) lowBps = row[i]!;
      if (levels[i]! >= 1 - CONTRADICTED_LEVEL - ROUNDING) highBps = Math.min(highBps, row[i]!);
    }
    const bps = bits / seconds;
    return bps < lowBps || bps > highBps;
  }
}
