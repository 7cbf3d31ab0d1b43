/** The session's controller and its input. */

import type { Controller, InFlight, PlayerState } from '../../abr/controller.ts';
import type { ValidForecast } from '../../abr/forecast.ts';
import type { Forecasting } from './forecasting.ts';
import type { PlayerPort, Situation } from './player-port.ts';
import { playerState, type StateOptions } from './player-state.ts';
import type { SegmentSizes } from './segment-sizes.ts';
import type { Session, SessionRecord } from './session.ts';
import type { SessionClock } from './session-clock.ts';

export interface PlannerOptions extends StateOptions {
  newController: () => Controller;
}

/** What the player shows at one moment. */
export interface Reading {
  situation: Situation;
  /** The download in flight at that time. */
  active: SessionRecord['active'];
  /** Of the controller, once it was asked for. */
  input?: { state: PlayerState; forecast: ValidForecast | undefined };
}

export class Planner {
  readonly parts;
  #controller: Controller;

  /** `options` may change: they count from the next `renew` or `input` on. */
  constructor(parts: {
    port: Pick<PlayerPort, 'situation'>;
    session: Session;
    clock: SessionClock;
    sizes: SegmentSizes;
    forecasting: Forecasting | undefined;
    options: PlannerOptions;
  }) {
    this.parts = parts;
    this.#controller = parts.options.newController();
  }

  get controller(): Controller {
    return this.#controller;
  }

  /** Makes a new controller, for a new session or changed options; the session's measurements stay. */
  renew(): void {
    const { session, options } = this.parts;
    this.#controller = options.newController();
    session.forgetChoice();
  }

  /** What the player shows now; undefined while it does not adapt video. */
  read(): Reading | undefined {
    const { port, session, clock } = this.parts;
    const situation = port.situation(!clock.isRunning);
    return situation && { situation, active: session.record.active };
  }

  /** `inFlight`: the download to reconsider; undefined for the next segment. Made once for a reading. */
  input(reading: Reading, inFlight: InFlight | undefined): NonNullable<Reading['input']> {
    if (reading.input) return reading.input;
    const { session, clock, forecasting, sizes, options } = this.parts;
    const { situation } = reading;
    if (situation.playback.bufferLevelSeconds > 0) session.playing();
    const state = playerState({ situation, inFlight, record: session.record, clocks: clock.read(), sizes, options });
    const newest = forecasting?.latest(state);
    const forecast = session.record.isOutdated ? undefined : newest;
    session.forecast(forecast);
    reading.input = { state, forecast };
    return reading.input;
  }
}
