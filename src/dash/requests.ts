/**
 * Follows dash.js's segment requests: tells the session what was downloaded and the meter how the link did. Milliseconds,
 * bytes and dates become seconds and bits here.
 */

import type { FragmentRequest } from 'dashjs';
import type { ObservationMeter } from '../../predictor/observation-meter.ts';
import type { SegmentSizes } from '../segment-sizes.ts';
import type { ActiveDownload, Session } from '../session.ts';
import { type DashPlayer, listen, rangeBits } from './player.ts';
import { firstIndex } from './player-state.ts';

/** A response that was whole after less than this came from a cache (dash.js draws the line there too). */
const CACHED_WITHIN_SECONDS = 0.01;

const MEDIA = 'MediaSegment';
const INIT = 'InitializationSegment';

interface RequestEvent {
  request: FragmentRequest;
  error?: unknown;
}

/** A request that this attachment saw leave. */
interface Followed {
  sentMs: number;
  video: ActiveDownload | undefined;
  firstByteSeen: boolean;
  bytesSeen: number;
  lastSeenMs: number;
}

export interface RequestFollowerContext {
  session: Session;
  meter: ObservationMeter;
  sizes: SegmentSizes;
}

export interface RequestFollowerOptions {
  player: DashPlayer;
  /** Of the running session; asked at each event. */
  context: () => RequestFollowerContext;
  clockMs: () => number;
  /** Called after a video segment was asked for, and after one has ended in whatever way. */
  onVideoRequested: () => void;
  onVideoEnded: () => void;
  /** Runs a handler so that nothing of it reaches dash.js. */
  guard: (handler: () => void) => void;
}

export class RequestFollower {
  readonly #options: RequestFollowerOptions;
  readonly #followed = new Map<FragmentRequest, Followed>();
  readonly #stops: (() => void)[];

  constructor(options: RequestFollowerOptions) {
    this.#options = options;
    const on = (type: string, handler: (event: RequestEvent) => void) =>
      listen<RequestEvent>(options.player, type, (event) => options.guard(() => handler(event)));
    this.#stops = [
      on('fragmentLoadingStarted', (event) => this.#started(event.request)),
      on('loadingProgress', (event) => this.#progressed(event.request)),
      on('fragmentLoadingCompleted', (event) => this.#ended(event.request, event.error ? 'failed' : 'whole')),
      on('fragmentLoadingAbandoned', (event) => this.#ended(event.request, 'abandoned')),
    ];
  }

  /** The video request under way that the session knows of. */
  get activeVideo(): FragmentRequest | undefined {
    const { active } = this.#options.context().session;
    if (active === undefined) return undefined;
    for (const [request, followed] of this.#followed) if (followed.video === active) return request;
    return undefined;
  }

  /** Forgets the requests of a session that is over. */
  forget(): void {
    this.#followed.clear();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.forget();
  }

  #started(request: FragmentRequest): void {
    if (request.type !== MEDIA && request.type !== INIT) return;
    if (request.mediaType !== 'video' && request.mediaType !== 'audio') return;
    const { session, meter, sizes } = this.#options.context();
    const nowMs = this.#options.clockMs();
    if (request.type === MEDIA) session.mediaRequested(nowMs);
    if (!session.isRunning) return;
    let video: ActiveDownload | undefined;
    const { representation } = request;
    if (request.type === MEDIA && request.mediaType === 'video' && representation !== null) {
      const bitrateBps = representation.bandwidth;
      const streamInfo = representation.mediaInfo?.streamInfo;
      if (!streamInfo) throw new Error('a request names no period');
      const first = firstIndex(streamInfo, representation);
      const index = first + request.index;
      const sizeBits = sizes.sizeBits({
        representationId: representation.id,
        index,
        period: { first, count: representation.mediaFinishedInformation?.numberOfSegments },
        bitrateBps,
        segmentSeconds: request.duration,
        indexedBits: rangeBits(request.range),
      });
      video = session.videoRequested({ streamId: String(streamInfo.id), index, bitrateBps, sizeBits }, nowMs);
    }
    this.#followed.set(request, { sentMs: nowMs, video, firstByteSeen: false, bytesSeen: 0, lastSeenMs: nowMs });
    meter.requestSent(session.seconds(nowMs));
    if (video !== undefined) this.#options.onVideoRequested();
  }

  #progressed(request: FragmentRequest): void {
    const followed = this.#followed.get(request);
    if (followed === undefined) return;
    // A response that is whole at its first progress event came at once: latency and throughput cannot be told apart.
    if (!followed.firstByteSeen && request.bytesLoaded === request.bytesTotal) return;
    this.#account(followed, request.bytesLoaded);
    if (followed.video !== undefined && request.bytesTotal > 0) followed.video.sizeBits = request.bytesTotal * 8;
  }

  /** Books the bytes that have come since the last event. */
  #account(followed: Followed, bytesLoaded: number): void {
    if (!(bytesLoaded > 0)) return;
    const { session, meter } = this.#options.context();
    const nowMs = this.#options.clockMs();
    const now = session.seconds(nowMs);
    // A retry of dash.js's begins again at byte 0.
    if (bytesLoaded < followed.bytesSeen) followed.bytesSeen = 0;
    if (!followed.firstByteSeen) {
      followed.firstByteSeen = true;
      followed.lastSeenMs = nowMs;
      meter.firstByte(now, (nowMs - followed.sentMs) / 1000);
    }
    meter.received(session.seconds(followed.lastSeenMs), now, (bytesLoaded - followed.bytesSeen) * 8);
    followed.bytesSeen = bytesLoaded;
    followed.lastSeenMs = nowMs;
    if (followed.video !== undefined) session.videoProgressed(followed.video, bytesLoaded * 8, nowMs);
  }

  #ended(request: FragmentRequest, how: 'whole' | 'failed' | 'abandoned'): void {
    const followed = this.#followed.get(request);
    if (followed === undefined) return;
    this.#followed.delete(request);
    const { session, meter, sizes } = this.#options.context();
    const { video } = followed;
    if (followed.firstByteSeen && how !== 'failed') this.#account(followed, request.bytesLoaded);
    meter.requestEnded(session.seconds(this.#options.clockMs()), followed.firstByteSeen);
    if (video === undefined) return;
    if (how === 'failed') session.videoFailed(video);
    else {
      const downloadSeconds = (Number(request.endDate) - Number(request.startDate)) / 1000;
      const receivedBits = request.bytesLoaded > 0 ? request.bytesLoaded * 8 : 0;
      const sizeBits =
        how === 'whole' ? receivedBits : request.bytesTotal > 0 ? request.bytesTotal * 8 : video.sizeBits;
      const evidence = downloadSeconds >= CACHED_WITHIN_SECONDS && (how === 'abandoned' || receivedBits > 0);
      session.videoEnded(video, { abandoned: how === 'abandoned', receivedBits, sizeBits, downloadSeconds, evidence });
      if (how === 'whole' && request.representation !== null) {
        sizes.learn(request.representation.id, sizeBits, video.bitrateBps * request.duration);
      }
    }
    this.#options.onVideoEnded();
  }
}
