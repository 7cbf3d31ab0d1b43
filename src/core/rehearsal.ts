/** A plan before the session: the first one of a page takes many times as long as later ones, until it is compiled. */

import type { Controller, PlayerState } from '../../abr/controller.ts';
import type { Forecaster } from '../../abr/forecast.ts';
import { bitrateWeights } from '../../abr/qoe.ts';

const LADDER_BPS = [1e6, 2e6, 4e6, 8e6];
const SEGMENT_SECONDS = 4;

/** After the first segment. */
const STATE: PlayerState = {
  nowSeconds: 1,
  started: true,
  playbackRate: 1,
  isPaused: false,
  bufferLevelSeconds: SEGMENT_SECONDS,
  bufferCapSeconds: 16,
  segmentSeconds: SEGMENT_SECONDS,
  segmentIndex: 1,
  segmentsRemaining: Number.POSITIVE_INFINITY,
  ladderBps: LADDER_BPS,
  upcomingSizesBits: Array.from({ length: 10 }, () => LADDER_BPS.map((bps) => bps * SEGMENT_SECONDS)),
  previousBitrateBps: 1e6,
  downloads: [],
  weights: bitrateWeights('linear', LADDER_BPS),
};

/** Lets a controller decide with a forecast; neither may be a session's own. */
export function rehearse(controller: Controller, forecaster: Forecaster): void {
  forecaster.start({ seed: 1 });
  forecaster.observe({ kind: 'throughput', startSeconds: 0, endSeconds: 1, bits: 4e6 });
  controller.decide(STATE, forecaster.latest(STATE.nowSeconds));
}
