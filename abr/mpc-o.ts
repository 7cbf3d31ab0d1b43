/**
 * MPC-O: MPC on the true future, the yardstick for what forecasts can bring. It plans on the forecast's one path, knows
 * the buffer cap and never abandons. It is not an upper bound: its horizon is finite.
 */

import { ShiftedPath } from './capacity-path.ts';
import type { Controller, Decision, PlayerState } from './controller.ts';
import type { Forecast } from './forecast.ts';
import { createMpcD } from './mpc-d.ts';
import { Planner } from './planner.ts';

export interface MpcOOptions {
  /** Segments planned ahead. Default 5. */
  horizon?: number;
  /** Decisions carry what each representation is going to bring. Default false. */
  outlook?: boolean;
}

/** Throws `InputError` where an option cannot be worked with. */
export function createMpcO(options: MpcOOptions = {}): Controller {
  return new MpcO(options);
}

class MpcO implements Controller {
  readonly name = 'mpc-o';
  private readonly planner: Planner;
  private readonly outlook: boolean;
  private readonly fallback: Controller;

  constructor(options: MpcOOptions) {
    this.planner = new Planner({ horizon: options.horizon ?? 5, bufferCap: true });
    this.outlook = options.outlook ?? false;
    this.fallback = createMpcD(options);
  }

  /** Without a forecast of one path it decides as MPC-D does. */
  decide(state: PlayerState, forecast?: Forecast): Decision {
    if (forecast?.kind !== 'paths' || forecast.paths.length !== 1) {
      const decision = this.fallback.decide(state);
      return { ...decision, controller: this.name, reason: `no path: mpc-d, ${decision.reason}` };
    }
    const ageSeconds = state.nowSeconds - forecast.issuedAtMs / 1000;
    const issued = forecast.paths[0]!.path;
    const path = ageSeconds > 0 ? new ShiftedPath(issued, ageSeconds) : issued;
    this.planner.prepare(state);
    const plan = this.planner.best(path);
    const decision: Decision = {
      representation: plan.representation,
      controller: this.name,
      reason: `true path: QoE ${plan.value.toFixed(1)}, stall ${plan.stallSeconds.toFixed(1)} s`,
      forecastSource: forecast.source,
      forecastAgeSeconds: ageSeconds,
    };
    if (this.outlook) decision.candidates = this.planner.outlook(path, state.ladderBps);
    return decision;
  }
}
