/** The session's controller and its input. */

import type { Controller, InFlight, PlayerState } from '../../abr/controller.ts';
import type { ValidForecast } from '../../abr/forecast.ts';
import type { Forecasting } from './forecasting.ts';
import type { PlayerPort, Situation } from './player-port.ts';
import { playerState, type StateOptions } from './player-state.ts';
import type { SegmentSizes } from './segment-sizes.ts';
import type { Session } from './session.ts';
import type { SessionClock } from './session-clock.ts';

export interface PlannerOptions extends StateOptions {
  newController: () => Controller;
}

/** The controller's input. */
interface Input {
  state: PlayerState;
  forecast: ValidForecast | undefined;
}

/** What the parts of the core that run at one tick plan on; they share the input, once one has asked for it. */
export interface Moment {
  atSeconds: number;
  situation: Situation | undefined;
  inFlight: InFlight | undefined;
  input: Input | undefined;
}

export class Planner {
  readonly parts;
  #controller: Controller;
  #moment: Moment | undefined;

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

  /** At a tick, at this time of the session's clock. */
  moment(atSeconds: number): Moment {
    if (this.#moment?.atSeconds !== atSeconds) {
      const inFlight = this.parts.session.record.inFlight(atSeconds);
      this.#moment = { atSeconds, situation: this.situation(), inFlight, input: undefined };
    }
    return this.#moment;
  }

  /** Something has changed since the tick began. */
  forgetMoment(): void {
    this.#moment = undefined;
  }

  /** What the player shows now. */
  situation(): Situation | undefined {
    const { port, session, clock } = this.parts;
    const situation = port.situation(!clock.isRunning);
    return situation && (session.record.live?.atEdge(situation) ?? situation);
  }

  /** `inFlight`: the download to reconsider; undefined for the next segment. */
  input(situation: Situation, inFlight: InFlight | undefined): Input {
    const { session, clock, forecasting, sizes, options } = this.parts;
    if (situation.playback.bufferLevelSeconds > 0) session.playing();
    const state = playerState({ situation, inFlight, record: session.record, clocks: clock.read(), sizes, options });
    const newest = forecasting?.latest(state);
    const forecast = session.record.isOutdated ? undefined : newest;
    session.forecast(forecast);
    return { state, forecast };
  }
}
