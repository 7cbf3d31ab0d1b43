/**
 * Estimates the session's position in the 15 s epoch of a LEO link: a Bayesian grid over the position of the handover,
 * from the time source, the session's throughput and latency, and hints of a service. docs/how-it-works.md explains
 * the method. Pure, deterministic, constant memory.
 */

import { EPOCH_SECONDS, HANDOVER_SECOND, type Observation, type SessionContext } from '../../../abr/forecast.ts';
import { Dips, OFFSETS, OtherPeriods, RegularDips } from './dips.ts';
import { isMoment, RateBins } from './rate-bins.ts';
import { REPEAT_SECONDS, Repeats } from './repeats.ts';
import { CELLS, LATENCY_PARAMETERS, type Measurement, RATE_PARAMETERS, StateFilters } from './state-filters.ts';

// Local bindings, because the loops over the cells dominate the cost.
export interface HandoverEstimate {
  /** The next three, ascending; empty unless `isLeo`. `confidence`: probability within a second of the time, 0 to 1. */
  nextHandovers: { atSeconds: number; confidence: number }[];
  /** Handovers are at this second of the session's clock (0 to below 15) plus multiples of 15. */
  phaseSeconds: number;
  /** Expected root mean square error of `phaseSeconds`; 4.3 without evidence. */
  uncertaintySeconds: number;
  /** The same of the positions within a second of `phaseSeconds`, which is the accuracy of an announced handover. */
  spreadSeconds: number;
  /** Probability of a LEO link with 15 s epochs, 0 to 1. */
  leoProbability: number;
  /** Whether the evidence suffices to plan with handovers. */
  isLeo: boolean;
}

/**
 * `leoProbability` from which handovers are announced, until it falls below half of this; if short dips show them, and
 * if only steps do, which other links have, too.
 */
const CLAIM_PROBABILITY = 0.99;
const CLAIM_WITHOUT_DIPS = 0.997;
/** ln of the evidence from dips, of some position, that shows handovers. */
const SHOWN_BY_DIPS = 4;
/**
 * Spreads of the handovers around their schedule in recordings, besides the time source's uncertainty: with good clocks,
 * and with others. Equally likely.
 */
const SCHEDULE_SPREADS_SECONDS = [0.06, 0.8] as const;
/** Of a dip in its slot, and around its handover. */
const LEAST_SPREAD_SECONDS = 0.05;
/** The number of standard deviations in a time source's uncertainty. */
const UNCERTAINTY_DEVIATIONS = 1.5;
/** Share of time sources with a larger error than their uncertainty. */
const WRONG_TIME_SHARE = 0.2;
const DEFAULT_UNCERTAINTY_SECONDS = 2;
/** Positions stay above this share of the likeliest, so that a leap is found within a few epochs. */
const LEAST_SHARE = Math.exp(-7);
/** Limits of the evidence for epochs, so that a change of network is noticed. */
const LEAST_RATIO = Math.exp(-5);
const GREATEST_RATIO = Math.exp(9);
/** The limit of a `Date`. */
const LATEST_UTC_MS = 8.64e15;
/** Times with a smaller difference are equal. */
const SAME_TIME_SECONDS = 0.05;
/** A larger difference between two times is not a clock's drift. */
const LEAST_LEAP_SECONDS = 0.5;
/** Limit of ln of the evidence from dips, so that a change is found soon. */
const LEAST_LOG_DIPS = -2;
/** Half the width (2 s) of the window around the best position for the mean position. */
const WINDOW_CELLS = 20;
/** Positions within 1.3 s support each other in the search for the best one. */
const NEAR_CELLS = 12;
export const CELL_SECONDS = EPOCH_SECONDS / CELLS;

export class HandoverClock {
  /**
   * Weight per hypothesis: prior, evidence and hints. Cells first, which `#settle` makes add up to 1, then the
   * hypotheses without epochs.
   */
  readonly #weights = new Float64Array(CELLS + RATE_PARAMETERS.steady.length + REPEAT_SECONDS.length);
  readonly #epochs = this.#weights.subarray(0, CELLS);
  readonly #without = this.#weights.subarray(CELLS);
  /** Probability per cell from the time source. */
  readonly #prior = new Float64Array(CELLS);
  #utcSecondsAtStart = Number.NaN;
  #utcUncertaintySeconds = Number.NaN;
  readonly #rates = new StateFilters(RATE_PARAMETERS);
  readonly #latencies = new StateFilters(LATENCY_PARAMETERS);
  readonly #repeats = REPEAT_SECONDS.map((seconds) => new Repeats(seconds));
  readonly #bins = new RateBins((bin) => this.#addRate(bin));
  readonly #dips = new Dips((slot, isDip, share) => this.#addDip(slot, isDip, share));
  readonly #handoverDips = new RegularDips(EPOCH_SECONDS);
  readonly #otherDips = new OtherPeriods();
  /** Evidence from dips, if they are at handovers: ln of its probability, per cell, relative to dips at random. */
  readonly #logDips = new Float64Array(CELLS);
  /** The same, if they have another period. */
  #logOtherDips = 0;
  /** Weight of all cells / weight of the hypotheses without epochs. */
  #ratio = 1;
  #isLeo = false;
  /** From the weights; undefined since they changed. */
  #position: Position | undefined;
  /** For `#positionNow`: probabilities, with `WINDOW_CELLS` cells before the first one and after the last one. */
  readonly #around = new Float64Array(CELLS + 2 * WINDOW_CELLS);
  /** End of the newest bin of the rate. */
  rateSeconds = 0;

  /** Of a new session. */
  constructor({ utcMsAtStart, utcUncertaintySeconds }: Omit<SessionContext, 'seed'>) {
    this.#epochs.fill(1 / CELLS);
    this.#without.fill(1 / this.#without.length);
    this.#prior.fill(1 / CELLS);
    if (utcMsAtStart !== undefined) this.tellTime(0, utcMsAtStart, utcUncertaintySeconds);
  }

  /**
   * UTC at session second `atSeconds` from a time source. Replaces the previous time; call it as often as you like.
   * After a contradiction, either the time source was corrected or the session's clock leapt (a page that slept): both
   * hypotheses are kept until evidence decides.
   */
  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds = DEFAULT_UNCERTAINTY_SECONDS): void {
    if (!isMoment(atSeconds) || !(Math.abs(utcMs) < LATEST_UTC_MS) || !(uncertaintySeconds >= 0)) return;
    const utcSecondsAtStart = utcMs / 1000 - atSeconds;
    const leapSeconds = utcSecondsAtStart - this.#utcSecondsAtStart;
    const sameSource = Math.abs(uncertaintySeconds - this.#utcUncertaintySeconds) < SAME_TIME_SECONDS;
    if (sameSource && Math.abs(leapSeconds) < SAME_TIME_SECONDS) return;
    // Two sources may differ by their uncertainties.
    const leastLeap = sameSource ? LEAST_LEAP_SECONDS : uncertaintySeconds + this.#utcUncertaintySeconds;
    this.#utcSecondsAtStart = utcSecondsAtStart;
    this.#utcUncertaintySeconds = uncertaintySeconds;
    const expected = HANDOVER_SECOND - modulo(utcSecondsAtStart, EPOCH_SECONDS);
    const [near, far] = SCHEDULE_SPREADS_SECONDS.map((spread) =>
      nearness(expected, Math.hypot(spread, uncertaintySeconds / UNCERTAINTY_DEVIATIONS)),
    ) as [Float64Array, Float64Array];
    const weights = this.positionProbabilities();
    const leapt = Math.abs(leapSeconds) >= leastLeap;
    for (let cell = 0; cell < CELLS; cell++) {
      const share = (((1 - WRONG_TIME_SHARE) * (near[cell]! + far[cell]!)) / 2 + WRONG_TIME_SHARE) / CELLS;
      const corrected = (weights[cell]! * share) / this.#prior[cell]!;
      // If the session's clock leapt, all cells are shifted.
      const moved = leapt ? weights[modulo(cell + Math.round(leapSeconds / CELL_SECONDS), CELLS)]! : corrected;
      this.#epochs[cell] = (corrected + moved) / 2;
      this.#prior[cell] = share;
    }
    this.#settle();
  }

  /** More evidence: factors of the cells' weights, and of the weights without epochs (`hintHandover`). */
  weigh(cells: Float64Array, without: number): void {
    for (let cell = 0; cell < CELLS; cell++) this.#epochs[cell]! *= cells[cell]!;
    scale(this.#without, without);
    this.#settle();
  }

  /** Ignores impossible observations (not finite, negative, out of order). */
  observe(observation: Observation): void {
    if (observation.kind === 'request-latency') {
      const { atSeconds, latencySeconds } = observation;
      if (!isMoment(atSeconds) || !(latencySeconds > 0 && latencySeconds < Number.POSITIVE_INFINITY)) return;
      this.#addLatency({ atSeconds, seconds: latencySeconds, value: Math.log(latencySeconds) });
    } else if (this.#bins.observe(observation) && observation.kind === 'throughput') {
      this.#dips.observe(observation);
    }
  }

  /** Probability per cell of 0.1 s, given epochs: entry c is for handovers at c * 0.1 s + n * 15 s. */
  positionProbabilities(): Float64Array {
    return this.#epochs.slice();
  }

  /** Undefined for an impossible `nowSeconds`. */
  estimate(nowSeconds: number): HandoverEstimate | undefined {
    if (!isMoment(nowSeconds)) return undefined;
    this.#position ??= this.#positionNow();
    const { within, ...position } = this.#position;
    const { leoProbability, isLeo } = this;
    const next = nowSeconds + modulo(position.phaseSeconds - nowSeconds, EPOCH_SECONDS);
    const confidence = Math.min(1, within) * leoProbability;
    const ahead = isLeo ? [0, EPOCH_SECONDS, 2 * EPOCH_SECONDS] : [];
    const nextHandovers = ahead.map((seconds) => ({ atSeconds: next + seconds, confidence }));
    return { nextHandovers, ...position, leoProbability, isLeo };
  }

  #addRate(bin: Measurement): void {
    this.rateSeconds = bin.atSeconds;
    this.#rates.observe(bin);
    const { densities } = this.#rates;
    for (let i = 0; i < densities.length; i++) this.#weights[i]! *= densities[i]!;
    for (let i = 0; i < this.#repeats.length; i++) {
      const logDensity = this.#repeats[i]!.observe(bin);
      this.#weights[densities.length + i]! *=
        logDensity === undefined ? densities[CELLS]! : Math.exp(logDensity * RATE_PARAMETERS.weight);
    }
    this.#settle();
  }

  #addDip(slot: number, isDip: boolean, share: number): void {
    for (let offset = 0; offset < OFFSETS; offset++) {
      const cell = this.#handoverDips.position(slot, offset);
      const before = this.#logDips[cell]!;
      this.#logDips[cell] = Math.max(
        LEAST_LOG_DIPS,
        before + Math.log(this.#handoverDips.observe(cell, offset, isDip, share)),
      );
      this.#epochs[cell]! *= Math.exp(orWithoutDips(this.#logDips[cell]!) - orWithoutDips(before));
    }
    const before = this.#logOtherDips;
    this.#logOtherDips = Math.max(LEAST_LOG_DIPS, before + this.#otherDips.observe(slot, isDip, share));
    scale(this.#without, Math.exp(orWithoutDips(this.#logOtherDips) - orWithoutDips(before)));
    this.#settle();
  }

  /** Latency is evidence for positions, but not for or against epochs: its steps have many causes. */
  #addLatency(latency: Measurement): void {
    this.#latencies.observe(latency);
    for (let cell = 0; cell < CELLS; cell++) this.#epochs[cell]! *= this.#latencies.densities[cell]!;
    scale(this.#epochs, 1 / sum(this.#epochs));
    this.#settle();
  }

  /** Whether the evidence suffices to plan with handovers. */
  get isLeo(): boolean {
    return this.#isLeo;
  }

  /** Probability of a LEO link with 15 s epochs, 0 to 1. */
  get leoProbability(): number {
    return 1 / (1 + 1 / this.#ratio);
  }

  /** The mean position around the cell with the most weight near it, and the spread of the weights about it. */
  #positionNow(): Position {
    const epochs = this.#epochs;
    const weights = this.#around;
    // Without what `normalise` has added.
    const added = LEAST_SHARE * greatest(epochs);
    for (let i = 0; i < weights.length; i++) {
      weights[i] = Math.max(0, epochs[(i + CELLS - WINDOW_CELLS) % CELLS]! - added);
    }
    let most = 0;
    let best = 0;
    for (let cell = 0; cell < CELLS; cell++) {
      let near = 0;
      for (let offset = -NEAR_CELLS; offset <= NEAR_CELLS; offset++) {
        near += weights[cell + WINDOW_CELLS + offset]! * (NEAR_CELLS + 1 - Math.abs(offset));
      }
      if (near <= most) continue;
      most = near;
      best = cell;
    }
    let weight = 0;
    let moment = 0;
    for (let offset = -WINDOW_CELLS; offset <= WINDOW_CELLS; offset++) {
      const share = weights[best + WINDOW_CELLS + offset]! * (1 - Math.abs(offset) / (WINDOW_CELLS + 1));
      weight += share;
      moment += share * offset;
    }
    const position = modulo((best + moment / weight) * CELL_SECONDS, EPOCH_SECONDS);
    // The rounding of a position just below 0 can make 15.
    const phaseSeconds = position % EPOCH_SECONDS;
    let total = 0;
    let squared = 0;
    let within = 0;
    let squaredWithin = 0;
    for (let cell = 0; cell < CELLS; cell++) {
      const share = weights[cell + WINDOW_CELLS]!;
      const apart = Math.abs(cell * CELL_SECONDS - phaseSeconds);
      const distance = Math.min(apart, EPOCH_SECONDS - apart);
      total += share;
      squared += share * distance * distance;
      if (distance > 1) continue;
      within += share;
      squaredWithin += share * distance * distance;
    }
    return {
      phaseSeconds,
      uncertaintySeconds: Math.hypot(Math.sqrt(squared / total), LEAST_SPREAD_SECONDS),
      spreadSeconds: Math.sqrt(squaredWithin / within),
      within: within / total,
    };
  }

  /** Limits and normalises the weights, so that a leap of the clock or a change of network is found soon. */
  #settle(): void {
    this.#position = undefined;
    // Computed before `normalise`, whose lifts would otherwise add up to evidence for epochs.
    this.#ratio = Math.min(GREATEST_RATIO, Math.max(LEAST_RATIO, sum(this.#epochs) / sum(this.#without)));
    normalise(this.#epochs, 1);
    normalise(this.#without, 1 / this.#ratio);
    const claim = greatest(this.#logDips) > SHOWN_BY_DIPS ? CLAIM_PROBABILITY : CLAIM_WITHOUT_DIPS;
    this.#isLeo = this.leoProbability >= claim * (this.#isLeo ? 0.5 : 1);
  }
}

type Position = Pick<HandoverEstimate, 'phaseSeconds' | 'uncertaintySeconds' | 'spreadSeconds'> & {
  /** Probability within a second of it. */
  within: number;
};

/** Seconds from a position to a cell in the epoch, at most half an epoch. */
function distanceTo(seconds: number, cell: number): number {
  return modulo(cell * CELL_SECONDS - seconds + EPOCH_SECONDS / 2, EPOCH_SECONDS) - EPOCH_SECONDS / 2;
}

/** Per cell, the ratio of a wrapped normal density around a second of the session to a uniform one. */
export function nearness(atSeconds: number, spreadSeconds: number): Float64Array {
  const density = new Float64Array(CELLS);
  for (let cell = 0; cell < CELLS; cell++)
    density[cell] = Math.exp(-0.5 * (distanceTo(atSeconds, cell) / spreadSeconds) ** 2);
  const mean = sum(density) / CELLS;
  for (let cell = 0; cell < CELLS; cell++) density[cell]! /= mean;
  return density;
}

/** ln of the evidence on a link that may have dips of a kind or not, which is equally likely; up to a constant. */
function orWithoutDips(logDips: number): number {
  return Math.max(0, logDips) + Math.log1p(Math.exp(-Math.abs(logDips)));
}

/** Raises each weight to at least `LEAST_SHARE` of the greatest, and scales them to add up to `total`. */
function normalise(weights: Float64Array, total: number): void {
  const least = LEAST_SHARE * greatest(weights);
  for (let i = 0; i < weights.length; i++) if (weights[i]! < least) weights[i] = least;
  scale(weights, total / sum(weights));
}

function sum(values: Float64Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i]!;
  return total;
}

function greatest(values: Float64Array): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) if (values[i]! > most) most = values[i]!;
  return most;
}

function scale(values: Float64Array, factor: number): void {
  for (let i = 0; i < values.length; i++) values[i]! *= factor;
}

function modulo(value: number, by: number): number {
  return value - by * Math.floor(value / by);
}
