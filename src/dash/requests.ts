/** Reports dash.js's segment requests to the flow: milliseconds, bytes and dates become seconds and bits here. */

import type { FragmentRequest } from 'dashjs';
import type { Flow } from '../../session/flow.ts';
import type { Segment } from '../../session/player-port.ts';
import { type CustomData, type LiveSupport, type RequestEvent, watchReader } from './live.ts';
import { isLive, rangeBits, segmentDuration } from './player.ts';
import { type Bitrates, periodOf } from './situation.ts';

export class Requests {
  /** Servers (`serviceLocation`) of a manifest that dash.js uses no more, because a request has failed. */
  private readonly _lost = new WeakMap<object, Set<string>>();

  constructor(
    private readonly _flow: Flow,
    private readonly _live: LiveSupport,
    private readonly _bitrates: Bitrates,
  ) {}

  readonly handlers = {
    fragmentLoadingStarted: ({ request }: RequestEvent) => {
      const { type, mediaType, url } = request;
      const isMedia = type === 'MediaSegment';
      const isVideo = mediaType === 'video';
      if (!(isMedia || type === 'InitializationSegment') || !(isVideo || mediaType === 'audio')) return;
      const { _live: live, _bitrates: bitrates } = this;
      this._flow.began(request, {
        isMedia,
        segment: isMedia && isVideo ? segmentOf(request, bitrates) : undefined,
        live: isMedia ? live.media(request) : undefined,
        url,
      });
    },
    loadingProgress: ({ request }: RequestEvent) =>
      this._flow.progressed(request, { ...arrivedOf(request), isInterim: true }),
    fragmentLoadingCompleted: (event: RequestEvent) => this._ended(event, 'whole'),
    fragmentLoadingAbandoned: (event: RequestEvent) => this._ended(event, 'abandoned'),
    // The only event of a period that has left the manifest.
    loadingAborted: (event: RequestEvent) => this._ended(event, 'abandoned'),
  };

  /** A request interceptor, after dash.js's own, which writes CMCD. dash.js calls it at each attempt. */
  readonly intercept = <T extends { url: string; headers?: Record<string, string> }>(outgoing: T): Promise<T> => {
    const { _flow: flow } = this;
    const { customData } = outgoing as { customData?: CustomData };
    const { request } = customData || {};
    outgoing.url = flow.withCmcd(outgoing.url, outgoing.headers);
    if (request) {
      const { sent } = this._live;
      const { request: before } = sent.get(request.mediaType) || {};
      sent.set(request.mediaType, customData!);
      if (request === before) {
        flow.guard(() => flow.progressed(request, { attempt: this._hasOther(request) ? 'unlimited' : 'limited' }));
      }
      // dash.js reads only other bodies in parts.
      if (!request.availabilityTimeComplete)
        watchReader(customData!, (bytes) => flow.guard(() => flow.progressed(request, { addedBits: bytes * 8 })));
    }
    return Promise.resolve(outgoing);
  };

  /** After its attempts, dash.js requests the segment from another server of the manifest. */
  private _hasOther(request: FragmentRequest): boolean {
    const { manifest, lost } = this._servers(request);
    return (manifest?.BaseURL?.length || 0) > new Set([...lost, request.serviceLocation]).size;
  }

  private _servers({ representation }: FragmentRequest) {
    const manifest: { BaseURL?: unknown[] } | undefined = representation?.adaptation?.period?.mpd?.manifest;
    const lost = (manifest && this._lost.get(manifest)) || new Set<string>();
    return { manifest, lost };
  }

  private _ended({ request, response, error }: RequestEvent, outcome: 'whole' | 'abandoned'): void {
    const { _flow: flow } = this;
    if (!error) flow.progressed(request, arrivedOf(request, outcome === 'whole' ? response?.byteLength : 0));
    else {
      const { manifest, lost } = this._servers(request);
      if (manifest) this._lost.set(manifest, lost.add(request.serviceLocation));
    }
    const downloadSeconds = (Number(request.endDate) - Number(request.startDate)) / 1000;
    flow.ended(request, error ? 'failed' : outcome, downloadSeconds);
  }
}

export function arrivedOf(request: FragmentRequest, bodyBytes = 0) {
  return { totalBits: Math.max(bytesLoaded(request), bodyBytes) * 8, sizeBits: request.bytesTotal * 8 };
}

function segmentOf(request: FragmentRequest, bitrates: Bitrates): Segment {
  const { representation, index, startTime, duration, range } = request;
  const { id, mediaInfo } = representation!;
  const period = periodOf(mediaInfo!.streamInfo!, representation!);
  return {
    period,
    representation: { id, bitrateBps: bitrates.of(representation!) },
    // Live, dash.js counts from the oldest segment that is still listed.
    index: isLive(representation!)
      ? Math.round((startTime - period.startSeconds) / segmentDuration(representation!))
      : index,
    segmentSeconds: duration,
    endSeconds: startTime + duration,
    indexedBits: rangeBits(range),
  };
}

/**
 * Bytes of the body so far. For a response without a length (chunked, compressed, HTTP/1.0), dash.js does not set
 * `bytesLoaded`, but counts in its traces.
 */
export function bytesLoaded({ bytesLoaded, traces }: Pick<FragmentRequest, 'bytesLoaded' | 'traces'>): number {
  if (bytesLoaded > 0) return bytesLoaded;
  let bytes = 0;
  for (const { b } of traces || []) bytes += b?.[0] || 0;
  return bytes;
}
