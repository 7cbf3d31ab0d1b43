/** Records a controller's answers for observers, its timings, and the first forecast of a handover. */

import type { Controller, ValidForecast } from '../../abr/index.ts';
import type { SimulationOptions } from './simulation-options.ts';

export class ObservedController implements Controller {
  readonly name: string;
  readonly reconsider?: NonNullable<Controller['reconsider']>;
  readonly keepsForSeconds?: NonNullable<Controller['keepsForSeconds']>;
  readonly pace?: NonNullable<Controller['pace']>;
  /** Durations of `decide` and `pace`, with the option `timings`. */
  readonly decisionMillis: number[] = [];
  /** When a forecast first expected a handover. */
  handoversAtSeconds: number | undefined;

  constructor(
    private readonly controller: Controller,
    private readonly options: Pick<SimulationOptions, 'onDecision' | 'timings'>,
  ) {
    this.name = controller.name;
    if (controller.keepsForSeconds) this.keepsForSeconds = controller.keepsForSeconds.bind(controller);
    if (controller.reconsider) {
      this.reconsider = (state, inFlight, forecast) => {
        this.#observe(state.nowSeconds, forecast);
        const answer = controller.reconsider!(state, inFlight, forecast);
        options.onDecision?.({ asked: 'reconsider', state, inFlight, ...(forecast && { forecast }), answer });
        return answer;
      };
    }
    if (controller.pace) {
      this.pace = (state, inFlight, forecast) => {
        this.#observe(state.nowSeconds, forecast);
        const answer = this.#timed(() => controller.pace!(state, inFlight, forecast));
        const given = { ...(inFlight && { inFlight }), ...(forecast && { forecast }) };
        options.onDecision?.({ asked: 'pace', state, ...given, answer });
        return answer;
      };
    }
  }

  decide(...[state, forecast]: Parameters<Controller['decide']>) {
    this.#observe(state.nowSeconds, forecast);
    const answer = this.#timed(() => this.controller.decide(state, forecast));
    this.options.onDecision?.({ asked: 'decide', state, ...(forecast && { forecast }), answer });
    return answer;
  }

  #observe(nowSeconds: number, forecast: ValidForecast | undefined): void {
    if (forecast && forecast.handovers.length > 0) this.handoversAtSeconds ??= nowSeconds;
  }

  #timed<T>(question: () => T): T {
    const began = this.options.timings ? performance.now() : 0;
    const answer = question();
    if (this.options.timings) this.decisionMillis.push(performance.now() - began);
    return answer;
  }
}
