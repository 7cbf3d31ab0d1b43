/**
 * Decides whether to trust a service by its past forecasts: their score on this session's own rates (mean pinball loss
 * of ln rate, a proper score) is compared with a simple baseline from the last seconds. A service with much worse
 * scores is dropped until they are better; after the second time, permanently. A drop because of early forecasts, which the
 * service issued before it knew the link, counts only if later ones are as bad.
 */

import type { QuantileForecast } from '../../abr/forecast.ts';
import { normalQuantile } from '../../abr/normal-distribution.ts';
import { DeliveredTimeline } from '../link/delivered-timeline.ts';

/** Steps that end later are not scored, so that wrong forecasts are detected soon. */
const HORIZON_SECONDS = 8;
/** A step is scored after this much downloading; not more, because a low forecast makes the session download little. */
const LEAST_USE_SECONDS = 0.05;
/** Forecasts that wait for scoring, one a second. */
const PENDING = 12;
/** The baseline: the mean rate of these seconds with at least this downloading, and a standard deviation of ln rate. */
const BASELINE_SECONDS = 8;
const LEAST_BASELINE_SECONDS = 0.1;
const BASELINE_SPREAD = 0.5;
/** The previous baseline remains valid for this long. */
const BASELINE_HOLDS_SECONDS = 60;
/** Floor of rates: an outage is one event, however deep. */
const LEAST_BPS = 1e4;
/** Scores fade by this factor per step: by half in 14. */
const FADE = 0.95;
/** Steps before a decision, and its thresholds. */
const LEAST_SCORED = 5;
const DROP_RATIO = 1.5;
const DROP_MARGIN = 0.08;
const TRUST_RATIO = 1.15;
/** A median further from the baseline than this factor is rejected at once; the limit is lower before good scores. */
const ABSURD_RATIO = 8;
const UNPROVEN_RATIO = 2.5;

interface Pending {
  issuedSeconds: number;
  forecast: QuantileForecast;
  /** ln rate. */
  baseline: number;
  scoredSteps: number;
  isEarly: boolean;
}

export class ForecastTrust {
  #delivered = newTimeline();
  #pending: Pending[] = [];
  #loss = 0;
  #baselineLoss = 0;
  #scored = 0;
  #drops = 0;
  /** Whether the service is dropped, and whether only early forecasts were bad enough for it. */
  drop: 'early' | 'late' | undefined;
  #newestSeconds = 0;
  #lastBaseline = { atSeconds: 0, value: Number.NaN };

  /** Begins a session: forgets the link, keeps the scores of the service. */
  start(): void {
    this.#delivered = newTimeline();
    this.#pending = [];
    this.#newestSeconds = 0;
    this.#lastBaseline = { atSeconds: 0, value: Number.NaN };
  }

  /** Possible `bits` arrived, on the session's clock, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    this.#delivered.add(startSeconds, endSeconds, bits);
    this.#newestSeconds = Math.max(this.#newestSeconds, endSeconds);
    for (const pending of this.#pending) this.#scoreSteps(pending);
    this.#pending = this.#pending.filter(({ scoredSteps }) => scoredSteps < Number.POSITIVE_INFINITY);
  }

  /** A new forecast, on the session's clock. `isEarly`: the service knows little of the link. */
  addForecast(forecast: QuantileForecast, nowSeconds: number, isEarly = false): void {
    const baseline = this.#baseline(nowSeconds);
    if (Number.isNaN(baseline)) return;
    const issuedSeconds = Math.max(forecast.issuedAtMs / 1000, 0);
    this.#pending.push({ issuedSeconds, forecast, baseline, scoredSteps: 0, isEarly });
    if (this.#pending.length > PENDING) this.#pending.shift();
  }

  /** Whether to use a forecast. */
  accepts(forecast: QuantileForecast, nowSeconds: number): boolean {
    if (this.drop !== undefined) return false;
    const baseline = this.#baseline(nowSeconds);
    const row = forecast.quantilesBps[0]!;
    const median = Math.max(LEAST_BPS, row[row.length >> 1]!);
    const isProven = this.#scored >= LEAST_SCORED && this.#loss <= TRUST_RATIO * this.#baselineLoss;
    const ratio = isProven ? ABSURD_RATIO : UNPROVEN_RATIO;
    return Number.isNaN(baseline) || Math.abs(Math.log(median) - baseline) <= Math.log(ratio);
  }

  /** ln of the mean rate of the last seconds in use, or the previous baseline; NaN without one. */
  #baseline(nowSeconds: number): number {
    const end = Math.min(nowSeconds, this.#newestSeconds);
    const least = LEAST_BASELINE_SECONDS / BASELINE_SECONDS;
    const rate = this.#delivered.rateBps(Math.max(0, end - BASELINE_SECONDS), end, least);
    if (nowSeconds - end <= BASELINE_SECONDS && !Number.isNaN(rate)) {
      this.#lastBaseline = { atSeconds: nowSeconds, value: Math.log(Math.max(LEAST_BPS, rate)) };
    }
    const { atSeconds, value } = this.#lastBaseline;
    return nowSeconds - atSeconds <= BASELINE_HOLDS_SECONDS ? value : Number.NaN;
  }

  #scoreSteps(pending: Pending): void {
    const { issuedSeconds, forecast, baseline, isEarly } = pending;
    const { stepEndsSeconds, levels, quantilesBps } = forecast;
    for (; pending.scoredSteps < stepEndsSeconds.length; pending.scoredSteps++) {
      const step = pending.scoredSteps;
      const end = stepEndsSeconds[step]!;
      if (end > HORIZON_SECONDS && step > 0) break;
      if (issuedSeconds + end > this.#newestSeconds) return;
      const start = step === 0 ? 0 : stepEndsSeconds[step - 1]!;
      const leastShare = LEAST_USE_SECONDS / (end - start);
      const rate = this.#delivered.rateBps(issuedSeconds + start, issuedSeconds + end, leastShare);
      if (Number.isNaN(rate)) continue;
      const truth = Math.log(Math.max(LEAST_BPS, rate));
      let loss = 0;
      let baselineLoss = 0;
      levels.forEach((level, i) => {
        loss += pinballLoss(level, truth - Math.log(Math.max(LEAST_BPS, quantilesBps[step]![i]!)));
        baselineLoss += pinballLoss(level, truth - (baseline + BASELINE_SPREAD * normalQuantile(level)));
      });
      this.#addScore(loss / levels.length, baselineLoss / levels.length, isEarly);
    }
    pending.scoredSteps = Number.POSITIVE_INFINITY;
  }

  #addScore(loss: number, baselineLoss: number, isEarly: boolean): void {
    this.#loss = this.#loss * FADE + loss;
    this.#baselineLoss = this.#baselineLoss * FADE + baselineLoss;
    this.#scored = this.#scored * FADE + 1;
    if (this.#scored < LEAST_SCORED) return;
    const margin = DROP_MARGIN * this.#scored;
    const isBad = this.#loss > DROP_RATIO * this.#baselineLoss + margin;
    if (isBad && (this.drop === undefined || (this.drop === 'early' && !isEarly))) {
      this.drop = isEarly ? 'early' : 'late';
      if (!isEarly) this.#drops++;
    } else if (this.#drops < 2 && this.#loss < TRUST_RATIO * this.#baselineLoss) this.drop = undefined;
  }
}

const newTimeline = () => new DeliveredTimeline(HORIZON_SECONDS + BASELINE_SECONDS + 2);

function pinballLoss(level: number, error: number): number {
  return error >= 0 ? level * error : (level - 1) * error;
}
