/** The forecasts of an attachment: a chain of forecasters, what they are told, and the time they go by. */

import type { PlayerState } from '../../abr/controller.ts';
import type { Forecast, Forecaster, SessionContext } from '../../abr/forecast.ts';
import { ForecastChain } from '../../predictor/chain.ts';
import { ObservationMeter } from '../../predictor/observation-meter.ts';
import type { Surroundings } from './options.ts';

/** What a decision knows of the time. */
export type Clocks = Pick<PlayerState, 'nowSeconds' | 'utcMs' | 'utcUncertaintySeconds'>;

export interface Forecasting {
  /** Begins a session. */
  start(context: SessionContext): void;
  /** Of the session: what it is told, the forecasters are told. */
  readonly meter: ObservationMeter;
  /** The newest forecast, where there is one. */
  latest(clocks: Clocks): Forecast | undefined;
  /** The player is given back. */
  stop(): void;
}

export interface ForecastingOptions extends Pick<Surroundings, 'events'> {
  /** In the order in which they are asked. */
  forecasters: readonly Forecaster[];
  /** Called when the player is given back. */
  onStop?: (() => void) | undefined;
}

/** UTC against the session's clock may wander by so much before the forecasters are told. */
const LEAP_SECONDS = 0.1;

export function createForecasting({ events, forecasters, onStop }: ForecastingOptions): Forecasting {
  const chain = new ForecastChain(forecasters, {
    onFault({ forecaster, message, cause }) {
      events.fault('forecaster-failed', `the forecaster ${forecaster} failed`, cause ?? message);
    },
  });
  const newMeter = () => new ObservationMeter((observation) => chain.observe(observation));
  let meter = newMeter();
  let told: { offsetMs: number; uncertaintySeconds: number } | undefined;

  /** Tells of the time where it is not what was told last: a better source, a leap, a session's clock that stood still. */
  function tellTime({
    nowSeconds,
    utcMs,
    utcUncertaintySeconds: uncertaintySeconds = Number.POSITIVE_INFINITY,
  }: Clocks) {
    if (utcMs === undefined) return;
    const offsetMs = utcMs - nowSeconds * 1000;
    const isKnown =
      told !== undefined &&
      Math.abs(offsetMs - told.offsetMs) < LEAP_SECONDS * 1000 &&
      uncertaintySeconds > told.uncertaintySeconds / 2;
    if (isKnown) return;
    told = { offsetMs, uncertaintySeconds };
    chain.tellTime(nowSeconds, utcMs, uncertaintySeconds);
  }

  return {
    start(context) {
      const { utcMsAtStart: offsetMs, utcUncertaintySeconds: uncertaintySeconds = Number.POSITIVE_INFINITY } = context;
      told = offsetMs === undefined ? undefined : { offsetMs, uncertaintySeconds };
      meter = newMeter();
      chain.start(context);
    },
    get meter() {
      return meter;
    },
    latest(clocks) {
      meter.advance(clocks.nowSeconds);
      // The session's clock stands until its first request.
      if (clocks.nowSeconds > 0) tellTime(clocks);
      return chain.latest(clocks.nowSeconds);
    },
    stop() {
      onStop?.();
    },
  };
}
