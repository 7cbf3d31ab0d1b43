/** Where the dish is: as it says itself, or as the options say. Exact inside, rounded before it leaves the process. */

import { roundedDegrees } from './api/security.ts';
import type { StateReply } from './api/wire.ts';
import type { LocationReading } from './dish/read-answers.ts';

export interface PlaceOptions {
  /** Goes before what the dish says. */
  given?: LocationReading | undefined;
  /** Show it as exactly as it is known. Default false: to a tenth of a degree. */
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

  /** For computing with, never for showing. */
  get exact(): LocationReading | undefined {
    return this.#options.given ?? this.#ofDish;
  }

  shown(): StateReply['location'] {
    const { exact } = this;
    if (exact === undefined) return undefined;
    const { latitudeDegrees, longitudeDegrees } = exact;
    const from = this.#options.given === undefined ? 'dish' : 'options';
    if (this.#options.showExactly === true) return { latitudeDegrees, longitudeDegrees, from };
    return {
      latitudeDegrees: roundedDegrees(latitudeDegrees),
      longitudeDegrees: roundedDegrees(longitudeDegrees),
      from,
    };
  }
}
