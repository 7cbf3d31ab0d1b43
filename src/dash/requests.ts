/** Reports dash.js's segment requests to the core: milliseconds, bytes and dates become seconds and bits here. */

import type { FragmentRequest } from 'dashjs';
import type { Adaptation } from '../core/adaptation.ts';
import type { Handlers } from '../core/listen.ts';
import type { LiveRequest, SegmentRequest } from '../core/player-port.ts';
import { bodyReader } from './body-reader.ts';
import { firstChunkSeconds, type LiveClock } from './live-clock.ts';
import { rangeBits } from './player.ts';
import { periodOf, segmentDuration } from './situation.ts';

/** `mdat`, as four bytes. */
const MDAT = 0x6d646174;

interface RequestEvent {
  request: FragmentRequest;
  /** The body; in low-latency mode, the part that arrived since the last event. */
  response?: ArrayBuffer | null;
  error?: unknown;
}

interface MetricEvent {
  metric: string;
  value: { url?: string; responsecode?: number };
}

export function requestHandlers(adaptation: Adaptation, clock: LiveClock) {
  const { guard, downloads } = adaptation;
  /** Bodies that arrive in parts, by dash.js's number of the attempt. */
  const bodies = new WeakMap<
    FragmentRequest,
    { readBytes: number; chunkBytes: number; chunks: number; attempt: unknown }
  >();
  /** The latest request by media type. */
  const latest = new Map<string, FragmentRequest>();

  function bodyOf(request: FragmentRequest) {
    // dash.js's types lack this field.
    const { retryAttempts: attempt } = request as { retryAttempts?: number };
    let body = bodies.get(request);
    if (body?.attempt !== attempt || body === undefined) {
      body = { readBytes: 0, chunkBytes: 0, chunks: 0, attempt };
      bodies.set(request, body);
    }
    return body;
  }

  function progressed(request: FragmentRequest, bodyBytes = 0): void {
    const { readBytes = 0, chunkBytes = 0, chunks } = bodies.get(request) ?? {};
    const bytes = Math.max(bytesLoaded(request), readBytes, chunkBytes, bodyBytes);
    downloads.progressed(request, { receivedBits: bytes * 8, sizeBits: request.bytesTotal * 8, chunks });
  }

  function ended({ request, response, error }: RequestEvent, outcome: 'whole' | 'abandoned'): void {
    if (!error) progressed(request, outcome === 'whole' ? response?.byteLength : 0);
    const downloadSeconds = (Number(request.endDate) - Number(request.startDate)) / 1000;
    downloads.ended(request, error ? 'failed' : outcome, downloadSeconds);
  }

  const handlers: Handlers = {
    fragmentLoadingStarted({ request }: RequestEvent) {
      const { type, mediaType } = request;
      const isMedia = type === 'MediaSegment';
      const isVideo = mediaType === 'video';
      if (!(isMedia || type === 'InitializationSegment') || !(isVideo || mediaType === 'audio')) return;
      const isVideoSegment = isMedia && isVideo;
      latest.set(mediaType, request);
      const live = isMedia ? liveRequestOf(request, clock) : undefined;
      downloads.begun(request, isMedia, isVideoSegment ? segmentOf(request) : undefined, live);
    },
    // dash.js retries without another event of its own.
    metricAdded({ metric, value }: MetricEvent) {
      if (metric !== 'HttpList' || !(value.responsecode! >= 400)) return;
      for (const request of latest.values()) if (request.url === value.url) downloads.refused(request);
    },
    loadingProgress: ({ request }: RequestEvent) => progressed(request),
    // Low-latency mode: whole chunks.
    fragmentLoadingProgress({ request, response }: RequestEvent) {
      const body = bodyOf(request);
      body.chunkBytes += response?.byteLength ?? 0;
      body.chunks += chunksIn(response);
      progressed(request);
    },
    fragmentLoadingCompleted: (event: RequestEvent) => ended(event, 'whole'),
    fragmentLoadingAbandoned: (event: RequestEvent) => ended(event, 'abandoned'),
  };
  const readBody = bodyReader((request, bytes) => {
    guard(() => {
      bodyOf(request).readBytes += bytes;
      progressed(request);
    });
  });
  /** After dash.js's own interceptor, which writes CMCD. */
  const intercept = <T extends { url: string; headers?: Record<string, string> }>(outgoing: T): Promise<T> => {
    outgoing.url = adaptation.withCmcd(outgoing.url, outgoing.headers);
    return readBody(outgoing);
  };
  return { handlers, intercept };
}

function segmentOf({ representation, index, startTime, duration, range }: FragmentRequest): SegmentRequest {
  const { id, bandwidth, mediaInfo } = representation!;
  const { manifestInfo } = mediaInfo!.streamInfo!;
  const period = periodOf(mediaInfo!.streamInfo!, representation!);
  return {
    period,
    representation: { id, bitrateBps: bandwidth },
    // In a live timeline, dash.js counts from the oldest segment that is still listed.
    index: manifestInfo.isDynamic
      ? Math.round((startTime - period.startSeconds) / segmentDuration(representation!))
      : index,
    segmentSeconds: duration,
    endSeconds: startTime + duration,
    indexedBits: rangeBits(range),
  };
}

function liveRequestOf(
  { representation, startTime, duration }: FragmentRequest,
  clock: LiveClock,
): LiveRequest | undefined {
  const nowSeconds = clock.nowSeconds(representation!.mediaInfo!.streamInfo!);
  if (nowSeconds === undefined) return undefined;
  const announced = firstChunkSeconds(representation!);
  return {
    secondsToFirstChunk: startTime + announced - nowSeconds,
    segmentSeconds: duration,
    chunkSeconds: Math.min(duration, announced),
  };
}

/** Chunks that end in a part of a body: its boxes of type `mdat`. */
function chunksIn(part: ArrayBuffer | null | undefined): number {
  let chunks = 0;
  const view = new DataView(part ?? new ArrayBuffer(0));
  for (let at = 0; at + 8 <= view.byteLength; at += Math.max(8, view.getUint32(at))) {
    if (view.getUint32(at + 4) === MDAT) chunks++;
  }
  return chunks;
}

/**
 * Bytes of the body so far. For a response without a length (chunked, compressed, HTTP/1.0), dash.js does not set
 * `bytesLoaded`, but counts in its traces.
 */
function bytesLoaded({ bytesLoaded, traces }: FragmentRequest): number {
  if (bytesLoaded > 0) return bytesLoaded;
  let bytes = 0;
  for (const { b } of traces ?? []) bytes += b?.[0] ?? 0;
  return bytes;
}
