/** The session's controller and its input. */

import type { Controller, InFlight, PlayerState } from '../../abr/controller.ts';
import type { ValidForecast } from '../../abr/forecast.ts';
import type { Forecasting } from '../forecasting/forecasting.ts';
import type { Host } from '../host.ts';
import type { PlayerPort, Situation } from '../player-port.ts';
import type { SegmentQualities } from '../requests/segment-qualities.ts';
import type { SegmentSizes } from '../requests/segment-sizes.ts';
import type { Session } from '../requests/session.ts';
import type { SessionClock } from '../requests/session-clock.ts';
import { playerState, type StateOptions } from './player-state.ts';

export interface PlannerOptions extends StateOptions {
  newController: () => Controller;
  host: Pick<Host, 'linkBps'>;
}

/** The controller's input. */
interface Input {
  readonly state: PlayerState;
  readonly forecast: ValidForecast | undefined;
}

/** The input on which a download was reconsidered. */
export interface Moment {
  situation: Situation;
  inFlight: InFlight;
  input: Input;
}

interface PlannerParts {
  port: Pick<PlayerPort, 'situation' | 'assumed'>;
  session: Session;
  clock: SessionClock;
  sizes: SegmentSizes;
  qualities: SegmentQualities;
  forecasting: Forecasting | undefined;
  /** The options may change; `renew` and `takeInput` read them. */
  options: PlannerOptions;
}

export class Planner {
  controller: Controller;
  /** A download was reconsidered and kept: at the same tick, the rate of a live stream is set on the same input. */
  kept: Moment | undefined;

  constructor(private readonly _parts: PlannerParts) {
    this.controller = _parts.options.newController();
  }

  /** Makes a new controller, for a new session or changed options; the session's measurements stay. */
  renew(): void {
    const { session, options } = this._parts;
    this.controller = options.newController();
    this.kept = undefined;
    session.forgetChoice();
  }

  /** What the player shows now. */
  situation(): Situation | undefined {
    const { port, session, clock } = this._parts;
    const situation = port.situation(!clock.isRunning);
    const { live, origin } = session.record;
    return situation && live.atEdge(origin.applied(situation, clock.nowSeconds()));
  }

  /**
   * Assembles the controller's input, for which the forecasters get all that was observed; the session notes the
   * forecast, and that playback has begun. `inFlight`: the download to reconsider; undefined for the next segment.
   */
  takeInput(situation: Situation, inFlight: InFlight | undefined): Input {
    const { port, session, clock, forecasting, options } = this._parts;
    if (situation.playback.bufferLevelSeconds > 0) session.playing();
    const { record } = session;
    // The player assumes a rate for the bitrates that the stream declares.
    const isFirst = record.downloads.length === 0 && !situation.ladder.some(({ isEstimated }) => isEstimated);
    const assumed = isFirst ? port.assumed?.(options.host.linkBps()) : undefined;
    const state = playerState({ ...this._parts, situation, inFlight, record, clocks: clock.read(), assumed });
    const newest = forecasting?.flushAndForecast(state);
    const forecast = session.record.isOutdated ? undefined : newest;
    session.forecast(forecast);
    return { state, forecast };
  }
}
