/** The forecasts of one lane's MPC-L: the viewer's choice, and what the newest decision used. */

import type { ServiceForecaster } from 'leo-abr/service';
import { nameInPlayer } from '../../replay/browser/algorithms.ts';
import { splitPlayer } from '../../replay/forecasters.ts';
import { playerOf } from '../choice/competitors.ts';
import { element, options, select, setText } from '../dom.ts';
import { megabits, seconds } from '../format.ts';
import type { SessionRecord } from '../run/session-record.ts';
import { forecastFan } from '../run/timeline-model.ts';
import { serviceStatus } from './service-status.ts';

/** By the algorithm's name in dash.js. */
const SOURCES: Readonly<Record<string, string>> = {
  'mpc-l': 'its own',
  'mpc-l:no-forecast': 'none',
  'mpc-l@service': 'a service on this link',
};

export function withoutSource(algorithm: string): string {
  return splitPlayer(algorithm).name in SOURCES ? nameInPlayer('mpc-l', playerOf(algorithm)) : algorithm;
}

export interface LaneForecastsOptions {
  /** Why no prediction service can be started; undefined if one can. */
  serviceProblem: string | undefined;
  /** The algorithm's name with the chosen forecasts. */
  choice(algorithm: string): void;
}

export class LaneForecasts {
  readonly root: HTMLElement;
  readonly #choice: HTMLSelectElement;
  readonly #used = element('span', {});
  /** What becomes of the service's forecasts. */
  readonly #about = element('span', {});
  #algorithm = '';
  readonly #on: LaneForecastsOptions;
  #service: ServiceForecaster | undefined;

  constructor(player: number, on: LaneForecastsOptions) {
    this.#on = on;
    this.#choice = select({ 'aria-label': `Forecasts of player ${player}` }, (name) =>
      on.choice(nameInPlayer(name, playerOf(this.#algorithm))),
    );
    const label = element('label', {}, 'Forecasts: ', this.#choice);
    this.root = element('p', { class: 'small forecasts' }, label, ' ', this.#used, ' ', this.#about);
  }

  show(algorithm: string): void {
    this.#algorithm = algorithm;
    const { name } = splitPlayer(algorithm);
    this.root.hidden = !(name in SOURCES);
    const listed = Object.entries(SOURCES).map(([value, label]) => ({ value, label }));
    this.#choice.replaceChildren(...options(listed, name));
    const problem = this.#on.serviceProblem;
    const service = this.#choice.querySelector<HTMLOptionElement>('[value="mpc-l@service"]')!;
    service.disabled = problem !== undefined;
    service.title = problem ?? '';
    setText(this.#about, '');
    setText(this.#used, '');
  }

  /** The forecaster of a session that begins; undefined where the algorithm has none but its own. */
  async forecaster(ofService: () => Promise<ServiceForecaster>): Promise<ServiceForecaster | undefined> {
    this.#service = undefined;
    if (splitPlayer(this.#algorithm).name !== 'mpc-l@service') return undefined;
    const problem = this.#on.serviceProblem;
    const starting = problem === undefined ? ofService() : Promise.reject(new Error(problem));
    this.#service = await starting.catch((error: Error) => {
      setText(this.#about, serviceStatus(undefined, error.message));
      return undefined;
    });
    return this.#service;
  }

  /** What the newest decision used. */
  draw({ decisions }: SessionRecord): void {
    if (this.root.hidden) return;
    if (this.#service) setText(this.#about, serviceStatus(this.#service.state));
    const { forecast, forecastAgeSeconds = 0 } = decisions.at(-1) ?? {};
    const [next] = forecastFan(forecast);
    if (next === undefined) {
      setText(this.#used, 'No forecast in use.');
      return;
    }
    const span = `${megabits(next.lowBps)} to ${megabits(next.highBps)} Mbit/s`;
    const ahead = seconds(next.toSeconds - next.fromSeconds);
    setText(this.#used, `${forecast!.source}, ${seconds(forecastAgeSeconds)} old: next ${ahead} ${span}.`);
  }
}
