/**
 * A chain of forecasters in order of trust: service, model, built-in. It gives the first valid forecast that is not
 * stale. A forecaster that fails is reported once and skipped. Without any forecast MPC-L decides like MPC-D.
 */

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

export interface ForecasterFault {
  /** Name of the forecaster. */
  forecaster: string;
  /** The method that failed. */
  during: 'start' | 'observe' | 'tellTime' | 'latest';
  /** The error, for a log. */
  message: string;
  /** The thrown value, if any. */
  cause?: unknown;
}

export interface ForecastChainOptions {
  /** Receives the first fault of each forecaster and session. */
  onFault?: (fault: ForecasterFault) => void;
  /** Called when a forecaster that failed at `latest` has a new forecast; its next fault is reported again. */
  onRecovery?: ((forecaster: string) => void) | undefined;
  /** A forecast of this age is stale. Default 15, one epoch: after a handover another satellite serves. */
  staleSeconds?: number;
}

/** Forecasts may be this far ahead of now, because clocks round. */
const FUTURE_SLACK_SECONDS = 0.1;

/** The chain is a forecaster itself; it never throws. */
export class ForecastChain implements Forecaster {
  readonly name = 'chain';
  readonly #forecasters: readonly Forecaster[];
  readonly #onFault: (fault: ForecasterFault) => void;
  readonly #onRecovery: ForecastChainOptions['onRecovery'];
  readonly #staleSeconds: number;
  readonly #reported = new Map<Forecaster, ForecasterFault['during']>();
  /** The newest valid forecast of each, to validate every forecast once only. */
  readonly #valid: (ValidForecast | undefined)[];

  /** The most trusted forecaster comes first. */
  constructor(forecasters: readonly Forecaster[], options: ForecastChainOptions = {}) {
    this.#forecasters = forecasters;
    this.#onFault = options.onFault ?? (() => {});
    this.#onRecovery = options.onRecovery;
    this.#staleSeconds = options.staleSeconds ?? EPOCH_SECONDS;
    this.#valid = forecasters.map(() => undefined);
  }

  start(context: SessionContext): void {
    this.#reported.clear();
    this.#valid.fill(undefined);
    for (const forecaster of this.#forecasters) {
      this.#guarded(forecaster, 'start', () => forecaster.start(context));
    }
  }

  observe(observation: Observation): void {
    for (const forecaster of this.#forecasters) {
      this.#guarded(forecaster, 'observe', () => forecaster.observe(observation));
    }
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    for (const forecaster of this.#forecasters) {
      this.#guarded(forecaster, 'tellTime', () => forecaster.tellTime?.(atSeconds, utcMs, uncertaintySeconds));
    }
  }

  latest(nowSeconds: number): ValidForecast | undefined {
    for (const [i, forecaster] of this.#forecasters.entries()) {
      const forecast = this.#guarded(forecaster, 'latest', () => this.#validated(i, forecaster.latest(nowSeconds)));
      if (forecast === undefined) continue;
      const ageSeconds = ageSecondsOf(forecast, nowSeconds);
      if (ageSeconds < this.#staleSeconds && ageSeconds >= -FUTURE_SLACK_SECONDS) return forecast;
    }
    return undefined;
  }

  #validated(i: number, forecast: Forecast | undefined): ValidForecast | undefined {
    if (forecast === undefined || forecast === this.#valid[i]) return forecast && this.#valid[i];
    const valid = validForecast(forecast);
    this.#valid[i] = valid;
    const forecaster = this.#forecasters[i]!;
    if (this.#onRecovery !== undefined && this.#reported.get(forecaster) === 'latest') {
      this.#reported.delete(forecaster);
      this.#onRecovery(forecaster.name);
    }
    return valid;
  }

  #guarded<T>(forecaster: Forecaster, during: ForecasterFault['during'], act: () => T): T | undefined {
    try {
      return act();
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      this.#report({ forecaster: forecaster.name, during, message, cause }, forecaster);
      return undefined;
    }
  }

  #report(fault: ForecasterFault, forecaster: Forecaster): void {
    if (this.#reported.has(forecaster)) return;
    this.#reported.set(forecaster, fault.during);
    try {
      this.#onFault(fault);
    } catch {
      // A listener's error must not stop playback.
    }
  }
}
