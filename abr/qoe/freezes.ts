/**
 * What viewers see of stalls, the same in plans, figures and reports: a stall that begins soon after another one's end
 * goes on with its freeze, so that nothing hides in slices; the begin of a short freeze is hardly seen (quality.md).
 */

export interface Stall {
  startSeconds: number;
  endSeconds: number;
}

/** The begin of a freeze of at most this length costs nothing. Tables count longer ones. */
export const UNSEEN_SECONDS = 0.1;
/** Over this length beyond it, the cost of the begin rises to its whole price. */
export const RISE_SECONDS = 0.3;
/** Stalls with at most this between them are one freeze, also in each segment of 2 s. */
export const SAME_FREEZE_SECONDS = 2.01;

/** Share of the price of a freeze's begin, 0 to 1. */
export function beginShare(seconds: number): number {
  return Math.min(1, Math.max(0, (seconds - UNSEEN_SECONDS) / RISE_SECONDS));
}

/** Seconds of each freeze in a session's stalls, which are in order. */
export function freezesOf(stalls: readonly Stall[]): number[] {
  const freezes: number[] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const { startSeconds, endSeconds } of stalls) {
    if (startSeconds - before > SAME_FREEZE_SECONDS) freezes.push(0);
    freezes[freezes.length - 1]! += endSeconds - startSeconds;
    before = endSeconds;
  }
  return freezes;
}

/** The number of freezes that viewers see, and of shorter ones. */
export function freezeCounts(stalls: readonly Stall[]): { freezeCount: number; shortFreezeCount: number } {
  const freezes = freezesOf(stalls);
  const freezeCount = freezes.filter((seconds) => seconds >= UNSEEN_SECONDS).length;
  return { freezeCount, shortFreezeCount: freezes.length - freezeCount };
}
