/** Decisions: shows the controller the state, checks its decision, and emits it to the listeners. */

import type { Decision, InFlight, PlayerState } from '../../abr/controller.ts';
import type { Forecast } from '../../abr/forecast.ts';
import type { Downloads } from './downloads.ts';
import type { Events } from './events.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { ResolvedOptions } from './options.ts';
import type { Choice, PlayerPort, Situation } from './player-port.ts';
import { playerState } from './player-state.ts';
import { inFlightOf, isBlind } from './session.ts';

export interface DecisionsOptions {
  port: PlayerPort;
  options: ResolvedOptions;
  events: Events;
  life: LifeCycle;
  downloads: Downloads;
}

export type Decisions = ReturnType<typeof createDecisions>;

export function createDecisions({ port, options, events, life, downloads }: DecisionsOptions) {
  const { qoe, horizon } = options;

  /** Undefined where the controller has nothing to say, or failed, which is a fault. */
  function conclude(
    situation: Situation,
    inFlight: InFlight | undefined,
    ask: (state: PlayerState, forecast: Forecast | undefined) => Decision | 'keep',
  ): Choice | undefined {
    const running = life.running();
    const { session } = running;
    const clocks = life.clocks();
    const forecast = life.forecast(clocks);
    const state = playerState({ situation, session, sizes: life.sizes, inFlight, clocks, qoe, horizon });
    return events.attempt('controller-failed', 'the controller failed', () => {
      const decision = ask(state, forecast);
      if (decision === 'keep') return undefined;
      const representation = situation.ladder[decision.representation];
      if (representation === undefined) throw new Error(`there is no representation ${decision.representation}`);
      running.lastDecision = decision;
      const representationId = representation.id;
      events.decision({
        kind: inFlight === undefined ? 'decide' : 'abandon',
        session: session.number,
        decision,
        state,
        forecast,
        inFlight,
        representationId,
        streamId: situation.period.id,
      });
      return { representationId, message: `${decision.controller}: ${decision.reason}` };
    });
  }

  return {
    /** Chooses the representation of the next video segment; undefined leaves it to the player's own algorithm. */
    decide(): Choice | undefined {
      life.startForecasting();
      const { session, controller } = life.running();
      if (isBlind(session)) {
        events.fault('nothing-measured', `no download could be measured: ${port.name} decides until one can`);
        return undefined;
      }
      const situation = port.situation();
      if (situation === undefined) return undefined;
      const { ladder, initialRepresentationId } = situation;
      const isPagesChoice = session.startMs === undefined && initialRepresentationId !== undefined;
      const allowed = isPagesChoice ? ladder.filter(({ id }) => id === initialRepresentationId) : ladder;
      return conclude({ ...situation, ladder: allowed }, undefined, (state, forecast) =>
        controller.decide(state, forecast),
      );
    },

    /** The representation to repeat the video segment in flight at; undefined to let it finish. */
    reconsider(): Choice | undefined {
      const { session, controller } = life.running();
      const inFlight = inFlightOf(session);
      if (!controller.reconsider || inFlight === undefined) return undefined;
      const situation = port.situation();
      if (situation === undefined || situation.period.id !== downloads.active()?.segment.period.id) return undefined;
      return conclude(situation, inFlight, (state, forecast) => controller.reconsider!(state, inFlight, forecast));
    },
  };
}
