/**
 * Follows dash.js's segment requests: tells the session what was downloaded and the meter how the link did. Milliseconds,
 * bytes and dates become seconds and bits here.
 */

import type { FragmentRequest } from 'dashjs';
import type { MeteredRequest, ObservationMeter } from '../../predictor/observation-meter.ts';
import type { SegmentSizes } from '../segment-sizes.ts';
import {
  type ActiveDownload,
  beginDownload,
  dropDownload,
  endDownload,
  progressDownload,
  type Session,
  sessionSeconds,
} from '../session.ts';
import { type DashPlayer, listen, periodOf, rangeBits } from './player.ts';
import { firstIndex } from './player-state.ts';

interface RequestEvent {
  request: FragmentRequest;
  /** The body, or with low latency the part of it that has come since the last event. */
  response?: { byteLength: number } | null;
  error?: unknown;
}

/** A request that was seen to leave. */
interface Followed {
  metered: MeteredRequest | undefined;
  video: ActiveDownload | undefined;
  /** What the controller and the size of the body know of. */
  bytesSeen: number;
  /** What the meter knows of; less at the first bytes, which may turn out to be all. */
  bytesMetered: number;
  /** Bytes that were handed over in parts. */
  bytesInParts: number;
}

export interface RequestFollowerOptions {
  player: DashPlayer;
  /** What the running session consists of; asked at each event. */
  running: () => { session: Session; meter: ObservationMeter | undefined; sizes: SegmentSizes };
  clockMs: () => number;
  /** Called when the first media request of a session was sent: the session's second 0. */
  onStart: () => void;
  /** Called when a video segment was asked for, and when one has ended in whatever way. */
  onVideo: () => void;
  /** Called when bytes of a video segment have come. */
  onProgress: () => void;
  /** Runs a handler so that nothing of it reaches dash.js. */
  guard: (handler: () => void) => void;
}

export interface RequestFollower {
  /** The video request under way. */
  activeVideo(): FragmentRequest | undefined;
  /** Forgets the requests of a session that is over. */
  forget(): void;
  stop(): void;
}

export function followRequests(options: RequestFollowerOptions): RequestFollower {
  const { player, running, clockMs, onStart, onVideo, onProgress, guard } = options;
  const followed = new Map<FragmentRequest, Followed>();

  function started(request: FragmentRequest): void {
    const { type, mediaType, representation } = request;
    const isMedia = type === 'MediaSegment';
    if (!(isMedia || type === 'InitializationSegment') || !(mediaType === 'video' || mediaType === 'audio')) return;
    const nowMs = clockMs();
    if (running().session.startMs === undefined) {
      if (!isMedia) return;
      running().session.startMs = nowMs;
      onStart();
    }
    const { session, meter, sizes } = running();
    const atSeconds = sessionSeconds(session, nowMs);
    let video: ActiveDownload | undefined;
    if (isMedia && mediaType === 'video') {
      const streamInfo = periodOf(request);
      const first = firstIndex(streamInfo, representation!);
      const segment = { index: first + request.index, bitrateBps: representation!.bandwidth };
      const sizeBits = sizes.sizeBits({
        ...segment,
        representationId: representation!.id,
        period: { first, count: representation!.mediaFinishedInformation?.numberOfSegments },
        segmentSeconds: request.duration,
        indexedBits: rangeBits(request.range),
      });
      const endSeconds = request.startTime + request.duration;
      video = beginDownload(session, { ...segment, streamId: String(streamInfo.id), endSeconds, sizeBits, atSeconds });
    }
    const metered = meter?.requestSent(atSeconds);
    followed.set(request, { metered, video, bytesSeen: 0, bytesMetered: 0, bytesInParts: 0 });
    if (video !== undefined) onVideo();
  }

  /** Books the bytes that have come since the last event. */
  function progressed(request: FragmentRequest, bodyBytes = 0): void {
    const one = followed.get(request);
    if (one === undefined) return;
    const bytes = Math.max(bytesLoaded(request), one.bytesInParts, bodyBytes);
    if (bytes === 0) return;
    const { session, meter } = running();
    const now = sessionSeconds(session, clockMs());
    // A retry of dash.js's begins again at byte 0.
    if (bytes < one.bytesSeen) one.bytesMetered = 0;
    if (one.bytesSeen === 0) {
      if (one.metered) meter?.firstByte(one.metered, now);
    } else if (bytes !== one.bytesSeen) {
      if (one.metered) meter?.received(one.metered, now, (bytes - one.bytesMetered) * 8);
      one.bytesMetered = bytes;
    }
    one.bytesSeen = bytes;
    if (one.video !== undefined) {
      progressDownload(one.video, bytes * 8, now);
      onProgress();
      const { bytesTotal } = request;
      if (bytesTotal > 0) {
        session.requestedBits += bytesTotal * 8 - one.video.sizeBits;
        one.video.sizeBits = bytesTotal * 8;
      }
    }
  }

  function ended({ request, response, error }: RequestEvent, isWhole: boolean): void {
    const one = followed.get(request);
    if (one === undefined) return;
    if (!error) progressed(request, isWhole ? response?.byteLength : 0);
    followed.delete(request);
    const { session, meter, sizes } = running();
    const { metered, video, bytesSeen, bytesMetered } = one;
    const cameAtOnce = isWhole && bytesMetered === 0;
    const now = sessionSeconds(session, clockMs());
    if (metered !== undefined) {
      // Given up after its first bytes.
      if (!isWhole && bytesSeen > bytesMetered) meter?.received(metered, now, (bytesSeen - bytesMetered) * 8);
      meter?.requestEnded(metered, now, { cameAtOnce });
    }
    if (video === undefined) return;
    if (isWhole && !error) session.wholeDownloads++;
    const receivedBits = bytesSeen * 8;
    if (error || (isWhole && receivedBits === 0)) dropDownload(session, video);
    else {
      const downloadSeconds = (Number(request.endDate) - Number(request.startDate)) / 1000;
      const sizeBits = isWhole ? receivedBits : video.sizeBits;
      if (cameAtOnce) video.firstByteAtSeconds = undefined;
      endDownload(session, video, { abandoned: !isWhole, receivedBits, sizeBits, downloadSeconds });
      if (isWhole) sizes.learn(request.representation!.id, sizeBits, video.bitrateBps * request.duration);
    }
    onVideo();
  }

  /** Low latency: a part of the body was handed over. */
  function partCame({ request, response }: RequestEvent): void {
    const one = followed.get(request);
    if (one === undefined) return;
    one.bytesInParts += response?.byteLength ?? 0;
    progressed(request);
  }

  const on = (type: string, handler: (event: RequestEvent) => void) =>
    listen<RequestEvent>(player, type, (event) => guard(() => handler(event)));
  const stops = [
    on('fragmentLoadingStarted', ({ request }) => started(request)),
    on('loadingProgress', ({ request }) => progressed(request)),
    on('fragmentLoadingProgress', partCame),
    on('fragmentLoadingCompleted', (event) => ended(event, true)),
    on('fragmentLoadingAbandoned', (event) => ended(event, false)),
  ];
  return {
    activeVideo() {
      const { active } = running().session;
      for (const [request, { video }] of followed) if (video !== undefined && video === active) return request;
      return undefined;
    },
    forget: () => followed.clear(),
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/**
 * Bytes of the body so far. Where the response has no length (chunked, compressed, HTTP/1.0), dash.js leaves `bytesLoaded`
 * empty, but counts in its traces.
 */
function bytesLoaded({ bytesLoaded, traces }: FragmentRequest): number {
  if (bytesLoaded > 0) return bytesLoaded;
  let bytes = 0;
  for (const { b } of traces ?? []) bytes += b?.[0] ?? 0;
  return bytes;
}
