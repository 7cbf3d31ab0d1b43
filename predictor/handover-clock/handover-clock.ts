/**
 * Estimates the session's position in the 15 s epoch of a LEO link: a Bayesian grid over the position of the handover,
 * from the time source, the session's throughput and latency, and hints of a service. docs/handover-clock.md explains
 * the method. Pure, deterministic, constant memory.
 */

import { EPOCH_SECONDS, HANDOVER_SECOND, type Observation, type SessionContext } from '../../abr/forecast.ts';
import { Dips } from './dips.ts';
import { LATENCY_PARAMETERS, RATE_PARAMETERS, REPEAT_SECONDS } from './filter-parameters.ts';
import { isMoment, RateBins } from './rate-bins.ts';
import { OtherPeriods, RegularDips } from './regular-dips.ts';
import { Repeats } from './repeats.ts';
import { CELLS, type Measurement, StateFilters } from './state-filters.ts';

// Local bindings, because the loops over the cells dominate the cost.
const { abs, exp, floor, hypot, log, log1p, max, min, round, sqrt } = Math;

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

/** `leoProbability` from which handovers are announced, until it falls below half of this. */
const CLAIM_PROBABILITY = 0.975;
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
/** Positions stay above e^-7 of the likeliest, so that a leap is found within a few epochs. */
const MAX_LOG_ODDS = 7;
/** Limits of the evidence for epochs, so that a change of network is noticed. */
const LOG_RATIO_LIMITS = { least: -5, greatest: 9 };
/** The limit of a `Date`. */
const LATEST_UTC_MS = 8.64e15;
/** Times with a smaller difference are equal. */
const SAME_TIME_SECONDS = 0.05;
/** A larger difference between two times is not a clock's drift. */
const LEAST_LEAP_SECONDS = 0.5;
/** Limit of a hint's confidence. */
const SUREST_HINT = 0.99;
/** Limit of ln of the evidence from dips, so that a change is found soon. */
const LEAST_LOG_DIPS = -2;
/** Half the width (2 s) of the window around the best position for the mean position. */
const WINDOW_CELLS = 20;
/** Positions within 1.3 s support each other in the search for the best one. */
const NEAR_CELLS = 12;
const CELL_SECONDS = EPOCH_SECONDS / CELLS;
const ANNOUNCED = 3;

export class HandoverClock {
  /** ln weight per hypothesis: prior, evidence and hints. Cells first, then the hypotheses without epochs. */
  readonly #logWeights = new Float64Array(CELLS + RATE_PARAMETERS.steady.length + REPEAT_SECONDS.length);
  readonly #logEpochs = this.#logWeights.subarray(0, CELLS);
  readonly #logWithout = this.#logWeights.subarray(CELLS);
  /** Probability per cell from the time source. */
  readonly #prior = new Float64Array(CELLS);
  #utcSecondsAtStart = Number.NaN;
  #utcUncertaintySeconds = Number.NaN;
  #rates!: StateFilters;
  #latencies!: StateFilters;
  #repeats: Repeats[] = [];
  #bins = new RateBins();
  #dips!: Dips;
  #handoverDips!: RegularDips;
  #otherDips!: OtherPeriods;
  /** Evidence from dips, if they are at handovers: ln of its probability, per cell, relative to dips at random. */
  readonly #logDips = new Float64Array(CELLS);
  /** The same, if they have another period. */
  #logOtherDips = 0;
  #started = false;
  /** ln(weight of all cells / weight of the hypotheses without epochs). */
  #logRatio = 0;
  /** Whether the evidence suffices to plan with handovers. */
  isLeo = false;
  /** From the weights; undefined since they changed. */
  #position: Position | undefined;
  /** For `logSum`. */
  readonly #exponentials = new Float64Array(CELLS);
  #lastSeconds = 0;
  #lastHintSeconds = 0;

  /** Begins a new session. */
  start(context: SessionContext): void {
    this.#rates = new StateFilters(RATE_PARAMETERS);
    this.#latencies = new StateFilters(LATENCY_PARAMETERS);
    this.#repeats = REPEAT_SECONDS.map((seconds) => new Repeats(seconds));
    this.#bins = new RateBins();
    this.#dips = new Dips(this.#addDip);
    this.#handoverDips = new RegularDips(EPOCH_SECONDS);
    this.#otherDips = new OtherPeriods();
    this.#logDips.fill(0);
    this.#logOtherDips = 0;
    this.#logRatio = 0;
    this.isLeo = false;
    this.#lastSeconds = 0;
    this.#lastHintSeconds = Number.NEGATIVE_INFINITY;
    this.#prior.fill(1 / CELLS);
    this.#utcSecondsAtStart = Number.NaN;
    this.#logEpochs.fill(-log(CELLS));
    this.#logWithout.fill(-log(this.#logWithout.length));
    this.#started = true;
    if (context.utcMsAtStart !== undefined) this.tellTime(0, context.utcMsAtStart, context.utcUncertaintySeconds);
  }

  /**
   * UTC at session second `atSeconds` from a time source. Replaces the previous time; call it as often as you like.
   * After a contradiction, either the time source was corrected or the session's clock leapt (a page that slept): both
   * hypotheses are kept until evidence decides.
   */
  tellTime(atSeconds: number, utcMs: number, uncertaintySeconds = DEFAULT_UNCERTAINTY_SECONDS): void {
    if (!this.#started || !isMoment(atSeconds) || !(abs(utcMs) < LATEST_UTC_MS)) return;
    if (!(uncertaintySeconds >= 0)) return;
    const utcSecondsAtStart = utcMs / 1000 - atSeconds;
    const leapSeconds = utcSecondsAtStart - this.#utcSecondsAtStart;
    const sameSource = abs(uncertaintySeconds - this.#utcUncertaintySeconds) < SAME_TIME_SECONDS;
    if (sameSource && abs(leapSeconds) < SAME_TIME_SECONDS) return;
    // Two sources may differ by their uncertainties.
    const leastLeap = sameSource ? LEAST_LEAP_SECONDS : uncertaintySeconds + this.#utcUncertaintySeconds;
    this.#utcSecondsAtStart = utcSecondsAtStart;
    this.#utcUncertaintySeconds = uncertaintySeconds;
    const expected = HANDOVER_SECOND - modulo(utcSecondsAtStart, EPOCH_SECONDS);
    const [near, far] = SCHEDULE_SPREADS_SECONDS.map((spread) =>
      nearness(expected, hypot(spread, uncertaintySeconds / UNCERTAINTY_DEVIATIONS)),
    ) as [Float64Array, Float64Array];
    const weights = this.positionProbabilities();
    const leapt = abs(leapSeconds) >= leastLeap;
    for (let cell = 0; cell < CELLS; cell++) {
      const share = (((1 - WRONG_TIME_SHARE) * (near[cell]! + far[cell]!)) / 2 + WRONG_TIME_SHARE) / CELLS;
      const corrected = (weights[cell]! * share) / this.#prior[cell]!;
      // If the session's clock leapt, all cells are shifted.
      const moved = leapt ? weights[modulo(cell + round(leapSeconds / CELL_SECONDS), CELLS)]! : corrected;
      this.#logEpochs[cell] = log((corrected + moved) / 2);
      this.#prior[cell] = share;
    }
    this.#settle();
  }

  /**
   * A service expects a handover at a second of the session's clock, with a standard deviation of `uncertaintySeconds`,
   * and is right with probability `confidence`. Hints within an epoch repeat the same knowledge, so they count in
   * proportion to the time between them.
   */
  hint(atSeconds: number, uncertaintySeconds: number, confidence: number): void {
    if (!this.#started || !isMoment(atSeconds) || !(uncertaintySeconds >= 0)) return;
    if (!(confidence > 0 && confidence <= 1)) return;
    const news = min(1, (this.#lastSeconds - this.#lastHintSeconds) / EPOCH_SECONDS);
    if (!(news > 0)) return;
    this.#lastHintSeconds = this.#lastSeconds;
    const sure = min(confidence, SUREST_HINT);
    const near = nearness(atSeconds, hypot(uncertaintySeconds, CELL_SECONDS));
    for (let cell = 0; cell < CELLS; cell++) {
      this.#logEpochs[cell]! += news * log(1 - sure + sure * near[cell]!);
    }
    add(this.#logWithout, news * log(1 - sure));
    this.#settle();
  }

  /** Ignores impossible observations (not finite, negative, out of order). */
  observe(observation: Observation): void {
    if (!this.#started) return;
    if (observation.kind === 'request-latency') {
      const { atSeconds, latencySeconds } = observation;
      if (!isMoment(atSeconds) || !(latencySeconds > 0 && latencySeconds < Number.POSITIVE_INFINITY)) return;
      this.#addLatency({ atSeconds, seconds: latencySeconds, value: log(latencySeconds) });
    } else if (this.#bins.observe(observation, this.#addRate) && observation.kind === 'throughput') {
      this.#dips.observe(observation);
    }
  }

  /** Probability per cell of 0.1 s, given epochs: entry c is for handovers at c * 0.1 s + n * 15 s. */
  positionProbabilities(): Float64Array {
    // `#settle` has normalised them.
    const weights = new Float64Array(CELLS);
    for (let cell = 0; cell < CELLS; cell++) weights[cell] = exp(this.#logEpochs[cell]!);
    return weights;
  }

  /** Undefined before the start of the session, and for an impossible `nowSeconds`. */
  estimate(nowSeconds: number): HandoverEstimate | undefined {
    if (!this.#started || !isMoment(nowSeconds)) return undefined;
    this.#position ??= positionOf(withoutLimit(this.positionProbabilities()));
    const { within, ...position } = this.#position;
    const { leoProbability, isLeo } = this;
    const next = nowSeconds + modulo(position.phaseSeconds - nowSeconds, EPOCH_SECONDS);
    return {
      nextHandovers: Array.from({ length: isLeo ? ANNOUNCED : 0 }, (_, i) => ({
        atSeconds: next + i * EPOCH_SECONDS,
        confidence: min(1, within) * leoProbability,
      })),
      ...position,
      leoProbability,
      isLeo,
    };
  }

  #addRate = (bin: Measurement): void => {
    this.#lastSeconds = bin.atSeconds;
    this.#rates.observe(bin);
    const { logDensities } = this.#rates;
    for (let i = 0; i < logDensities.length; i++) this.#logWeights[i]! += logDensities[i]!;
    for (let i = 0; i < this.#repeats.length; i++) {
      const logDensity = this.#repeats[i]!.observe(bin);
      this.#logWeights[logDensities.length + i]! +=
        logDensity === undefined ? logDensities[CELLS]! : logDensity * RATE_PARAMETERS.weight;
    }
    this.#settle();
  };

  #addDip = (slot: number, isDip: boolean, share: number): void => {
    this.#handoverDips.observe(slot, isDip, share, (cell, ratio) => {
      const before = this.#logDips[cell]!;
      this.#logDips[cell] = max(LEAST_LOG_DIPS, before + log(ratio));
      this.#logEpochs[cell]! += orWithoutDips(this.#logDips[cell]!) - orWithoutDips(before);
    });
    const before = this.#logOtherDips;
    this.#logOtherDips = max(LEAST_LOG_DIPS, before + this.#otherDips.observe(slot, isDip, share));
    add(this.#logWithout, orWithoutDips(this.#logOtherDips) - orWithoutDips(before));
    this.#settle();
  };

  /** Latency is evidence for positions, but not for or against epochs: its steps have many causes. */
  #addLatency(latency: Measurement): void {
    this.#latencies.observe(latency);
    for (let cell = 0; cell < CELLS; cell++) this.#logEpochs[cell]! += this.#latencies.logDensities[cell]!;
    add(this.#logEpochs, -logSum(this.#logEpochs, this.#exponentials));
    this.#settle();
  }

  /** Probability of a LEO link with 15 s epochs, 0 to 1. */
  get leoProbability(): number {
    return 1 / (1 + exp(-this.#logRatio));
  }

  /** Limits and normalises the weights, so that a leap of the clock or a change of network is found soon. */
  #settle(): void {
    const { least, greatest } = LOG_RATIO_LIMITS;
    this.#position = undefined;
    // Computed before `lift`, which would otherwise add up to evidence for epochs.
    const exponentials = this.#exponentials;
    const logWithout = logSum(this.#logWithout, exponentials);
    this.#logRatio = min(greatest, max(least, logSum(this.#logEpochs, exponentials) - logWithout));
    // Keeps the numbers small in long sessions.
    add(this.#logEpochs, -lift(this.#logEpochs, exponentials));
    logSum(this.#logWithout, exponentials);
    add(this.#logWithout, -lift(this.#logWithout, exponentials) - this.#logRatio);
    this.isLeo = this.leoProbability >= CLAIM_PROBABILITY * (this.isLeo ? 0.5 : 1);
  }
}

/** Seconds from a position to a cell in the epoch, at most half an epoch. */
function distanceTo(seconds: number, cell: number): number {
  return modulo(cell * CELL_SECONDS - seconds + EPOCH_SECONDS / 2, EPOCH_SECONDS) - EPOCH_SECONDS / 2;
}

/** Per cell, the ratio of a wrapped normal density around a second of the session to a uniform one. */
function nearness(atSeconds: number, spreadSeconds: number): Float64Array {
  const density = new Float64Array(CELLS);
  for (let cell = 0; cell < CELLS; cell++)
    density[cell] = exp(-0.5 * (distanceTo(atSeconds, cell) / spreadSeconds) ** 2);
  const mean = density.reduce((total, value) => total + value, 0) / CELLS;
  return density.map((value) => value / mean);
}

/** ln of the evidence on a link that may have dips of a kind or not, which is equally likely; up to a constant. */
function orWithoutDips(logDips: number): number {
  return max(0, logDips) + log1p(exp(-abs(logDips)));
}

/** The probabilities without those that `lift` has added. */
function withoutLimit(weights: Float64Array): Float64Array {
  const added = exp(-MAX_LOG_ODDS) * weights.reduce((most, weight) => max(most, weight));
  const left = weights.map((weight) => max(0, weight - added));
  const sum = left.reduce((total, weight) => total + weight);
  return left.map((weight) => weight / sum);
}

type Position = Pick<HandoverEstimate, 'phaseSeconds' | 'uncertaintySeconds' | 'spreadSeconds'> & {
  /** Probability within a second of it. */
  within: number;
};

/** The mean position around the cell with the most weight near it, and the spread of the weights about it. */
function positionOf(weights: Float64Array): Position {
  let best = 0;
  let most = -1;
  for (let cell = 0; cell < CELLS; cell++) {
    const { weight } = around(weights, cell, NEAR_CELLS);
    if (weight <= most) continue;
    most = weight;
    best = cell;
  }
  const position = modulo((best + around(weights, best, WINDOW_CELLS).meanOffset) * CELL_SECONDS, EPOCH_SECONDS);
  // The rounding of a position just below 0 can make 15.
  const phaseSeconds = position % EPOCH_SECONDS;
  let squared = 0;
  let within = 0;
  let squaredWithin = 0;
  for (let cell = 0; cell < CELLS; cell++) {
    const distance = abs(distanceTo(phaseSeconds, cell));
    squared += weights[cell]! * distance * distance;
    if (distance > 1) continue;
    within += weights[cell]!;
    squaredWithin += weights[cell]! * distance * distance;
  }
  return {
    phaseSeconds,
    uncertaintySeconds: hypot(sqrt(squared), LEAST_SPREAD_SECONDS),
    spreadSeconds: sqrt(squaredWithin / within),
    within,
  };
}

/** Sum of the weights around a cell in a triangular window, and the mean distance of this weight from the cell. */
function around(weights: Float64Array, cell: number, reach: number): { weight: number; meanOffset: number } {
  let weight = 0;
  let moment = 0;
  for (let offset = -reach; offset <= reach; offset++) {
    const share = weights[(cell + offset + CELLS) % CELLS]! * (1 - abs(offset) / (reach + 1));
    weight += share;
    moment += share * offset;
  }
  return { weight, meanOffset: moment / weight };
}

/**
 * Raises each value to at least the greatest minus `MAX_LOG_ODDS`; returns ln of the sum of their exponentials.
 * `exponentials`: as `logSum` has written them.
 */
function lift(values: Float64Array, exponentials: Float64Array): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) most = max(most, values[i]!);
  const least = most - MAX_LOG_ODDS;
  const exponential = exp(least);
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const isLow = values[i]! < least;
    if (isLow) values[i] = least;
    sum += isLow ? exponential : exponentials[i]!;
  }
  return log(sum);
}

/** ln of the sum of exponentials, for values near 0; writes the exponentials. */
function logSum(values: Float64Array, exponentials: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    exponentials[i] = exp(values[i]!);
    sum += exponentials[i]!;
  }
  return log(sum);
}

function add(values: Float64Array, amount: number): void {
  for (let i = 0; i < values.length; i++) values[i]! += amount;
}

function modulo(value: number, by: number): number {
  return value - by * floor(value / by);
}
