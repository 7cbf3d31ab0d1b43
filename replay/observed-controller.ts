/** Records a controller's answers for observers, its timings, and the first forecast of a handover. */

import type { Controller, Decision, InFlight, Pace, PlayerState, ValidForecast } from '../abr/index.ts';

export interface Observing {
  /** Measures the durations of `decide` and `pace` (`decisionMicros`), which differ from run to run. Default false. */
  timings?: boolean;
  /** Receives every call of `decide`, `reconsider` and `pace`: a new controller with the same seed answers the same. */
  onDecision?(record: AnswerRecord): void;
}

export type AnswerRecord = { state: PlayerState; inFlight?: InFlight; forecast?: ValidForecast } & (
  | { asked: 'decide'; answer: Decision }
  | { asked: 'reconsider'; inFlight: InFlight; answer: Decision | 'keep' }
  | { asked: 'pace'; answer: Pace }
);

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
    private readonly options: Observing,
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
