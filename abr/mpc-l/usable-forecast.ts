/** Judges whether a valid forecast fits the session's measurements. predictor/README.md lists all tests of a forecast. */

import type { Download, InFlight, PlayerState } from '../controller.ts';
import type { QuantileForecast, ValidForecast } from '../forecast.ts';
import { nearestLevel } from '../statistics/quantile.ts';

/** Number of downloads to compare with: the last two show an outage, the last five its end. */
const LAST_FOR_SLOW = 2;
const LAST_FOR_FAST = 5;
/**
 * Reject forecasts more than four times outside the recent throughput. On recordings of satellite links, also on the
 * road, this rejects no forecast of the built-in forecaster.
 */
const FACTOR = 4;
/** Before the first measurement, reject forecasts this many times above the highest bitrate or below the lowest. */
const BLIND_FACTOR = 1000;
/** Capacity above this many times the highest bitrate changes no choice, so it is not checked. */
const USEFUL_FACTOR = 2;
/** The part of a forecast that is checked. */
const CHECKED_SECONDS = 20;
/** A running download counts as a measurement this long after its request. */
const JUDGED_AFTER_SECONDS = 1;

/**
 * The forecast to plan on; undefined if MPC-D has to decide. A forecast that is wrong by an order of magnitude (wrong
 * units, another link, a bug) is worse than none: on a slow link the plan would always choose the top representation.
 * The test is coarse, because a forecast may know of an outage, or of its end, before downloads show it. Paths are for
 * MPC-O alone.
 */
export function usableForecast(
  forecast: ValidForecast | undefined,
  state: PlayerState,
  inFlight?: InFlight,
): QuantileForecast | undefined {
  return forecast && forecast.kind !== 'path' && isPlausible(forecast, state, inFlight) ? forecast : undefined;
}

function isPlausible(forecast: QuantileForecast, state: PlayerState, inFlight?: InFlight): boolean {
  const { middleBps, highBps } = expectationOf(forecast);
  const { ladderBps, nowSeconds, playbackRate } = state;
  // What the player consumes at the lowest and the highest bitrate.
  const lowestBps = ladderBps[0]! * playbackRate;
  const topBps = ladderBps[ladderBps.length - 1]! * playbackRate;
  const rates = state.downloads.slice(-LAST_FOR_FAST).map(rateOf);
  const running: number[] = [];
  if (inFlight !== undefined && nowSeconds - inFlight.requestedAtSeconds >= JUDGED_AFTER_SECONDS) {
    const { firstByteAtSeconds: since = inFlight.requestedAtSeconds } = inFlight;
    running.push(inFlight.receivedBits / (nowSeconds - since));
  }
  const slowest = Math.min(...rates.slice(-LAST_FOR_SLOW), ...running);
  const fastest = Math.max(0, ...rates, ...running);
  if (slowest > fastest) return middleBps <= BLIND_FACTOR * topBps && highBps * BLIND_FACTOR >= lowestBps;
  const isTooFast = middleBps > FACTOR * fastest && fastest < USEFUL_FACTOR * topBps;
  const isTooSlow = highBps * FACTOR < Math.min(slowest, topBps);
  return !isTooFast && !isTooSlow;
}

/** Rate of the bits after the first one. */
export function rateOf({ receivedBits, downloadSeconds, latencySeconds = 0 }: Download): number {
  return receivedBits / Math.max(1e-3, downloadSeconds - Math.max(0, latencySeconds));
}

/** Mean capacity at the median and at the highest quantile level. */
function expectationOf(forecast: QuantileForecast): { middleBps: number; highBps: number } {
  const { levels, stepEndsSeconds, quantilesBps } = forecast;
  const middle = nearestLevel(levels, 0.5);
  let middleBits = 0;
  let highBits = 0;
  let start = 0;
  for (let step = 0; step < stepEndsSeconds.length && (step === 0 || start < CHECKED_SECONDS); step++) {
    const end = stepEndsSeconds[step]!;
    const row = quantilesBps[step]!;
    middleBits += row[middle]! * (end - start);
    highBits += row[levels.length - 1]! * (end - start);
    start = end;
  }
  return { middleBps: middleBits / start, highBps: highBits / start };
}
