/** Reports Shaka's segment requests to the core: bytes and milliseconds become bits and seconds here. */

import type { Adaptation } from '../core/adaptation.ts';
import type { Choice } from '../core/player-port.ts';
import {
  BAD_HTTP_STATUS,
  INIT_SEGMENT,
  MEDIA_SEGMENT,
  OPERATION_ABORTED,
  type Request,
  type RequestContext,
  type Stream,
} from './player.ts';
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

/** What is known of a request in flight. */
interface Known {
  isVideo: boolean;
  isLive: boolean;
  /** Shaka was given another choice at the request. If it gives the request up before the first bit, nothing was lost. */
  isReplaced: boolean;
  begunMs: number;
  receivedBits: number;
  sizeBits?: number;
  /** Arrival of the latest part of the body; undefined where Shaka does not read it in parts. */
  partMs?: number;
}

/** The headers are the first sign of a response; so much counts as received. */
const HEADER_BITS = 8;

export type RequestReports = ReturnType<typeof requestReports>;

/** `decideLate`: at the request for a video segment if a decision is due; returns the choice if it is another stream. */
export function requestReports(
  port: ShakaPort,
  { downloads, guard }: Adaptation,
  decideLate: (stream: Stream) => Choice | undefined,
) {
  const requests = new WeakMap<object, Known>();
  /** Their last callbacks may come late. */
  const ended = new WeakSet<object>();
  const watched = new WeakSet<object>();

  function begun(request: object | undefined, { type, stream, segment }: RequestContext = {}): Known | undefined {
    if (!request || requests.has(request)) return request && requests.get(request);
    const isMedia = type === MEDIA_SEGMENT;
    if (!stream || ended.has(request)) return undefined;
    if (!(isMedia || type === INIT_SEGMENT) || !(stream.type === 'video' || stream.type === 'audio')) return undefined;
    const video = segment && stream.type === 'video' ? port.segment(stream, segment) : undefined;
    if (video) port.abandoned();
    const instead = video && decideLate(stream);
    const live = segment ? port.live.request(segment) : undefined;
    const known = {
      isVideo: video !== undefined,
      isLive: live !== undefined,
      isReplaced: instead !== undefined,
      begunMs: performance.now(),
      receivedBits: 0,
    };
    requests.set(request, known);
    downloads.begun(request, isMedia, video, live);
    if (instead) port.abandon(instead);
    return known;
  }

  function received(request: object, known: Known, bits: number): void {
    known.receivedBits = bits;
    downloads.progressed(request, { receivedBits: bits, sizeBits: known.sizeBits });
  }

  return {
    /** A request, before it is sent: from Shaka 5 at each attempt, from Shaka 4 at the first. */
    begun(request: Request, context: RequestContext | undefined) {
      if (!begun(request, context) || watched.has(request)) return;
      watched.add(request);
      const { streamDataCallback } = request;
      // Shaka reports bytes 100 ms apart, and the last ones before an outage only after it.
      request.streamDataCallback = async (part) => {
        guard(() => {
          const known = begun(request, context);
          if (!known) return;
          known.partMs = performance.now();
          received(request, known, known.receivedBits + 8 * part.byteLength);
        });
        await streamDataCallback?.(part);
      };
    },
    /** Shaka's progress callback, with what arrived since the last one. */
    downloaded(bytes: number, request: object | undefined, context: RequestContext | undefined) {
      const known = begun(request, context);
      if (known && !known.partMs) received(request!, known, known.receivedBits + 8 * bytes);
    },
    handlers: {
      downloadheadersreceived({ request, headers }: HeadersEvent) {
        const known = requests.get(request);
        if (!known) return;
        // The length of a compressed body is another one.
        const bytes = headers['content-encoding'] ? 0 : Number(headers['content-length']);
        if (bytes > 0) known.sizeBits = 8 * bytes;
        // A live response may begin before its media exists.
        if (!known.isLive) {
          downloads.progressed(request, { receivedBits: known.receivedBits || HEADER_BITS, sizeBits: known.sizeBits });
        }
      },
      downloadcompleted({ request, response }: EndEvent) {
        const known = requests.get(request);
        const bytes = response?.data?.byteLength;
        if (known && bytes) received(request, known, 8 * bytes);
        // Shaka's time ends when it has the body, later than the last part.
        const milliseconds = known?.partMs ? known.partMs - known.begunMs : Number(response?.timeMs);
        end(request, 'whole', milliseconds / 1000);
      },
      downloadfailed({ request, error, aborted }: EndEvent) {
        // A live segment may not exist yet. If Shaka gives up, it says so.
        const known = requests.get(request);
        if (error?.code === BAD_HTTP_STATUS && known?.isLive) {
          known.receivedBits = 0;
          return downloads.refused(request);
        }
        const isAbandoned = error?.code === OPERATION_ABORTED && !aborted;
        end(request, isAbandoned ? 'abandoned' : 'failed', Number.NaN);
      },
    },
  };

  function end(request: object, outcome: 'whole' | 'abandoned' | 'failed', seconds: number): void {
    const known = requests.get(request);
    if (known?.isVideo) port.abandoned();
    requests.delete(request);
    // Shaka tries a failed one again.
    if (outcome !== 'failed') ended.add(request);
    const isUnused = known?.isReplaced && outcome === 'abandoned' && known.receivedBits === 0;
    downloads.ended(request, isUnused ? 'failed' : outcome, seconds);
  }
}
