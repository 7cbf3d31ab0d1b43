/** What is remembered of one playback session: its clock, its video downloads, what was asked for last. */

import type { Download, InFlight } from '../abr/controller.ts';

/** Controllers look back 16 downloads at most; twice that is kept. */
const DOWNLOADS_KEPT = 32;

/** A segment of video, asked for at one bitrate. */
export interface SegmentRequest {
  /** Period that the segment belongs to. */
  streamId: string;
  /** In the presentation, from 0. */
  index: number;
  bitrateBps: number;
  /** Where it ends in the presentation. */
  endSeconds: number;
}

/** A video download under way. */
export interface ActiveDownload extends InFlight {
  abandonments: number;
}

export interface Session {
  /** From 1 for the first source that the player was given. */
  readonly number: number;
  /** When the first media request left, of whatever type, on a clock that only moves forward; undefined before. */
  startMs?: number | undefined;
  /** There has been something to show. */
  started: boolean;
  /** dash.js has cut its buffer targets because the source buffer was full. */
  quotaExceeded: boolean;
  /** Finished and abandoned video downloads, oldest first. */
  downloads: Download[];
  /** The video segment that was asked for last; undefined at the start and after a seek. */
  last?: SegmentRequest | undefined;
  /** The one before it. */
  beforeLast?: SegmentRequest | undefined;
  active?: ActiveDownload | undefined;
  requestedBits: number;
  wastedBits: number;
}

export function newSession(number: number): Session {
  return { number, started: false, quotaExceeded: false, downloads: [], requestedBits: 0, wastedBits: 0 };
}

/** Seconds since the first media request; 0 before it. */
export function sessionSeconds({ startMs }: Session, clockMs: number): number {
  return startMs === undefined ? 0 : Math.max(0, clockMs - startMs) / 1000;
}

/** A video segment was asked for; the last one again, at another bitrate, counts as the same segment. */
export function beginDownload(
  session: Session,
  request: SegmentRequest & { sizeBits: number; atSeconds: number },
): ActiveDownload {
  const { sizeBits, atSeconds, ...segment } = request;
  const { streamId, index, bitrateBps } = segment;
  const { last, downloads } = session;
  const isRepeat = last?.index === index && last.streamId === streamId;
  if (!isRepeat) session.beforeLast = last;
  session.last = segment;
  session.requestedBits += sizeBits;
  let abandonments = 0;
  for (let i = downloads.length - 1; isRepeat && downloads[i]?.abandoned; i--) abandonments++;
  session.active = {
    segmentIndex: index,
    bitrateBps,
    sizeBits,
    requestedAtSeconds: atSeconds,
    receivedBits: 0,
    abandonments,
  };
  return session.active;
}

/** `receivedBits` in all have come by now. */
export function progressDownload(active: ActiveDownload, receivedBits: number, atSeconds: number): void {
  active.firstByteAtSeconds ??= atSeconds;
  if (receivedBits > active.receivedBits) active.lastProgressAtSeconds = atSeconds;
  active.receivedBits = receivedBits;
}

/**
 * A video download ended: it is remembered, but for one that came from a cache (`isEvidence` false), which says nothing of
 * the link.
 */
export function endDownload(
  session: Session,
  active: ActiveDownload,
  end: Pick<Download, 'abandoned' | 'receivedBits' | 'sizeBits' | 'downloadSeconds'> & { isEvidence: boolean },
): void {
  const { isEvidence, ...outcome } = end;
  const { segmentIndex, bitrateBps, requestedAtSeconds, firstByteAtSeconds } = active;
  dropDownload(session, active);
  session.requestedBits += end.sizeBits;
  if (end.abandoned) session.wastedBits += end.receivedBits;
  if (!isEvidence) return;
  const latency = firstByteAtSeconds === undefined ? {} : { latencySeconds: firstByteAtSeconds - requestedAtSeconds };
  session.downloads.push({ segmentIndex, bitrateBps, requestedAtSeconds, ...latency, ...outcome });
  if (session.downloads.length > DOWNLOADS_KEPT) session.downloads.shift();
}

/** A video download failed, as if it had never been. */
export function dropDownload(session: Session, active: ActiveDownload): void {
  if (session.active === active) session.active = undefined;
  session.requestedBits -= active.sizeBits;
}

/** The download under way as a controller is shown it: a copy. */
export function inFlightOf({ active, requestedBits, wastedBits }: Session): InFlight | undefined {
  return active && { ...active, sessionRequestedBits: requestedBits, sessionWastedBits: wastedBits };
}
