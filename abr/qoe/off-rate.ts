/** How much a live stream has recently played at rates that viewers can notice, for the plugin and the simulator alike. */

/** The least change of the playback rate that counts as noticed, and one that does not. */
const NOTICED_CHANGE = 0.01;
export const FINE_CHANGE = 0.0099;
/** Time constant of the share. */
const SHARE_SECONDS = 60;
/** A gap between two counts is a pause, or another's rate: at most this much of it counts. */
const LONGEST_STEP_SECONDS = 1;

export interface OffRate {
  /** `LiveState.offRateShare`. */
  share: number;
  /** The last count, on the session's clock. */
  atSeconds: number;
}

export function isNoticed(rate: number): boolean {
  return Math.abs(rate - 1) >= NOTICED_CHANGE;
}

/** Counts the time since the last count, at the present rate; before each `pace`. Default: nothing is counted yet. */
export function countRate(
  nowSeconds: number,
  playbackRate: number,
  { share, atSeconds }: OffRate = { share: 0, atSeconds: nowSeconds },
): OffRate {
  const seconds = Math.min(LONGEST_STEP_SECONDS, nowSeconds - atSeconds);
  const off = isNoticed(playbackRate) ? 1 : 0;
  return { share: share + (off - share) * (seconds / SHARE_SECONDS), atSeconds: nowSeconds };
}
