/** Passes the state to the controller, checks its decision, and emits it to the listeners. */

import type { Controller, Decision, InFlight } from '../../abr/controller.ts';
import type { Events } from './events.ts';
import type { Planner } from './planner.ts';
import type { Choice, PlayerPort, Situation } from './player-port.ts';
import type { Session } from './session.ts';
import type { SessionClock } from './session-clock.ts';

/** Meanwhile the viewer may change the playback rate. */
const LONGEST_KEPT_SECONDS = 1;

interface Parts {
  port: Pick<PlayerPort, 'name' | 'isPolled'>;
  session: Session;
  clock: SessionClock;
  planner: Planner;
  events: Events;
}

export class Decisions {
  /** Until then, on the session's clock, this controller keeps this download for certain. */
  #kept: { active: object; controller: Controller; untilSeconds: number } | undefined;

  constructor(private readonly parts: Parts) {}

  /** Chooses the representation of the next video segment; undefined leaves it to the player's own algorithm. */
  decide(): Choice | undefined {
    const { port, session, planner, events } = this.parts;
    planner.startForecasting();
    if (!session.record.isBlind) return this.#ask(undefined);
    events.fault('nothing-measured', `no download could be measured: ${port.name} decides until one can`);
    return undefined;
  }

  /** The representation to repeat the video segment in flight at; undefined to let it finish. */
  reconsider(): Choice | undefined {
    const { session, clock, planner } = this.parts;
    const { active } = session.record;
    const { controller } = planner;
    const nowSeconds = clock.nowSeconds();
    const kept = this.#kept;
    const isKept = kept?.active === active && kept?.controller === controller && nowSeconds < kept.untilSeconds;
    return active && controller.reconsider && !isKept ? this.#ask(session.record.inFlight(nowSeconds)) : undefined;
  }

  /** Whether the controller keeps the download for certain; it is then asked no more for up to a second. */
  #isKept({ playback, ladder }: Situation, inFlight: InFlight): boolean {
    const { session, clock, planner } = this.parts;
    const { controller } = planner;
    const { started, active } = session.record;
    const nowSeconds = clock.nowSeconds();
    const ladderBps = ladder.map(({ bitrateBps }) => bitrateBps);
    const seconds = controller.keepsForSeconds?.({ ...playback, started, nowSeconds, ladderBps }, inFlight) ?? 0;
    this.#kept = { active: active!, controller, untilSeconds: nowSeconds + Math.min(LONGEST_KEPT_SECONDS, seconds) };
    return seconds > 0;
  }

  /** Asks the controller; `inFlight` is the download to reconsider, if any. Undefined for no choice. */
  #ask(inFlight: InFlight | undefined): Choice | undefined {
    const { port, session, planner, events } = this.parts;
    const { choice, active, number, live } = session.record;
    const situation = planner.situation();
    if (situation === undefined) return undefined;
    const { period, ladder } = situation;
    // While a live segment does not exist yet, all players ask again and again.
    const isRepeated = !inFlight && choice && (situation.live || port.isPolled);
    if (isRepeated && live?.isSame(choice.situation, situation)) return choice.made;
    // The player has moved on to another period.
    if (inFlight && period.id !== active?.segment.period.id) return undefined;
    const { controller } = planner;
    if (inFlight && this.#isKept(situation, inFlight)) {
      // Forecasters learn from their own forecasts.
      planner.forecast();
      return undefined;
    }
    const { state, forecast } = planner.input(situation, inFlight);
    return events.attempt('controller-failed', 'the controller failed', () => {
      const decision = inFlight
        ? controller.reconsider!(state, inFlight, forecast)
        : controller.decide(state, forecast);
      if (decision === 'keep') return undefined;
      // A controller of the page may return anything.
      const index = (decision as Decision | undefined)?.representation;
      const representationId = ladder[index!]?.id;
      if (representationId === undefined) throw new Error(`there is no representation ${index}`);
      const made = { representationId, message: `${decision.controller}: ${decision.reason}` };
      session.decided(decision, inFlight ? undefined : { made, situation });
      const kind = inFlight ? 'abandon' : 'decide';
      const streamId = period.id;
      events.emit('decision', {
        kind,
        session: number,
        decision,
        state,
        forecast,
        inFlight,
        representationId,
        streamId,
      });
      return made;
    });
  }
}
