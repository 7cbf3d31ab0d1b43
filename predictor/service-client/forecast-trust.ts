import type { QuantileForecast } from '../../abr/forecast.ts';
import { normalQuantile } from '../../abr/statistics/distributions.ts';
import { type PastForecast, type PastForecasts, pastForecasts } from '../forecast/quantile-forecaster.ts';

/** Later steps are not scored, so that wrong forecasts are detected soon. */
const HORIZON_SECONDS = 8;
/** The baseline: the mean rate of the last seconds, and a standard deviation of ln rate. */
const BASELINE_SECONDS = 8;
const BASELINE_SPREAD = 0.5;
/** Least downloading in a rate. It is small, because a low forecast makes the session download little. */
const LEAST_USE_SECONDS = 0.05;
/** Floor of rates, because an outage is one event, however deep. */
const LEAST_BPS = 1e4;
/** Scores fade by this factor per step, to a half in 14 steps. */
const FADE = 0.95;
/** Steps before a decision, and thresholds of the decision. */
const LEAST_SCORED = 5;
const DROP_RATIO = 1.5;
const DROP_MARGIN = 0.08;
const TRUST_RATIO = 1.15;
/** A median further from the baseline than this factor is rejected at once. */
const ABSURD_RATIO = 4;

interface Judged extends PastForecast {
  forecast: QuantileForecast;
  /** ln rate at the time of issue. */
  baseline: number;
}

/**
 * Decides whether to trust a service by comparing the score of its past forecasts on this session's rates (mean pinball
 * loss of ln rate, a proper score) with a simple baseline from the last seconds. A service with much worse scores is
 * not trusted until its scores are better.
 */
export class ForecastTrust {
  private _past = this._newPast();
  private _loss = 0;
  private _baselineLoss = 0;
  private _scored = 0;
  isTrusted = true;
  /** Arrival of the newest bits, and ln of the mean rate of the last seconds in use before it; NaN without a rate. */
  private _newestSeconds = 0;
  private _baseline = Number.NaN;

  /** Begins a session: forgets the link, and keeps the scores of the service. */
  start(): void {
    this._past = this._newPast();
    this._newestSeconds = 0;
    this._baseline = Number.NaN;
  }

  /** `bits` arrived, on the session's clock, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    const { delivered } = this._past;
    delivered.add(startSeconds, endSeconds, bits);
    this._newestSeconds = Math.max(this._newestSeconds, endSeconds);
    this._past.score(this._newestSeconds);
    const from = Math.max(0, this._newestSeconds - BASELINE_SECONDS);
    const rateBps = delivered.rateBps(from, this._newestSeconds, LEAST_USE_SECONDS / BASELINE_SECONDS);
    if (!Number.isNaN(rateBps)) this._baseline = logOf(rateBps);
  }

  /** A new forecast, on the session's clock. */
  addForecast(forecast: QuantileForecast): void {
    if (Number.isNaN(this._baseline)) return;
    const issuedSeconds = Math.max(forecast.issuedAtMs / 1000, 0);
    const { stepEndsSeconds } = forecast;
    this._past.add({ issuedSeconds, stepEndsSeconds, forecast, baseline: this._baseline });
  }

  /** Whether a forecast is near the newest rates. */
  fits({ quantilesBps }: QuantileForecast): boolean {
    const row = quantilesBps[0]!;
    const difference = Math.abs(logOf(row[row.length >> 1]!) - this._baseline);
    return Number.isNaN(difference) || difference <= Math.log(ABSURD_RATIO);
  }

  private _newPast(): PastForecasts<Judged> {
    return pastForecasts({
      memorySeconds: HORIZON_SECONDS + BASELINE_SECONDS + 2,
      horizonSeconds: HORIZON_SECONDS,
      leastUse: (stepSeconds) => LEAST_USE_SECONDS / stepSeconds,
      onStep: (judged, step, rateBps) => this._scoreStep(judged, step, logOf(rateBps)),
    });
  }

  private _scoreStep({ forecast, baseline }: Judged, step: number, truth: number): void {
    const { levels, quantilesBps } = forecast;
    let loss = 0;
    let baselineLoss = 0;
    levels.forEach((level, i) => {
      loss += pinballLoss(level, truth - logOf(quantilesBps[step]![i]!));
      baselineLoss += pinballLoss(level, truth - (baseline + BASELINE_SPREAD * normalQuantile(level)));
    });
    this._loss = this._loss * FADE + loss / levels.length;
    this._baselineLoss = this._baselineLoss * FADE + baselineLoss / levels.length;
    this._scored = this._scored * FADE + 1;
    if (this._scored < LEAST_SCORED) return;
    if (this._loss > DROP_RATIO * this._baselineLoss + DROP_MARGIN * this._scored) this.isTrusted = false;
    else if (this._loss < TRUST_RATIO * this._baselineLoss) this.isTrusted = true;
  }
}

const logOf = (bps: number) => Math.log(Math.max(LEAST_BPS, bps));

function pinballLoss(level: number, error: number): number {
  return error >= 0 ? level * error : (level - 1) * error;
}
