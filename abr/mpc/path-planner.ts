/** The plans of MPC-D and MPC-O on one capacity path, and what a decision says about a plan. */

import type { CandidateOutlook, Decision, InFlight, PlayerState } from '../controller.ts';
import { QOE_UNIT_SECONDS, stallCost } from '../qoe/qoe.ts';
import { sizesAt, switchCosts, worthsAt } from '../state/facts.ts';
import type { CapacityPath } from './capacity-path.ts';
import { bestPlan, type Plan, type PlanOptions } from './plan-search.ts';

/** A controller's plan on one capacity path, whose second 0 is the state's now. */
export interface PathPlanner {
  /** `evidence`: the origin of the path, for the reason. */
  decide(
    state: PlayerState,
    path: CapacityPath,
    evidence: string,
  ): Pick<Decision, 'representation' | 'reason' | 'candidates'>;
  /** A running download is kept unless it is expected to stall playback for this long. */
  readonly lateSeconds: number;
  /** Returns the value of a representation from now on: of the rest of the download in flight or of its replacement. */
  reconsider(state: PlayerState, path: CapacityPath, inFlight: InFlight): (representation: number) => number;
}

/** Plans whole segments. */
export class SegmentPlanner implements PathPlanner {
  readonly lateSeconds = 0;

  /** `outlook`: whether decisions have `candidates`. */
  constructor(
    private readonly _optionsOf: (state: PlayerState, path: CapacityPath) => PlanOptions,
    private readonly _outlook: boolean,
  ) {}

  decide(state: PlayerState, path: CapacityPath, evidence: string) {
    const { representation, value, bufferValue, stallSeconds, segments } = this._plan(state, path);
    const qoe = (((value - bufferValue) * QOE_UNIT_SECONDS) / (segments * state.segmentSeconds)).toFixed(2);
    const outcome =
      value === Number.NEGATIVE_INFINITY
        ? 'no plan ever ends'
        : `QoE ${qoe} per 4 s and ${stallSeconds.toFixed(1)} s of stalls over ${segments} segments`;
    return {
      representation,
      reason: `${evidence}: ${outcome}`,
      ...(this._outlook && { candidates: outlookOnPath(state, path) }),
    };
  }

  reconsider(state: PlayerState, path: CapacityPath, { bitrateBps, sizeBits, receivedBits }: InFlight) {
    const [...sizesBits] = sizesAt(state, 0);
    sizesBits[state.ladderBps.lastIndexOf(bitrateBps)] = Math.max(0, sizeBits - receivedBits);
    const resumed = { ...state, upcomingSizesBits: [sizesBits, ...state.upcomingSizesBits.slice(1)] };
    return (first: number) => this._plan(resumed, path, { first }).value;
  }

  private _plan(state: PlayerState, path: CapacityPath, first: Pick<PlanOptions, 'first'> = {}): Plan {
    return bestPlan(state, path, { ...this._optionsOf(state, path), ...first });
  }
}

/** Expected QoE and stall of the segment to decide on, per representation, if it is requested now. */
export function outlookOnPath(state: PlayerState, path: CapacityPath): CandidateOutlook[] {
  const { ladderBps, weights, segmentSeconds } = state;
  const sizesBits = sizesAt(state, 0);
  const worths = worthsAt(state, 0);
  const switches = switchCosts(state);
  const playableSeconds = state.started ? state.bufferLevelSeconds / state.playbackRate : 0;
  return ladderBps.map((bitrateBps, r) => {
    const downloadSeconds = path.downloadSeconds(0, sizesBits[r]!);
    const isEndless = downloadSeconds === Number.POSITIVE_INFINITY;
    const expectedStallSeconds = state.isPaused ? 0 : Math.max(0, downloadSeconds - playableSeconds);
    const waiting = state.started ? stallCost(weights, expectedStallSeconds) : weights.mu * expectedStallSeconds;
    const costs = switches[r]! + waiting;
    const qoe = worths[r]! - (costs * QOE_UNIT_SECONDS) / segmentSeconds;
    return { bitrateBps, expectedQoe: isEndless ? Number.NEGATIVE_INFINITY : qoe, expectedStallSeconds };
  });
}
