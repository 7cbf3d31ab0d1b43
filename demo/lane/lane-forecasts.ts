/** The forecasts of a lane's MPC-L, and the viewer's choice among them. */

import type { Forecaster } from 'leo-abr';
import type { ServiceForecaster } from 'leo-abr/service';
import { nameInPlayer, splitPlayer } from '../../replay/algorithms.ts';
import { playerOf } from '../choice/competitors.ts';
import { element, options, select, setText } from '../dom.ts';
import { megabits, seconds } from '../format.ts';
import type { SessionRecord } from '../run/session-record.ts';
import { forecastFan } from '../run/timeline-model.ts';
import { serviceStatus } from './service-link.ts';

/** The sources of forecasts, by the name of the algorithm in dash.js. */
const SOURCES: Readonly<Record<string, string>> = {
  'mpc-l': 'its own',
  'mpc-l:no-forecast': 'none',
  'mpc-l@onnx': 'an ONNX model',
  'mpc-l@service': 'a service on this link',
};

/** Returns the name of an algorithm without its source of forecasts, if the viewer can choose the source. */
export function withoutSource(algorithm: string): string {
  const { name } = splitPlayer(algorithm);
  return name in SOURCES ? nameInPlayer('mpc-l', playerOf(algorithm)) : algorithm;
}

export interface LaneForecastsOptions {
  /** Why no prediction service can be started; undefined if one can. */
  serviceProblem: string | undefined;
  /** Receives the name of the algorithm with the chosen forecasts. */
  choice(algorithm: string): void;
}

export class LaneForecasts {
  readonly root: HTMLElement;
  private readonly _choice: HTMLSelectElement;
  private readonly _used = element('span', {});
  /** Shows the state of a service's forecasts. */
  private readonly _about = element('span', {});
  private _algorithm = '';
  private _forecaster: { close(): void } | undefined;
  private _service: ServiceForecaster | undefined;

  constructor(
    player: number,
    private readonly _on: LaneForecastsOptions,
  ) {
    this._choice = select({ 'aria-label': `Forecasts of player ${player}` }, (name) => {
      _on.choice(nameInPlayer(name, playerOf(this._algorithm)));
    });
    const label = element('label', {}, 'Forecasts: ', this._choice);
    this.root = element('p', { class: 'small forecasts' }, label, ' ', this._used, ' ', this._about);
  }

  show(algorithm: string): void {
    this._algorithm = algorithm;
    const { name } = splitPlayer(algorithm);
    this.root.hidden = withoutSource(algorithm) === algorithm && name !== 'mpc-l';
    const listed = Object.entries(SOURCES).map(([value, label]) => ({ value, label }));
    this._choice.replaceChildren(...options(listed, name));
    const problem = this._on.serviceProblem;
    const service = this._choice.querySelector<HTMLOptionElement>('[value="mpc-l@service"]')!;
    service.disabled = problem !== undefined;
    service.title = problem ?? '';
    setText(this._about, '');
    setText(this._used, '');
  }

  /** Makes the forecaster of a new session; undefined if the algorithm uses only its own forecasts. */
  async forecaster(ofService: () => Promise<ServiceForecaster>): Promise<Forecaster | undefined> {
    this._forecaster?.close();
    this._forecaster = undefined;
    this._service = undefined;
    const { name } = splitPlayer(this._algorithm);
    if (name === 'mpc-l@service') {
      const problem = this._on.serviceProblem;
      const starting = problem === undefined ? ofService() : Promise.reject(new Error(problem));
      this._service = await starting.catch((error: Error) => {
        setText(this._about, serviceStatus(undefined, error.message));
        return undefined;
      });
      return this._service;
    }
    if (name !== 'mpc-l@onnx') return undefined;
    const { onnxForecaster } = await import('./onnx-runtime.ts');
    const forecaster = onnxForecaster();
    this._forecaster = forecaster;
    return forecaster;
  }

  /** Shows the forecast that the newest decision used. */
  draw({ decisions }: SessionRecord): void {
    if (this.root.hidden) return;
    if (this._service) setText(this._about, serviceStatus(this._service.state));
    const { forecast, forecastAgeSeconds = 0 } = decisions.at(-1) ?? {};
    const [next] = forecastFan(forecast);
    const range = next && `${megabits(next.lowBps)} to ${megabits(next.highBps)} Mbit/s next.`;
    const text = range && `${forecast!.source}, ${seconds(forecastAgeSeconds)} old: ${range}`;
    setText(this._used, text ?? 'No forecast in use.');
  }
}
