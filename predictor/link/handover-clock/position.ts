/** The position in the epoch from the weights of its cells. */

import { EPOCH_SECONDS } from '../../../abr/forecast.ts';
import { CELLS } from './state-filters.ts';
import { greatest, LEAST_SHARE, modulo, sum } from './weights.ts';

/** Spread of a dip in its slot and around its handover. */
const LEAST_SPREAD_SECONDS = 0.05;
/** Half the width (2 s) of the window around the best position for the mean position. */
const WINDOW_CELLS = 20;
/** Positions within 1.3 s support each other in the search for the best one. */
const NEAR_CELLS = 12;
export const CELL_SECONDS = EPOCH_SECONDS / CELLS;

export interface HandoverEstimate {
  /** The next three, ascending; empty unless `isLeo`. `confidence`: probability within a second of the time, 0 to 1. */
  nextHandovers: { atSeconds: number; confidence: number }[];
  /** Handovers are at this second of the session's clock (0 to below 15) plus multiples of 15. */
  phaseSeconds: number;
  /** Expected root mean square error of `phaseSeconds`; 4.3 without evidence. */
  uncertaintySeconds: number;
  /** The accuracy of an announced handover: the same for positions within a second of `phaseSeconds`. */
  spreadSeconds: number;
  /** Probability of a LEO link with 15 s epochs, 0 to 1. */
  leoProbability: number;
  /** Whether the evidence suffices to plan with handovers. */
  isLeo: boolean;
}

export type Position = Pick<HandoverEstimate, 'phaseSeconds' | 'uncertaintySeconds' | 'spreadSeconds'> & {
  /** Probability of a handover within a second of `phaseSeconds`. */
  within: number;
};

/** The mean position around the cell with the most weight near it, and the spread of the weights about it. */
export function positionIn(epochs: Float64Array): Position {
  /** Probabilities with `WINDOW_CELLS` more cells at both ends, without the share that `normalise` has added. */
  const weights = new Float64Array(CELLS + 2 * WINDOW_CELLS);
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
  // A position just below 0 may be rounded to 15.
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
