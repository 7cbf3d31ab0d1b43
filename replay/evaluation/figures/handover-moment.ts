/** The moment that the demo is about; demo/README.md has the criterion. Pure. */

import type { Forecast, PlayerState } from '../../../abr/index.ts';

/** A session up to now, in seconds since its start. */
export interface MomentSession {
  stalls: readonly { startSeconds: number; endSeconds: number }[];
  /** The playback rate from each second on, in order. */
  rates: readonly { atSeconds: number; rate: number }[];
  requests: readonly { requestedAtSeconds: number; bitrateBps: number }[];
}

export interface AnnouncedHandover {
  atSeconds: number;
  sinceSeconds: number;
  /** The newest one, 0 to 1. */
  confidence: number;
}

export interface HandoverMoment {
  handover: AnnouncedHandover;
  /** The slowest playback ahead of the handover: from when on, and the media that it saved up. */
  slowed?: { atSeconds: number; rate: number; savedSeconds: number };
  /** The last step down of the bitrate ahead of it. */
  lowered?: { atSeconds: number; fromBps: number; toBps: number };
  /** How long it stalled in the dip nevertheless, and the other player. */
  ownSeconds: number;
  lostSeconds: number;
}

const AHEAD_SECONDS = 8;
export const DIP = { beforeSeconds: 0.3, afterSeconds: 2 };
/** Less media saved is no preparation, and shorter stalls hardly show. */
const LEAST_SAVED_SECONDS = 0.03;
const LEAST_LOST_SECONDS = 0.2;
const MOST_OWN_STALL_SECONDS = 0.1;
/** The other player's stall is this many times as long. */
const LEAST_LOST_RATIO = 3;

/** Undefined unless `own` prepared for the handover and played through its dip as good as whole, and `other` stalled in it. */
export function handoverMoment(
  handover: AnnouncedHandover,
  own: MomentSession,
  other: MomentSession,
): HandoverMoment | undefined {
  const { atSeconds, sinceSeconds } = handover;
  const [ownSeconds, lostSeconds] = [stallSecondsInDip(own, atSeconds), stallSecondsInDip(other, atSeconds)];
  const isLost = lostSeconds >= LEAST_LOST_SECONDS && lostSeconds >= LEAST_LOST_RATIO * ownSeconds;
  if (!isLost || ownSeconds > MOST_OWN_STALL_SECONDS) return undefined;
  const { slowed, lowered } = preparation(own, Math.max(sinceSeconds, atSeconds - AHEAD_SECONDS), atSeconds);
  if (slowed === undefined && lowered === undefined) return undefined;
  return { handover, ...(slowed && { slowed }), ...(lowered && { lowered }), ownSeconds, lostSeconds };
}

/** What a player did between two seconds to be prepared for the second one. */
export function preparation(
  { rates, requests }: MomentSession,
  fromSeconds: number,
  toSeconds: number,
): Pick<HandoverMoment, 'slowed' | 'lowered'> {
  const slow = rates.flatMap(({ atSeconds, rate }, i) => {
    const begin = Math.max(fromSeconds, atSeconds);
    const end = Math.min(toSeconds, rates[i + 1]?.atSeconds ?? toSeconds);
    return rate < 1 && rate > 0 && end > begin
      ? [{ atSeconds: begin, rate, savedSeconds: (1 - rate) * (end - begin) }]
      : [];
  });
  const savedSeconds = slow.reduce((sum, one) => sum + one.savedSeconds, 0);
  const slowest = slow.reduce((least, one) => (one.rate < least.rate ? one : least), slow[0]!);
  const lowered = requests.flatMap(({ requestedAtSeconds: atSeconds, bitrateBps: toBps }, i) => {
    const fromBps = requests[i - 1]?.bitrateBps ?? toBps;
    return atSeconds >= fromSeconds && atSeconds < toSeconds && toBps < fromBps ? [{ atSeconds, fromBps, toBps }] : [];
  });
  return {
    ...(savedSeconds >= LEAST_SAVED_SECONDS && { slowed: { ...slowest, savedSeconds } }),
    ...(lowered.length > 0 && { lowered: lowered[lowered.length - 1]! }),
  };
}

export function stallSecondsWithin({ stalls }: Pick<MomentSession, 'stalls'>, from: number, to: number): number {
  return stalls.reduce((sum, { startSeconds, endSeconds }) => {
    return sum + Math.max(0, Math.min(endSeconds, to) - Math.max(startSeconds, from));
  }, 0);
}

export function stallSecondsInDip(played: MomentSession, atSeconds: number): number {
  return stallSecondsWithin(played, atSeconds - DIP.beforeSeconds, atSeconds + DIP.afterSeconds);
}

/** Two announcements of a handover differ by less. */
const SAME_HANDOVER_SECONDS = 3;

/** Notes the next handover of a forecast in force, at a state of the plugin whose `nowSeconds` are of the session's clock. */
export function announce(
  noted: AnnouncedHandover[],
  forecast: Pick<Forecast, 'handovers'> | undefined,
  { utcMs = Number.NaN, nowSeconds }: Pick<PlayerState, 'utcMs' | 'nowSeconds'>,
): void {
  const next = forecast?.handovers.find(({ atMs }) => atMs > utcMs);
  if (next === undefined) return;
  const { confidence } = next;
  const atSeconds = nowSeconds + (next.atMs - utcMs) / 1000;
  const last = noted[noted.length - 1];
  if (last !== undefined && Math.abs(last.atSeconds - atSeconds) < SAME_HANDOVER_SECONDS) {
    Object.assign(last, { atSeconds, confidence });
  } else noted.push({ atSeconds, confidence, sinceSeconds: nowSeconds });
}
