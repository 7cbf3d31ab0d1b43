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
    private readonly _controller: Controller,
    private readonly _options: Observing,
  ) {
    this.name = _controller.name;
    if (_controller.keepsForSeconds) this.keepsForSeconds = _controller.keepsForSeconds.bind(_controller);
    if (_controller.reconsider) {
      this.reconsider = (state, inFlight, forecast) => {
        this._observe(state.nowSeconds, forecast);
        const answer = _controller.reconsider!(state, inFlight, forecast);
        _options.onDecision?.({ asked: 'reconsider', state, inFlight, ...(forecast && { forecast }), answer });
        return answer;
      };
    }
    if (_controller.pace) {
      this.pace = (state, inFlight, forecast) => {
        this._observe(state.nowSeconds, forecast);
        const answer = this._timed(() => _controller.pace!(state, inFlight, forecast));
        const given = { ...(inFlight && { inFlight }), ...(forecast && { forecast }) };
        _options.onDecision?.({ asked: 'pace', state, ...given, answer });
        return answer;
      };
    }
  }

  decide(...[state, forecast]: Parameters<Controller['decide']>) {
    this._observe(state.nowSeconds, forecast);
    const answer = this._timed(() => this._controller.decide(state, forecast));
    this._options.onDecision?.({ asked: 'decide', state, ...(forecast && { forecast }), answer });
    return answer;
  }

  private _observe(nowSeconds: number, forecast: ValidForecast | undefined): void {
    if (forecast && forecast.handovers.length > 0) this.handoversAtSeconds ??= nowSeconds;
  }

  private _timed<T>(question: () => T): T {
    const began = this._options.timings ? performance.now() : 0;
    const answer = question();
    if (this._options.timings) this.decisionMillis.push(performance.now() - began);
    return answer;
  }
}
