/** Passes the state to the controller, checks its decision, and emits it to the listeners. */

import type { Decision, InFlight } from '../../abr/controller.ts';
import type { Forecasting } from '../forecasting/forecasting.ts';
import type { Events } from '../page/events.ts';
import type { Choice, PlayerPort, Situation } from '../player-port.ts';
import type { Session } from '../requests/session.ts';
import type { SessionClock } from '../requests/session-clock.ts';
import type { Planner } from './planner.ts';

interface DecisionParts {
  port: Pick<PlayerPort, 'name' | 'isPolled'>;
  session: Session;
  clock: SessionClock;
  forecasting: Forecasting | undefined;
  planner: Planner;
  events: Events;
  /** Counts all bits that have arrived. */
  readArrived(): void;
}

export class Decisions {
  constructor(private readonly _parts: DecisionParts) {}

  /** Chooses the representation of the next video segment; undefined leaves it to the player's own algorithm. */
  decide(): Choice | undefined {
    const { port, session, clock, forecasting, events, readArrived } = this._parts;
    forecasting?.start(clock);
    readArrived();
    if (!session.record.isBlind) return this._ask();
    events.fault('nothing-measured', `no download could be measured: ${port.name} decides`);
    return undefined;
  }

  /** Returns the representation to request the segment in flight in once more; undefined to let the download finish. */
  reconsider(nowSeconds: number): Choice | undefined {
    const { record } = this._parts.session;
    if (!this._parts.planner.controller.reconsider && !record.active?.isRefused) return undefined;
    this._parts.readArrived();
    const inFlight = record.inFlight(nowSeconds);
    return inFlight && this._ask(inFlight);
  }

  /** The next lower representation, else the next higher one, if the server has refused the download in flight. */
  private _insteadOfRefused({ ladder }: Situation): Decision | undefined {
    const { active, origin } = this._parts.session.record;
    if (!active?.isRefused) return undefined;
    const { id: refused } = active.segment.representation;
    const others = ladder.filter(({ id }) => id === refused || !origin.isUnanswered(id));
    const i = others.findIndex(({ id }) => id === refused);
    const other = others[i - 1] || others[i + 1];
    if (!other) return undefined;
    const { controller } = this._parts.planner;
    return { representation: ladder.indexOf(other), controller: controller.name, reason: 'no answer from the other' };
  }

  /** Asks the controller; `inFlight` is the download to reconsider, if any. Undefined for no choice. */
  private _ask(inFlight?: InFlight): Choice | undefined {
    const { port, session, planner, events } = this._parts;
    const { choice, active, number, live } = session.record;
    const situation = planner.situation();
    if (situation === undefined) return undefined;
    const { period, ladder } = situation;
    // While a live segment does not exist yet, all players ask again and again.
    const isRepeated = !inFlight && choice && (situation.live || port.isPolled);
    if (isRepeated && live.isSame(choice.situation, situation)) return choice.made;
    // The player has moved on to another period.
    if (inFlight && period.id !== active?.segment.period.id) return undefined;
    const { controller } = planner;
    const input = planner.takeInput(situation, inFlight);
    const { state, forecast } = input;
    return events.attempt('controller-failed', 'the controller failed', () => {
      const refused = inFlight && this._insteadOfRefused(situation);
      const reconsider = () => (controller.reconsider ? controller.reconsider(state, inFlight!, forecast) : 'keep');
      const decision = refused || (inFlight ? reconsider() : controller.decide(state, forecast));
      if (decision === 'keep') {
        planner.kept = { situation, inFlight: inFlight!, input };
        const seconds = controller.keepsForSeconds ? controller.keepsForSeconds(state, inFlight!) : 0;
        active!.keptUntilSeconds = state.nowSeconds + (seconds || 0);
        return undefined;
      }
      // A controller of the page may return anything.
      const index = (decision as Decision | undefined)?.representation;
      const representationId = ladder[index!]?.id;
      if (representationId === undefined) {
        throw new Error(`expected a representation from 0 to ${ladder.length - 1}, got ${index}`);
      }
      const made = { representationId, message: `${decision.controller}: ${decision.reason}` };
      session.decided(decision, inFlight ? undefined : { made, situation });
      events.emit('decision', {
        kind: inFlight ? 'abandon' : 'decide',
        session: number,
        decision,
        state,
        forecast,
        inFlight,
        representationId,
        streamId: period.id,
      });
      return made;
    });
  }
}
