/**
 * A chain of forecasters in order of trust: service, model, built-in, prior. It gives the first valid forecast that is not
 * stale. It never throws: a forecaster that fails is reported once per session and skipped.
 */

import { check } from '../../abr/errors.ts';
import {
  ageSecondsOf,
  EPOCH_SECONDS,
  type Forecast,
  type Forecaster,
  type Observation,
  type SessionContext,
  type ValidForecast,
} from '../../abr/forecast.ts';
import { validForecast } from '../../abr/valid-forecast.ts';

/** A forecast may be issued this much after now, because clocks are read at different moments. */
const FUTURE_SLACK_SECONDS = 0.1;

export class ForecastChain {
  private readonly _reported = new Set<Forecaster>();
  /** The newest forecast of each forecaster without `isChecked`, so that every forecast is checked once. */
  private readonly _newest = new Map<Forecaster, ValidForecast>();

  /** The most trusted forecaster comes first. `onFault` gets the first fault of each forecaster and session; must not throw. */
  constructor(
    private readonly _forecasters: readonly Forecaster[],
    private readonly _onFault: (forecaster: Forecaster, cause: unknown) => void,
  ) {}

  start(context: SessionContext): void {
    this._reported.clear();
    this._newest.clear();
    for (const one of this._forecasters) this._guarded(one, () => one.start(context));
  }

  observe(observation: Observation): void {
    for (const one of this._forecasters) this._guarded(one, () => one.observe(observation));
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    for (const one of this._forecasters) {
      this._guarded(one, () => one.tellTime?.(atSeconds, utcMs, uncertaintySeconds));
    }
  }

  latest(nowSeconds: number): ValidForecast | undefined {
    for (const one of this._forecasters) {
      const forecast = this._guarded(one, () => this._checked(one, one.latest(nowSeconds)));
      if (forecast === undefined) continue;
      const ageSeconds = ageSecondsOf(forecast, nowSeconds);
      // An older forecast says nothing about the present epoch, in which another satellite serves.
      if (ageSeconds < EPOCH_SECONDS && ageSeconds >= -FUTURE_SLACK_SECONDS) return forecast;
      this._guarded(one, () => check(ageSeconds > 0, 'issuedAtMs', 'a past time', forecast.issuedAtMs));
    }
    return undefined;
  }

  private _checked(forecaster: Forecaster, forecast: Forecast | undefined): ValidForecast | undefined {
    if (forecaster.isChecked) return forecast as ValidForecast | undefined;
    const newest = this._newest.get(forecaster);
    if (forecast === undefined || forecast === newest) return forecast && newest;
    const valid = validForecast(forecast);
    this._newest.set(forecaster, valid);
    return valid;
  }

  private _guarded<T>(forecaster: Forecaster, act: () => T): T | undefined {
    try {
      return act();
    } catch (cause) {
      if (!this._reported.has(forecaster)) this._onFault(forecaster, cause);
      this._reported.add(forecaster);
      return undefined;
    }
  }
}
