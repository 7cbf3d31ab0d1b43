/**
 * Decides which of the service's forecasts a session uses. The session's own forecaster knows all observations of the
 * session at once; the service knows other players and days, but the session only after half a second. Its forecast is
 * used only if it is recent, if the first one agreed with what the session measured then (otherwise the service watches
 * another link), if the bits since then do not contradict it, if the service has not observed less of the link than this
 * session (after a restart), and if its past forecasts had good scores (`ForecastTrust`).
 */

import { ageSecondsOf, type QuantileForecast } from '../../abr/forecast.ts';
import { normalQuantile } from '../../abr/normal-distribution.ts';
import { DeliveredTimeline } from '../link/delivered-timeline.ts';

/** Downloading from which the recent rate is measured. */
const RECENT_SECONDS = 0.5;
const LEAST_RECENT_SECONDS = 0.15;
/** Older bits are not recent. */
const RECENT_AGE_SECONDS = 1.5;
/** The recent rate contradicts a forecast if it is below this quantile or above the opposite one. */
const CONTRADICTED_LEVEL = 0.1;
/** Tolerance for quantile levels that are sums of decimal fractions. */
const ROUNDING = 1e-9;
/** A service with this much observed downloading has enough; a session with less than the other has no advantage. */
const EXPERIENCED_SECONDS = 60;
const LEAST_LEAD_SECONDS = 10;
/** A service whose forecasts are of another link needs about this much of the session's downloading to follow. */
const INTRODUCED_SECONDS = 20;

/** Downloading whose mean rate is compared with the steps of the service's first forecast that end this soon. */
const COMPARED_SECONDS = 2;
const COMPARED_STEPS_SECONDS = 4;
/** The quantiles within this central share count: tails are wide, because some links have outages. */
const COMPARED_SHARE = 0.5;
/**
 * A rate this many times below the lowest of these quantiles, or above the highest one, contradicts the forecast. On
 * the shipped traces this refuses services of a link four times as fast (cli/serve/service-on-a-link.test.ts).
 */
const OUTSIDE_FACTOR = 1.6;

/**
 * `trusted`: forecasts are used if they are recent and fit the newest bits. `not-yet`: they are not used, because service
 * or session have just started: the service knows too little of the link, or its first forecast has not been compared
 * with 2 s of this session's downloading. `contradicted`: they are not used in this session, because the first one did
 * not fit what the session measured; the service probably watches another link. `distrusted`: they are not used, because
 * they were much worse than a simple baseline.
 */
export type Verdict = 'trusted' | 'not-yet' | 'contradicted' | 'distrusted';

export class ForecastGate {
  readonly #trust = new ForecastTrust();
  /** Pieces of throughput, in order of time. */
  #recent: { startSeconds: number; endSeconds: number; bits: number }[] = [];
  /** Downloading of this session. */
  #observedSeconds = 0;
  /** The service's first forecast in this session, and the downloading since. */
  #compared: { forecast: QuantileForecast; seconds: number; bits: number } | undefined;
  /** Whether the first forecast agreed; from an earlier session until this one has its own. */
  #agrees: boolean | undefined;

  /** `staleSeconds`: a forecast of this age is not used. */
  constructor(private readonly options: { staleSeconds: number }) {}

  /** What the session makes of the service. `experienceSeconds`: as in `admits`. */
  verdict(experienceSeconds = EXPERIENCED_SECONDS): Verdict {
    if (this.#agrees === false) return 'contradicted';
    if (this.#agrees === undefined || experienceSeconds < this.#leastExperienceSeconds()) return 'not-yet';
    return this.#trust.drop === undefined ? 'trusted' : this.#trust.drop === 'early' ? 'not-yet' : 'distrusted';
  }

  /** Begins a session: forgets the link, keeps the trust in the service. */
  start(): void {
    this.#trust.start();
    this.#recent = [];
    this.#observedSeconds = 0;
    this.#agrees ||= undefined;
    this.compareAnew();
  }

  /** Until now the session's rates were not those of the link, because others used it. */
  compareAnew(): void {
    this.#compared = undefined;
  }

  /** `bits` arrived, on the session's clock, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    if (!(endSeconds > startSeconds && startSeconds >= 0 && bits >= 0 && endSeconds < 1e8)) return;
    this.#trust.observe(startSeconds, endSeconds, bits);
    this.#observedSeconds += endSeconds - startSeconds;
    this.#compare(endSeconds - startSeconds, bits);
    this.#recent.push({ startSeconds, endSeconds, bits });
    while (this.#recent[0]!.endSeconds < endSeconds - RECENT_AGE_SECONDS) this.#recent.shift();
  }

  /** A new forecast, on the session's clock. `experienceSeconds`: as in `admits`. */
  addForecast(forecast: QuantileForecast, nowSeconds: number, experienceSeconds = EXPERIENCED_SECONDS): void {
    this.#meet(forecast);
    const isEarly = experienceSeconds < EXPERIENCED_SECONDS || this.#observedSeconds < INTRODUCED_SECONDS;
    this.#trust.addForecast(forecast, nowSeconds, isEarly);
  }

  /** Whether to use a forecast. `experienceSeconds`: downloading that the service has observed; default: enough. */
  admits(forecast: QuantileForecast, nowSeconds: number, experienceSeconds = EXPERIENCED_SECONDS): boolean {
    if (!(ageSecondsOf(forecast, nowSeconds) < this.options.staleSeconds)) return false;
    this.#meet(forecast);
    if (this.#agrees !== true || experienceSeconds < this.#leastExperienceSeconds()) return false;
    return !this.#isContradicted(forecast, nowSeconds) && this.#trust.accepts(forecast, nowSeconds);
  }

  #meet(forecast: QuantileForecast): void {
    this.#compared ??= { forecast, seconds: 0, bits: 0 };
  }

  #compare(seconds: number, bits: number): void {
    const compared = this.#compared;
    if (compared === undefined || compared.seconds >= COMPARED_SECONDS) return;
    compared.seconds += seconds;
    compared.bits += bits;
    if (compared.seconds < COMPARED_SECONDS) return;
    const bps = compared.bits / compared.seconds;
    const { stepEndsSeconds, levels, quantilesBps } = compared.forecast;
    const soon = quantilesBps
      .filter((_, step) => step === 0 || stepEndsSeconds[step]! <= COMPARED_STEPS_SECONDS)
      .flatMap((row) => row.filter((_, i) => Math.abs(levels[i]! - 0.5) <= COMPARED_SHARE / 2 + ROUNDING));
    const isSlower = bps * OUTSIDE_FACTOR < Math.min(...soon);
    this.#agrees = !isSlower && bps <= OUTSIDE_FACTOR * Math.max(...soon);
  }

  #leastExperienceSeconds(): number {
    const observedSeconds = this.#observedSeconds;
    // Half of the session's, because the older half has little effect.
    return observedSeconds < LEAST_LEAD_SECONDS ? 0 : Math.min(EXPERIENCED_SECONDS, observedSeconds / 2);
  }

  #isContradicted(forecast: QuantileForecast, nowSeconds: number): boolean {
    const issuedSeconds = forecast.issuedAtMs / 1000;
    const oldest = Math.max(issuedSeconds, nowSeconds - RECENT_AGE_SECONDS);
    let bits = 0;
    let seconds = 0;
    for (let i = this.#recent.length - 1; i >= 0 && seconds < RECENT_SECONDS; i--) {
      const { startSeconds, endSeconds, bits: ofPiece } = this.#recent[i]!;
      const part = endSeconds - Math.max(startSeconds, oldest);
      if (part <= 0) break;
      bits += (ofPiece * part) / (endSeconds - startSeconds);
      seconds += part;
    }
    if (seconds < LEAST_RECENT_SECONDS) return false;
    const { stepEndsSeconds, levels, quantilesBps } = forecast;
    const age = nowSeconds - issuedSeconds;
    const step = stepEndsSeconds.findIndex((end) => age < end);
    const row = quantilesBps[step];
    if (row === undefined) return false;
    let lowBps = 0;
    let highBps = Number.POSITIVE_INFINITY;
    for (let i = 0; i < levels.length; i++) {
      if (levels[i]! <= CONTRADICTED_LEVEL + ROUNDING) lowBps = row[i]!;
      if (levels[i]! >= 1 - CONTRADICTED_LEVEL - ROUNDING) highBps = Math.min(highBps, row[i]!);
    }
    const bps = bits / seconds;
    return bps < lowBps || bps > highBps;
  }
}

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

/**
 * Decides whether to trust a service by its past forecasts: their score on this session's own rates (mean pinball loss
 * of ln rate, a proper score) is compared with a simple baseline from the last seconds. A service with much worse
 * scores is dropped until they are better; after the second time, permanently. A drop because of early forecasts, which the
 * service issued before it knew the link, counts only if later ones are as bad.
 */
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
