/** Whether the service watches this session's link: its first forecast is compared with what the session measures next. */

import type { QuantileForecast } from '../../abr/forecast.ts';
import { ROUNDING } from './newest-bits.ts';

/** Downloading whose mean rate is compared with the steps of the first forecast that end this soon. */
const COMPARED_SECONDS = 2;
const COMPARED_STEPS_SECONDS = 4;
/** The quantiles within this central share count: tails are wide, because some links have outages. */
const COMPARED_SHARE = 0.5;
/**
 * A rate this many times below the lowest of these quantiles, or above the highest one, contradicts the forecast. On
 * the shipped traces this refuses services of a link four times as fast.
 */
const OUTSIDE_FACTOR = 1.6;

export class FirstComparison {
  /** The first forecast, and the downloading since. */
  private _compared: { forecast: QuantileForecast; seconds: number; bits: number } | undefined;
  private _agrees: boolean | undefined;

  /** Whether the first forecast agreed; from an earlier session until this one has its own. */
  get agrees(): boolean | undefined {
    return this._agrees;
  }

  /** Begins a session, which may be on another link if the service watched none of the earlier ones. */
  start(): void {
    this._agrees ||= undefined;
    this.begin();
  }

  /** Compares the next forecast as the first one. */
  begin(): void {
    this._compared = undefined;
  }

  /** A forecast; only the first one counts. */
  meet(forecast: QuantileForecast): void {
    this._compared ??= { forecast, seconds: 0, bits: 0 };
  }

  observe(seconds: number, bits: number): void {
    const compared = this._compared;
    if (compared === undefined || compared.seconds >= COMPARED_SECONDS) return;
    compared.seconds += seconds;
    compared.bits += bits;
    if (compared.seconds < COMPARED_SECONDS) return;
    const bps = compared.bits / compared.seconds;
    const { stepEndsSeconds, levels, quantilesBps } = compared.forecast;
    const soon = ([] as number[]).concat(
      ...quantilesBps
        .filter((_, step) => step === 0 || stepEndsSeconds[step]! <= COMPARED_STEPS_SECONDS)
        .map((row) => row.filter((_, i) => Math.abs(levels[i]! - 0.5) <= COMPARED_SHARE / 2 + ROUNDING)),
    );
    const isSlower = bps * OUTSIDE_FACTOR < Math.min(...soon);
    this._agrees = !isSlower && bps <= OUTSIDE_FACTOR * Math.max(...soon);
  }
}
