/** Reports Shaka's segment requests to the flow: bytes and milliseconds become bits and seconds here. */

import type { Flow } from '../../session/flow.ts';
import { Request } from '../../session/request.ts';
import { ChunkCounter } from '../chunk-counter.ts';
import type { RequestContext, ShakaRequest, Variant } from './player.ts';
import { BAD_HTTP_STATUS, CRITICAL, INIT_SEGMENT, MEDIA_SEGMENT, OPERATION_ABORTED } from './player.ts';
import type { ShakaPort } from './port.ts';

export interface HeadersEvent {
  request: object;
  headers: Record<string, string>;
}

export interface EndEvent {
  request: object;
  response?: { data?: { byteLength: number } | null; timeMs?: number };
  error?: { code?: number; severity?: number } | null;
  /** By Shaka's own timer: it tries again. */
  aborted?: boolean;
}

/** What is known of a request in flight. */
interface Known {
  isLive: boolean;
  /** Its body is read in parts. */
  isRead?: boolean;
  /** Counts the chunks of a live segment that is sent while it is encoded; undefined for other requests. */
  counter: ChunkCounter | undefined;
}

export class Requests {
  private readonly _known = new WeakMap<object, Known>();
  /**
   * Ended requests, whose last callbacks may come late; and streams of other players, because Shaka copies request filters
   * to the player of its interstitials, but not its events.
   */
  private readonly _left = new WeakSet<object>();
  private readonly _watched = new WeakSet<object>();
  /** Stands for all that arrives without requests, in this session's meter. */
  private _sampling: { meter: object; request: object } | undefined;

  constructor(
    private readonly _port: ShakaPort,
    private readonly _flow: Flow,
  ) {}

  readonly handlers = {
    downloadheadersreceived: ({ request, headers }: HeadersEvent) => {
      const known = this._known.get(request);
      // The length of a compressed body is another one.
      const sizeBits = headers['content-encoding'] ? undefined : 8 * Number(headers['content-length']);
      // A live response may begin before its media exists.
      if (known && !known.isLive) this._flow.progressed(request, { isAnswered: true, sizeBits });
    },
    downloadcompleted: ({ request, response: { data, timeMs } = {} }: EndEvent) => {
      const { isRead } = this._known.get(request) || {};
      this._flow.progressed(request, { totalBits: 8 * (data ? data.byteLength : 0) });
      // Shaka's time ends when it has the body, later than the last part.
      this._end(request, 'whole', isRead ? undefined : Number(timeMs) / 1000);
    },
    downloadfailed: ({ request, error, aborted }: EndEvent) => {
      const { code, severity } = error || {};
      const isAborted = code === OPERATION_ABORTED && !aborted;
      // If Shaka gives up, it says so. It does not repeat a forbidden request (401, 403).
      if (code === BAD_HTTP_STATUS && severity !== CRITICAL) this._flow.progressed(request, { attempt: 'later' });
      else this._end(request, isAborted ? 'abandoned' : 'failed');
    },
  };

  /** Another player plays it. */
  leave({ audio, video }: Variant): void {
    if (audio) this._left.add(audio);
    if (video) this._left.add(video);
  }

  /** A request, before it is sent: from Shaka 5 at each attempt, from Shaka 4 at the first. */
  begun(request: ShakaRequest, context: RequestContext | undefined): void {
    const { _flow: flow } = this;
    if (!this._begun(request, context) || this._watched.has(request)) return;
    this._watched.add(request);
    let sentMs: number | undefined;
    Object.defineProperty(request, 'requestStartTime', {
      get: () => sentMs,
      set: (nowMs: number) => {
        if (sentMs) {
          flow.guard(() => {
            const known = this._begun(request, context);
            // A refusal may have a text.
            if (known?.counter) known.counter = new ChunkCounter();
            flow.progressed(request, { attempt: 'unlimited' });
          });
        }
        sentMs = nowMs;
      },
    });
    const { streamDataCallback } = request;
    // Shaka reports bytes 100 ms apart, and the last ones before an outage only after it.
    request.streamDataCallback = async (part) => {
      flow.guard(() => {
        const known = this._begun(request, context);
        if (!known) return;
        known.isRead = true;
        flow.progressed(request, { addedBits: 8 * part.byteLength, chunks: known.counter?.endedIn(part) });
      });
      await streamDataCallback?.(part);
    };
  }

  /** Shaka's progress callback, with what arrived since the last one. */
  downloaded(bytes: number, request: object | undefined, context: RequestContext | undefined): void {
    const known = this._begun(request, context);
    if (known && !known.isRead) this._flow.progressed(request!, { addedBits: 8 * bytes });
  }

  /** Media over QUIC come without a request: their bits count as throughput over the time of reading. */
  sampled(bytes: number, milliseconds: number): void {
    const segment = this._port.source.latest();
    if (!segment || !(bytes > 0 && milliseconds > 0)) return;
    const { _flow: flow } = this;
    const bits = 8 * bytes;
    const seconds = milliseconds / 1000;
    flow.start(seconds);
    const { session, clock, forecasting } = flow;
    const atSeconds = clock.nowSeconds();
    const sinceSeconds = Math.max(0, atSeconds - seconds);
    const meter = forecasting?.meter;
    if (meter) {
      if (meter !== this._sampling?.meter) this._sampling = { meter, request: meter.requestSent(sinceSeconds) };
      const { request } = this._sampling;
      meter.resumed(request, atSeconds, sinceSeconds, bits);
      meter.waits(request, atSeconds, Number.POSITIVE_INFINITY);
    }
    // The meter has counted the bits.
    const request = new Request(sinceSeconds, { segment, sizeBits: bits, knownBps: session.knownBps });
    session.began(request);
    request.received(atSeconds, { totalBits: bits });
    session.ended(request, { outcome: 'whole', nowSeconds: atSeconds, downloadSeconds: seconds, source: 'network' });
  }

  private _begun(
    request: object | undefined,
    { type, stream, segment, isPreload }: RequestContext = {},
  ): Known | undefined {
    const { _port: port, _flow: flow } = this;
    const { source } = port;
    if (!request || this._known.has(request)) return request && this._known.get(request);
    const isMedia = type === MEDIA_SEGMENT;
    if (!stream || this._left.has(stream) || this._left.has(request)) return undefined;
    if (!(isMedia || type === INIT_SEGMENT) || !(stream.type === 'video' || stream.type === 'audio')) return undefined;
    // Shaka reports its end to the preload alone.
    if (isPreload) {
      this._left.add(request);
      return undefined;
    }
    const video =
      segment && stream.type === 'video' ? source.segment(source.videoOf(stream, segment), segment) : undefined;
    const instead = video && port.decideLate(stream);
    const time = segment && source.live.time();
    const live = time && {
      ...time,
      startSeconds: segment.getStartTime(),
      segmentSeconds: source.live.wholeSeconds(segment),
    };
    const isInChunks = live && live.firstChunkSeconds < live.segmentSeconds;
    const known: Known = {
      isLive: Boolean(time),
      counter: isInChunks ? new ChunkCounter() : undefined,
    };
    this._known.set(request, known);
    flow.began(request, {
      isMedia,
      segment: video,
      live: live ?? undefined,
      url: (request as ShakaRequest).uris[0],
    });
    if (video) {
      // Not abandoned is what the page has selected, and for the time of a segment what has cost the buffer.
      const { active } = flow.session;
      if (source.selected?.isRequested) active?.keepUntil(Number.POSITIVE_INFINITY);
      else if (source.isClearing) active?.keepUntil(active.requestedAtSeconds + video.segmentSeconds);
      source.isClearing = false;
    }
    if (instead) {
      flow.session.active!.isOvertaken = true;
      port.abandon(instead);
    }
    return known;
  }

  private _end(request: object, outcome: 'whole' | 'abandoned' | 'failed', seconds?: number): void {
    this._known.delete(request);
    // Shaka tries a failed request again.
    if (outcome !== 'failed') this._left.add(request);
    else this._port.source.failedAtMs = performance.now();
    this._flow.ended(request, outcome, seconds);
  }
}
