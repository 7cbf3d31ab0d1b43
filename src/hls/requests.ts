/**
 * Reports hls.js's segment requests to the flow, in bits. A segment of a low-latency stream comes in parts, each with a
 * request of its own; the flow sees one request with chunks.
 */

import type Hls from 'hls.js';
import type {
  ErrorData,
  FragLoadedData,
  FragLoadingData,
  Fragment,
  HlsConfig,
  LoaderContext,
  LoaderStats,
} from 'hls.js';
import type { Flow } from '../../session/flow.ts';
import { isPaused } from '../adapter-kit.ts';
import { liveTime } from './live.ts';
import { classOf, type HlsHandlers } from './player.ts';
import { isFull, isPretended, segmentOf, wholeSeconds } from './situation.ts';

/** A segment's request, or requests. */
interface HlsRequest {
  frag: Fragment;
  isInParts: boolean;
  /** Parts of the segment up to the latest complete one, and its end in the presentation. */
  parts: number;
  untilSeconds: number;
  /** Bytes of the present part that the flow knows. */
  partBytes: number;
  sentAtMs: number;
  /** The loader has reported bytes before the end. */
  hasProgress: boolean;
}

/** If a loader that counts bytes has counted none after this time, the link has an outage. */
const SOON_MS = 300;

export class Requests {
  /** By `frag.type`. */
  private readonly _requests = new Map<string, HlsRequest>();
  /** The latest whole segment came without progress, though it took its time. */
  private _hidesProgress = false;

  /** `isMain`: the player whose video the plugin decides on; otherwise a player that shares the link with it. */
  constructor(
    private readonly _hls: Hls,
    private readonly _flow: Flow,
    private readonly _isMain = true,
  ) {}

  get handlers(): HlsHandlers {
    const { Events } = classOf(this._hls);
    return {
      [Events.FRAG_LOADING]: (event) => this._begun(event),
      [Events.FRAG_LOADED]: (event) => this._loaded(event),
      [Events.ERROR]: (event) => this._failed(event),
    };
  }

  /** The video segment that hls.js is loading, in parts also between them. No event tells that hls.js stops loading. */
  loading(): Fragment | undefined {
    const { _hls: hls, _requests: requests } = this;
    const isStopped = !hls.loadingEnabled || !hls.bufferingEnabled || (isPaused(hls.media) && isFull(hls));
    if (isStopped) for (const one of requests.values()) if (!one.frag.loader) this._end(one, 'failed');
    const request = requests.get('main');
    const isLoading = request && (request.frag.loader || (request.isInParts && !this._isComplete(request)));
    return isLoading ? request.frag : undefined;
  }

  private _begun({ frag, part }: FragLoadingData): void {
    if (frag.sn === 'initSegment' || frag.type === 'subtitle') return;
    let request = this._requests.get(frag.type);
    const isSame = part && request?.isInParts && request.frag.sn === frag.sn && request.frag.level === frag.level;
    if (!isSame) {
      // hls.js has no event for the last part of a segment, nor for an abort that a page's loader hides.
      if (request) this._end(request, this._isComplete(request) && request.isInParts ? 'whole' : 'abandoned');
      const counts = { parts: 0, untilSeconds: 0, partBytes: 0 };
      request = { frag, isInParts: Boolean(part), ...counts, sentAtMs: performance.now(), hasProgress: false };
      this._requests.set(frag.type, request);
      this._requested(request);
    }
    request!.frag = frag;
    this._follow(request!);
  }

  private _loaded({ frag, part }: FragLoadedData): void {
    const request = this._requests.get(frag.type);
    if (request?.frag !== frag) return;
    if (request.hasProgress) this._hidesProgress = false;
    else if (performance.now() - request.sentAtMs > SOON_MS) this._hidesProgress = !part;
    this._received(request, (part ?? frag).stats, part ? part.index + 1 : 0);
    if (part) {
      request.untilSeconds = part.end;
      request.partBytes = 0;
    }
    if (!part || this._isComplete(request)) this._end(request, 'whole');
    // hls.js now requests the next part that is listed, without an event.
    else Promise.resolve().then(() => this._flow.guard(() => this._follow(request)));
  }

  private _failed({ frag, details }: Pick<ErrorData, 'frag' | 'details'>): void {
    const request = frag && this._requests.get(frag.type);
    // The loader has told an abort; this is later, when hls.js may be loading the same segment again.
    if (request && request.frag === frag && String(details) !== 'aborted') this._end(request, 'failed');
  }

  /** The player ends with requests in flight. */
  abandon(): void {
    for (const request of [...this._requests.values()]) this._end(request, 'abandoned');
  }

  /** The source has changed, or the player is gone. */
  forget(): void {
    this._requests.clear();
  }

  private _requested(request: HlsRequest): void {
    const { _hls: hls, _flow: flow, _isMain: isMain } = this;
    const { frag } = request;
    const { stats } = frag.loader || {};
    // A test of the bandwidth is loaded again to be played.
    const isVideo = isMain && frag.type === 'main' && !frag.bitrateTest;
    const time = isMain ? liveTime(hls) : undefined;
    flow.began(request, {
      isMedia: true,
      isOpaque: this._hidesProgress || !stats || isPretended(stats),
      segment: isVideo ? segmentOf(hls, frag) : undefined,
      url: frag.url,
      live: time && { ...time, startSeconds: frag.start, segmentSeconds: wholeSeconds(frag, hls.latestLevelDetails) },
    });
  }

  /** `parts`: complete ones. */
  private _received(request: HlsRequest, { loaded, total }: LoaderStats, parts = 0): void {
    const { _flow: flow } = this;
    if (!request.isInParts) {
      flow.progressed(request, { totalBits: loaded * 8, sizeBits: total * 8 });
      return;
    }
    const chunks = Math.max(0, parts - request.parts);
    const addedBits = Math.max(0, loaded - request.partBytes) * 8;
    request.parts += chunks;
    request.partBytes = loaded;
    flow.progressed(request, { addedBits, chunks });
  }

  private _end(request: HlsRequest, outcome: 'whole' | 'abandoned' | 'failed'): void {
    const { type } = request.frag;
    if (this._requests.get(type) !== request) return;
    this._requests.delete(type);
    this._flow.ended(request, outcome);
  }

  /** Follows the bytes of the running request. While hls.js waits for a key, no request runs; the bytes then come at once. */
  private _follow(request: HlsRequest): void {
    const { _flow: flow } = this;
    const { stats } = request.frag.loader || {};
    if (!stats) return;
    let { loaded } = stats;
    watch(stats, () =>
      flow.guard(() => {
        if (stats.loaded < loaded && !request.isInParts) flow.progressed(request, { attempt: 'unlimited' });
        loaded = stats.loaded;
        if (!isPretended(stats)) {
          request.hasProgress ||= loaded > 0 && !stats.loading.end;
          this._received(request, stats);
        }
        if (stats.aborted) this._end(request, 'abandoned');
      }),
    );
  }

  /** All parts that the segment will have are here. */
  private _isComplete({ frag, untilSeconds }: HlsRequest): boolean {
    const { latestLevelDetails: details } = this._hls;
    // hls.js makes another object for each update of the playlist.
    const newest = details?.fragments[Number(frag.sn) - details.startSN] ?? frag;
    const endSeconds = frag.start + wholeSeconds(newest, details);
    return untilSeconds > endSeconds - (details?.partTarget || 0) / 2;
  }
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

/**
 * With the option `cmcd`, turns CMCD on where the page has not, and puts loaders with the plugin's keys inside those
 * that hls.js's controller of CMCD makes: it is made after the ABR controller. Returns a function that restores.
 */
export function installCmcd(config: HlsConfig, flow: Flow): () => void {
  if (!flow.options.cmcd) return () => {};
  const { cmcd, fLoader, pLoader, loader } = config;
  const withKeys = (pageLoader: unknown = loader) =>
    class extends (pageLoader as HlsConfig['loader']) {
      override load(context: LoaderContext, ...more: [never, never]): void {
        context.url = flow.withCmcd(context.url, context.headers);
        super.load(context, ...more);
      }
    };
  Object.assign(config, { cmcd: cmcd || {}, fLoader: withKeys(fLoader), pLoader: withKeys(pLoader) });
  return () => {
    if (!cmcd) Object.assign(config, { cmcd, fLoader, pLoader });
  };
}
