/**
 * Decides which of the service's forecasts a session uses. The session's own forecaster knows all observations of the
 * session at once; the service knows other players and days, but the session only after half a second. Its forecasts are
 * used only if
 *
 * - the first one agreed with what the session measured then: otherwise it watches another link (first-comparison.ts),
 * - the service has not observed less of the link than this session, as after a restart,
 * - the bits since the forecast do not contradict it (newest-bits.ts),
 * - its past forecasts had good scores (forecast-trust.ts).
 */

import type { QuantileForecast } from '../../abr/forecast.ts';
import { FirstComparison } from './first-comparison.ts';
import { ForecastTrust } from './forecast-trust.ts';
import { NewestBits } from './newest-bits.ts';

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
