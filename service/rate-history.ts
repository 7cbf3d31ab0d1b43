/** Rates of the last minute, which the page's chart shows. On the session clock, so that a leap of UTC moves them along. */

/** The chart's past (`page/chart.js`). */
const KEPT_SECONDS = 60;

interface RateAt {
  atSeconds: number;
  bps: number;
}

export class RateHistory {
  #rates: RateAt[] = [];

  /** In order of time. */
  add(atSeconds: number, bps: number): void {
    this.#rates.push({ atSeconds, bps });
    if (this.#rates[0]!.atSeconds < atSeconds - KEPT_SECONDS) this.#rates = this.lastMinute(atSeconds);
  }

  /** Oldest first. */
  lastMinute(nowSeconds: number): RateAt[] {
    return this.#rates.filter(({ atSeconds }) => atSeconds >= nowSeconds - KEPT_SECONDS);
  }
}
