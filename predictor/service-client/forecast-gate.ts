/**
 * Decides which of the service's forecasts a session uses. The service knows other players and days, but it knows the
 * session half a second later than the session's own forecaster. A forecast is used only if
 *
 * - the first forecast agreed with the session's next measurements; otherwise the service watches another link,
 * - the service has observed as much of the link as this session, unlike after a restart,
 * - the bits since the forecast do not contradict it,
 * - past forecasts had good scores (forecast-trust.ts).
 */

import { ageSecondsOf, type QuantileForecast } from '../../abr/forecast.ts';
import { ForecastTrust } from './forecast-trust.ts';

/** Sufficient downloading that a service has observed. */
const EXPERIENCED_SECONDS = 60;

/**
 * `trusted`: forecasts are used if they are recent and fit the newest bits. Otherwise they are not used. `not-yet`: the
 * service knows too little of the link, or its first forecast has not been compared with 2 s of downloading.
 * `contradicted`: the first forecast did not fit the session's measurements; the service probably watches another link.
 * `distrusted`: forecasts were much worse than a simple baseline.
 */
export type Verdict = 'trusted' | 'not-yet' | 'contradicted' | 'distrusted';

/** `experienceSeconds`: downloading that the service has observed. Default: enough. */
export class ForecastGate {
  private readonly _trust = new ForecastTrust();
  private readonly _first = new FirstComparison();
  private _newest = new NewestBits();
  /** Downloading of this session. */
  private _observedSeconds = 0;

  verdict(experienceSeconds = EXPERIENCED_SECONDS): Verdict {
    if (this._first.agrees === false) return 'contradicted';
    if (this._first.agrees === undefined || experienceSeconds < this._leastExperienceSeconds()) return 'not-yet';
    return this._trust.isTrusted ? 'trusted' : 'distrusted';
  }

  /** Begins a session: forgets the link, and keeps the trust in the service. */
  start(): void {
    this._trust.start();
    this._first.start();
    this._newest = new NewestBits();
    this._observedSeconds = 0;
  }

  /** Others used the link, so the session's earlier rates were not the link's. */
  compareAnew(): void {
    this._first.begin();
  }

  /** `bits` arrived, on the session's clock, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    if (!(endSeconds > startSeconds && startSeconds >= 0 && bits >= 0 && endSeconds < 1e8)) return;
    this._trust.observe(startSeconds, endSeconds, bits);
    this._first.observe(endSeconds - startSeconds, bits);
    this._newest.observe(startSeconds, endSeconds, bits);
    this._observedSeconds += endSeconds - startSeconds;
  }

  /** A new forecast, on the session's clock. */
  addForecast(forecast: QuantileForecast): void {
    this._first.meet(forecast);
    this._trust.addForecast(forecast);
  }

  admits(forecast: QuantileForecast, nowSeconds: number, experienceSeconds = EXPERIENCED_SECONDS): boolean {
    this._first.meet(forecast);
    const isTrusted = this.verdict(experienceSeconds) === 'trusted';
    return isTrusted && !this._newest.contradict(forecast, nowSeconds) && this._trust.fits(forecast);
  }

  /** Half of the session's downloading, because the older half has little effect. */
  private _leastExperienceSeconds(): number {
    return Math.min(EXPERIENCED_SECONDS, this._observedSeconds / 2);
  }
}

/** Downloading in the newest rate. */
const RECENT_SECONDS = 0.5;
const LEAST_RECENT_SECONDS = 0.15;
/** The rate contradicts a forecast if it is below this quantile or above the opposite quantile. */
const CONTRADICTED_LEVEL = 0.1;
/** Tolerance for quantile levels that are sums of decimal fractions. */
const ROUNDING = 1e-9;

class NewestBits {
  /** Pieces of throughput, in order of time: the last `RECENT_SECONDS`. */
  private _pieces: { startSeconds: number; endSeconds: number; bits: number }[] = [];
  private _seconds = 0;

  observe(startSeconds: number, endSeconds: number, bits: number): void {
    this._pieces.push({ startSeconds, endSeconds, bits });
    this._seconds += endSeconds - startSeconds;
    for (;;) {
      const [oldest] = this._pieces;
      const laterSeconds = this._seconds - (oldest!.endSeconds - oldest!.startSeconds);
      if (laterSeconds < RECENT_SECONDS) return;
      this._seconds = laterSeconds;
      this._pieces.shift();
    }
  }

  /** Whether the bits arrived at a rate that the forecast did not expect. */
  contradict(forecast: QuantileForecast, nowSeconds: number): boolean {
    let bits = 0;
    let seconds = 0;
    for (const { startSeconds, endSeconds, bits: ofPiece } of this._pieces) {
      const part = endSeconds - Math.max(startSeconds, forecast.issuedAtMs / 1000);
      if (part <= 0) continue;
      bits += (ofPiece * part) / (endSeconds - startSeconds);
      seconds += part;
    }
    if (seconds < LEAST_RECENT_SECONDS) return false;
    const { stepEndsSeconds, levels, quantilesBps } = forecast;
    const age = ageSecondsOf(forecast, nowSeconds);
    const row = quantilesBps[stepEndsSeconds.findIndex((end) => age < end)];
    if (row === undefined) return false;
    const bps = bits / seconds;
    return levels.some(
      (level, i) =>
        (level <= CONTRADICTED_LEVEL + ROUNDING && bps < row[i]!) ||
        (level >= 1 - CONTRADICTED_LEVEL - ROUNDING && bps > row[i]!),
    );
  }
}

/** The mean rate of this much downloading is compared with the first forecast's steps up to `COMPARED_STEPS_SECONDS`. */
const COMPARED_SECONDS = 2;
const COMPARED_STEPS_SECONDS = 4;
/** Only quantiles within this central share count. Tails are wide, because some links have outages. */
const COMPARED_SHARE = 0.5;
/**
 * A rate this many times outside these quantiles contradicts the forecast. On the shipped traces this refuses services
 * of a link four times as fast.
 */
const OUTSIDE_FACTOR = 1.6;

/** Compares the first forecast with the next measurements, which shows whether the service watches this session's link. */
class FirstComparison {
  /** The first forecast, and the downloading since. */
  private _compared: { forecast: QuantileForecast; seconds: number; bits: number } | undefined;
  /** Whether the first forecast agreed. Before this session's comparison, the result of an earlier session. */
  agrees: boolean | undefined;

  /** Begins a session. If earlier sessions' links were others, this session's link may be the service's. */
  start(): void {
    this.agrees ||= undefined;
    this.begin();
  }

  /** Compares the next forecast as the first one. */
  begin(): void {
    this._compared = undefined;
  }

  /** Only the first forecast counts. */
  meet(forecast: QuantileForecast): void {
    this._compared ??= { forecast, seconds: 0, bits: 0 };
  }

  observe(seconds: number, bits: number): void {
    const compared = this._compared;
    if (compared === undefined || compared.seconds >= COMPARED_SECONDS) return;
    compared.seconds += seconds;
    compared.bits += bits;
    if (compared.seconds < COMPARED_SECONDS) return;
    const bps = compared.bits / compared.seconds;
    const { stepEndsSeconds, levels, quantilesBps } = compared.forecast;
    const soon = ([] as number[]).concat(
      ...quantilesBps
        .filter((_, step) => step === 0 || stepEndsSeconds[step]! <= COMPARED_STEPS_SECONDS)
        .map((row) => row.filter((_, i) => Math.abs(levels[i]! - 0.5) <= COMPARED_SHARE / 2 + ROUNDING)),
    );
    const isSlower = bps * OUTSIDE_FACTOR < Math.min(...soon);
    this.agrees = !isSlower && bps <= OUTSIDE_FACTOR * Math.max(...soon);
  }
}
