/**
 * Estimates the session's position in the 15 s epoch of a LEO link by a Bayesian grid over the position of the
 * handover, from the time source, throughput, latency, and hints of a service (docs/how-it-works.md). Deterministic,
 * constant memory.
 */

import {
  DEVICE_CLOCK_UNCERTAINTY_SECONDS,
  EPOCH_SECONDS,
  HANDOVER_SECOND,
  type Observation,
  type SessionContext,
} from '../../../abr/forecast.ts';
import { dipFinder, OFFSETS, otherPeriods, RegularDips } from './dips.ts';
import { CELL_SECONDS, type HandoverEstimate, nearness, type Position, positionIn } from './position.ts';
import { isMoment, rateBins } from './rate-bins.ts';
import { REPEAT_SECONDS, repeatsAfter } from './repeats.ts';
import { CELLS, LATENCY_PARAMETERS, type Measurement, RATE_PARAMETERS, stateFilters } from './state-filters.ts';
import { greatest, modulo, normalise, scale, sum } from './weights.ts';

export type { HandoverEstimate } from './position.ts';

/**
 * Handovers are announced from this `leoProbability` on until it falls below half of it: with short dips, and with
 * steps alone, which other links have, too.
 */
const CLAIM_PROBABILITY = 0.99;
const CLAIM_WITHOUT_DIPS = 0.997;
/** ln of the evidence from dips at a position that shows handovers. */
const SHOWN_BY_DIPS = 4;
/** Equally likely spreads of handovers around their schedule in recordings: with good clocks, and with other clocks. */
const SCHEDULE_SPREADS_SECONDS = [0.06, 0.8] as const;
/** Standard deviations in a time source's uncertainty. */
const UNCERTAINTY_DEVIATIONS = 1.5;
/** Share of time sources with a larger error than their uncertainty. */
const WRONG_TIME_SHARE = 0.2;
/** Limits of the evidence for epochs, so that a change of network is noticed. */
const LEAST_RATIO = Math.exp(-5);
const GREATEST_RATIO = Math.exp(9);
/** The limit of a `Date`. */
const LATEST_UTC_MS = 8.64e15;
/** Times with a smaller difference are equal. */
const SAME_TIME_SECONDS = 0.05;
/** A larger difference is no clock's drift. */
const LEAST_LEAP_SECONDS = 0.5;
/** Limit of ln of the evidence from dips, so that a change is found soon. */
const LEAST_LOG_DIPS = -2;
/** A `HandoverClock` without estimates of the position. */
export class HandoverEvidence {
  /** Weight per hypothesis: cells, which `_settle` makes add up to 1, then the hypotheses without epochs. */
  private readonly _weights = new Float64Array(CELLS + RATE_PARAMETERS.steady.length + REPEAT_SECONDS.length);
  protected readonly _epochs = this._weights.subarray(0, CELLS);
  private readonly _without = this._weights.subarray(CELLS);
  private readonly _prior = new Float64Array(CELLS);
  private _utcSecondsAtStart = Number.NaN;
  private _utcUncertaintySeconds = Number.NaN;
  private readonly _rates = stateFilters(RATE_PARAMETERS);
  private readonly _latencies = stateFilters(LATENCY_PARAMETERS);
  private readonly _repeats = REPEAT_SECONDS.map(repeatsAfter);
  private readonly _observeRate = rateBins((bin) => this._addRate(bin));
  private readonly _observeDips = dipFinder((slot, isDip, share) => this._addDip(slot, isDip, share));
  private readonly _handoverDips = new RegularDips(EPOCH_SECONDS);
  private readonly _observeOtherDips = otherPeriods();
  /** Per cell, ln of the probability of the dips if they are at handovers, relative to dips at random. */
  private readonly _logDips = new Float64Array(CELLS);
  /** The same if dips have another period. */
  private _logOtherDips = 0;
  /** Weight of all cells / weight of the hypotheses without epochs. */
  private _ratio = 1;
  private _isLeo = false;
  /** Computed from the weights; undefined since they changed. */
  protected _position: Position | undefined;
  private _rateSeconds = 0;

  /** Begins a new session. */
  constructor({ utcMsAtStart, utcUncertaintySeconds }: Omit<SessionContext, 'seed'>) {
    this._epochs.fill(1 / CELLS);
    this._without.fill(1 / this._without.length);
    this._prior.fill(1 / CELLS);
    if (utcMsAtStart !== undefined) this.tellTime(0, utcMsAtStart, utcUncertaintySeconds);
  }

  /**
   * UTC at session second `atSeconds` from a time source replaces the previous time. If they contradict each other,
   * either the time source was corrected or the session's clock leapt (a page that slept): evidence decides between
   * them.
   */
  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds = DEVICE_CLOCK_UNCERTAINTY_SECONDS): void {
    if (!isMoment(atSeconds) || !(Math.abs(utcMs) < LATEST_UTC_MS) || !(uncertaintySeconds >= 0)) return;
    const utcSecondsAtStart = utcMs / 1000 - atSeconds;
    const leapSeconds = utcSecondsAtStart - this._utcSecondsAtStart;
    const sameSource = Math.abs(uncertaintySeconds - this._utcUncertaintySeconds) < SAME_TIME_SECONDS;
    if (sameSource && Math.abs(leapSeconds) < SAME_TIME_SECONDS) return;
    // Two sources may differ by their uncertainties.
    const leastLeap = sameSource ? LEAST_LEAP_SECONDS : uncertaintySeconds + this._utcUncertaintySeconds;
    this._utcSecondsAtStart = utcSecondsAtStart;
    this._utcUncertaintySeconds = uncertaintySeconds;
    const expected = HANDOVER_SECOND - modulo(utcSecondsAtStart, EPOCH_SECONDS);
    const [near, far] = SCHEDULE_SPREADS_SECONDS.map((spread) =>
      nearness(expected, Math.hypot(spread, uncertaintySeconds / UNCERTAINTY_DEVIATIONS)),
    ) as [Float64Array, Float64Array];
    const weights = this.positionProbabilities();
    const leapt = Math.abs(leapSeconds) >= leastLeap;
    for (let cell = 0; cell < CELLS; cell++) {
      const share = (((1 - WRONG_TIME_SHARE) * (near[cell]! + far[cell]!)) / 2 + WRONG_TIME_SHARE) / CELLS;
      const corrected = (weights[cell]! * share) / this._prior[cell]!;
      // If the session's clock leapt, all cells are shifted.
      const moved = leapt ? weights[modulo(cell + Math.round(leapSeconds / CELL_SECONDS), CELLS)]! : corrected;
      this._epochs[cell] = (corrected + moved) / 2;
      this._prior[cell] = share;
    }
    this._settle();
  }

  weigh(cells: Float64Array, without: number): void {
    for (let cell = 0; cell < CELLS; cell++) this._epochs[cell]! *= cells[cell]!;
    scale(this._without, without);
    this._settle();
  }

  /** Ignores impossible observations (not finite, negative, out of order). */
  observe(observation: Observation): void {
    if (observation.kind === 'request-latency') {
      const { atSeconds, latencySeconds } = observation;
      if (!isMoment(atSeconds) || !(latencySeconds > 0 && latencySeconds < Number.POSITIVE_INFINITY)) return;
      this._addLatency({ atSeconds, seconds: latencySeconds, value: Math.log(latencySeconds) });
    } else if (this._observeRate(observation)) this._observeDips(observation);
  }

  /** Probability per cell, given epochs: entry c is for handovers at c * 0.1 s + n * 15 s. */
  positionProbabilities(): Float64Array {
    return this._epochs.slice();
  }

  private _addRate(bin: Measurement): void {
    this._rateSeconds = bin.atSeconds;
    this._rates.observe(bin);
    const { densities } = this._rates;
    for (let i = 0; i < densities.length; i++) this._weights[i]! *= densities[i]!;
    for (let i = 0; i < this._repeats.length; i++) {
      const logDensity = this._repeats[i]!(bin);
      this._weights[densities.length + i]! *=
        logDensity === undefined ? densities[CELLS]! : Math.exp(logDensity * RATE_PARAMETERS.weight);
    }
    this._settle();
  }

  private _addDip(slot: number, isDip: boolean, share: number): void {
    for (let offset = 0; offset < OFFSETS; offset++) {
      const cell = this._handoverDips.position(slot, offset);
      const before = this._logDips[cell]!;
      this._logDips[cell] = Math.max(
        LEAST_LOG_DIPS,
        before + Math.log(this._handoverDips.observe(cell, offset, isDip, share)),
      );
      this._epochs[cell]! *= Math.exp(orWithoutDips(this._logDips[cell]!) - orWithoutDips(before));
    }
    const before = this._logOtherDips;
    this._logOtherDips = Math.max(LEAST_LOG_DIPS, before + this._observeOtherDips(slot, isDip, share));
    scale(this._without, Math.exp(orWithoutDips(this._logOtherDips) - orWithoutDips(before)));
    this._settle();
  }

  /** Latency is evidence for positions only, not for or against epochs, because its steps have many causes. */
  private _addLatency(latency: Measurement): void {
    this._latencies.observe(latency);
    for (let cell = 0; cell < CELLS; cell++) this._epochs[cell]! *= this._latencies.densities[cell]!;
    scale(this._epochs, 1 / sum(this._epochs));
    this._settle();
  }

  /** Time of the newest bin of the rate. */
  get rateSeconds(): number {
    return this._rateSeconds;
  }

  /** Whether the evidence suffices to plan with handovers. */
  get isLeo(): boolean {
    return this._isLeo;
  }

  /** Probability of a LEO link with 15 s epochs, 0 to 1. */
  get leoProbability(): number {
    return 1 / (1 + 1 / this._ratio);
  }

  /** Limits and normalises the weights, so that a leap of the clock or a change of network is found soon. */
  private _settle(): void {
    this._position = undefined;
    // The ratio comes before `normalise`, whose lifts would otherwise add up to evidence for epochs.
    this._ratio = Math.min(GREATEST_RATIO, Math.max(LEAST_RATIO, sum(this._epochs) / sum(this._without)));
    normalise(this._epochs, 1);
    normalise(this._without, 1 / this._ratio);
    const claim = greatest(this._logDips) > SHOWN_BY_DIPS ? CLAIM_PROBABILITY : CLAIM_WITHOUT_DIPS;
    this._isLeo = this.leoProbability >= claim * (this._isLeo ? 0.5 : 1);
  }
}

export class HandoverClock extends HandoverEvidence {
  /** Undefined for an impossible `nowSeconds`. */
  estimate(nowSeconds: number): HandoverEstimate | undefined {
    if (!isMoment(nowSeconds)) return undefined;
    this._position ||= positionIn(this._epochs);
    const { within, ...position } = this._position;
    const { leoProbability, isLeo } = this;
    const next = nowSeconds + modulo(position.phaseSeconds - nowSeconds, EPOCH_SECONDS);
    const confidence = Math.min(1, within) * leoProbability;
    const ahead = isLeo ? [0, EPOCH_SECONDS, 2 * EPOCH_SECONDS] : [];
    const nextHandovers = ahead.map((seconds) => ({ atSeconds: next + seconds, confidence }));
    return { nextHandovers, ...position, leoProbability, isLeo };
  }
}

/** ln of the evidence, up to a constant, on a link that has dips of a kind with probability 1/2. */
function orWithoutDips(logDips: number): number {
  return Math.max(0, logDips) + Math.log1p(Math.exp(-Math.abs(logDips)));
}
