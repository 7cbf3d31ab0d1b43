/**
 * The last seconds of downloading of a session, one by one: what a network that reads sequences is given beside the features.
 * The bins are those that `LinkHistory` makes its extremes and epochs of; time without a download is in none, only in their ages.
 */

import type { Observation } from '../../abr/forecast.ts';
import { LinkHistory } from '../link-history.ts';
import { SECONDS_SEEN, type SeenSeconds } from './compared-model.ts';

/** A bin is closed by the observation that fills a second of downloading; timers round. */
const BIN_SECONDS = 1 - 1e-3;
/** Rates below this share of the reference count as this share. */
const LEAST_LOG_RATIO = Math.log(0.01);

export class SecondBins {
  /** Says which observations can be. */
  readonly #history = new LinkHistory();
  /** A ring: ln rate (bit/s) of each bin and when it ended. */
  readonly #logs = new Float64Array(SECONDS_SEEN);
  readonly #ends = new Float64Array(SECONDS_SEEN);
  #count = 0;
  #openBits = 0;
  #openSeconds = 0;
  readonly #seen = { ratios: new Float64Array(SECONDS_SEEN), ages: new Float64Array(SECONDS_SEEN) };

  /** True where the observation was one of throughput that can be; others change nothing, as in `LinkHistory`. */
  observe(observation: Observation): boolean {
    if (!this.#history.observe(observation) || observation.kind !== 'throughput') return false;
    const { startSeconds, endSeconds, bits } = observation;
    this.#openBits += bits;
    this.#openSeconds += endSeconds - startSeconds;
    if (this.#openSeconds >= BIN_SECONDS) {
      const at = this.#count++ % SECONDS_SEEN;
      this.#logs[at] = Math.log(Math.max(this.#openBits / this.#openSeconds, Number.MIN_VALUE));
      this.#ends[at] = endSeconds;
      this.#openBits = 0;
      this.#openSeconds = 0;
    }
    return true;
  }

  /**
   * The bins as they look from a moment, relative to the session's reference rate (bit/s) then; ratios are at least ln 0.01,
   * ages at least 0. The same arrays every time.
   */
  moment(nowSeconds: number, referenceBps: number): SeenSeconds {
    const { ratios, ages } = this.#seen;
    ratios.fill(Number.NaN);
    ages.fill(Number.NaN);
    const logReference = Math.log(referenceBps);
    for (let back = 1; back <= Math.min(this.#count, SECONDS_SEEN); back++) {
      const at = (this.#count - back) % SECONDS_SEEN;
      ratios[SECONDS_SEEN - back] = Math.max(LEAST_LOG_RATIO, this.#logs[at]! - logReference);
      ages[SECONDS_SEEN - back] = Math.max(0, nowSeconds - this.#ends[at]!);
    }
    return this.#seen;
  }
}
