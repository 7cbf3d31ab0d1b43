/**
 * Reports hls.js's segment requests to the core: milliseconds and bytes become seconds and bits here. A segment of a
 * low-latency stream comes in parts, each with a request of its own; to the core, that is one request with chunks.
 */

import type Hls from 'hls.js';
import type { ErrorData, FragLoadedData, FragLoadingData, Fragment, LoaderStats } from 'hls.js';
import type { Adaptation } from '../core/adaptation.ts';
import { liveRequestOf, segmentOf, wholeSeconds } from './situation.ts';

/** A segment's request, or requests. */
interface Request {
  frag: Fragment;
  startMs: number;
  /** Of complete parts: bytes, number in the segment, and end in the presentation. */
  bytes: number;
  parts: number;
  untilSeconds: number;
  isInParts: boolean;
}

export function createRequests(hls: Hls, { guard, downloads }: Adaptation) {
  /** By `frag.type`. */
  const requests = new Map<string, Request>();

  function end(request: Request, outcome: 'whole' | 'abandoned' | 'failed', endMs = performance.now()): void {
    if (requests.get(request.frag.type) !== request) return;
    requests.delete(request.frag.type);
    downloads.ended(request, outcome, (endMs - request.startMs) / 1000);
  }

  function progressed(request: Request, { loaded, total, aborted }: LoaderStats): void {
    const { isInParts, parts } = request;
    const receivedBits = (request.bytes + loaded) * 8;
    downloads.progressed(request, { receivedBits, ...(isInParts ? { chunks: parts } : { sizeBits: total * 8 }) });
    if (aborted) end(request, 'abandoned');
  }

  /** Follows the bytes of the running request. There is none while hls.js waits for a key: its bytes then come at once. */
  function follow(request: Request): void {
    const { stats } = request.frag.loader ?? {};
    if (stats) watch(stats, () => guard(() => progressed(request, stats)));
  }

  /** All parts that the segment will have are here. */
  function isComplete({ frag, untilSeconds }: Request): boolean {
    const { latestLevelDetails: details } = hls;
    // hls.js makes another object for each update of the playlist.
    const newest = details?.fragments[Number(frag.sn) - details.startSN] ?? frag;
    const endSeconds = frag.start + wholeSeconds(newest, details);
    return untilSeconds > endSeconds - (details?.partTarget ?? 0) / 2;
  }

  return {
    /** The video segment that hls.js is loading; in parts, also between them. */
    loading(): Fragment | undefined {
      const request = requests.get('main');
      return request && (request.frag.loader || (request.isInParts && !isComplete(request))) ? request.frag : undefined;
    },

    begun({ frag, part }: FragLoadingData): void {
      if (frag.sn === 'initSegment' || frag.type === 'subtitle') return;
      let request = requests.get(frag.type);
      const isSame = part && request?.isInParts && request.frag.sn === frag.sn && request.frag.level === frag.level;
      if (!isSame) {
        // Without an event: parts of a segment that turned out to be all, or an abort that a page's loader hides.
        if (request) end(request, isComplete(request) && request.isInParts ? 'whole' : 'abandoned');
        request = {
          frag,
          startMs: performance.now(),
          bytes: 0,
          parts: 0,
          untilSeconds: 0,
          isInParts: Boolean(part),
        };
        requests.set(frag.type, request);
        // A test of the bandwidth is loaded again to be played.
        const isVideo = frag.type === 'main' && !frag.bitrateTest;
        downloads.begun(request, true, isVideo ? segmentOf(hls, frag) : undefined, liveRequestOf(hls, frag));
      }
      request!.frag = frag;
      follow(request!);
    },

    loaded({ frag, part }: FragLoadedData): void {
      const request = requests.get(frag.type);
      if (request?.frag !== frag) return;
      const { stats } = part ?? frag;
      if (!part) {
        progressed(request, stats);
        end(request, 'whole', stats.loading.end);
        return;
      }
      request.bytes += stats.loaded;
      request.parts = part.index + 1;
      request.untilSeconds = part.end;
      downloads.progressed(request, { receivedBits: request.bytes * 8, chunks: request.parts });
      if (isComplete(request)) end(request, 'whole', stats.loading.end);
      // hls.js now requests the next part that is listed, without an event.
      else queueMicrotask(() => follow(request));
    },

    failed({ frag, details }: Pick<ErrorData, 'frag' | 'details'>): void {
      const request = frag && requests.get(frag.type);
      // The loader has told an abort; this is later, when hls.js may be loading the same segment again.
      if (request && request.frag === frag && String(details) !== 'aborted') end(request, 'failed');
    },

    /** The source is another one, or there is no player any more. */
    forget: () => requests.clear(),
  };
}

/** Calls `changed` when a loader counts bytes or aborts: hls.js has no event for either. */
function watch(stats: LoaderStats, changed: () => void): void {
  for (const key of ['loaded', 'aborted'] as const) {
    let value: unknown = stats[key];
    Object.defineProperty(stats, key, {
      configurable: true,
      enumerable: true,
      get: () => value,
      set(next: unknown) {
        const isNew = next !== value;
        value = next;
        if (isNew) changed();
      },
    });
  }
}
