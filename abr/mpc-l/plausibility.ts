/**
 * Whether a forecast can be squared with what the session has measured. One that is wrong by an order of magnitude (its
 * units, another link, broken arithmetic) is worse than none, however well it is formed: the plan would take the top
 * representation on a slow link, for ever.
 *
 * The test is coarse on purpose. A forecast may know of an outage that nothing has shown yet, or of its end; but not that
 * a link will be many times faster than in any of the last downloads, or slower than in all of them.
 */

import type { Download, InFlight, PlayerState } from '../controller.ts';
import type { Forecast } from '../forecast.ts';

/** An outage shows in one of the last two downloads; that it ends, in one of the last five. */
const LAST_FOR_SLOW = 2;
const LAST_FOR_FAST = 5;
/**
 * So many times slower or faster than all of them is too much. On recordings from satellite links, driving ones too, no
 * forecast of the built-in forecaster is refused.
 */
const FACTOR = 4;
/** Before anything was measured: so many times the highest bitrate, or the lowest divided by it. */
const BLIND_FACTOR = 1000;
/** More than this many times the highest bitrate is of no use, so that it does not matter whether it is there. */
const USEFUL_FACTOR = 2;
/** So much of a forecast is looked at. */
const LOOKED_AT_SECONDS = 20;
/** A download under way says how fast the link is after so long. */
const JUDGED_AFTER_SECONDS = 1;

/** Mean capacity that a forecast expects in the middle, and at its highest. */
interface Expectation {
  middleBps: number;
  highBps: number;
}

/** `inFlight`: the download under way, where there is one. A single path is the truth of a replay, however strange. */
export function isPlausible(forecast: Forecast, state: PlayerState, inFlight?: InFlight): boolean {
  if (forecast.kind === 'paths' && forecast.paths.length === 1) return true;
  const { middleBps, highBps } = expectationOf(forecast, state.nowSeconds - forecast.issuedAtMs / 1000);
  const { ladderBps, nowSeconds } = state;
  const lowestBps = ladderBps[0]!;
  const topBps = ladderBps[ladderBps.length - 1]!;
  let slowest = Number.POSITIVE_INFINITY;
  let fastest = 0;
  const count = state.downloads.length;
  for (let i = count - 1; i >= Math.max(0, count - LAST_FOR_FAST); i--) {
    const rate = rateOf(state.downloads[i]!);
    if (i >= count - LAST_FOR_SLOW) slowest = Math.min(slowest, rate);
    fastest = Math.max(fastest, rate);
  }
  if (inFlight !== undefined && nowSeconds - inFlight.requestedAtSeconds >= JUDGED_AFTER_SECONDS) {
    const rate = inFlight.receivedBits / (nowSeconds - (inFlight.firstByteAtSeconds ?? inFlight.requestedAtSeconds));
    slowest = Math.min(slowest, rate);
    fastest = Math.max(fastest, rate);
  }
  if (slowest > fastest) return middleBps <= BLIND_FACTOR * topBps && highBps * BLIND_FACTOR >= lowestBps;
  const isTooFast = middleBps > FACTOR * fastest && fastest < USEFUL_FACTOR * topBps;
  const isTooSlow = highBps * FACTOR < Math.min(slowest, topBps);
  return !isTooFast && !isTooSlow;
}

function rateOf({ receivedBits, downloadSeconds, latencySeconds = 0 }: Download): number {
  return receivedBits / Math.max(1e-3, downloadSeconds - Math.max(0, latencySeconds));
}

function expectationOf(forecast: Forecast, ageSeconds: number): Expectation {
  if (forecast.kind === 'paths') {
    const from = Math.max(0, ageSeconds);
    let middle = 0;
    let weights = 0;
    let high = 0;
    for (const { weight, path } of forecast.paths) {
      const bps = (path.cumulativeBits(from + LOOKED_AT_SECONDS) - path.cumulativeBits(from)) / LOOKED_AT_SECONDS;
      middle += weight * bps;
      weights += weight;
      high = Math.max(high, bps);
    }
    return { middleBps: middle / weights, highBps: high };
  }
  const { levels, stepEndsSeconds, quantilesBps } = forecast;
  let middleLevel = 0;
  for (let i = 1; i < levels.length; i++) {
    if (Math.abs(levels[i]! - 0.5) < Math.abs(levels[middleLevel]! - 0.5)) middleLevel = i;
  }
  let middleBits = 0;
  let highBits = 0;
  let start = 0;
  for (let step = 0; step < stepEndsSeconds.length && (step === 0 || start < LOOKED_AT_SECONDS); step++) {
    const end = stepEndsSeconds[step]!;
    const row = quantilesBps[step]!;
    middleBits += row[middleLevel]! * (end - start);
    highBits += row[levels.length - 1]! * (end - start);
    start = end;
  }
  return { middleBps: middleBits / start, highBps: highBits / start };
}
