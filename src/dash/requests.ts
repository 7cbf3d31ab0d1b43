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

/** A response that was whole after less than this came from a cache (dash.js draws the line there too). */
const CACHED_WITHIN_SECONDS = 0.01;

interface RequestEvent {
  request: FragmentRequest;
  error?: unknown;
}

/** A request that was seen to leave. */
interface Followed {
  metered: MeteredRequest | undefined;
  video: ActiveDownload | undefined;
  bytesSeen: number;
  /** Its first byte is here. */
  hasBegun: boolean;
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
    followed.set(request, { metered: meter?.requestSent(atSeconds), video, bytesSeen: 0, hasBegun: false });
    if (video !== undefined) onVideo();
  }

  /** Books the bytes that have come since the last event. */
  function progressed(request: FragmentRequest): void {
    const one = followed.get(request);
    const { bytesLoaded, bytesTotal } = request;
    // A response that is whole at its first progress event came at once: latency and throughput cannot be told apart.
    if (one === undefined || !(bytesLoaded > 0) || !(one.hasBegun || bytesLoaded !== bytesTotal)) return;
    const { session, meter } = running();
    const now = sessionSeconds(session, clockMs());
    if (!one.hasBegun && one.metered) meter?.firstByte(one.metered, now);
    one.hasBegun = true;
    // A retry of dash.js's begins again at byte 0.
    const bytes = bytesLoaded - (bytesLoaded < one.bytesSeen ? 0 : one.bytesSeen);
    if (one.metered) meter?.received(one.metered, now, bytes * 8);
    one.bytesSeen = bytesLoaded;
    if (one.video !== undefined) {
      progressDownload(one.video, bytesLoaded * 8, now);
      onProgress();
      if (bytesTotal > 0) {
        session.requestedBits += bytesTotal * 8 - one.video.sizeBits;
        one.video.sizeBits = bytesTotal * 8;
      }
    }
  }

  function ended(request: FragmentRequest, isWhole: boolean, hasFailed: boolean): void {
    const one = followed.get(request);
    if (one === undefined) return;
    if (!hasFailed) progressed(request);
    followed.delete(request);
    const { session, meter, sizes } = running();
    if (one.metered) meter?.requestEnded(one.metered, sessionSeconds(session, clockMs()));
    const { video } = one;
    if (video === undefined) return;
    const downloadSeconds = (Number(request.endDate) - Number(request.startDate)) / 1000;
    const receivedBits = (request.bytesLoaded || 0) * 8;
    if (hasFailed || (isWhole && receivedBits === 0)) dropDownload(session, video);
    else {
      const sizeBits = isWhole ? receivedBits : video.sizeBits;
      const isEvidence = downloadSeconds >= CACHED_WITHIN_SECONDS;
      endDownload(session, video, { abandoned: !isWhole, receivedBits, sizeBits, downloadSeconds, isEvidence });
      if (isWhole) sizes.learn(request.representation!.id, sizeBits, video.bitrateBps * request.duration);
    }
    onVideo();
  }

  const on = (type: string, handler: (event: RequestEvent) => void) =>
    listen<RequestEvent>(player, type, (event) => guard(() => handler(event)));
  const stops = [
    on('fragmentLoadingStarted', ({ request }) => started(request)),
    on('loadingProgress', ({ request }) => progressed(request)),
    on('fragmentLoadingCompleted', ({ request, error }) => ended(request, true, Boolean(error))),
    on('fragmentLoadingAbandoned', ({ request }) => ended(request, false, false)),
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
