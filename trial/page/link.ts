/** Learns from a session's downloads: throughput per second, a rhythm, and outcomes below a forecast's quantiles. */

import type { ValidForecast } from '../../abr/forecast.ts';
import { quantile, quantileAt } from '../../abr/statistics/distributions.ts';
import { HandoverEvidence } from '../../predictor/link/handover-clock/handover-clock.ts';
import { deliveredTimeline } from '../../predictor/link/link-history.ts';
import { MAX_OBSERVATIONS, type SessionReport } from '../session-report.ts';

const MOST_SECONDS = 3600;
const CELL_SECONDS = 0.1;
/** A second counts if downloads filled at least this share of it; a forecast's step and a cell have the other share. */
const LEAST_SHARE = 0.1;
const LEAST_STEP_SHARE = 0.5;
const LEAST_SECONDS = 5;
/** After this many seconds of downloading, a link with a rhythm has shown it. */
const RHYTHM_SECONDS = 60;
const LEVELS = [0.1, 0.5, 0.9] as const;

/** The link of one session. Times are of an even clock. */
export class LinkRecord {
  private readonly _delivered = deliveredTimeline(MOST_SECONDS, CELL_SECONDS);
  /** Quantiles of the forecasts' first step in bit/s, at `LEVELS`. */
  private readonly _expected: { fromSeconds: number; toSeconds: number; quantiles: number[] }[] = [];
  private readonly _clock: HandoverEvidence;
  /** Number of cells that the clock has seen. */
  private _settledCells = 0;
  private _clockedSeconds = 0;

  /** `startMs` is the session's begin in UTC. */
  constructor(
    private readonly _startMs: number,
    private readonly _startSeconds = 0,
  ) {
    this._clock = new HandoverEvidence({ utcMsAtStart: _startMs - 1000 * _startSeconds });
  }

  /** Adds bits that arrived in this time, while a request was past its first byte or overdue. */
  delivered(fromSeconds: number, toSeconds: number, bits: number): void {
    if (toSeconds <= this._startSeconds + MOST_SECONDS) this._delivered.add(fromSeconds, toSeconds, bits);
  }

  /** Takes a forecast that the controller got `ageSeconds` after its issue, and later judges its first step. */
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
