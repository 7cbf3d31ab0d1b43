/**
 * Decides which of the service's forecasts a session uses. The session's own forecaster knows all observations of the
 * session at once; the service knows other players and days, but the session only after half a second. Its forecasts are
 * used only if
 *
 * - the first one agreed with what the session measured then: otherwise it watches another link,
 * - the service has not observed less of the link than this session, as after a restart,
 * - the bits since the forecast do not contradict it,
 * - its past forecasts had good scores (forecast-trust.ts).
 */

import { ageSecondsOf, type QuantileForecast } from '../../abr/forecast.ts';
import { ForecastTrust } from './forecast-trust.ts';

/** A service with this much observed downloading has enough. */
const EXPERIENCED_SECONDS = 60;

/**
 * `trusted`: forecasts are used if they are recent and fit the newest bits. `not-yet`: they are not used, because service
 * or session have just started: the service knows too little of the link, or its first forecast has not been compared
 * with 2 s of this session's downloading. `contradicted`: they are not used in this session, because the first one did
 * not fit what the session measured; the service probably watches another link. `distrusted`: they are not used, because
 * they were much worse than a simple baseline.
 */
export type Verdict = 'trusted' | 'not-yet' | 'contradicted' | 'distrusted';

/** `experienceSeconds` of its methods: downloading that the service has observed. Default: enough. */
export class ForecastGate {
  private readonly _trust = new ForecastTrust();
  private readonly _first = new FirstComparison();
  private _newest = new NewestBits();
  /** Downloading of this session. */
  private _observedSeconds = 0;

  /** What the session makes of the service. */
  verdict(experienceSeconds = EXPERIENCED_SECONDS): Verdict {
    if (this._first.agrees === false) return 'contradicted';
    if (this._first.agrees === undefined || experienceSeconds < this._leastExperienceSeconds()) return 'not-yet';
    return this._trust.isTrusted ? 'trusted' : 'distrusted';
  }

  /** Begins a session: forgets the link, keeps the trust in the service. */
  start(): void {
    this._trust.start();
    this._first.start();
    this._newest = new NewestBits();
    this._observedSeconds = 0;
  }

  /** Until now the session's rates were not those of the link, because others used it. */
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

  /** Whether to use a forecast. */
  admits(forecast: QuantileForecast, nowSeconds: number, experienceSeconds = EXPERIENCED_SECONDS): boolean {
    this._first.meet(forecast);
    const isKnown = this._first.agrees === true && experienceSeconds >= this._leastExperienceSeconds();
    return isKnown && !this._newest.contradict(forecast, nowSeconds) && this._trust.accepts(forecast);
  }

  /** Half of the session's, because the older half has little effect. */
  private _leastExperienceSeconds(): number {
    return Math.min(EXPERIENCED_SECONDS, this._observedSeconds / 2);
  }
}

/** Downloading that the rate is measured over. */
const RECENT_SECONDS = 0.5;
const LEAST_RECENT_SECONDS = 0.15;
/** The rate contradicts a forecast if it is below this quantile or above the opposite one. */
const CONTRADICTED_LEVEL = 0.1;
/** Tolerance for quantile levels that are sums of decimal fractions. */
const ROUNDING = 1e-9;

/** The bits that the session has received since a forecast, which the service does not know yet. */
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

  /** Whether they came at a rate that the forecast did not expect. */
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

/** Downloading whose mean rate is compared with the steps of the first forecast that end this soon. */
const COMPARED_SECONDS = 2;
const COMPARED_STEPS_SECONDS = 4;
/** The quantiles within this central share count: tails are wide, because some links have outages. */
const COMPARED_SHARE = 0.5;
/**
 * A rate this many times below the lowest of these quantiles, or above the highest one, contradicts the forecast. On
 * the shipped traces this refuses services of a link four times as fast.
 */
const OUTSIDE_FACTOR = 1.6;

/** Compares the service's first forecast with what the session measures next: whether it watches this session's link. */
class FirstComparison {
  /** The first forecast, and the downloading since. */
  private _compared: { forecast: QuantileForecast; seconds: number; bits: number } | undefined;
  private _agrees: boolean | undefined;

  /** Whether the first forecast agreed; from an earlier session until this one has its own. */
  get agrees(): boolean | undefined {
    return this._agrees;
  }

  /** Begins a session, which may be on another link if the service watched none of the earlier ones. */
  start(): void {
    this._agrees ||= undefined;
    this.begin();
  }

  /** Compares the next forecast as the first one. */
  begin(): void {
    this._compared = undefined;
  }

  /** A forecast; only the first one counts. */
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
    this._agrees = !isSlower && bps <= OUTSIDE_FACTOR * Math.max(...soon);
  }
}
