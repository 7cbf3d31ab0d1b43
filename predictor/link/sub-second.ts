/**
 * A link within a second: how the capacity of 0.1 s varies about its mean, and how much a handover costs. Both begin
 * with values from recordings (docs/how-it-works.md) and are learnt in the session. Constant memory.
 *
 * Slow moments are seen for longer than fast moments, because slow downloads last longer. Therefore a piece also stands
 * for the unseen time before it.
 */

import { EPOCH_SECONDS, type Fluctuation, type HandoverDip } from '../../abr/forecast.ts';
import { levelShare } from '../../abr/statistics/distributions.ts';
import { modulo } from './handover-clock/weights.ts';

const LEVELS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];
/** ln(capacity of 0.1 s / mean) at `LEVELS`, before observations. */
const FIRST_LOGS = [-1, -0.35, -0.2, -0.07, 0.01, 0.07, 0.15, 0.2, 0.35];
/** Weight of the first values, in observations of 0.1 s. */
const FIRST_WEIGHT = 50;
const FIRST_CORRELATION = { value: 0.43, weight: 30 };
/** Limits of a ratio to the mean. */
const RATIO_LIMITS = { least: 0.01, most: 100 };
/** Shorter pieces show too little. */
const LEAST_PIECE_SECONDS = 0.03;
/** A piece stands for at most this much unseen time. */
const MOST_UNSEEN_SECONDS = 0.3;
/** Greatest weight of a piece, in seconds. */
const MOST_WEIGHED_SECONDS = 0.1 + MOST_UNSEEN_SECONDS;
/** Time constant of the mean, and the time after which it is used. */
const MEAN_SECONDS = 1;
const FIRST_MEAN_SECONDS = 0.5;
/** A handover's time reaches from before it until after it. The mean rate before it is over `meanSeconds`. */
const HANDOVER = { beforeSeconds: 0.3, afterSeconds: 1.5, meanSeconds: 4 };
const HANDOVER_SECONDS = HANDOVER.beforeSeconds + HANDOVER.afterSeconds;
/** Least downloading before a handover, and about it. */
const LEAST_BEFORE_SECONDS = 0.5;
const LEAST_SEEN_SECONDS = 0.4;
/** Share of the capacity that a dip loses. Its duration follows from the lost seconds. */
const DEPTH = 0.8;
/** Seconds lost at a handover beyond the seconds lost in mid-epoch, before observations: median, and weight in epochs. */
const FIRST_LOST = { seconds: 0.18, weight: 4 };
const FIRST_CONTROL = { seconds: 0.06, weight: 4 };
const LOST_LIMITS = { least: 0.03, most: 0.6 };
/** Durations at the quantile levels 0.1, 0.5 and 0.9, relative to the median. */
const DURATIONS = { levels: [0.1, 0.5, 0.9], ratios: [0.5, 1, 2] };
/** Share, before observations, of collapses: losses above `LOST_LIMITS.most`. */
const FIRST_COLLAPSES = { share: 0.05, weight: 10 };
const COLLAPSE = { depth: 0.6, seconds: 1.5 };
/** Standard deviation of the begin of dips. */
const TIMING_SECONDS = 0.05;

interface RatePiece {
  startSeconds: number;
  endSeconds: number;
  bps: number;
}

export class SubSecond {
  private readonly _logs = Float64Array.from(FIRST_LOGS);
  private _weight = FIRST_WEIGHT;
  private _products = FIRST_CORRELATION.value * FIRST_CORRELATION.weight;
  private _squares = FIRST_CORRELATION.weight;
  private _previousLog: number | undefined;
  /** Bits and seconds of the mean, fading. */
  private _meanBits = 0;
  private _meanSeconds = 0;
  private _silentSeconds = 0;
  /** Pieces of the last seconds, for handovers. */
  private _pieces: RatePiece[] = [];
  private _lost = { logs: Math.log(FIRST_LOST.seconds) * FIRST_LOST.weight, epochs: FIRST_LOST.weight };
  private _control = { seconds: FIRST_CONTROL.seconds * FIRST_CONTROL.weight, epochs: FIRST_CONTROL.weight };
  private _collapses = { count: FIRST_COLLAPSES.share * FIRST_COLLAPSES.weight, epochs: FIRST_COLLAPSES.weight };
  /** The handover and the mid-epoch that were counted last. */
  private _countedHandover = Number.NEGATIVE_INFINITY;
  private _countedControl = Number.NEGATIVE_INFINITY;

  /** Pieces come in order of time. `handoverSeconds`: second of any handover; NaN if unknown. */
  observe(startSeconds: number, endSeconds: number, bits: number, handoverSeconds: number): void {
    const seconds = endSeconds - startSeconds;
    const bps = bits / seconds;
    const seenSeconds = this._pieces[this._pieces.length - 1]?.endSeconds ?? startSeconds;
    const standsFor = seconds + Math.min(MOST_UNSEEN_SECONDS, Math.max(0, startSeconds - seenSeconds));
    const sinceHandover = modulo(endSeconds - handoverSeconds, EPOCH_SECONDS);
    const isNear = modulo(sinceHandover + HANDOVER.beforeSeconds, EPOCH_SECONDS) < HANDOVER_SECONDS;
    if (seconds >= LEAST_PIECE_SECONDS && this._meanSeconds > FIRST_MEAN_SECONDS && this._meanBits > 0 && !isNear) {
      const ratio = (bps * this._meanSeconds) / this._meanBits;
      this._learn(Math.log(Math.min(RATIO_LIMITS.most, Math.max(RATIO_LIMITS.least, ratio))), standsFor);
    } else this._previousLog = undefined;
    const keep = Math.exp(-standsFor / MEAN_SECONDS);
    this._meanBits = this._meanBits * keep + bps * standsFor;
    this._meanSeconds = this._meanSeconds * keep + standsFor;
    this._silentSeconds = bits > 0 ? 0 : this._silentSeconds + standsFor;
    // An outage is no fluctuation, so the mean begins anew after it.
    if (this._silentSeconds > MEAN_SECONDS) this._meanBits = this._meanSeconds = 0;

    this._pieces.push({ startSeconds, endSeconds, bps });
    const oldest = endSeconds - HANDOVER_SECONDS - HANDOVER.meanSeconds;
    while (this._pieces[0]!.endSeconds < oldest) this._pieces.shift();
    if (!Number.isNaN(handoverSeconds)) this._countHandover(endSeconds, sinceHandover);
  }

  fluctuation(): Fluctuation {
    const ratios = [...this._logs].map(Math.exp);
    const mean = ratios.reduce((sum, ratio, i) => sum + ratio * levelShare(LEVELS, i), 0);
    const correlation = Math.min(0.95, Math.max(0, this._products / this._squares));
    return { levels: LEVELS, ratios: ratios.map((ratio) => ratio / mean), correlation };
  }

  /** `uncertaintySeconds`: standard deviation of the handover's time. */
  dip(uncertaintySeconds: number): HandoverDip {
    const middle = Math.exp(this._lost.logs / this._lost.epochs) / DEPTH;
    return {
      timingSeconds: Math.hypot(TIMING_SECONDS, uncertaintySeconds),
      depth: DEPTH,
      levels: DURATIONS.levels,
      seconds: DURATIONS.ratios.map((ratio) => ratio * middle),
      collapse: { probability: this._collapses.count / this._collapses.epochs, ...COLLAPSE },
    };
  }

  /** Moves each quantile by the gradient of its pinball loss (Robbins and Monro, 1951), in steps of the spread. */
  private _learn(log: number, standsForSeconds: number): void {
    const weight = Math.min(MOST_WEIGHED_SECONDS, standsForSeconds) / 0.1;
    this._weight += weight;
    const spread = Math.max(0.01, this._logs[6]! - this._logs[2]!);
    const step = (spread * weight) / Math.sqrt(this._weight);
    let least = Number.NEGATIVE_INFINITY;
    for (const [i, level] of LEVELS.entries()) {
      // Rare values would otherwise move a low quantile too little.
      const speed = level < 0.1 ? 3 : 1;
      const moved = this._logs[i]! + step * speed * (log > this._logs[i]! ? level : level - 1);
      least = Math.max(least, moved);
      this._logs[i] = least;
    }
    if (this._previousLog !== undefined) {
      this._products += log * this._previousLog;
      this._squares += log ** 2;
    }
    this._previousLog = log;
  }

  /** Counts the last handover, and for comparison the last mid-epoch, when they are over. */
  private _countHandover(nowSeconds: number, sinceHandover: number): void {
    const isNew = (at: number, counted: number) =>
      nowSeconds > at + HANDOVER.afterSeconds && at > counted + EPOCH_SECONDS / 2;
    const control = nowSeconds - modulo(sinceHandover + EPOCH_SECONDS / 2, EPOCH_SECONDS);
    if (isNew(control, this._countedControl)) {
      this._countedControl = control;
      const lost = this._lostAt(control);
      if (lost !== undefined) {
        this._control.seconds += Math.min(LOST_LIMITS.most, lost);
        this._control.epochs++;
      }
    }
    const handover = nowSeconds - sinceHandover;
    if (!isNew(handover, this._countedHandover)) return;
    this._countedHandover = handover;
    const lost = this._lostAt(handover);
    if (lost === undefined) return;
    const extra = lost - this._control.seconds / this._control.epochs;
    this._lost.logs += Math.log(Math.min(LOST_LIMITS.most, Math.max(LOST_LIMITS.least, extra)));
    this._lost.epochs++;
    if (extra > LOST_LIMITS.most) this._collapses.count++;
    this._collapses.epochs++;
  }

  /** Lost seconds of the mean capacity about a moment; undefined if the link was hardly in use. */
  private _lostAt(atSeconds: number): number | undefined {
    const from = atSeconds - HANDOVER.beforeSeconds;
    let bits = 0;
    let before = 0;
    let lost = 0;
    let seen = 0;
    for (const { startSeconds, endSeconds, bps } of this._pieces) {
      const seconds = endSeconds - startSeconds;
      if (endSeconds < from) {
        bits += bps * seconds;
        before += seconds;
      } else if (startSeconds >= from && endSeconds <= atSeconds + HANDOVER.afterSeconds) {
        seen += seconds;
        if (bits > 0) lost += Math.max(0, 1 - (bps * before) / bits) * seconds;
      }
    }
    return before >= LEAST_BEFORE_SECONDS && seen >= LEAST_SEEN_SECONDS ? lost : undefined;
  }
}
