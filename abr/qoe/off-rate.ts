/** The recent share of time at playback rates that viewers can notice, for the plugin and the simulator. */

/** The least noticed change of the playback rate, and the greatest unnoticed change. */
const NOTICED_CHANGE = 0.01;
export const FINE_CHANGE = 0.0099;
/** Time constant of the share. */
const SHARE_SECONDS = 60;
/** Longest counted gap between two counts. In a longer gap playback was paused, or the player set the rate. */
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

/** Counts the time since the last count at the present rate, before each `pace`. Default: the first count. */
export function countRate(
  nowSeconds: number,
  playbackRate: number,
  { share, atSeconds }: OffRate = { share: 0, atSeconds: nowSeconds },
): OffRate {
  const seconds = Math.min(LONGEST_STEP_SECONDS, nowSeconds - atSeconds);
  const off = isNoticed(playbackRate) ? 1 : 0;
  return { share: share + (off - share) * (seconds / SHARE_SECONDS), atSeconds: nowSeconds };
}
