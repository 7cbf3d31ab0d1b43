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
  readonly #choice: HTMLSelectElement;
  readonly #used = element('span', {});
  /** Shows the state of a service's forecasts. */
  readonly #about = element('span', {});
  #algorithm = '';
  #forecaster: { close(): void } | undefined;
  #service: ServiceForecaster | undefined;

  constructor(
    player: number,
    private readonly on: LaneForecastsOptions,
  ) {
    this.#choice = select({ 'aria-label': `Forecasts of player ${player}` }, (name) => {
      on.choice(nameInPlayer(name, playerOf(this.#algorithm)));
    });
    const label = element('label', {}, 'Forecasts: ', this.#choice);
    this.root = element('p', { class: 'small forecasts' }, label, ' ', this.#used, ' ', this.#about);
  }

  show(algorithm: string): void {
    this.#algorithm = algorithm;
    const { name } = splitPlayer(algorithm);
    this.root.hidden = withoutSource(algorithm) === algorithm && name !== 'mpc-l';
    const listed = Object.entries(SOURCES).map(([value, label]) => ({ value, label }));
    this.#choice.replaceChildren(...options(listed, name));
    const problem = this.on.serviceProblem;
    const service = this.#choice.querySelector<HTMLOptionElement>('[value="mpc-l@service"]')!;
    service.disabled = problem !== undefined;
    service.title = problem ?? '';
    setText(this.#about, '');
    setText(this.#used, '');
  }

  /** Makes the forecaster of a new session; undefined if the algorithm uses only its own forecasts. */
  async forecaster(ofService: () => Promise<ServiceForecaster>): Promise<Forecaster | undefined> {
    this.#forecaster?.close();
    this.#forecaster = undefined;
    this.#service = undefined;
    const { name } = splitPlayer(this.#algorithm);
    if (name === 'mpc-l@service') {
      const problem = this.on.serviceProblem;
      const starting = problem === undefined ? ofService() : Promise.reject(new Error(problem));
      this.#service = await starting.catch((error: Error) => {
        setText(this.#about, serviceStatus(undefined, error.message));
        return undefined;
      });
      return this.#service;
    }
    if (name !== 'mpc-l@onnx') return undefined;
    const { onnxForecaster } = await import('./onnx-runtime.ts');
    const forecaster = onnxForecaster();
    this.#forecaster = forecaster;
    return forecaster;
  }

  /** Shows the forecast that the newest decision used. */
  draw({ decisions }: SessionRecord): void {
    if (this.root.hidden) return;
    if (this.#service) setText(this.#about, serviceStatus(this.#service.state));
    const { forecast, forecastAgeSeconds = 0 } = decisions.at(-1) ?? {};
    const [next] = forecastFan(forecast);
    const range = next && `${megabits(next.lowBps)} to ${megabits(next.highBps)} Mbit/s next.`;
    const text = range && `${forecast!.source}, ${seconds(forecastAgeSeconds)} old: ${range}`;
    setText(this.#used, text ?? 'No forecast in use.');
  }
}
