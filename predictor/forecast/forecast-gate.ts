/**
 * Decides which of the service's forecasts a session uses. The session's own forecaster knows all observations of the
 * session at once; the service knows other players and days, but the session only after half a second. Its forecast is
 * used only if it is recent, if the first one agreed with what the session measured then (otherwise the service watches
 * another link), if the bits since then do not contradict it, if the service has not observed less of the link than this
 * session (after a restart), and if its past forecasts had good scores (`ForecastTrust`).
 */

import { ageSecondsOf, type QuantileForecast } from '../../abr/forecast.ts';
import { ForecastTrust } from './forecast-trust.ts';

/** Downloading from which the recent rate is measured. */
const RECENT_SECONDS = 0.5;
const LEAST_RECENT_SECONDS = 0.15;
/** Older bits are not recent. */
const RECENT_AGE_SECONDS = 1.5;
/** The recent rate contradicts a forecast if it is below this quantile or above the opposite one. */
const CONTRADICTED_LEVEL = 0.1;
/** Tolerance for quantile levels that are sums of decimal fractions. */
const ROUNDING = 1e-9;
/** A service with this much observed downloading has enough; a session with less than the other has no advantage. */
const EXPERIENCED_SECONDS = 60;
const LEAST_LEAD_SECONDS = 10;
/** A service whose forecasts are of another link needs about this much of the session's downloading to follow. */
const INTRODUCED_SECONDS = 20;

/** Downloading whose mean rate is compared with the steps of the service's first forecast that end this soon. */
const COMPARED_SECONDS = 2;
const COMPARED_STEPS_SECONDS = 4;
/**
 * A rate this many times below the lowest quantile of these steps, or above the highest one, contradicts the forecast. On
 * the shipped traces this refuses 3 to 7 % of services of the right link and 97 % of those of a link four times as fast.
 */
const OUTSIDE_FACTOR = 1.25;

/**
 * `trusted`: forecasts are used if they are recent and fit the newest bits. `not-yet`: they are not used, because service
 * or session have just started: the service knows too little of the link, or its first forecast has not been compared
 * with 2 s of this session's downloading. `contradicted`: they are not used in this session, because the first one did
 * not fit what the session measured; the service probably watches another link. `distrusted`: they are not used, because
 * they were much worse than a simple baseline.
 */
export type Verdict = 'trusted' | 'not-yet' | 'contradicted' | 'distrusted';

export class ForecastGate {
  readonly #trust = new ForecastTrust();
  /** Pieces of throughput, in order of time. */
  #recent: { startSeconds: number; endSeconds: number; bits: number }[] = [];
  /** Downloading of this session. */
  #observedSeconds = 0;
  /** The service's first forecast in this session, and the downloading since. */
  #compared: { forecast: QuantileForecast; seconds: number; bits: number } | undefined;
  /** Whether the first forecast agreed; from an earlier session until this one has its own. */
  #agrees: boolean | undefined;

  /** `staleSeconds`: a forecast of this age is not used. */
  constructor(private readonly options: { staleSeconds: number }) {}

  /** What the session makes of the service. `experienceSeconds`: as in `admits`. */
  verdict(experienceSeconds = EXPERIENCED_SECONDS): Verdict {
    if (this.#agrees === false) return 'contradicted';
    if (this.#agrees === undefined || experienceSeconds < this.#leastExperienceSeconds()) return 'not-yet';
    return this.#trust.drop === undefined ? 'trusted' : this.#trust.drop === 'early' ? 'not-yet' : 'distrusted';
  }

  /** Begins a session: forgets the link, keeps the trust in the service. */
  start(): void {
    this.#trust.start();
    this.#recent = [];
    this.#observedSeconds = 0;
    this.#agrees ||= undefined;
    this.compareAnew();
  }

  /** Until now the session's rates were not those of the link, because others used it. */
  compareAnew(): void {
    this.#compared = undefined;
  }

  /** `bits` arrived, on the session's clock, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    if (!(endSeconds > startSeconds && startSeconds >= 0 && bits >= 0 && endSeconds < 1e8)) return;
    this.#trust.observe(startSeconds, endSeconds, bits);
    this.#observedSeconds += endSeconds - startSeconds;
    this.#compare(endSeconds - startSeconds, bits);
    this.#recent.push({ startSeconds, endSeconds, bits });
    while (this.#recent[0]!.endSeconds < endSeconds - RECENT_AGE_SECONDS) this.#recent.shift();
  }

  /** A new forecast, on the session's clock. `experienceSeconds`: as in `admits`. */
  addForecast(forecast: QuantileForecast, nowSeconds: number, experienceSeconds = EXPERIENCED_SECONDS): void {
    this.#meet(forecast);
    const isEarly = experienceSeconds < EXPERIENCED_SECONDS || this.#observedSeconds < INTRODUCED_SECONDS;
    this.#trust.addForecast(forecast, nowSeconds, isEarly);
  }

  /** Whether to use a forecast. `experienceSeconds`: downloading that the service has observed; default: enough. */
  admits(forecast: QuantileForecast, nowSeconds: number, experienceSeconds = EXPERIENCED_SECONDS): boolean {
    if (!(ageSecondsOf(forecast, nowSeconds) < this.options.staleSeconds)) return false;
    this.#meet(forecast);
    if (this.#agrees !== true || experienceSeconds < this.#leastExperienceSeconds()) return false;
    return !this.#isContradicted(forecast, nowSeconds) && this.#trust.accepts(forecast, nowSeconds);
  }

  #meet(forecast: QuantileForecast): void {
    this.#compared ??= { forecast, seconds: 0, bits: 0 };
  }

  #compare(seconds: number, bits: number): void {
    const compared = this.#compared;
    if (compared === undefined || compared.seconds >= COMPARED_SECONDS) return;
    compared.seconds += seconds;
    compared.bits += bits;
    if (compared.seconds < COMPARED_SECONDS) return;
    const bps = compared.bits / compared.seconds;
    const { stepEndsSeconds, quantilesBps } = compared.forecast;
    const soon = quantilesBps
      .filter((_, step) => step === 0 || stepEndsSeconds[step]! <= COMPARED_STEPS_SECONDS)
      .flat();
    const isSlower = bps * OUTSIDE_FACTOR < Math.min(...soon);
    this.#agrees = !isSlower && bps <= OUTSIDE_FACTOR * Math.max(...soon);
  }

  #leastExperienceSeconds(): number {
    const observedSeconds = this.#observedSeconds;
    // Half of the session's, because the older half has little effect.
    return observedSeconds < LEAST_LEAD_SECONDS ? 0 : Math.min(EXPERIENCED_SECONDS, observedSeconds / 2);
  }

  #isContradicted(forecast: QuantileForecast, nowSeconds: number): boolean {
    const issuedSeconds = forecast.issuedAtMs / 1000;
    const oldest = Math.max(issuedSeconds, nowSeconds - RECENT_AGE_SECONDS);
    let bits = 0;
    let seconds = 0;
    for (let i = this.#recent.length - 1; i >= 0 && seconds < RECENT_SECONDS; i--) {
      const { startSeconds, endSeconds, bits: ofPiece } = this.#recent[i]!;
      const part = endSeconds - Math.max(startSeconds, oldest);
      if (part <= 0) break;
      bits += (ofPiece * part) / (endSeconds - startSeconds);
      seconds += part;
    }
    if (seconds < LEAST_RECENT_SECONDS) return false;
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
