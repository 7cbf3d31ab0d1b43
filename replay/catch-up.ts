/** The playback-rate laws of live streams, as dash.js 5.2.1 applies them (CatchupController.js). */

/** dash.js's `liveCatchupModeDefault` or `liveCatchupModeLoLP`. */
export type CatchUp = 'default' | 'lolp';

/** dash.js's bounds of the rate for a service without bounds. */
export const DEFAULT_PLAYBACK_RATES = { min: 0.5, max: 1.5 };

/** dash.js evaluates its law at `timeupdate`, which Chromium sends every 250 ms (HTMLMediaElement, from source). */
export const CATCH_UP_PERIOD_SECONDS = 0.25;

/** If latency exceeds its target by more, dash.js seeks to the target (`liveCatchup.maxDrift`). */
export const MAX_DRIFT_SECONDS = 12;

/** dash.js's `buffer.lowLatencyStallThreshold`: the buffer counts as empty, and the default law plays at rate 1. */
const EMPTY_BUFFER_SECONDS = 0.3;

/** dash.js's `liveCatchup.playbackBufferMin`, which LoL+ uses. */
const LEAST_BUFFER_SECONDS = 0.5;

/** The steepness of all laws, per second of latency or buffer. */
const STEEPNESS = 5;

/** LoL+ plays at rate 1 within this share of the target. */
const LOLP_TOLERANCE = 0.02;

/** The smallest change of the rate that dash.js applies, as a share of the largest increase. Not for changes to 1. */
const LEAST_CHANGE_SHARE = 0.04;

export interface CatchUpSituation {
  latencySeconds: number;
  targetLatencySeconds: number;
  bufferLevelSeconds: number;
  /** Bounds of the playback rate, around 1. */
  rates: { min: number; max: number };
  presentRate: number;
}

/** The playback rate from now on: the law's rate, or the present rate if the change is too small for dash.js. */
export function catchUpRate(catchUp: CatchUp, situation: CatchUpSituation): number {
  const rate = lawRate(catchUp, situation);
  const { presentRate, rates } = situation;
  const isApplied = rate === 1 || Math.abs(presentRate - rate) >= LEAST_CHANGE_SHARE * (rates.max - 1);
  return isApplied ? rate : presentRate;
}

function lawRate(catchUp: CatchUp, situation: CatchUpSituation): number {
  const { latencySeconds, targetLatencySeconds, bufferLevelSeconds, rates } = situation;
  const lateSeconds = latencySeconds - targetLatencySeconds;
  const missingSeconds = LEAST_BUFFER_SECONDS - bufferLevelSeconds;
  if (catchUp === 'lolp') {
    if (missingSeconds > 0) return sigmoid(-missingSeconds, rates);
    if (Math.abs(lateSeconds) <= LOLP_TOLERANCE * targetLatencySeconds) return 1;
  } else if (bufferLevelSeconds <= EMPTY_BUFFER_SECONDS) return 1;
  return sigmoid(lateSeconds, rates);
}

/** Grows from the lowest rate far below 0 s to the highest rate far above. */
function sigmoid(seconds: number, { min, max }: { min: number; max: number }): number {
  const change = seconds < 0 ? 1 - min : max - 1;
  return 1 - change + (2 * change) / (1 + Math.exp(-STEEPNESS * seconds));
}
