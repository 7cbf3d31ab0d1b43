/**
 * The common part of forecasters with a model: history, handovers, recalibration, and forecasts from the outputs of the
 * model, which the caller evaluates. No clock and no I/O.
 */

import type { ExpectedHandover, Observation, QuantileForecast, SessionContext } from '../../abr/forecast.ts';
import { HandoverClock } from '../link/handover-clock/handover-clock.ts';
import { LinkHistory, PAGE_LOAD_SECONDS } from '../link/link-history.ts';
import type { SubSecond } from '../link/sub-second.ts';
import type { ModelOutline } from './quantile-network.ts';
import { type Recalibration, recalibration } from './recalibration.ts';

export interface ModelSessionOptions {
  /** Whether to expect handovers, once the link has shown them. Default true. */
  handover?: boolean | undefined;
  /**
   * Whether handovers and the model within a second are needed. Called at the start and at each observation until it
   * returns true; from then on the session follows them. Default: always true.
   */
  needsHandovers?: (() => boolean) | undefined;
  /** Makes the model of the link within a second, for plans at the live edge. Default: none. */
  newSubSecond?: (() => SubSecond) | undefined;
}

/** What a forecast needs beside the model's outputs. */
export interface ForecastMoment {
  nowSeconds: number;
  referenceBps: number;
  handovers: readonly ExpectedHandover[];
}

/** A forecast is reused for this long. */
const LIFETIME_SECONDS = 0.2;
/** Limit of |ln(rate / reference)|. */
const GREATEST_LOG_RATIO = 7;

export class ModelSession {
  /** The session's handover clock, which accepts better times and hints; undefined until needed and with `handover: false`. */
  handoverClock: HandoverClock | undefined;
  private _isFollowing = false;
  private _history = new LinkHistory();
  private _subSecond: SubSecond | undefined;
  /** Second of any handover at the latest forecast; NaN if unknown. */
  private _phaseSeconds = Number.NaN;
  protected _newest: QuantileForecast | undefined;
  private _outline: ModelOutline | undefined;
  private _recalibration: Recalibration | undefined;
  private _time: Pick<SessionContext, 'utcMsAtStart' | 'utcUncertaintySeconds'> = {};

  constructor(private readonly _options: ModelSessionOptions = {}) {}

  /** Sets the model whose outputs `forecast` will receive. */
  useModel(outline: ModelOutline): void {
    this._newest = undefined;
    this._outline = outline;
    this._recalibration = recalibration(outline);
  }

  /** Begins a new session with the same model. */
  start(context: SessionContext): void {
    this._history = new LinkHistory();
    if (context.pageLoad) this._history.observe(beforeStart(context.pageLoad));
    this._time = context;
    if (this._outline !== undefined) this.useModel(this._outline);
    this._isFollowing = false;
    this.handoverClock = undefined;
    this._subSecond = undefined;
    this._phaseSeconds = Number.NaN;
    this._followIfNeeded();
  }

  /** Whether `_newest` is recent enough to be reused. */
  protected _isRecent(nowSeconds: number): boolean {
    const ageSeconds = nowSeconds - (this._newest?.issuedAtMs ?? Number.NaN) / 1000;
    return ageSeconds >= 0 && ageSeconds < LIFETIME_SECONDS;
  }

  private _followIfNeeded(): void {
    const { handover = true, needsHandovers, newSubSecond } = this._options;
    if (this._isFollowing || needsHandovers?.() === false) return;
    this._isFollowing = true;
    this.handoverClock = handover ? new HandoverClock(this._time) : undefined;
    this._subSecond = newSubSecond?.();
  }

  /** Ignores impossible observations (not finite, negative, out of order). */
  observe(observation: Observation): void {
    this._followIfNeeded();
    if (this.handoverClock) this.handoverClock.observe(observation);
    const { downloadedSeconds } = this._history;
    if (!this._history.observe(observation)) return;
    // It falls after a change of link, to which the errors of earlier forecasts do not apply.
    if (this._history.downloadedSeconds < downloadedSeconds) {
      this._recalibration = this._outline && recalibration(this._outline);
    }
    const { startSeconds, endSeconds, bits } = observation;
    if (this._recalibration) this._recalibration.observe(startSeconds, endSeconds, bits);
    if (this._subSecond) this._subSecond.observe(startSeconds, endSeconds, bits, this._phaseSeconds);
  }

  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds: number): void {
    if (!Number.isFinite(atSeconds + utcMs)) return;
    this._time = { utcMsAtStart: utcMs - atSeconds * 1000, utcUncertaintySeconds: uncertaintySeconds };
    if (this.handoverClock) this.handoverClock.tellTime(atSeconds, utcMs, uncertaintySeconds);
  }

  /** Writes the present features into `features` (length `FEATURE_COUNT`); undefined without observations. */
  moment(nowSeconds: number, features: Float64Array): ForecastMoment | undefined {
    if (!(nowSeconds >= 0 && nowSeconds < Number.POSITIVE_INFINITY)) return undefined;
    const clock = this.handoverClock;
    const estimate = clock?.isLeo ? clock.estimate(nowSeconds) : undefined;
    this._phaseSeconds = estimate ? estimate.phaseSeconds : Number.NaN;
    const referenceBps = this._history.referenceBps();
    if (referenceBps === undefined || !this._history.writeFeatures(nowSeconds, features)) return undefined;
    const { utcMsAtStart: utcMs } = this._time;
    const next = utcMs === undefined ? [] : estimate?.nextHandovers || [];
    const dip = estimate && this._subSecond?.dip(estimate.spreadSeconds);
    const handovers = next.map(({ atSeconds, confidence }) => ({
      atMs: utcMs! + atSeconds * 1000,
      confidence,
      ...(dip && { dip }),
    }));
    return { nowSeconds, referenceBps, handovers };
  }

  /**
   * The forecast from the model's outputs, `[step * levels + level]` as ln(rate / reference), which it recalibrates in
   * place. Requires `useModel`.
   */
  forecast(moment: ForecastMoment, source: string, values: Float64Array): QuantileForecast {
    const { nowSeconds, referenceBps, handovers } = moment;
    const { stepEndsSeconds, levels, rankCorrelation } = this._outline!;
    if (this._recalibration) this._recalibration.apply(nowSeconds, referenceBps, values);
    return {
      issuedAtMs: nowSeconds * 1000,
      source,
      stepEndsSeconds,
      levels,
      quantilesBps: stepEndsSeconds.map((_, step) =>
        levels.map((_, i) => {
          const value = Math.max(-GREATEST_LOG_RATIO, values[step * levels.length + i]!);
          return referenceBps * Math.exp(Math.min(GREATEST_LOG_RATIO, value));
        }),
      ),
      rankCorrelation,
      handovers,
      ...(this._subSecond && { fluctuation: this._subSecond.fluctuation() }),
    };
  }
}

/** The page's load as a download that ended at second 0. */
function beforeStart({ bits, seconds }: NonNullable<SessionContext['pageLoad']>): Observation {
  const startSeconds = -Math.min(PAGE_LOAD_SECONDS, seconds);
  return { kind: 'throughput', startSeconds, endSeconds: 0, bits: (bits * -startSeconds) / seconds };
}
