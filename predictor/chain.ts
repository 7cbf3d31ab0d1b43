/**
 * A chain of forecasters: service, model, built-in ... in order of trust. The first of them with a valid forecast that is
 * not stale is listened to; one that fails is reported once and passed over. Where none has anything, there is no
 * forecast, and the controller does without (MPC-L then decides like MPC-D).
 */

import {
  EPOCH_SECONDS,
  type Forecast,
  type Forecaster,
  type Observation,
  type SessionContext,
} from '../abr/forecast.ts';
import { validateForecast } from '../abr/validate-forecast.ts';

export interface ForecasterFault {
  /** Name of the forecaster. */
  forecaster: string;
  /** What it was doing. */
  during: 'start' | 'observe' | 'tellTime' | 'latest';
  /** What went wrong, for a log. */
  message: string;
  /** What was thrown, where something was. */
  cause?: unknown;
}

export interface ForecastChainOptions {
  /** Told once per forecaster and session what is wrong with it. Default: nobody. */
  onFault?: (fault: ForecasterFault) => void;
  /** Told when one that failed at `latest` has a new forecast; its next fault is reported again. Default: nobody. */
  onRecovery?: ((forecaster: string) => void) | undefined;
  /** A forecast of this age is stale. Default 15, one epoch: after a handover another satellite serves. */
  staleSeconds?: number;
}

/** How far ahead of now a forecast's time may lie: clocks round. */
const FUTURE_SLACK_SECONDS = 0.1;

/** The chain is a forecaster itself; it never throws. */
export class ForecastChain implements Forecaster {
  readonly name = 'chain';
  readonly #forecasters: readonly Forecaster[];
  readonly #onFault: (fault: ForecasterFault) => void;
  readonly #onRecovery: ForecastChainOptions['onRecovery'];
  readonly #staleSeconds: number;
  readonly #reported = new Map<Forecaster, ForecasterFault['during']>();
  /** Forecasts that were found valid: most are asked for several times. */
  readonly #valid: (Forecast | undefined)[];

  /** `forecasters`: the most trusted first. */
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

  latest(nowSeconds: number): Forecast | undefined {
    for (let i = 0; i < this.#forecasters.length; i++) {
      const forecaster = this.#forecasters[i]!;
      const forecast = this.#guarded(forecaster, 'latest', () => forecaster.latest(nowSeconds));
      if (forecast === undefined) continue;
      if (forecast !== this.#valid[i]) {
        const wrong = validateForecast(forecast);
        if (wrong !== undefined) {
          this.#report({ forecaster: forecaster.name, during: 'latest', message: wrong }, forecaster);
          continue;
        }
        this.#valid[i] = forecast;
        if (this.#onRecovery !== undefined && this.#reported.get(forecaster) === 'latest') {
          this.#reported.delete(forecaster);
          this.#onRecovery(forecaster.name);
        }
      }
      const age = nowSeconds - forecast.issuedAtMs / 1000;
      if (age < this.#staleSeconds && age >= -FUTURE_SLACK_SECONDS) return forecast;
    }
    return undefined;
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
      // Whoever listens to faults may not make one of playback.
    }
  }
}
