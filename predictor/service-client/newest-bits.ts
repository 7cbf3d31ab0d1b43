/** The bits that the session has received since a forecast, which the service does not know yet. */

import { ageSecondsOf, type QuantileForecast } from '../../abr/forecast.ts';

/** Downloading that the rate is measured over. */
const RECENT_SECONDS = 0.5;
const LEAST_RECENT_SECONDS = 0.15;
/** The rate contradicts a forecast if it is below this quantile or above the opposite one. */
const CONTRADICTED_LEVEL = 0.1;
/** Tolerance for quantile levels that are sums of decimal fractions. */
export const ROUNDING = 1e-9;

export class NewestBits {
  /** Pieces of throughput, in order of time: the last `RECENT_SECONDS`. */
  private _pieces: { startSeconds: number; endSeconds: number; bits: number }[] = [];
  private _seconds = 0;

  observe(startSeconds: number, endSeconds: number, bits: number): void {
    this._pieces.push({ startSeconds, endSeconds, bits });
    this._seconds += endSeconds - startSeconds;
    for (;;) {
      const [oldest] = this._pieces;
      const laterSeconds = this._seconds - (oldest!.endSeconds - oldest!.startSeconds);
      if (laterSeconds < RECENT_SECONDS) return;
      this._seconds = laterSeconds;
      this._pieces.shift();
    }
  }

  /** Whether they came at a rate that the forecast did not expect. */
  contradict(forecast: QuantileForecast, nowSeconds: number): boolean {
    let bits = 0;
    let seconds = 0;
    for (const { startSeconds, endSeconds, bits: ofPiece } of this._pieces) {
      const part = endSeconds - Math.max(startSeconds, forecast.issuedAtMs / 1000);
      if (part <= 0) continue;
      bits += (ofPiece * part) / (endSeconds - startSeconds);
      seconds += part;
    }
    if (seconds < LEAST_RECENT_SECONDS) return false;
    const { stepEndsSeconds, levels, quantilesBps } = forecast;
    const age = ageSecondsOf(forecast, nowSeconds);
    const row = quantilesBps[stepEndsSeconds.findIndex((end) => age < end)];
    if (row === undefined) return false;
    const bps = bits / seconds;
    return levels.some(
      (level, i) =>
        (level <= CONTRADICTED_LEVEL + ROUNDING && bps < row[i]!) ||
        (level >= 1 - CONTRADICTED_LEVEL - ROUNDING && bps > row[i]!),
    );
  }
}
