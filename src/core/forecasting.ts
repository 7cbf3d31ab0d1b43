/** The forecasts of an attachment: the chain of forecasters, their observations and their clock. */

import type { PlayerState } from '../../abr/controller.ts';
import type { Forecaster, SessionContext, ValidForecast } from '../../abr/forecast.ts';
import { ForecastChain } from '../../predictor/chain.ts';
import { ObservationMeter } from '../../predictor/observation-meter.ts';
import type { Surroundings } from './options.ts';

/** The clocks at a decision. */
export type Clocks = Pick<PlayerState, 'nowSeconds' | 'utcMs' | 'utcUncertaintySeconds'>;

export interface Forecasting {
  /** Begins a session. */
  start(context: SessionContext): void;
  /** The session's meter: it passes its observations to the forecasters. */
  readonly meter: ObservationMeter;
  /** The newest forecast, if any. */
  latest(clocks: Clocks): ValidForecast | undefined;
  /** The plugin is detached. */
  stop(): void;
}

export interface ForecastingOptions extends Pick<Surroundings, 'events'> {
  /** In the order in which they are asked. */
  forecasters: readonly Forecaster[];
  /** Called when the plugin is detached. */
  onStop?: (() => void) | undefined;
}

/** A change of UTC against the session's clock up to this much is not reported to the forecasters. */
const LEAP_SECONDS = 0.1;

export function createForecasting({ events, forecasters, onStop }: ForecastingOptions): Forecasting {
  const chain = new ForecastChain(forecasters, {
    onFault({ forecaster, message, cause }) {
      events.fault('forecaster-failed', `the forecaster ${forecaster} failed`, cause ?? message);
    },
  });
  const newMeter = () => new ObservationMeter((observation) => chain.observe(observation));
  let meter = newMeter();
  let reported: { offsetMs: number; uncertaintySeconds: number } | undefined;

  /** Reports UTC if it changed: a better source, a leap, or a session's clock that stood still. */
  function reportTime({
    nowSeconds,
    utcMs,
    utcUncertaintySeconds: uncertaintySeconds = Number.POSITIVE_INFINITY,
  }: Clocks) {
    if (utcMs === undefined) return;
    const offsetMs = utcMs - nowSeconds * 1000;
    const isKnown =
      reported !== undefined &&
      Math.abs(offsetMs - reported.offsetMs) < LEAP_SECONDS * 1000 &&
      uncertaintySeconds > reported.uncertaintySeconds / 2;
    if (isKnown) return;
    reported = { offsetMs, uncertaintySeconds };
    chain.tellTime(nowSeconds, utcMs, uncertaintySeconds);
  }

  return {
    start(context) {
      const { utcMsAtStart: offsetMs, utcUncertaintySeconds: uncertaintySeconds = Number.POSITIVE_INFINITY } = context;
      reported = offsetMs === undefined ? undefined : { offsetMs, uncertaintySeconds };
      meter = newMeter();
      chain.start(context);
    },
    get meter() {
      return meter;
    },
    latest(clocks) {
      meter.advance(clocks.nowSeconds);
      // The session's clock stands until its first request.
      if (clocks.nowSeconds > 0) reportTime(clocks);
      return chain.latest(clocks.nowSeconds);
    },
    stop() {
      onStop?.();
    },
  };
}
