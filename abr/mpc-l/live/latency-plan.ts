/**
 * The playback rate of the next seconds. If no future stalls, a rule holds the target. Otherwise a dynamic programme
 * over the live latency decides: slower playback raises the latency, so that more chunks come in time, but a higher
 * latency and a rate other than 1 have costs.
 */

import type { LiveState } from '../../controller.ts';
import { FINE_CHANGE, isNoticed } from '../../qoe/off-rate.ts';
import { RISE_SECONDS, SAME_FREEZE_SECONDS, UNSEEN_SECONDS } from '../../qoe/qoe.ts';

/** The plan's steps of time and of latency. */
const SLOT_SECONDS = 0.5;
const GRID_SECONDS = 0.04;
/** The plan's latencies reach this far below and above the present latency and the target. */
const BELOW_SECONDS = 0.15;
const ABOVE_SECONDS = 0.6;
/**
 * Per segment, LoL+'s QoE prices a second of latency at this share of a second of stall (dash.js, LoLpQoEEvaluator.js).
 * The plan counts the excess over the target and ignores LoL+'s step at 1.1 s, because it would stall more often to be
 * above the step for less long.
 */
const LATENCY_COST = 0.1;
/** Costs per second, in seconds of stall: a second of latency below the target, a noticed rate, an unnoticed rate. */
const EARLY_COST = 0.007;
const OFF_COST = 0.2;
const FINE_COST = 2e-4;
/** The cost of a noticed rate grows without bound as its share of the last minute approaches this. */
const MOST_OFF = 0.15;
/** After an outage playback is this far above the target, and that limit does not count. */
const FAR_SECONDS = 2;
/** After a join or a seek playback is this far below the target: it is slow, because the publisher wants the buffer. */
const FAR_BELOW_SECONDS = 0.15;
/** Playback at rate 1 and this near to the target stays at rate 1. */
const NEAR_SECONDS = 0.05;
/** A rate other than 1 and the present rate has to be better by this, in seconds of stall. */
const CHANGE_COST = 0.0017;
/** After the plan, latency returns to the target at about this speed. */
const RETURN_SPEED = 0.03;

export interface LatencyProblem {
  live: Pick<LiveState, 'latencySeconds' | 'targetLatencySeconds' | 'playbackRates' | 'chunkSeconds' | 'offRateShare'>;
  /** Seconds until playback needs the first chunk. */
  dueSeconds: number;
  /** `[future * chunks + chunk]`: the latency at which a chunk plays in time; empty without futures. */
  neededLatencySeconds: Float64Array;
  /** Chunks of the plan, also without futures. */
  chunks: number;
  presentRate: number;
  segmentSeconds: number;
  /** Cost of a freeze's begin (abr/qoe/qoe.ts), in seconds of stall. */
  beginSeconds: number;
}

/** The plan's latencies: `lowestSeconds + cell * GRID_SECONDS`. */
interface Grid {
  nowSeconds: number;
  targetSeconds: number;
  lowestSeconds: number;
  cells: number;
}

/** The rate to play at now. */
export function planRate(problem: LatencyProblem): number {
  const {
    latencySeconds: nowSeconds,
    targetLatencySeconds: targetSeconds,
    playbackRates,
    offRateShare = 0,
  } = problem.live;
  const lateSeconds = nowSeconds - targetSeconds;
  if (lateSeconds < -FAR_BELOW_SECONDS) return playbackRates.min;
  const highestSeconds = targetSeconds + ABOVE_SECONDS;
  if (nowSeconds >= highestSeconds) {
    const isOffAllowed = offRateShare < MOST_OFF || lateSeconds >= FAR_SECONDS;
    return isOffAllowed ? playbackRates.max : Math.min(playbackRates.max, 1 + FINE_CHANGE);
  }
  const lowestSeconds = Math.min(targetSeconds, nowSeconds) - BELOW_SECONDS;
  const cells = Math.ceil((highestSeconds - lowestSeconds) / GRID_SECONDS) + 1;
  const grid = { nowSeconds, targetSeconds, lowestSeconds, cells };
  const stalls = stallCosts(problem, grid);
  const returning = rateToTarget(lateSeconds, problem);
  if (stalls === undefined) return returning;
  const cheapest = cheapestRate(problem, grid, stalls);
  return lateSeconds < 0 ? Math.min(cheapest, returning) : cheapest;
}

/** 1 at the target and until playback has left it. Then the rate next to 1 that leads all the way back. */
function rateToTarget(lateSeconds: number, { presentRate, live: { playbackRates } }: LatencyProblem): number {
  const isReturning = (presentRate - 1) * lateSeconds > 0;
  if (Math.abs(lateSeconds) <= NEAR_SECONDS && !isReturning) return 1;
  return lateSeconds > 0 ? Math.min(playbackRates.max, 1 + FINE_CHANGE) : Math.max(playbackRates.min, 1 - FINE_CHANGE);
}

/** The first rate of the cheapest plan. */
function cheapestRate(problem: LatencyProblem, grid: Grid, stalls: Float64Array): number {
  const { live, presentRate, segmentSeconds } = problem;
  const { playbackRates, offRateShare = 0 } = live;
  const { nowSeconds, targetSeconds, lowestSeconds, cells } = grid;
  const slots = slotsOf(problem);
  const offCost = OFF_COST / Math.max(1e-9, 1 - offRateShare / MOST_OFF);
  const rates = [playbackRates.min, 1 - FINE_CHANGE, 1, 1 + FINE_CHANGE, playbackRates.max].filter(
    (rate) => rate >= playbackRates.min && rate <= playbackRates.max,
  );
  const moves = rates.map((rate) => ((1 - rate) * SLOT_SECONDS) / GRID_SECONDS);
  const rateCosts = rates.map((rate) => {
    return rate === 1 ? 0 : (isNoticed(rate) ? offCost : FINE_COST) * SLOT_SECONDS;
  });
  const latencyCosts = new Float64Array(cells);
  let later = new Float64Array(cells);
  for (let cell = 0; cell < cells; cell++) {
    const lateSeconds = lowestSeconds + cell * GRID_SECONDS - targetSeconds;
    const cost = lateSeconds <= 0 ? -EARLY_COST * lateSeconds : (LATENCY_COST * lateSeconds) / segmentSeconds;
    latencyCosts[cell] = cost * SLOT_SECONDS;
    later[cell] = (cost * Math.abs(lateSeconds)) / 2 / RETURN_SPEED;
  }
  const changeCost = rates.includes(presentRate) ? CHANGE_COST : 0;
  const firstCosts = rates.map((rate, r) => rateCosts[r]! + (rate === presentRate || rate === 1 ? 0 : changeCost));
  let values = new Float64Array(cells);
  let best = -1;
  const present = Math.round((nowSeconds - lowestSeconds) / GRID_SECONDS);
  for (let slot = slots - 1; slot >= 0; slot--) {
    best =
      slot > 0
        ? chooseInSlot(moves, rateCosts, later, values)
        : chooseInSlot(moves, firstCosts, later, values.subarray(0, present + 1));
    for (let cell = 0; cell < cells; cell++) {
      values[cell] = values[cell]! + latencyCosts[cell]! + stalls[slot * cells + cell]!;
    }
    [values, later] = [later, values];
  }
  return rates[best] || 1;
}

/**
 * Writes the least cost from a slot on into each cell; returns the index of the last cell's rate, or -1. `moves`,
 * `costs`: per rate, the cells that it moves playback by in a slot, and its cost. In a long function V8 would leave the
 * optimised inner loop at each slot.
 */
function chooseInSlot(
  moves: readonly number[],
  costs: readonly number[],
  later: Float64Array,
  into: Float64Array,
): number {
  const last = later.length - 2;
  let best = -1;
  for (let r = 0; r < moves.length; r++) {
    const whole = Math.floor(moves[r]!);
    const share = moves[r]! - whole;
    const added = costs[r]!;
    for (let cell = 0; cell < into.length; cell++) {
      const to = cell + whole;
      const low = to < 0 ? 0 : Math.min(to, last);
      const cost = added + later[low]! + (to < 0 ? 0 : to > last ? 1 : share) * (later[low + 1]! - later[low]!);
      if (r > 0 && cost >= into[cell]!) continue;
      into[cell] = cost;
      if (cell === into.length - 1) best = r;
    }
  }
  return best;
}

const slotsOf = ({ dueSeconds, chunks, live: { chunkSeconds } }: LatencyProblem) =>
  Math.max(1, Math.ceil((dueSeconds + chunks * chunkSeconds) / SLOT_SECONDS));

/** `[slot * cells + cell]`: expected cost of stalls, in seconds of stall; undefined if the lowest latency suffices. */
function stallCosts(problem: LatencyProblem, { lowestSeconds, cells }: Grid): Float64Array | undefined {
  const { neededLatencySeconds: needed, chunks, dueSeconds, beginSeconds, live } = problem;
  const { chunkSeconds } = live;
  const slots = slotsOf(problem);
  const reach = Math.floor(SAME_FREEZE_SECONDS / chunkSeconds);
  const highestCell = (latency: number) => Math.min(cells, Math.ceil((latency - lowestSeconds) / GRID_SECONDS)) - 1;
  // A stall costs `sum - count * latency` in its highest cell and all lower cells. Sums and counts add up downwards.
  let sums: Float64Array | undefined;
  let counts = new Float64Array(0);
  const add = (row: number, latency: number, count: number) => {
    const cell = highestCell(latency);
    if (cell < 0) return;
    sums![row + cell] = sums![row + cell]! + count * latency;
    counts[row + cell] = counts[row + cell]! + count;
  };
  const rise = beginSeconds / RISE_SECONDS;
  /** Adds the cost of a freeze from each lower latency up to `latency`, or its negative. */
  const addFreeze = (row: number, latency: number, sign: 1 | -1) => {
    add(row, latency, sign);
    add(row, latency - UNSEEN_SECONDS, sign * rise);
    add(row, latency - UNSEEN_SECONDS - RISE_SECONDS, -sign * rise);
  };
  for (let i = 0; i < needed.length; i++) {
    const need = needed[i]!;
    if (!(need > lowestSeconds)) continue;
    const chunk = i % chunks;
    const since = i - Math.min(chunk, reach);
    let before = lowestSeconds;
    for (let j = i - 1; j >= since && before < need; j--) before = Math.max(before, needed[j]!);
    if (need <= before) continue;
    if (sums === undefined) [sums, counts] = [new Float64Array(slots * cells), new Float64Array(slots * cells)];
    const row = Math.min(slots - 1, Math.floor((dueSeconds + chunk * chunkSeconds) / SLOT_SECONDS)) * cells;
    addFreeze(row, need, 1);
    // Below the latency of an earlier chunk, this chunk makes that chunk's freeze longer.
    if (before > lowestSeconds) addFreeze(row, before, -1);
  }
  const futures = needed.length / chunks;
  for (let row = 0; sums && row < sums.length; row += cells) {
    let [sum, count] = [0, 0];
    for (let cell = cells - 1; cell >= 0; cell--) {
      sum += sums[row + cell]!;
      count += counts[row + cell]!;
      sums[row + cell] = (sum - count * (lowestSeconds + cell * GRID_SECONDS)) / futures;
    }
  }
  return sums;
}
