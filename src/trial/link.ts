/**
 * What a session's downloads show of its link, in all arms alike: throughput per second, whether the link has a rhythm,
 * and how often outcomes were below a forecast's quantiles.
 */

import type { ValidForecast } from '../../abr/forecast.ts';
import { quantile } from '../../abr/quantile.ts';
import { MAX_OBSERVATIONS, type SessionReport } from '../../abr/session-report.ts';
import { HandoverClock } from '../../predictor/link/handover-clock/handover-clock.ts';

/** Bits are kept in slots of this length until they are settled. */
const SLOTS_PER_SECOND = 10;
/** Bits that are this late count in the oldest open slot: Shaka tells them with the end of a download. */
const OPEN_SECONDS = 30;
/** A second counts if it was downloading for at least this long. */
const BUSY_SECONDS = 0.1;
/** A forecast's step has an outcome if it was downloading for at least this share of it. */
const BUSY_SHARE = 0.5;
const LEAST_SECONDS = 5;
/** After this much downloading, a rhythm would have shown. */
const RHYTHM_SECONDS = 60;
const MOST_SECONDS = 6 * 3600;
const CLOCK_UNCERTAINTY_SECONDS = 2;
const LEVELS = [0.1, 0.5, 0.9] as const;

interface Traffic {
  bits: number;
  busySeconds: number;
}

interface Expected {
  fromSeconds: number;
  toSeconds: number;
  /** In bit/s, at `LEVELS`. */
  quantiles: number[];
}

/** Of one session; times are seconds since its begin. */
export class LinkRecord {
  readonly #slots = new Map<number, Traffic>();
  readonly #seconds: (Traffic | undefined)[] = [];
  /** The first slot that is not settled. */
  #next = 0;
  #pending: Expected[] = [];
  #outcomes = 0;
  readonly #below = LEVELS.map(() => 0);
  #busySeconds = 0;
  readonly #clock: HandoverClock;

  constructor(private readonly utcMsAtStart: number) {
    this.#clock = new HandoverClock({ utcMsAtStart, utcUncertaintySeconds: CLOCK_UNCERTAINTY_SECONDS });
  }

  /** So many bits arrived in this time, during which a request was past its first byte, or overdue. */
  delivered(fromSeconds: number, toSeconds: number, bits: number): void {
    const from = Math.max(fromSeconds, this.#next / SLOTS_PER_SECOND);
    if (!(toSeconds > from)) return;
    for (let i = Math.floor(from * SLOTS_PER_SECOND); i / SLOTS_PER_SECOND < toSeconds; i++) {
      const end = (i + 1) / SLOTS_PER_SECOND;
      const seconds = Math.min(toSeconds, end) - Math.max(from, i / SLOTS_PER_SECOND);
      const slot = this.#slots.get(i) ?? { bits: 0, busySeconds: 0 };
      slot.bits += (bits * seconds) / (toSeconds - from);
      // Requests may run beside each other.
      slot.busySeconds = Math.min(1 / SLOTS_PER_SECOND, slot.busySeconds + seconds);
      this.#slots.set(i, slot);
    }
  }

  /** The controller got this forecast `ageSeconds` after its issue: the outcome of its first step will be compared. */
  expected(forecast: ValidForecast, nowSeconds: number, ageSeconds: number): void {
    if (forecast.kind === 'path') return;
    const fromSeconds = nowSeconds - ageSeconds;
    const quantiles = LEVELS.map((level) => valueAt(forecast.levels, forecast.quantilesBps[0]!, level));
    this.#pending.push({ fromSeconds, toSeconds: fromSeconds + forecast.stepEndsSeconds[0]!, quantiles });
  }

  /** Time has passed. */
  advance(nowSeconds: number): void {
    this.#settle(nowSeconds - OPEN_SECONDS);
  }

  /** The report's fields so far. */
  figures(nowSeconds: number, withObservations: boolean): Partial<SessionReport> {
    this.#settle(nowSeconds);
    const rates = this.#seconds.map(rateBps).filter((bps) => bps !== undefined);
    const ascending = rates.sort((a, b) => a - b);
    const [throughput10Bps, throughput50Bps, throughput90Bps] = LEVELS.map((level) => quantile(ascending, level));
    const [below10Share, below50Share, below90Share] = this.#below.map((count) => count / this.#outcomes);
    const observations = withObservations ? this.#observations() : '';
    return {
      ...(ascending.length >= LEAST_SECONDS && { throughput10Bps, throughput50Bps, throughput90Bps }),
      ...((this.#clock.isLeo || this.#busySeconds >= RHYTHM_SECONDS) && { rhythm: this.#clock.isLeo }),
      ...(this.#outcomes > 0 && { forecasts: this.#outcomes, below10Share, below50Share, below90Share }),
      ...(observations !== '' && { observations, observedFromMs: this.utcMsAtStart }),
    } as Partial<SessionReport>;
  }

  #settle(untilSeconds: number): void {
    const isDue = ({ toSeconds }: Expected) => toSeconds <= untilSeconds;
    for (const one of this.#pending.filter(isDue)) this.#compare(one);
    this.#pending = this.#pending.filter((one) => !isDue(one));
    const until = Math.min(untilSeconds, ...this.#pending.map(({ fromSeconds }) => fromSeconds));
    const most = Math.max(...this.#slots.keys()) + 1;
    for (; (this.#next + 1) / SLOTS_PER_SECOND <= until && this.#next < most; this.#next++) this.#close(this.#next);
  }

  #close(i: number): void {
    const slot = this.#slots.get(i);
    if (slot === undefined) return;
    this.#slots.delete(i);
    const { bits, busySeconds } = slot;
    this.#busySeconds += busySeconds;
    const startSeconds = i / SLOTS_PER_SECOND;
    this.#clock.observe({ kind: 'throughput', startSeconds, endSeconds: startSeconds + busySeconds, bits });
    const second = Math.floor(startSeconds);
    if (second >= MOST_SECONDS) return;
    const sum = this.#seconds[second] ?? { bits: 0, busySeconds: 0 };
    this.#seconds[second] = { bits: sum.bits + bits, busySeconds: sum.busySeconds + busySeconds };
  }

  #compare({ fromSeconds, toSeconds, quantiles }: Expected): void {
    let bits = 0;
    let busySeconds = 0;
    for (let i = Math.floor(fromSeconds * SLOTS_PER_SECOND); i / SLOTS_PER_SECOND < toSeconds; i++) {
      const end = Math.min(toSeconds, (i + 1) / SLOTS_PER_SECOND);
      const share = (end - Math.max(fromSeconds, i / SLOTS_PER_SECOND)) * SLOTS_PER_SECOND;
      const slot = this.#slots.get(i);
      bits += share * (slot?.bits ?? 0);
      busySeconds += share * (slot?.busySeconds ?? 0);
    }
    if (busySeconds < BUSY_SHARE * (toSeconds - fromSeconds)) return;
    this.#outcomes++;
    for (const [i, bps] of quantiles.entries()) if (bits / busySeconds < bps) this.#below[i]!++;
  }

  #observations(): string {
    let text = '';
    for (let second = 0; second < this.#seconds.length; second++) {
      const bps = rateBps(this.#seconds[second]);
      const next = `${second === 0 ? '' : ','}${bps === undefined ? '' : Math.round(bps / 1000)}`;
      if (text.length + next.length > MAX_OBSERVATIONS) break;
      text += next;
    }
    return text.replace(/,+$/, '');
  }
}

function rateBps(traffic: Traffic | undefined): number | undefined {
  return traffic && traffic.busySeconds >= BUSY_SECONDS ? traffic.bits / traffic.busySeconds : undefined;
}

/** The quantile at a level between those of a forecast; its lowest or highest one beyond them. */
function valueAt(levels: readonly number[], values: readonly number[], level: number): number {
  const above = levels.findIndex((one) => one >= level);
  if (above === 0) return values[0]!;
  if (above < 0) return values.at(-1)!;
  const part = (level - levels[above - 1]!) / (levels[above]! - levels[above - 1]!);
  return values[above - 1]! + part * (values[above]! - values[above - 1]!);
}
