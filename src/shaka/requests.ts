/** Reports Shaka's segment requests to the core: bytes and milliseconds become bits and seconds here. */

import type { Adaptation } from '../core/adaptation.ts';
import { BAD_HTTP_STATUS, INIT_SEGMENT, MEDIA_SEGMENT, OPERATION_ABORTED, type RequestContext } from './player.ts';
import type { ShakaPort } from './shaka-port.ts';

interface HeadersEvent {
  request: object;
  headers: Record<string, string>;
}

interface EndEvent {
  request: object;
  response?: { data?: { byteLength: number } | null; timeMs?: number };
  error?: { code?: number } | null;
  /** By Shaka's own timer: it tries again. */
  aborted?: boolean;
}

/** The headers are the first sign of a response; so much counts as received. */
const HEADER_BITS = 8;

export function requestReports(port: ShakaPort, { downloads }: Adaptation) {
  const requests = new WeakMap<
    object,
    { receivedBits: number; sizeBits?: number; isVideo: boolean; isLive: boolean }
  >();
  /** Their last callbacks may come late. */
  const ended = new WeakSet<object>();

  function begun(request: object | undefined, { type, stream, segment }: RequestContext = {}): void {
    const isMedia = type === MEDIA_SEGMENT;
    if (!request || !stream || requests.has(request) || ended.has(request)) return;
    if (!(isMedia || type === INIT_SEGMENT) || !(stream.type === 'video' || stream.type === 'audio')) return;
    const video = segment && stream.type === 'video' ? port.segment(stream, segment) : undefined;
    if (video) port.abandoned();
    const live = segment ? port.live.request(segment) : undefined;
    requests.set(request, { receivedBits: 0, isVideo: video !== undefined, isLive: live !== undefined });
    downloads.begun(request, isMedia, video, live);
  }

  function progressed(request: object, bits: number): void {
    const one = requests.get(request);
    if (!one) return;
    one.receivedBits = bits;
    downloads.progressed(request, bits, one.sizeBits);
  }

  return {
    /** A request, before it is sent: from Shaka 5 at each attempt, from Shaka 4 at the first. */
    begun,
    /** Shaka's progress callback, with what arrived since the last one. */
    downloaded(bytes: number, request: object | undefined, context: RequestContext | undefined) {
      begun(request, context);
      if (request) progressed(request, (requests.get(request)?.receivedBits ?? 0) + 8 * bytes);
    },
    handlers: {
      downloadheadersreceived({ request, headers }: HeadersEvent) {
        const one = requests.get(request);
        if (!one) return;
        // The length of a compressed body is another one.
        const bytes = headers['content-encoding'] ? 0 : Number(headers['content-length']);
        if (bytes > 0) one.sizeBits = 8 * bytes;
        // A live response may begin before its media exists.
        if (!one.isLive) downloads.progressed(request, one.receivedBits || HEADER_BITS, one.sizeBits);
      },
      downloadcompleted({ request, response }: EndEvent) {
        const bytes = response?.data?.byteLength;
        if (bytes) progressed(request, 8 * bytes);
        end(request, 'whole', Number(response?.timeMs) / 1000);
      },
      downloadfailed({ request, error, aborted }: EndEvent) {
        // A live segment may not exist yet. If Shaka gives up, it says so.
        if (error?.code === BAD_HTTP_STATUS && requests.get(request)?.isLive) return downloads.refused(request);
        const isAbandoned = error?.code === OPERATION_ABORTED && !aborted;
        end(request, isAbandoned ? 'abandoned' : 'failed', Number.NaN);
      },
    },
  };

  function end(request: object, outcome: 'whole' | 'abandoned' | 'failed', seconds: number): void {
    if (requests.get(request)?.isVideo) port.abandoned();
    requests.delete(request);
    // Shaka tries a failed one again.
    if (outcome !== 'failed') ended.add(request);
    downloads.ended(request, outcome, seconds);
  }
}
