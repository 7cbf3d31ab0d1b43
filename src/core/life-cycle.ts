/** The life of the sessions on one player, one after the other: the running one, its clock and its forecasts. */

import type { Controller, Decision } from '../../abr/controller.ts';
import type { Forecast } from '../../abr/forecast.ts';
import type { Events } from './events.ts';
import type { Clocks } from './forecasting.ts';
import type { ResolvedOptions } from './options.ts';
import type { PlayerPort } from './player-port.ts';
import { SegmentSizes } from './segment-sizes.ts';
import { newSession, type Session, sessionSeconds } from './session.ts';

/** All that ends with a session. */
export interface Running {
  readonly session: Session;
  readonly controller: Controller;
  isForecasting: boolean;
  lastDecision?: Decision;
  /** The forecast that the controller was shown last. */
  lastForecast?: Forecast | undefined;
}

export type LifeCycle = ReturnType<typeof createLifeCycle>;

export function createLifeCycle(port: Pick<PlayerPort, 'origin'>, options: ResolvedOptions, events: Events) {
  const { seed, timeSource, newController, newForecasting } = options;
  const begin = (number: number): Running => ({
    session: newSession(number),
    controller: newController(),
    isForecasting: false,
  });
  const sizes = new SegmentSizes();
  const forecasting = newForecasting?.({ events, origin: () => port.origin() });
  let running = begin(1);

  const nowSeconds = () => sessionSeconds(running.session, performance.now());

  function utcNow() {
    return events.attempt('time-source-failed', 'the time source failed', () => {
      const { utcMs, uncertaintySeconds } = timeSource.now();
      if (!(Number.isFinite(utcMs) && uncertaintySeconds >= 0)) throw new Error(`${utcMs} +- ${uncertaintySeconds}`);
      return { utcMs, utcUncertaintySeconds: uncertaintySeconds };
    });
  }

  return {
    sizes,
    running: () => running,
    nowSeconds,
    clocks: (): Clocks => ({ nowSeconds: nowSeconds(), ...utcNow() }),
    /** The session's meter; undefined where nothing forecasts. */
    meter: () => forecasting?.meter,
    /** At the first media request, or at the decision on it, whichever comes first. */
    startForecasting() {
      if (running.isForecasting || forecasting === undefined) return;
      running.isForecasting = true;
      const { utcMs, ...uncertainty } = utcNow() ?? {};
      const atStart = utcMs === undefined ? {} : { utcMsAtStart: utcMs - nowSeconds() * 1000, ...uncertainty };
      forecasting.start({ seed, ...atStart });
    },
    /** The newest forecast, to be shown to the controller. */
    forecast(clocks: Clocks): Forecast | undefined {
      running.lastForecast = forecasting?.latest(clocks);
      return running.lastForecast;
    },
    /** The player has another source. */
    next() {
      sizes.forget();
      running = begin(running.session.number + 1);
    },
    stop: () => forecasting?.stop(),
  };
}
