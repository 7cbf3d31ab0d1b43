/** The handovers that a controller expects, and its preparations for them. Pure. */

import type { Forecast, PlayerState } from '../../abr/index.ts';
import type { PositionRecord, RequestNote } from '../../replay/browser/record/session-record.ts';

export interface ExpectedHandover {
  atSeconds: number;
  /** When the controller first expected the handover. */
  sinceSeconds: number;
  /** The newest confidence, 0 to 1. */
  confidence: number;
}

export interface Preparation {
  /** The lowest playback rate before the handover. */
  slowedTo?: number;
  /** The last step down of the bitrate before the handover. */
  lowered?: { fromBps: number; toBps: number };
}

/** Preparations begin at most this long before a handover. */
const AHEAD_SECONDS = 8;
/** If slow playback saves less media, it is no preparation. */
const LEAST_SAVED_SECONDS = 0.03;
/** If two expected times differ by less, they are of the same handover. */
const SAME_HANDOVER_SECONDS = 3;

/** Notes the next handover of a forecast in force. `nowSeconds` of the plugin's state is on the session's clock. */
export function expectHandover(
  noted: ExpectedHandover[],
  forecast: Pick<Forecast, 'handovers'> | undefined,
  { utcMs = Number.NaN, nowSeconds }: Pick<PlayerState, 'utcMs' | 'nowSeconds'>,
): void {
  const next = forecast?.handovers.find(({ atMs }) => atMs > utcMs);
  if (next === undefined) return;
  const { confidence } = next;
  const atSeconds = nowSeconds + (next.atMs - utcMs) / 1000;
  const last = noted.at(-1);
  if (last && Math.abs(last.atSeconds - atSeconds) < SAME_HANDOVER_SECONDS) {
    Object.assign(last, { atSeconds, confidence });
  } else noted.push({ atSeconds, confidence, sinceSeconds: nowSeconds });
}

type Requested = Pick<RequestNote, 'requestedAtSeconds' | 'bitrateBps'>;

/** Returns what a player did in the last seconds before a handover, since it expected that handover. */
export function preparationFor(
  { atSeconds: end, sinceSeconds }: ExpectedHandover,
  { positions, downloads }: { positions: readonly PositionRecord[]; downloads: readonly Requested[] },
): Preparation {
  const begin = Math.max(sinceSeconds, end - AHEAD_SECONDS);
  const slow = positions.flatMap(({ atSeconds, rate }, i) => {
    const seconds = Math.min(end, positions[i + 1]?.atSeconds ?? end) - Math.max(begin, atSeconds);
    return rate < 1 && rate > 0 && seconds > 0 ? [{ rate, savedSeconds: (1 - rate) * seconds }] : [];
  });
  const isSlowed = slow.reduce((sum, { savedSeconds }) => sum + savedSeconds, 0) >= LEAST_SAVED_SECONDS;
  const lowered = downloads.flatMap(({ requestedAtSeconds, bitrateBps: toBps }, i) => {
    const fromBps = downloads[i - 1]?.bitrateBps ?? toBps;
    const isAhead = requestedAtSeconds >= begin && requestedAtSeconds < end;
    return isAhead && toBps < fromBps ? [{ fromBps, toBps }] : [];
  });
  return {
    ...(isSlowed && { slowedTo: Math.min(...slow.map(({ rate }) => rate)) }),
    ...(lowered.length > 0 && { lowered: lowered.at(-1)! }),
  };
}
