/** Reports dash.js's segment requests to the core: milliseconds, bytes and dates become seconds and bits here. */

import type { FragmentRequest } from 'dashjs';
import type { Adaptation } from '../core/adaptation.ts';
import type { SegmentRequest } from '../core/player-port.ts';
import { type Handlers, rangeBits } from './player.ts';
import { periodOf } from './situation.ts';

interface RequestEvent {
  request: FragmentRequest;
  /** The body; in low-latency mode, the part that arrived since the last event. */
  response?: { byteLength: number } | null;
  error?: unknown;
}

export function requestHandlers({ downloads }: Adaptation): Handlers {
  /** Bytes so far of bodies that arrive in parts, and dash.js's number of the attempt. */
  const parts = new WeakMap<FragmentRequest, { bytes: number; attempt: unknown }>();

  function progressed(request: FragmentRequest, bodyBytes = 0): void {
    const bytes = Math.max(bytesLoaded(request), parts.get(request)?.bytes ?? 0, bodyBytes);
    downloads.progressed(request, bytes * 8, request.bytesTotal * 8);
  }

  function ended({ request, response, error }: RequestEvent, outcome: 'whole' | 'abandoned'): void {
    if (!error) progressed(request, outcome === 'whole' ? response?.byteLength : 0);
    const downloadSeconds = (Number(request.endDate) - Number(request.startDate)) / 1000;
    downloads.ended(request, error ? 'failed' : outcome, downloadSeconds);
  }

  return {
    fragmentLoadingStarted({ request }: RequestEvent) {
      const { type, mediaType } = request;
      const isMedia = type === 'MediaSegment';
      const isVideo = mediaType === 'video';
      if (!(isMedia || type === 'InitializationSegment') || !(isVideo || mediaType === 'audio')) return;
      downloads.begun(request, isMedia, isMedia && isVideo ? segmentOf(request) : undefined);
    },
    loadingProgress: ({ request }: RequestEvent) => progressed(request),
    // Low-latency mode: a part of the body.
    fragmentLoadingProgress({ request, response }: RequestEvent) {
      // dash.js's types lack this field.
      const { retryAttempts: attempt } = request as { retryAttempts?: number };
      const before = parts.get(request);
      const bytes = (before?.attempt === attempt ? (before?.bytes ?? 0) : 0) + (response?.byteLength ?? 0);
      parts.set(request, { bytes, attempt });
      progressed(request);
    },
    fragmentLoadingCompleted: (event: RequestEvent) => ended(event, 'whole'),
    fragmentLoadingAbandoned: (event: RequestEvent) => ended(event, 'abandoned'),
  };
}

function segmentOf({ representation, index, startTime, duration, range }: FragmentRequest): SegmentRequest {
  const { id, bandwidth, mediaInfo } = representation!;
  return {
    period: periodOf(mediaInfo!.streamInfo!, representation!),
    representation: { id, bitrateBps: bandwidth },
    index,
    segmentSeconds: duration,
    endSeconds: startTime + duration,
    indexedBits: rangeBits(range),
  };
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
