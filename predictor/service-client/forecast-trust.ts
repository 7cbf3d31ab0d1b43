/**
 * Whether a service is to be believed, by what this session itself received: past forecasts are scored (mean pinball loss
 * of ln rate, a proper score) against a plain guess from the session's own last seconds. A service that does much worse
 * than that guess is left out until it does better; at the second time, for good.
 */

import type { QuantileForecast } from '../../abr/forecast.ts';
import { normalQuantile } from '../../abr/mpc-l/normal-distribution.ts';
import { DeliveredTimeline } from '../delivered-timeline.ts';

/** Steps that end later are not judged: so long a lie must not last. */
const HORIZON_SECONDS = 8;
/**
 * A step is judged where the session downloaded in it for so long. Not more: whoever is told too little asks for little, and
 * hardly downloads.
 */
const LEAST_USE_SECONDS = 0.05;
/** Forecasts remembered until their steps have come true, one a second. */
const PENDING = 12;
/** The plain guess: the mean of so many seconds, with this spread of ln rate either way; from so much downloading on. */
const GUESS_SECONDS = 8;
const LEAST_GUESS_SECONDS = 0.1;
/** Where there was less, the last guess holds for so long. */
const GUESS_HOLDS_SECONDS = 60;
const GUESS_SPREAD = 0.5;
/** ln of rates is kept above that of 10 kbit/s: an outage is one event, however deep. */
const LEAST_BPS = 1e4;
/** Judgements fade by this factor: half in 14. */
const FADE = 0.95;
/** Steps judged before there is a verdict, and what makes one. */
const LEAST_JUDGED = 5;
const DROP_RATIO = 1.5;
const DROP_MARGIN = 0.08;
const BELIEVE_RATIO = 1.15;
/**
 * A median so many times above or below what the session just received is not waited for to come true: less so where
 * forecasts have not come true before.
 */
const ABSURD_RATIO = 8;
const UNPROVEN_RATIO = 2.5;

interface Pending {
  issuedSeconds: number;
  forecast: QuantileForecast;
  guess: number;
  /** Steps judged so far. */
  judged: number;
}

export class ForecastJudge {
  #delivered = new DeliveredTimeline(HORIZON_SECONDS + GUESS_SECONDS + 2);
  #pending: Pending[] = [];
  #loss = 0;
  #guessLoss = 0;
  #judged = 0;
  #drops = 0;
  #isDropped = false;
  #newestSeconds = 0;
  #lastGuess = { atSeconds: 0, value: Number.NaN };

  /** The service has been left out, and how often. */
  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** Loss of the service's forecasts relative to the plain guess; NaN before any was judged. */
  get lossRatio(): number {
    return this.#loss / this.#guessLoss;
  }

  /** Another session: what was found out of the service stays, what was seen of the link does not. */
  start(): void {
    this.#delivered = new DeliveredTimeline(HORIZON_SECONDS + GUESS_SECONDS + 2);
    this.#pending = [];
    this.#newestSeconds = 0;
    this.#lastGuess = { atSeconds: 0, value: Number.NaN };
  }

  /** `bits` came, on the session's clock, in order of time. */
  observe(startSeconds: number, endSeconds: number, bits: number): void {
    if (!(endSeconds > startSeconds && startSeconds >= 0 && bits >= 0 && endSeconds < 1e8)) return;
    this.#delivered.add(startSeconds, endSeconds, bits);
    this.#newestSeconds = Math.max(this.#newestSeconds, endSeconds);
    for (const pending of this.#pending) this.#judge(pending);
    this.#pending = this.#pending.filter(({ judged }) => judged < Number.POSITIVE_INFINITY);
  }

  /** A new forecast, on the session's clock. */
  hear(forecast: QuantileForecast, nowSeconds: number): void {
    const guess = this.#guess(nowSeconds);
    if (Number.isNaN(guess)) return;
    this.#pending.push({ issuedSeconds: Math.max(forecast.issuedAtMs / 1000, 0), forecast, guess, judged: 0 });
    if (this.#pending.length > PENDING) this.#pending.shift();
  }

  /** Whether to plan on this one. */
  accepts(forecast: QuantileForecast, nowSeconds: number): boolean {
    if (this.#isDropped) return false;
    const guess = this.#guess(nowSeconds);
    const row = forecast.quantilesBps[0]!;
    const median = Math.max(LEAST_BPS, row[row.length >> 1]!);
    const isProven = this.#judged >= LEAST_JUDGED && this.#loss <= BELIEVE_RATIO * this.#guessLoss;
    const ratio = isProven ? ABSURD_RATIO : UNPROVEN_RATIO;
    return Number.isNaN(guess) || Math.abs(Math.log(median) - guess) <= Math.log(ratio);
  }

  /** ln of the mean rate of the last seconds in use, or of the last time that there were enough; NaN before. */
  #guess(nowSeconds: number): number {
    const end = Math.min(nowSeconds, this.#newestSeconds);
    const least = LEAST_GUESS_SECONDS / GUESS_SECONDS;
    const rate = this.#delivered.rateBps(Math.max(0, end - GUESS_SECONDS), end, least);
    if (nowSeconds - end <= GUESS_SECONDS && !Number.isNaN(rate)) {
      this.#lastGuess = { atSeconds: nowSeconds, value: Math.log(Math.max(LEAST_BPS, rate)) };
    }
    const { atSeconds, value } = this.#lastGuess;
    return nowSeconds - atSeconds <= GUESS_HOLDS_SECONDS ? value : Number.NaN;
  }

  #judge(pending: Pending): void {
    const { issuedSeconds, forecast, guess } = pending;
    const { stepEndsSeconds, levels, quantilesBps } = forecast;
    for (; pending.judged < stepEndsSeconds.length; pending.judged++) {
      const step = pending.judged;
      const end = stepEndsSeconds[step]!;
      if (end > HORIZON_SECONDS && step > 0) break;
      if (issuedSeconds + end > this.#newestSeconds) return;
      const start = step === 0 ? 0 : stepEndsSeconds[step - 1]!;
      const leastShare = LEAST_USE_SECONDS / (end - start);
      const rate = this.#delivered.rateBps(issuedSeconds + start, issuedSeconds + end, leastShare);
      if (!Number.isNaN(rate))
        this.#score(Math.log(Math.max(LEAST_BPS, rate)), { levels, row: quantilesBps[step]!, guess });
    }
    pending.judged = Number.POSITIVE_INFINITY;
  }

  #score(
    truth: number,
    { levels, row, guess }: { levels: readonly number[]; row: readonly number[]; guess: number },
  ): void {
    let loss = 0;
    let guessLoss = 0;
    for (let i = 0; i < levels.length; i++) {
      const level = levels[i]!;
      loss += pinball(level, truth - Math.log(Math.max(LEAST_BPS, row[i]!)));
      guessLoss += pinball(level, truth - (guess + GUESS_SPREAD * normalQuantile(level)));
    }
    this.#loss = this.#loss * FADE + loss / levels.length;
    this.#guessLoss = this.#guessLoss * FADE + guessLoss / levels.length;
    this.#judged = this.#judged * FADE + 1;
    if (this.#judged < LEAST_JUDGED) return;
    const margin = DROP_MARGIN * this.#judged;
    if (!this.#isDropped && this.#loss > DROP_RATIO * this.#guessLoss + margin) {
      this.#isDropped = true;
      this.#drops++;
    } else if (this.#isDropped && this.#drops < 2 && this.#loss < BELIEVE_RATIO * this.#guessLoss)
      this.#isDropped = false;
  }
}

function pinball(level: number, error: number): number {
  return error >= 0 ? level * error : (level - 1) * error;
}
