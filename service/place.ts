/** The location of the dish: exact for computations, rounded before it leaves the process. */

import { roundedDegrees } from './api/security.ts';
import type { StateReply } from './api/wire.ts';
import type { LocationReading } from './dish/read-answers.ts';

export class Place {
  #exact: LocationReading | undefined;
  readonly #isGiven: boolean;
  readonly #shown: (degrees: number) => number;

  /** `given`: default: as the dish reports it. `showExactly`: default: to a tenth of a degree. */
  constructor({ given, showExactly = false }: { given?: LocationReading | undefined; showExactly?: boolean }) {
    this.#exact = given;
    this.#isGiven = given !== undefined;
    this.#shown = showExactly ? (degrees) => degrees : roundedDegrees;
  }

  set ofDish(location: LocationReading) {
    if (!this.#isGiven) this.#exact = location;
  }

  /** For computations only; never show it. */
  get exact(): LocationReading | undefined {
    return this.#exact;
  }

  shown(): StateReply['location'] {
    if (this.#exact === undefined) return undefined;
    const { latitudeDegrees, longitudeDegrees } = this.#exact;
    return { latitudeDegrees: this.#shown(latitudeDegrees), longitudeDegrees: this.#shown(longitudeDegrees) };
  }
}
