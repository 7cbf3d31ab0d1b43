/** What a session's downloads show of its link: throughput per second, a rhythm, outcomes below a forecast's quantiles. */

import type { ValidForecast } from '../../abr/forecast.ts';
import { quantile, quantileAt } from '../../abr/quantile.ts';
import { MAX_OBSERVATIONS, type SessionReport } from '../../abr/session-report.ts';
import { HandoverClock } from '../../predictor/link/handover-clock/handover-clock.ts';

const MOST_SECONDS = 3600;
const CELL_SECONDS = 0.1;
/** A second counts if it was downloading for at least this share of it, and a forecast's step for that one. */
const LEAST_SHARE = 0.1;
const LEAST_STEP_SHARE = 0.5;
const LEAST_SECONDS = 5;
/** After this much downloading, a rhythm would have shown. */
const RHYTHM_SECONDS = 60;
const CLOCK_UNCERTAINTY_SECONDS = 2;
const LEVELS = [0.1, 0.5, 0.9] as const;

/** Of one session; times are seconds since its begin. */
export class LinkRecord {
  /** By cell: bits, and seconds with a download. */
  readonly #bits = new Float64Array(MOST_SECONDS / CELL_SECONDS);
  readonly #busy = new Float64Array(MOST_SECONDS / CELL_SECONDS);
  /** The first step of forecasts; in bit/s, at `LEVELS`. */
  readonly #expected: { fromSeconds: number; toSeconds: number; quantiles: number[] }[] = [];
  readonly #clock: HandoverClock;
  /** The clock knows what is before it. */
  #nextCell = 0;
  #clockedSeconds = 0;

  constructor(private readonly utcMsAtStart: number) {
    this.#clock = new HandoverClock({ utcMsAtStart, utcUncertaintySeconds: CLOCK_UNCERTAINTY_SECONDS });
  }

  /** So many bits arrived in this time, during which a request was past its first byte, or overdue. */
  delivered(fromSeconds: number, toSeconds: number, bits: number): void {
    for (const [cell, seconds] of cellsOf(fromSeconds, toSeconds)) {
      this.#bits[cell]! += (bits * seconds) / (toSeconds - fromSeconds);
      // Requests may run beside each other.
      this.#busy[cell] = Math.min(CELL_SECONDS, this.#busy[cell]! + seconds);
    }
  }

  /** The controller got this forecast `ageSeconds` after its issue: the outcome of its first step will be compared. */
  expected(forecast: ValidForecast, nowSeconds: number, ageSeconds: number): void {
    if (forecast.kind === 'path' || nowSeconds > MOST_SECONDS) return;
    const fromSeconds = nowSeconds - ageSeconds;
    const quantiles = LEVELS.map((level) => quantileAt(level, forecast.levels, forecast.quantilesBps[0]!));
    this.#expected.push({ fromSeconds, toSeconds: fromSeconds + forecast.stepEndsSeconds[0]!, quantiles });
  }

  settle(untilSeconds: number): void {
    for (const [cell] of cellsOf(this.#nextCell * CELL_SECONDS, untilSeconds)) {
      const [startSeconds, busySeconds, bits] = [cell * CELL_SECONDS, this.#busy[cell]!, this.#bits[cell]!];
      this.#nextCell = cell + 1;
      this.#clockedSeconds += busySeconds;
      this.#clock.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + busySeconds, bits });
    }
  }

  figures(nowSeconds: number, withObservations: boolean): Partial<SessionReport> {
    this.settle(nowSeconds);
    const untilSeconds = Math.min(nowSeconds, MOST_SECONDS);
    const rhythm = this.#clock.isLeo;
    const seconds = Array.from({ length: Math.ceil(untilSeconds) }, (_, second) => second);
    const rates = seconds.map((second) => this.#rateBps(second, second + 1, LEAST_SHARE));
    const known = rates.filter((bps) => bps >= 0).sort((a, b) => a - b);
    const [throughput10Bps, throughput50Bps, throughput90Bps] = LEVELS.map((level) => quantile(known, level));
    const outcomes = this.#expected.flatMap(({ fromSeconds, toSeconds, quantiles }) => {
      const bps = toSeconds > untilSeconds ? Number.NaN : this.#rateBps(fromSeconds, toSeconds, LEAST_STEP_SHARE);
      return bps >= 0 ? [quantiles.map((quantileBps) => bps < quantileBps)] : [];
    });
    const forecasts = outcomes.length;
    const [below10Share, below50Share, below90Share] = LEVELS.map(
      (_, i) => outcomes.filter((isBelow) => isBelow[i]).length / forecasts,
    );
    const observations = withObservations ? observationsOf(rates) : '';
    return {
      ...(known.length >= LEAST_SECONDS && { throughput10Bps, throughput50Bps, throughput90Bps }),
      ...((rhythm || this.#clockedSeconds >= RHYTHM_SECONDS) && { rhythm }),
      ...(forecasts > 0 && { forecasts, below10Share, below50Share, below90Share }),
      ...(observations !== '' && { observations, observedFromMs: this.utcMsAtStart }),
    } as Partial<SessionReport>;
  }

  /** The mean while downloading; NaN if it was for less than `leastShare` of the time. */
  #rateBps(fromSeconds: number, toSeconds: number, leastShare: number): number {
    let [bits, busySeconds] = [0, 0];
    for (const [cell, seconds] of cellsOf(fromSeconds, toSeconds)) {
      bits += (this.#bits[cell]! * seconds) / CELL_SECONDS;
      busySeconds += (this.#busy[cell]! * seconds) / CELL_SECONDS;
    }
    return busySeconds > 0 && busySeconds >= leastShare * (toSeconds - fromSeconds) ? bits / busySeconds : Number.NaN;
  }
}

function* cellsOf(fromSeconds: number, toSeconds: number): Generator<[cell: number, seconds: number]> {
  const until = Math.min(toSeconds, MOST_SECONDS);
  for (let cell = Math.floor(Math.max(0, fromSeconds) / CELL_SECONDS); cell * CELL_SECONDS < until; cell++) {
    const seconds = Math.min(until, (cell + 1) * CELL_SECONDS) - Math.max(fromSeconds, cell * CELL_SECONDS);
    if (seconds > 0) yield [cell, seconds];
  }
}

function observationsOf(ratesBps: readonly number[]): string {
  const text = ratesBps.map((bps) => (bps >= 0 ? Math.round(bps / 1000) : '')).join();
  const fitting = text.length > MAX_OBSERVATIONS ? text.slice(0, MAX_OBSERVATIONS + 1).replace(/,\d*$/, '') : text;
  return fitting.replace(/,+$/, '');
}
