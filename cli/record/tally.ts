/** What active measurements have cost, for the user. */

import type { Clock } from '../../service/index.ts';
import { count } from '../report/format.ts';
import type { Measurement } from './measurement.ts';
import type { EndCause } from './scavenger.ts';

/** Why it gave way, and since when its reaction counts. */
const GAVE_WAY: Partial<Record<EndCause, string>> = {
  player: 'to a player (slowest: %s after the report)',
  usage: "to other traffic (slowest: %s after the dish's second)",
  unknown: 'without news of the service',
};

export class Tally {
  readonly #clock: Clock;
  readonly #beganMs: number;
  readonly #seconds = new Map<string, number>();
  readonly #reactionsMs = new Map<EndCause, number[]>();
  #measurements = 0;
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beganMs = clock.monotonicMs();
  }

  add(one: { measurement: Measurement; seconds: number; cause: EndCause; reactionMs: number }): void {
    const { measurement, seconds, cause, reactionMs } = one;
    const { reason, bytes } = measurement;
    this.#measurements++;
    this.#bytes += bytes;
    this.#seconds.set(reason, (this.#seconds.get(reason) ?? 0) + seconds);
    this.#reactionsMs.set(cause, [...(this.#reactionsMs.get(cause) ?? []), reactionMs]);
  }

  /** One line; `label` says of which time. */
  line(label: string): string {
    const reasons = [...this.#seconds].map(([reason, seconds]) => `${reason} ${seconds.toFixed(0)} s`);
    const gaveWay = [...this.#reactionsMs].flatMap(([cause, reactionsMs]) => {
      const text = GAVE_WAY[cause]?.replace('%s', `${(Math.max(...reactionsMs) / 1000).toFixed(2)} s`);
      return text === undefined ? [] : [`${count(reactionsMs.length, 'time')} ${text}`];
    });
    const measured = [...this.#seconds.values()].reduce((sum, seconds) => sum + seconds, 0);
    const elapsed = (this.#clock.monotonicMs() - this.#beganMs) / 1000;
    const allBytes = measured > 0 ? (this.#bytes * elapsed) / measured : 0;
    const saved = allBytes > 0 ? ` (${(100 * (1 - this.#bytes / allBytes)).toFixed(1)} % saved)` : '';
    return [
      `${label}: ${count(this.#measurements, 'measurement')} (${reasons.join(', ') || 'nothing measured'})`,
      `${megabytes(this.#bytes)} instead of ${megabytes(allBytes)} without pauses${saved}`,
      `gave way ${gaveWay.join(', ') || 'never'}`,
    ].join('; ');
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
