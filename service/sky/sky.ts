/** Keeps orbital elements fresh and computes the satellites in view. */

import { roundedDegrees } from '../api/security.ts';
import type { SkyReply } from '../api/wire.ts';
import type { Clock } from '../clock.ts';
import type { LocationReading } from '../dish/read-answers.ts';
import type { ElementSource } from './element-source.ts';
import type { ElementSet } from './elements.ts';
import { createSkyView, type SkyView } from './sky-view.ts';

export interface SkyOptions {
  source: ElementSource;
  /** As it is shown, because directions to satellites reveal the place. */
  place(): LocationReading | undefined;
  clock: Clock;
}

/** Smallest elevation that Starlink's terminals use. */
const LEAST_SHOWN_DEGREES = 25;
const HOUR_MS = 3_600_000;

export class Sky {
  readonly #options: SkyOptions;
  #view: SkyView | undefined;
  /** The elements of `#view`. */
  #viewed: ElementSet | undefined;
  /** Cached for a second. */
  #shownOf: { second: number; inView: SkyReply['inView'] } | undefined;

  constructor(options: SkyOptions) {
    this.#options = options;
  }

  /** Reads new elements when due. Call it about once a minute. */
  async refresh(): Promise<void> {
    const { source } = this.#options;
    await source.refresh();
    const { set } = source;
    if (set === undefined || set === this.#viewed) return;
    this.#viewed = set;
    const view = await createSkyView(set.elements);
    this.#view?.dispose();
    this.#view = view;
  }

  reply(): SkyReply {
    const { source, clock } = this.#options;
    return {
      state: this.#state(),
      satellites: this.#view?.size ?? 0,
      ...(source.set !== undefined && { elementsAgeHours: source.ageMs / HOUR_MS }),
      inView: this.#shown(clock.utcMs()),
    };
  }

  dispose(): void {
    this.#view?.dispose();
    this.#view = undefined;
  }

  #state(): SkyReply['state'] {
    const { source, place } = this.#options;
    if (this.#view === undefined) return 'no-elements';
    if (!source.isFresh) return 'elements-too-old';
    return place() === undefined ? 'no-location' : 'running';
  }

  #shown(nowMs: number): SkyReply['inView'] {
    const view = this.#view;
    const place = this.#options.place();
    if (view === undefined || place === undefined || !this.#options.source.isFresh) return [];
    const second = Math.floor(nowMs / 1000);
    if (this.#shownOf?.second !== second) {
      const inView = view.inView(second * 1000, place, LEAST_SHOWN_DEGREES).map((satellite) => ({
        ...satellite,
        azimuthDegrees: roundedDegrees(satellite.azimuthDegrees),
        elevationDegrees: roundedDegrees(satellite.elevationDegrees),
      }));
      this.#shownOf = { second, inView };
    }
    return this.#shownOf.inView;
  }
}
