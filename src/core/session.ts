/** The record of one playback session: its clock, its video downloads and its last request. */

import type { Decision, Download, InFlight, Pace } from '../../abr/controller.ts';
import type { ValidForecast } from '../../abr/forecast.ts';
import type { OffRate } from '../../abr/off-rate.ts';
import { type LiveDownload, LiveEdge } from '../../predictor/live-download.ts';
import type { Choice, SegmentRequest, Situation } from './player-port.ts';

/** Controllers look back at most 16 downloads. */
const DOWNLOADS_KEPT = 32;
/**
 * A response that was complete sooner came from a cache or over a fast link (dash.js uses the same limit): its size
 * over this time is a lower bound of the throughput.
 */
const FAST_SECONDS = 0.01;
/** One or two fast responses after slower ones came from a cache; more came over a link that became fast. */
const BOUNDS_TO_COUNT = 3;
/** After this many complete downloads, some throughput must have been measured. */
const DOWNLOADS_TO_MEASURE = 3;

/** A video download in flight. */
export interface ActiveDownload extends InFlight {
  segment: SegmentRequest;
  /** Absent on demand. */
  live?: LiveDownload | undefined;
}

export interface Session {
  /** From 1 for the player's first source. */
  readonly number: number;
  readonly videoEdge: LiveEdge;
  readonly audioEdge: LiveEdge;
  /** Time of the first media request of any type, on a monotonic clock; undefined before it. */
  startMs?: number | undefined;
  /** Media of a live stream were requested. */
  isLive: boolean;
  /** The player has had media to show. */
  started: boolean;
  /** Finished and abandoned video downloads that took `FAST_SECONDS` or more, oldest first. */
  measured: Download[];
  /** Faster ones since the last measured one, counted as `FAST_SECONDS` long: lower bounds of the throughput. */
  bounds: Download[];
  /** Complete video downloads. */
  wholeDownloads: number;
  /** The video segment requested last; undefined at the start and after a seek. */
  last?: SegmentRequest | undefined;
  /** The one before it. */
  beforeLast?: SegmentRequest | undefined;
  active?: ActiveDownload | undefined;
  /** Abandoned downloads of the segment requested last. */
  abandonments: number;
  requestedBits: number;
  wastedBits: number;
  lastDecision?: Decision;
  /** Undefined while the player sets the rate. */
  lastPace?: Pace | undefined;
  /** Undefined before the first pace. */
  offRate?: OffRate;
  /** The choice for the next segment and what it was made for, until a request begins or ends. */
  choice?: { made: Choice; situation: Situation } | undefined;
  /** The latest forecast that the controller got. */
  lastForecast?: ValidForecast | undefined;
}

export function newSession(number: number): Session {
  return {
    number,
    videoEdge: new LiveEdge(),
    audioEdge: new LiveEdge(),
    isLive: false,
    started: false,
    measured: [],
    bounds: [],
    wholeDownloads: 0,
    abandonments: 0,
    requestedBits: 0,
    wastedBits: 0,
  };
}

/** Downloads complete, but none could be measured. */
export function isBlind(session: Session): boolean {
  return session.wholeDownloads >= DOWNLOADS_TO_MEASURE && downloadsOf(session).length === 0;
}

/** Enough fast responses in a row to make earlier measurements, and forecasts from them, obsolete. */
export function isOutdated({ measured, bounds }: Session): boolean {
  return measured.length > 0 && bounds.length >= BOUNDS_TO_COUNT;
}

/** The downloads that show the throughput, oldest first: the lower bounds if none was measured or all are outdated. */
export function downloadsOf(session: Session): readonly Download[] {
  return session.measured.length === 0 || isOutdated(session) ? session.bounds : session.measured;
}

/** Seconds since the first media request; 0 before it. */
export function sessionSeconds({ startMs }: Session, clockMs: number): number {
  return startMs === undefined ? 0 : Math.max(0, clockMs - startMs) / 1000;
}

/** A video segment was requested; a request for the same segment as the last one repeats it. */
export function beginDownload(
  session: Session,
  segment: SegmentRequest,
  sent: Pick<ActiveDownload, 'sizeBits' | 'requestedAtSeconds' | 'live'>,
): ActiveDownload {
  const { last } = session;
  const { period, representation, index } = segment;
  session.choice = undefined;
  const segmentIndex = period.firstIndex + index;
  const isRepeat = last?.index === index && last.period.id === period.id;
  if (!isRepeat) session.beforeLast = last;
  session.last = segment;
  session.requestedBits += sent.sizeBits;
  if (!isRepeat) session.abandonments = 0;
  const { abandonments } = session;
  const { bitrateBps } = representation;
  session.active = { segment, segmentIndex, bitrateBps, ...sent, receivedBits: 0, abandonments };
  return session.active;
}

/** `receivedBits` have arrived in total. */
export function progressDownload(active: ActiveDownload, receivedBits: number, atSeconds: number): void {
  active.firstByteAtSeconds ??= atSeconds;
  if (receivedBits > active.receivedBits) active.lastProgressAtSeconds = atSeconds;
  active.receivedBits = receivedBits;
}

/**
 * A video download ended; `receivedBits` > 0 if it is complete. `downloadSeconds` is undefined where it does not show
 * the link's throughput.
 */
export function endDownload(
  session: Session,
  active: ActiveDownload,
  end: Pick<Download, 'abandoned' | 'receivedBits' | 'sizeBits'> & { downloadSeconds: number | undefined },
): void {
  const { segmentIndex, bitrateBps, requestedAtSeconds, live } = active;
  dropDownload(session, active);
  session.requestedBits += end.sizeBits;
  if (end.abandoned) {
    session.wastedBits += end.receivedBits;
    session.abandonments++;
  }
  const { downloadSeconds } = end;
  if (downloadSeconds === undefined) return;
  const download = { segmentIndex, bitrateBps, requestedAtSeconds, ...end, downloadSeconds };
  if (downloadSeconds >= FAST_SECONDS) {
    session.bounds = [];
    const { requestedAtSeconds: from, firstByteAtSeconds: to } =
      live?.withoutWaits(active, requestedAtSeconds) ?? active;
    remember(session.measured, to === undefined ? download : { ...download, latencySeconds: to - from });
  } else if (!end.abandoned) remember(session.bounds, { ...download, downloadSeconds: FAST_SECONDS });
}

function remember(downloads: Download[], download: Download): void {
  downloads.push(download);
  if (downloads.length > DOWNLOADS_KEPT) downloads.shift();
}

/** A video download failed: it is not recorded. */
export function dropDownload(session: Session, active: ActiveDownload): void {
  if (session.active === active) session.active = undefined;
  session.choice = undefined;
  session.requestedBits -= active.sizeBits;
}

/** A copy of the download in flight, for a controller. */
export function inFlightOf(session: Session, nowSeconds: number): InFlight | undefined {
  const { active, requestedBits, wastedBits } = session;
  if (active === undefined) return undefined;
  const { segment, live, ...inFlight } = active;
  const times = live ? live.withoutWaits(inFlight, nowSeconds) : inFlight;
  return { ...times, sessionRequestedBits: requestedBits, sessionWastedBits: wastedBits };
}
