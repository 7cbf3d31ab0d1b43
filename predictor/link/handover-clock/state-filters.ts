/**
 * The evidence: a robust Kalman filter of the link's state per hypothesis on the position of handovers, and some
 * filters without handovers. A hypothesis gains if the state changes at its boundaries and is steady elsewhere.
 *
 * The filter is a local-level model (Harvey 1989, section 2.3) in units of the session's own volatility, so it does not
 * depend on the link's rate and variability. The state is a random walk with an extra step at each boundary. A
 * measurement is the state, minus a dip just after a boundary, plus noise. Innovations have Student's distribution with
 * 3 degrees of freedom, because outages and other steps are frequent.
 */

import { EPOCH_SECONDS } from '../../../abr/forecast.ts';
import { SLOTS_PER_SECOND } from './dips.ts';

/** Hypotheses on the boundary's position in the epoch, 0.1 s apart. */
export const CELLS = EPOCH_SECONDS * SLOTS_PER_SECOND;

/** A mean over some time, on the session's clock. */
export interface Measurement {
  /** Middle and length of this time. */
  atSeconds: number;
  seconds: number;
  /** ln of a rate or of a latency. */
  value: number;
}

/** For ln throughput in bins of half a second, fitted to recordings. Variances are in units of the squared volatility. */
export const RATE_PARAMETERS = {
  /** Variance that the state gains per second, and at a boundary. */
  drift: 0.42,
  jump: 2.6,
  /** Variance of a measurement around the state. */
  noise: 0.6,
  /** Reduction of a measurement inside the dip, in volatilities. */
  dipDepth: 1.8,
  dipSeconds: 1,
  /** Delay of the dip after the boundary; negative if bins that end at the boundary are lower, too. */
  lagSeconds: -0.4,
  /** Drift and noise of each hypothesis without epochs. The first hypothesis also estimates the volatility. */
  steady: [
    [0.5, 0.6],
    [0.01, 1.2],
  ] as readonly (readonly [drift: number, noise: number])[],
  /** Initial volatility (standard deviation of the value). */
  firstVolatility: 0.2,
  /** Measurements in the volatility's average: few, so that variable periods have less weight. */
  volatilityMemory: 3,
  /** Limit of a squared innovation in the volatility, in expected squared innovations. */
  volatilityLimit: 50,
  /** Power of densities, because measurements are not independent. */
  weight: 0.5,
};
type FilterParameters = typeof RATE_PARAMETERS;

/** For ln request latency, one per request. */
export const LATENCY_PARAMETERS: FilterParameters = {
  drift: 0.02,
  jump: 3,
  noise: 1,
  dipDepth: 0,
  dipSeconds: 1,
  lagSeconds: 0.2,
  steady: [[0.2, 1]],
  firstVolatility: 0.2,
  volatilityMemory: 16,
  volatilityLimit: 9,
  weight: 0.7,
};

/** The volatility of timers alone. */
const LEAST_VOLATILITY = 0.003;

/**
 * `observe` updates all filters. `densities` are the densities of the last measurement to the power of `weight`, up to
 * a common factor: per cell, then per hypothesis without epochs. Cell c is the hypothesis of boundaries at session
 * second `c * 15 / CELLS` plus multiples of 15.
 */
export function stateFilters(parameters: FilterParameters) {
  const { drift, jump, noise, dipDepth, dipSeconds, lagSeconds, steady, weight } = parameters;
  const hypotheses = CELLS + steady.length;
  const states = new Float64Array(hypotheses);
  const variances = new Float64Array(hypotheses);
  const densities = new Float64Array(hypotheses);
  let volatility = parameters.firstVolatility;
  let count = 0;
  let lastSeconds = 0;

  /** A step of a filter; returns the squared innovation / its expectation. */
  function update(i: number, value: number, gained: number, measured: number): number {
    const variance = variances[i]! + gained;
    const expected = variance + measured;
    const innovation = value - states[i]!;
    const squared = (innovation / volatility) ** 2 / expected;
    // Student's density with 3 degrees of freedom. A root takes a fifth of the time of a power.
    const density = 1 / (Math.sqrt(expected) * (1 + squared / 3) ** 2 * volatility);
    densities[i] = weight === 0.5 ? Math.sqrt(density) : density ** weight;
    const gain = (variance / expected) * Math.min(1, 4 / (3 + squared));
    states[i]! += gain * innovation;
    variances[i] = variance * (1 - gain);
    return squared;
  }

  function observe({ atSeconds, seconds, value }: Measurement): void {
    const elapsed = atSeconds - lastSeconds;
    lastSeconds = atSeconds;
    if (count++ === 0 || elapsed < 0) {
      states.fill(value);
      variances.fill(noise);
      densities.fill(1);
      return;
    }
    const dip = (dipDepth * volatility) / seconds;
    for (let cell = 0; cell < CELLS; cell++) {
      const epochs = (atSeconds - lagSeconds) / EPOCH_SECONDS - cell / CELLS;
      const epoch = Math.floor(epochs);
      const crossed = epoch !== Math.floor(epochs - elapsed / EPOCH_SECONDS);
      const middle = (epochs - epoch) * EPOCH_SECONDS;
      // The last bin of an epoch may overlap the next dip.
      const dipped = overlap(middle, seconds, dipSeconds) + overlap(middle - EPOCH_SECONDS, seconds, dipSeconds);
      update(cell, value + dip * dipped, drift * elapsed + (crossed ? jump : 0), noise);
    }
    let squared = 0;
    for (let i = steady.length - 1; i >= 0; i--) {
      const [ownDrift, ownNoise] = steady[i]!;
      squared = update(CELLS + i, value, ownDrift * elapsed, ownNoise);
    }
    const { volatilityLimit, volatilityMemory } = parameters;
    const change = (Math.min(squared, volatilityLimit) - 1) / Math.min(count, volatilityMemory);
    volatility = Math.max(LEAST_VOLATILITY, volatility * Math.sqrt(1 + change));
  }
  return { densities, observe };
}

/** Part of the `seconds` around `middle` that is within [0, until]. */
function overlap(middle: number, seconds: number, until: number): number {
  return Math.max(0, Math.min(until, middle + seconds / 2) - Math.max(0, middle - seconds / 2));
}
