/**
 * The playback rate of the next seconds: a dynamic programme over the live latency. Slower playback raises the latency,
 * so that more chunks come in time; it costs what a higher latency and a rate off 1 cost.
 */

import type { LiveState } from '../../controller.ts';
import { FINE_CHANGE, isNoticed } from '../../qoe/off-rate.ts';

// Local bindings, because the loops over the cells dominate the cost.
/** The plan's steps of time and of latency. */
const SLOT_SECONDS = 0.5;
const GRID_SECONDS = 0.005;
/** Latencies below and above present and target that the plan knows. */
const BELOW_SECONDS = 0.15;
const ABOVE_SECONDS = 0.6;
/**
 * LoL+'s QoE prices a second of latency, for each segment, at this share of a second of stall (dash.js,
 * LoLpQoEEvaluator.js); the plan counts the excess over the target. LoL+ has a step besides, from nearly 0 to its full
 * price at 1.1 s, which the plan ignores: it would stall more often to be above it for less long.
 */
const LATENCY_COST = 0.1;
/** Costs per second, in seconds of stall: of a second of latency below the target, of a rate off 1. */
const EARLY_COST = 0.007;
const OFF_COST = 0.2;
const FINE_COST = 2e-4;
/** The price of a rate off 1 rises without limit as the share of time off it comes to this. */
const MOST_OFF = 0.15;
/** Not after an outage, which has left playback this far above its target. */
const FAR_SECONDS = 2;
/** Another rate than the present one has to be better by this, in seconds of stall. */
const CHANGE_COST = 0.0017;
/** A chunk that needs no more than one of the last 2 s causes no stall of its own. */
const SAME_STALL_SECONDS = 2;
/** Without a target, the latency that the plan ends with lasts this long, and stalls go on as in the plan. */
const REST_SECONDS = 60;
/** After the plan, latency returns to the target at about this speed. */
const RETURN_SPEED = 0.03;

export interface LatencyProblem {
  live: Pick<LiveState, 'latencySeconds' | 'targetLatencySeconds' | 'playbackRates' | 'chunkSeconds' | 'offRateShare'>;
  /** Without a target: the plan weighs latency, at its price divided by this, against stalls. */
  aversion?: number | undefined;
  /** From now until playback needs the first chunk. */
  dueSeconds: number;
  /** `[future * chunks + chunk]`: the latency at which a chunk plays in time; empty without futures. */
  neededLatencySeconds: Float64Array;
  /** The plan ends with this many chunks, also without futures. */
  chunks: number;
  presentRate: number;
  segmentSeconds: number;
  /** Cost of a stall, besides its duration, in seconds of stall. */
  stallSeconds: number;
}

/** The rate to play at now. */
export function planRate(problem: LatencyProblem): number {
  const { live, presentRate, segmentSeconds, aversion } = problem;
  const { playbackRates, offRateShare = 0 } = live;
  // A clock that is wrong may give a latency below 0.
  const now = Math.max(0, live.latencySeconds);
  const target = aversion === undefined ? live.targetLatencySeconds : now;
  const lowest = Math.min(target, now) - BELOW_SECONDS;
  const highest = target + ABOVE_SECONDS;
  if (now >= highest) {
    const isOffAllowed = offRateShare < MOST_OFF || now >= target + FAR_SECONDS;
    return isOffAllowed ? playbackRates.max : Math.min(playbackRates.max, 1 + FINE_CHANGE);
  }
  const offCost = OFF_COST / Math.max(1e-9, 1 - offRateShare / MOST_OFF);
  const cells = Math.ceil((highest - lowest) / GRID_SECONDS) + 1;
  const stalls = stallCosts(problem, lowest, cells);
  const slots = stalls.length / cells;
  const rates = [playbackRates.min, 1 - FINE_CHANGE, 1, 1 + FINE_CHANGE, playbackRates.max].filter(
    (rate) => rate >= playbackRates.min && rate <= playbackRates.max,
  );
  const moves = rates.map((rate) => ((1 - rate) * SLOT_SECONDS) / GRID_SECONDS);
  const rateCosts = rates.map((rate) => {
    return rate === 1 ? 0 : (isNoticed(rate) ? offCost : FINE_COST) * SLOT_SECONDS;
  });
  const latencyCosts = Float64Array.from({ length: cells }, (_, cell) => {
    const latency = lowest + cell * GRID_SECONDS;
    if (aversion !== undefined) return (LATENCY_COST * latency) / aversion / segmentSeconds;
    if (latency <= target) return EARLY_COST * (target - latency);
    return (LATENCY_COST * (latency - target)) / segmentSeconds;
  });
  let values = new Float64Array(cells);
  let later = latencyCosts.map((cost, cell) => {
    if (aversion === undefined) return (cost * Math.abs(lowest + cell * GRID_SECONDS - target)) / 2 / RETURN_SPEED;
    let stalled = 0;
    for (let slot = 0; slot < slots; slot++) stalled += stalls[slot * cells + cell]!;
    return REST_SECONDS * (cost + stalled / slots / SLOT_SECONDS);
  });
  // Without futures no stall would end a drift away from the target.
  const changeCost = problem.neededLatencySeconds.length > 0 ? CHANGE_COST : 0;
  const changeCosts = rates.map((rate) => (rate === presentRate ? 0 : changeCost));
  const noCosts = rates.map(() => 0);
  let best = -1;
  const present = Math.round((now - lowest) / GRID_SECONDS);
  // Latencies per slot that playback can go from the present one.
  const reach = Math.ceil(Math.max(...moves.map(Math.abs))) + 1;
  for (let slot = slots - 1; slot >= 0; slot--) {
    const from = Math.max(0, present - slot * reach);
    const to = Math.min(cells, present + slot * reach + 1);
    const choices = { moves, rateCosts, addedCosts: slot === 0 ? changeCosts : noCosts };
    best = chooseInSlot(choices, later, values.subarray(0, to), from);
    for (let cell = from; cell < to; cell++) {
      values[cell] = values[cell]! + latencyCosts[cell]! * SLOT_SECONDS + stalls[slot * cells + cell]!;
    }
    [values, later] = [later, values];
  }
  return rates[best] ?? 1;
}

interface Choices {
  /** Per rate: the cells that it moves playback by in a slot, and two parts of its cost. */
  moves: readonly number[];
  rateCosts: readonly number[];
  addedCosts: readonly number[];
}

/**
 * Writes the least cost of a slot and those after it for each cell from `from` on; returns the index of the last cell's
 * rate, or -1. A function of its own: V8 would leave the optimised inner loop of a long function at each slot.
 */
function chooseInSlot(
  { moves, rateCosts, addedCosts }: Choices,
  later: Float64Array,
  into: Float64Array,
  from: number,
): number {
  const highest = later.length - 1.001;
  let best = -1;
  for (let cell = from; cell < into.length; cell++) {
    let least = Number.POSITIVE_INFINITY;
    for (let r = 0; r < moves.length; r++) {
      const to = Math.min(highest, Math.max(0, cell + moves[r]!));
      const low = Math.floor(to);
      const cost = rateCosts[r]! + later[low]! + (to - low) * (later[low + 1]! - later[low]!) + addedCosts[r]!;
      if (cost >= least) continue;
      least = cost;
      best = r;
    }
    into[cell] = least;
  }
  return best;
}

/** `[slot * cells + cell]`: expected cost of stalls at each latency, in seconds of stall. */
function stallCosts(problem: LatencyProblem, lowest: number, cells: number): Float64Array {
  const { neededLatencySeconds: needed, chunks, dueSeconds, stallSeconds, live } = problem;
  const { chunkSeconds } = live;
  const slots = Math.max(1, Math.ceil((dueSeconds + chunks * chunkSeconds) / SLOT_SECONDS));
  const costs = new Float64Array(slots * cells);
  const futures = needed.length / chunks;
  const reach = Math.ceil(SAME_STALL_SECONDS / chunkSeconds);
  for (let f = 0; f < futures; f++) {
    for (let i = 0; i < chunks; i++) {
      const need = needed[f * chunks + i]!;
      if (need <= lowest) continue;
      let before = lowest;
      for (let j = Math.max(0, i - reach); j < i; j++) before = Math.max(before, needed[f * chunks + j]!);
      if (need <= before) continue;
      const slot = Math.min(slots - 1, Math.floor((dueSeconds + i * chunkSeconds) / SLOT_SECONDS));
      const end = Math.min(cells, Math.ceil((need - lowest) / GRID_SECONDS));
      for (let cell = 0; cell < end; cell++) {
        const latency = Math.max(before, lowest + cell * GRID_SECONDS);
        costs[slot * cells + cell]! += (need - latency + stallSeconds) / futures;
      }
    }
  }
  return costs;
}
