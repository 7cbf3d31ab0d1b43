/** Reports dash.js's segment requests to the core: milliseconds, bytes and dates become seconds and bits here. */

import type { FragmentRequest } from 'dashjs';
import type { Adaptation } from '../core/adaptation.ts';
import type { SegmentRequest } from '../core/player-port.ts';
import type { LiveClock } from './live.ts';
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

/** dash.js's request before it is sent. It reads a body in parts with `reader`, which it sets at the response. */
interface CustomData {
  request?: FragmentRequest;
  reader?: ReadableStreamDefaultReader<Uint8Array>;
}

export class Requests {
  /** The latest request by media type. */
  readonly #latest = new Map<string, FragmentRequest>();

  constructor(
    private readonly adaptation: Adaptation,
    private readonly clock: LiveClock,
  ) {}

  readonly handlers = {
    fragmentLoadingStarted: ({ request }: RequestEvent) => {
      const { type, mediaType } = request;
      const isMedia = type === 'MediaSegment';
      const isVideo = mediaType === 'video';
      if (!(isMedia || type === 'InitializationSegment') || !(isVideo || mediaType === 'audio')) return;
      this.#latest.set(mediaType, request);
      this.adaptation.downloads.requested(request, {
        isMedia,
        segment: isMedia && isVideo ? segmentOf(request) : undefined,
        live: isMedia ? this.#liveRequest(request) : undefined,
      });
    },
    // dash.js retries without another event of its own.
    metricAdded: ({ metric, value }: MetricEvent) => {
      if (metric !== 'HttpList' || !(value.responsecode! >= 400)) return;
      for (const request of this.#latest.values())
        if (request.url === value.url) this.adaptation.downloads.refused(request);
    },
    loadingProgress: ({ request }: RequestEvent) => this.#received(request),
    // Low-latency mode: whole chunks, whose bytes have been read before.
    fragmentLoadingProgress: ({ request, response }: RequestEvent) =>
      this.adaptation.downloads.received(request, { addedBits: 0, chunks: chunksIn(response) }),
    fragmentLoadingCompleted: (event: RequestEvent) => this.#ended(event, 'whole'),
    fragmentLoadingAbandoned: (event: RequestEvent) => this.#ended(event, 'abandoned'),
  };

  /** A request interceptor, after dash.js's own, which writes CMCD. dash.js calls it at each attempt. */
  readonly intercept = <T extends { url: string; headers?: Record<string, string> }>(outgoing: T): Promise<T> => {
    const { adaptation } = this;
    const { customData } = outgoing as { customData?: CustomData };
    const { request } = customData ?? {};
    outgoing.url = adaptation.withCmcd(outgoing.url, outgoing.headers);
    if (request) {
      adaptation.guard(() => adaptation.downloads.restarted(request));
      watchReader(customData!, (bytes) =>
        adaptation.guard(() => adaptation.downloads.received(request, { addedBits: bytes * 8 })),
      );
    }
    return Promise.resolve(outgoing);
  };

  #received(request: FragmentRequest, bodyBytes = 0): void {
    const totalBits = Math.max(bytesLoaded(request), bodyBytes) * 8;
    this.adaptation.downloads.received(request, { totalBits, sizeBits: request.bytesTotal * 8 });
  }

  #ended({ request, response, error }: RequestEvent, outcome: 'whole' | 'abandoned'): void {
    if (!error) this.#received(request, outcome === 'whole' ? response?.byteLength : 0);
    const downloadSeconds = (Number(request.endDate) - Number(request.startDate)) / 1000;
    this.adaptation.downloads.ended(request, error ? 'failed' : outcome, downloadSeconds);
  }

  #liveRequest({ representation, startTime, duration }: FragmentRequest) {
    const time = this.clock.time(representation!.mediaInfo!.streamInfo!, representation!);
    return time && { ...time, startSeconds: startTime, segmentSeconds: duration };
  }
}

/** Sees the bytes of a low-latency body before dash.js does: its own events come with whole chunks only. */
function watchReader(customData: CustomData, received: (bytes: number) => void): void {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  Object.defineProperty(customData, 'reader', {
    configurable: true,
    get: () => reader,
    set(original: ReadableStreamDefaultReader<Uint8Array>) {
      const read = original.read.bind(original);
      original.read = () => {
        const part = read();
        part.then(
          ({ value }) => received(value?.length ?? 0),
          () => {},
        );
        return part;
      };
      reader = original;
    },
  });
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
