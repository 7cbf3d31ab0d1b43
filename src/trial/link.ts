/** What a session's downloads show of its link: throughput per second, a rhythm, outcomes below a forecast's quantiles. */

import type { ValidForecast } from '../../abr/forecast.ts';
import { MAX_OBSERVATIONS, type SessionReport } from '../../abr/qoe/session-report.ts';
import { quantile, quantileAt } from '../../abr/statistics/quantile.ts';
import { deliveredTimeline } from '../../predictor/link/delivered-timeline.ts';
import { HandoverEvidence } from '../../predictor/link/handover-clock/handover-clock.ts';

const MOST_SECONDS = 3600;
const CELL_SECONDS = 0.1;
/** A second counts if it was downloading for at least this share of it, and a forecast's step or a cell for that one. */
const LEAST_SHARE = 0.1;
const LEAST_STEP_SHARE = 0.5;
const LEAST_SECONDS = 5;
/** After this much downloading, a rhythm would have shown. */
const RHYTHM_SECONDS = 60;
const LEVELS = [0.1, 0.5, 0.9] as const;

/** The link in one session; times are of an even clock. */
export class LinkRecord {
  private readonly _delivered = deliveredTimeline(MOST_SECONDS, CELL_SECONDS);
  /** The first step of forecasts; in bit/s, at `LEVELS`. */
  private readonly _expected: { fromSeconds: number; toSeconds: number; quantiles: number[] }[] = [];
  private readonly _clock: HandoverEvidence;
  /** The clock knows this number of cells. */
  private _settledCells = 0;
  private _clockedSeconds = 0;

  /** `startMs`: UTC at the session's begin. */
  constructor(
    private readonly _startMs: number,
    private readonly _startSeconds = 0,
  ) {
    this._clock = new HandoverEvidence({ utcMsAtStart: _startMs - 1000 * _startSeconds });
  }

  /** The bits arrived in this time, during which a request was past its first byte, or overdue. */
  delivered(fromSeconds: number, toSeconds: number, bits: number): void {
    if (toSeconds <= this._startSeconds + MOST_SECONDS) this._delivered.add(fromSeconds, toSeconds, bits);
  }

  /** The controller got this forecast `ageSeconds` after its issue: the outcome of its first step will be compared. */
  expected(forecast: ValidForecast, nowSeconds: number, ageSeconds: number): void {
    if (forecast.kind === 'path' || nowSeconds > this._startSeconds + MOST_SECONDS) return;
    const fromSeconds = nowSeconds - ageSeconds;
    const quantiles = LEVELS.map((level) => quantileAt(level, forecast.levels, forecast.quantilesBps[0]!));
    this._expected.push({ fromSeconds, toSeconds: fromSeconds + forecast.stepEndsSeconds[0]!, quantiles });
  }

  settle(untilSeconds: number): void {
    const cells = Math.min(untilSeconds - this._startSeconds, MOST_SECONDS) / CELL_SECONDS;
    for (; this._settledCells < cells; this._settledCells++) {
      const startSeconds = this._startSeconds + this._settledCells * CELL_SECONDS;
      const endSeconds = startSeconds + CELL_SECONDS;
      const bps = this._delivered.rateBps(startSeconds, endSeconds, LEAST_STEP_SHARE);
      if (!(bps >= 0)) continue;
      this._clockedSeconds += CELL_SECONDS;
      this._clock.observe({ kind: 'throughput', startSeconds, endSeconds, bits: bps * CELL_SECONDS });
    }
  }

  figures(nowSeconds: number, withObservations: boolean): Partial<SessionReport> {
    this.settle(nowSeconds);
    const seconds = Math.min(nowSeconds - this._startSeconds, MOST_SECONDS);
    const rates = Array.from({ length: Math.ceil(seconds) }, (_, i) =>
      this._delivered.rateBps(this._startSeconds + i, this._startSeconds + i + 1, LEAST_SHARE),
    );
    const known = rates.filter((bps) => bps >= 0).sort((a, b) => a - b);
    const [throughput10Bps, throughput50Bps, throughput90Bps] = LEVELS.map((level) => quantile(known, level));
    const settled = this._expected.map(({ fromSeconds, toSeconds, quantiles }) => {
      const bps = this._delivered.rateBps(fromSeconds, toSeconds, LEAST_STEP_SHARE);
      const isKnown = bps >= 0 && toSeconds <= this._startSeconds + seconds;
      return isKnown ? [quantiles.map((quantileBps) => bps < quantileBps)] : [];
    });
    const outcomes = ([] as boolean[][]).concat(...settled);
    const forecasts = outcomes.length;
    const shares = LEVELS.map((_, i) => outcomes.filter((isBelow) => isBelow[i]).length / forecasts);
    const [below10Share, below50Share, below90Share] = shares;
    const observations = withObservations ? observationsOf(rates) : '';
    const rhythm = this._clock.isLeo;
    return {
      ...(known.length >= LEAST_SECONDS && { throughput10Bps, throughput50Bps, throughput90Bps }),
      ...((rhythm || this._clockedSeconds >= RHYTHM_SECONDS) && { rhythm }),
      ...(forecasts > 0 && { forecasts, below10Share, below50Share, below90Share }),
      ...(observations !== '' && { observations, observedFromMs: this._startMs }),
    } as Partial<SessionReport>;
  }
}

function observationsOf(ratesBps: readonly number[]): string {
  const text = ratesBps.map((bps) => (bps >= 0 ? Math.min(Math.round(bps / 1000), 99_999_999) : '')).join();
  return `${text},`.slice(0, MAX_OBSERVATIONS + 1).replace(/,+\d*$/, '');
}
