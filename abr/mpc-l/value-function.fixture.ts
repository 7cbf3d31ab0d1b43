/**
 * The recursion of value-function.ts word for word, on exact buffer levels and without a table. Its time is exponential
 * in the number of segments, so only tests run it.
 */

import { changeCost, stallCost } from '../qoe/qoe.ts';
import type { ValueProblem } from './value-function.ts';
import { MOST_BINS } from './value-function.ts';

/** V of a buffer level, the rank of the last seen capacity and the previous representation, before stage `k`. */
export function referenceValue(problem: ValueProblem, level: number, rank: number, previous: number, k = 0): number {
  const { costs, bins, segmentSeconds } = problem;
  const buffered = Math.min(level, Math.max(1e-3, problem.bufferCapSeconds - segmentSeconds));
  const stage = problem.stages[k];
  if (stage === undefined) return problem.bufferValuePerSecond[rank]! * buffered;
  // Elapsed time = initial buffer + appended media - current buffer. A download has the capacity of its middle.
  const appended = problem.stages.slice(0, k).reduce((sum, { seconds }) => sum + seconds, problem.decidedSeconds);
  const seconds = problem.bufferLevelSeconds + appended - buffered + stage.seconds / 4;
  const rates = ratesAt(problem, seconds);
  let best = Number.NEGATIVE_INFINITY;
  const { qualities } = stage;
  for (let r = 0; r < qualities.length; r++) {
    let q = 0;
    for (let to = 0; to < bins; to++) {
      q += stage.transitions[rank * MOST_BINS + to]! * outcome(problem, k, buffered, rates, to, r);
    }
    best = Math.max(best, q - changeCost(costs, qualities[previous]!, qualities[r]!));
  }
  const outage = problem.outageCostPerSecond * stage.seconds * Math.exp(-buffered / 20);
  return stage.watchShare * (best - outage);
}

/** G: quality and stall of representation `r` at the rates of rank `to`, and V after it. The better of keep and abandon. */
function outcome(problem: ValueProblem, k: number, buffered: number, rates: number[], to: number, r: number): number {
  const { costs, latencySeconds, reactionSeconds, patienceSeconds } = problem;
  const { qualities, worths, sizesBits, qualityScale, seconds: ownSeconds } = problem.stages[k]!;
  const playable = Math.max(0, buffered - problem.stallLevelSeconds);
  const takes = (choice: number) => latencySeconds + transferSeconds(sizesBits[choice]!, rates, to);
  const arrived = (choice: number, seconds: number) =>
    qualityScale * worths[choice]! -
    stallCost(costs, Math.max(0, seconds - playable)) +
    referenceValue(problem, buffered - Math.min(seconds, playable) + ownSeconds, to, choice, k + 1);
  const seconds = takes(r);
  const abandonedAt = Math.max(reactionSeconds, playable - patienceSeconds);
  let best = arrived(r, seconds);
  if (seconds <= abandonedAt || seconds <= playable) return best;
  for (let lower = 0; lower < r; lower++) {
    const replacedAt = abandonedAt + takes(lower);
    if (replacedAt >= seconds) continue;
    best = Math.max(best, arrived(lower, replacedAt) - changeCost(costs, qualities[r]!, qualities[lower]!));
  }
  return best;
}

/** Seconds of a download at a rank that holds for 5 s. The rest runs at the median rank, if that is faster. */
function transferSeconds(bits: number, rates: readonly number[], rank: number): number {
  const rate = rates[rank]!;
  if (bits <= 5 * rate) return bits / rate;
  return 5 + (bits - 5 * rate) / Math.max(rate, rates[Math.floor(rates.length / 2)]!);
}

/** Capacity of each rank at `seconds` from now: straight lines between the middles of the steps. */
function ratesAt({ bins, stepEndsSeconds: ends, capacityBps }: ValueProblem, seconds: number): number[] {
  const middles = ends.map((end, i) => ((i === 0 ? 0 : ends[i - 1]!) + end) / 2);
  const after = middles.findIndex((middle) => middle > seconds);
  const row = (step: number) => [...capacityBps.subarray(step * bins, (step + 1) * bins)];
  if (after <= 0) return row(after === 0 ? 0 : ends.length - 1);
  const share = (seconds - middles[after - 1]!) / (middles[after]! - middles[after - 1]!);
  const later = row(after);
  return row(after - 1).map((rate, rank) => rate + share * (later[rank]! - rate));
}
