/** What happens in a run, in one sentence: the handover ahead, or the moment at which one player stalled and another did not. Pure. */

import {
  DIP,
  type HandoverMoment,
  handoverMoment,
  preparation,
  stallSecondsWithin,
} from '../../replay/evaluation/figures/handover-moment.ts';
import { bitrate, clock, decimal, percent, seconds } from '../format.ts';
import { type DemoRun, nowSecondsOf, type RunPlayer } from '../run/run.ts';

/** A stall that everybody notices, and how long before it a download counts as given up for its sake. */
const LONG_SECONDS = 0.5;
const RESCUE_SECONDS = 8;
/** A shorter stall is a picture or two. */
const LEAST_SHOWN_SECONDS = 0.02;

/** A moment of a run: who prepared for the handover, and who stalled in it. */
export interface RunMoment extends HandoverMoment {
  own: RunPlayer;
  other: RunPlayer;
}

/** The first moment of the run; undefined if there was none so far. */
function momentOf({ players }: DemoRun): RunMoment | undefined {
  for (const own of players) {
    for (const handover of own.record.handovers) {
      const isOver = ({ record }: RunPlayer) => record.nowSeconds > handover.atSeconds + DIP.afterSeconds;
      for (const other of players) {
        if (other === own || !isOver(own) || !isOver(other)) continue;
        const moment = handoverMoment(handover, own.record.played, other.record.played);
        if (moment !== undefined) return { ...moment, own, other };
      }
    }
  }
  return undefined;
}

export function storyOf(run: DemoRun): string {
  const moment = momentOf(run);
  if (moment !== undefined) return toldOf(moment);
  const rescue = rescueOf(run);
  if (rescue !== undefined) return rescue;
  const now = nowSecondsOf(run);
  for (const { title, record } of run.players) {
    const next = record.handovers.findLast(({ atSeconds }) => atSeconds > now);
    if (next === undefined) continue;
    const { atSeconds, sinceSeconds, confidence } = next;
    const { slowed } = preparation(record.played, sinceSeconds, Math.min(now, atSeconds));
    const ahead = `${title} expects a handover in ${Math.ceil(atSeconds - now)}\u00a0s (${percent(confidence)} sure)`;
    return slowed ? `${ahead} and plays ${slower(slowed.rate)} to be ready.` : `${ahead}.`;
  }
  return run.timeline.hasClock
    ? 'Every 15 s the link moves to another satellite and may fail for a moment.'
    : 'The players stream over the same link.';
}

/** The first long stall of a player that another one escaped because it gave up a download. */
function rescueOf({ players }: DemoRun): string | undefined {
  for (const { title: otherTitle, record: other } of players) {
    const stall = other.stallsSoFar.find(({ startSeconds, endSeconds }) => endSeconds - startSeconds >= LONG_SECONDS);
    if (stall === undefined) continue;
    const { startSeconds, endSeconds } = stall;
    const [from, to] = [startSeconds - RESCUE_SECONDS, endSeconds];
    for (const { title, record: own } of players) {
      if (own === other || own.nowSeconds < to || stallSecondsWithin(own.played, from, to) > 0) continue;
      const given = own.downloads.find(({ outcome, endedAtSeconds: at = 0 }) => {
        return outcome === 'abandoned' && at > from && at < to;
      });
      if (given === undefined) continue;
      return (
        `At ${clock(startSeconds)} ${otherTitle} stood still for ${seconds(endSeconds - startSeconds)}; ${title} had given ` +
        `up a download of ${bitrate(given.bitrateBps)} Mbit/s at ${clock(given.endedAtSeconds!)} and played on.`
      );
    }
  }
  return undefined;
}

function toldOf({ handover, slowed, lowered, ownSeconds, lostSeconds, own, other }: RunMoment): string {
  const before = (atSeconds: number) => `${Math.max(1, Math.round(handover.atSeconds - atSeconds))}\u00a0s before`;
  const did = slowed
    ? `played ${slower(slowed.rate)} from ${before(slowed.atSeconds)}`
    : `asked for ${bitrate(lowered!.toBps)} instead of ${bitrate(lowered!.fromBps)} Mbit/s ${before(lowered!.atSeconds)}`;
  const kept = ownSeconds < LEAST_SHOWN_SECONDS ? 'played on' : `stood still for ${seconds(ownSeconds, 2)} only`;
  return (
    `At ${clock(handover.atSeconds)} the link moved to another satellite: ${own.title} had expected it, ${did} ` +
    `and ${kept}; ${other.title} stood still for ${seconds(lostSeconds, 2)}.`
  );
}

function slower(rate: number): string {
  return `${decimal(100 * (1 - rate), 0)}\u00a0% slower`;
}
