/** The sessions of one player, one after the other: the current one, its clock and its forecasts. */

import type { ValidForecast } from '../../abr/forecast.ts';
import type { Events } from './events.ts';
import type { Clocks } from './forecasting.ts';
import type { ResolvedOptions } from './options.ts';
import type { PlayerPort } from './player-port.ts';
import { SegmentSizes } from './segment-sizes.ts';
import { isOutdated, newSession, sessionSeconds } from './session.ts';

export type LifeCycle = ReturnType<typeof createLifeCycle>;

export function createLifeCycle(port: Pick<PlayerPort, 'name' | 'origin'>, options: ResolvedOptions, events: Events) {
  const { seed, timeSource, newForecasting } = options;
  const sizes = new SegmentSizes();
  const forecasting = newForecasting?.({ events, origin: () => port.origin() });
  let session = newSession(1);
  let controller = options.newController();
  let isForecasting = false;
  let isStopped = false;

  /** Makes a new controller, for a new session or changed options; the session's measurements stay. */
  const renew = () => {
    controller = options.newController();
    session.choice = undefined;
  };
  const nowSeconds = () => sessionSeconds(session, performance.now());

  function utcNow() {
    return events.attempt('time-source-failed', 'the time source failed', () => {
      const { utcMs, uncertaintySeconds } = timeSource.now();
      if (!(Number.isFinite(utcMs) && uncertaintySeconds >= 0)) throw new Error(`${utcMs} +- ${uncertaintySeconds}`);
      return { utcMs, utcUncertaintySeconds: uncertaintySeconds };
    });
  }

  return {
    /** Adapters run every handler in this: no error reaches the player, and nothing runs after `stop`. */
    guard: <T>(action: () => T): T | undefined =>
      isStopped ? undefined : events.attempt('player-failed', `${port.name} is not as expected`, action),
    options,
    sizes,
    session: () => session,
    controller: () => controller,
    nowSeconds,
    clocks: (): Clocks => ({ nowSeconds: nowSeconds(), ...utcNow() }),
    /** The session's meter; undefined without forecasters. */
    meter: () => forecasting?.meter,
    /** Called at the first media request or the decision on it, whichever comes first. */
    startForecasting() {
      if (isForecasting || forecasting === undefined) return;
      isForecasting = true;
      const { utcMs, ...uncertainty } = utcNow() ?? {};
      const atStart = utcMs === undefined ? {} : { utcMsAtStart: utcMs - nowSeconds() * 1000, ...uncertainty };
      forecasting.start({ seed, ...atStart });
    },
    /** The newest forecast, for the controller. */
    forecast(clocks: Clocks): ValidForecast | undefined {
      const newest = forecasting?.latest(clocks);
      session.lastForecast = isOutdated(session) ? undefined : newest;
      return session.lastForecast;
    },
    /** Playback starts or resumes. */
    playing() {
      session.started = true;
    },
    /** A seek. Returns false before the first picture: the player only seeks to its start position. */
    seeked(): boolean {
      if (!session.started) return false;
      session.last = undefined;
      session.beforeLast = undefined;
      session.choice = undefined;
      return true;
    },
    /** The player has lost its source: a new session begins. */
    next() {
      sizes.forget();
      session = newSession(session.number + 1);
      renew();
      isForecasting = false;
    },
    renew,
    stop() {
      isStopped = true;
      forecasting?.stop();
    },
  };
}
