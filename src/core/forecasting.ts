/** The forecasts of an attachment: the chain of forecasters, their observations and their clock. */

import type { Forecaster, ValidForecast } from '../../abr/forecast.ts';
import { ForecastChain } from '../../predictor/forecast/chain.ts';
import { ObservationMeter } from '../../predictor/link/observation-meter.ts';
import { withCmcd } from './cmcd.ts';
import type { Events } from './events.ts';
import type { Clocks, SessionClock } from './session-clock.ts';

export interface ForecastingOptions {
  events: Events;
  /** In the order in which they are asked. */
  forecasters: readonly Forecaster[];
  /** Seed of the forecasters' random numbers. */
  seed: number;
  /** Called when the plugin is detached. */
  onStop?: (() => void) | undefined;
}

/** A change of UTC against the session's clock up to this much is not reported to the forecasters. */
const LEAP_SECONDS = 0.1;

export class Forecasting {
  readonly #chain: ForecastChain;
  readonly #seed: number;
  /** The plugin is detached. */
  readonly stop: () => void;
  #meter = this.#newMeter();
  #isStarted = false;
  #reported: { offsetMs: number; uncertaintySeconds: number } | undefined;

  constructor({ events, forecasters, seed, onStop = () => {} }: ForecastingOptions) {
    this.#chain = new ForecastChain(forecasters, {
      onFault({ forecaster, message, cause }) {
        events.fault('forecaster-failed', `the forecaster ${forecaster} failed`, cause ?? message);
      },
    });
    this.#seed = seed;
    this.stop = onStop;
  }

  /** The session's meter: it passes its observations to the forecasters. */
  get meter(): ObservationMeter {
    return this.#meter;
  }

  /** Begins a session, at its first media request or the decision on it. Later calls do nothing. */
  start(clock: Pick<SessionClock, 'read'>): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { nowSeconds, utcMs, utcUncertaintySeconds = Number.POSITIVE_INFINITY } = clock.read();
    const seed = this.#seed;
    this.#meter = this.#newMeter();
    if (utcMs === undefined) {
      this.#reported = undefined;
      this.#chain.start({ seed });
      return;
    }
    const utcMsAtStart = utcMs - nowSeconds * 1000;
    this.#reported = { offsetMs: utcMsAtStart, uncertaintySeconds: utcUncertaintySeconds };
    this.#chain.start({ seed, utcMsAtStart, utcUncertaintySeconds });
  }

  /** The session is over. */
  sourceEnded(): void {
    this.#isStarted = false;
  }

  /** Adds the plugin's keys of CMCD to a request of the player: to `headers`, and to the URL, which it returns. */
  readonly withCmcd = withCmcd;

  /** The newest forecast, if any. */
  latest(clocks: Clocks): ValidForecast | undefined {
    this.#meter.advance(clocks.nowSeconds);
    // The session's clock stands until its first request.
    if (clocks.nowSeconds > 0) this.#reportTime(clocks);
    return this.#chain.latest(clocks.nowSeconds);
  }

  /** Reports UTC if it changed: a better source, a leap, or a session's clock that stood still. */
  #reportTime({ nowSeconds, utcMs, utcUncertaintySeconds: uncertaintySeconds = Number.POSITIVE_INFINITY }: Clocks) {
    if (utcMs === undefined) return;
    const offsetMs = utcMs - nowSeconds * 1000;
    const isKnown =
      this.#reported !== undefined &&
      Math.abs(offsetMs - this.#reported.offsetMs) < LEAP_SECONDS * 1000 &&
      uncertaintySeconds > this.#reported.uncertaintySeconds / 2;
    if (isKnown) return;
    this.#reported = { offsetMs, uncertaintySeconds };
    this.#chain.tellTime(nowSeconds, utcMs, uncertaintySeconds);
  }

  #newMeter(): ObservationMeter {
    return new ObservationMeter((observation) => this.#chain.observe(observation));
  }
}
