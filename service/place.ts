/** The location of the dish: exact for computations, rounded before it leaves the process. */

import { roundedDegrees } from './api/security.ts';
import type { StateReply } from './api/wire.ts';
import type { LocationReading } from './dish/read-answers.ts';

export interface PlaceOptions {
  /** Default: as the dish reports it. */
  given?: LocationReading | undefined;
  /** Show the exact location. Default false: to a tenth of a degree. */
  showExactly?: boolean | undefined;
}

export class Place {
  readonly #options: PlaceOptions;
  #ofDish: LocationReading | undefined;

  constructor(options: PlaceOptions) {
    this.#options = options;
  }

  set ofDish(location: LocationReading) {
    this.#ofDish = location;
  }

  /** For computations only; never show it. */
  get exact(): LocationReading | undefined {
    return this.#options.given ?? this.#ofDish;
  }

  shown(): StateReply['location'] {
    const { exact } = this;
    if (exact === undefined) return undefined;
    const shown = this.#options.showExactly === true ? (degrees: number) => degrees : roundedDegrees;
    return { latitudeDegrees: shown(exact.latitudeDegrees), longitudeDegrees: shown(exact.longitudeDegrees) };
  }
}
