/** What adapters share: guarded listeners, restored settings, the media element's pause, picture and rate, and the page. */

import type { Host, ResponseWatch } from '../session/host.ts';
import { attempt } from '../session/page/attempt.ts';
import type { Guard } from '../session/page/events.ts';
import type { LiveOptions } from '../session/page/option-types.ts';
import { type LivePosition, onStep, type RatePort } from '../session/player-port.ts';
import { pageLoad } from './page-load.ts';

/** Handlers by the names of events. */
export type Handlers = Record<string, (event: never) => void>;

/** Names of the methods that add and remove a listener. */
export const DOM_METHODS = ['addEventListener', 'removeEventListener'] as const;
export const EMITTER_METHODS = ['on', 'off'] as const;

/** Returns a function that removes the handlers. They get the last argument of an event: hls.js passes the name first. */
export function listen(
  target: object,
  [add, remove]: typeof DOM_METHODS | typeof EMITTER_METHODS,
  handlers: Handlers,
  guard: Guard,
): () => void {
  const bus = target as Record<string, (type: string, listener: (...event: never[]) => void) => void>;
  const guarded = Object.entries(handlers).map(
    ([type, handler]) =>
      [type, (first: never, second?: never) => guard(handler as (event?: never) => void, second ?? first)] as const,
  );
  for (const one of guarded) bus[add]!(...one);
  return () => {
    for (const one of guarded) bus[remove]!(...one);
  };
}

/** Sets a setting; returns a function that restores the previous value, unless somebody has changed it since. */
export function override<T>(value: T, get: () => T, set: (value: T) => void): () => void {
  const before = get();
  set(value);
  return () => {
    if (get() === value) set(before);
  };
}

/** The steps by which the plugin leaves a player as it found it. */
export class UndoList {
  private _steps: (() => void)[] = [];

  add(...steps: (() => void)[]): void {
    this._steps.push(...steps);
  }

  /** Takes all steps, each once. */
  run(): void {
    for (const step of this._steps.splice(0)) {
      try {
        step();
      } catch {
        // A destroyed player throws: there is nothing to restore.
      }
    }
  }
}

/** Whether the viewer has paused. With `autoplay`, an element is also paused until it has enough media to begin. */
export function isPaused(media: HTMLMediaElement | null | undefined): boolean {
  return Boolean(media?.paused && (!media.autoplay || media.played.length > 0));
}

/** The model of quality was fitted between these. */
const LEAST_LINES = 540;
const MOST_LINES = 2160;
/** A floating window, whose size only its own events tell, is about this share of the screen's height. */
const PICTURE_IN_PICTURE_SHARE = 0.25;

/**
 * Lines of a 16:9 picture with as many pixels, for `Encoding.displayedLines`; undefined while nothing is shown. A CSS pixel
 * is about as large to the eye on every screen, and a device pixel limits what it resolves: this is their geometric mean.
 */
export function displayedLines(video: HTMLMediaElement | null | undefined): number | undefined {
  if (!video) return undefined;
  const { devicePixelRatio = 1, document, screen } = globalThis;
  const { videoWidth = 16, videoHeight = 9 } = video as Partial<HTMLVideoElement>;
  const aspect = videoWidth / videoHeight || 16 / 9;
  const isFloating = document?.pictureInPictureElement === video;
  const heightLimit = isFloating ? PICTURE_IN_PICTURE_SHARE * screen.height : video.clientHeight;
  const widthLimit = isFloating ? Number.POSITIVE_INFINITY : video.clientWidth;
  const height = Math.min(heightLimit, widthLimit / aspect);
  const lines = height * Math.sqrt(((aspect * 9) / 16) * devicePixelRatio);
  return lines > 0 ? Math.min(MOST_LINES, Math.max(LEAST_LINES, lines)) : undefined;
}

/* The playback rate of a live stream: its bounds, and the element's rate in place of the player's own catch-up. */

/** Smaller changes of the rate cause glitches in Safari's audio (WebKit bug 208142). */
const SAFARI_STEP = 0.25;

/** Smallest change of the rate in this browser; browsers are told apart as in dash.js. */
function browserRateStep(): number | undefined {
  const agent = attempt(() => navigator.userAgent) || '';
  const isSafari = /safari/i.test(agent) && !/edg|opr|opios|chrome|crios|firefox|fxios/i.test(agent);
  return isSafari ? SAFARI_STEP : undefined;
}

/** The bounds of the rate and the latency, and whether the plugin may set the rate. */
export type LiveLimits = Pick<LivePosition, 'playbackRates' | 'maxLatencySeconds' | 'isPaceable'>;

/** The player's bounds, and its present target. */
interface PlayerLimits extends LiveLimits {
  targetSeconds: number;
}

/** The element's rate in place of the player's own catch-up; an adapter adds what its player needs. */
export abstract class ElementRate implements RatePort {
  readonly rateStep = browserRateStep();
  /** The rate that was set; undefined while the player sets it. */
  private _rate: number | undefined;
  /** The element that kept its rate when another was set, as televisions and remote playback do. */
  private _fixed: HTMLMediaElement | undefined;

  constructor(protected readonly options: { readonly live: LiveOptions }) {}

  protected abstract element(): HTMLMediaElement | undefined;

  /** Position in the presentation of what is captured now. */
  protected abstract nowSeconds(): number | undefined;

  /** Keeps the player from setting the rate, because the plugin sets this one; called at each change. */
  protected abstract turnOff(rate: number): void;

  /** Lets the player set the rate as before; called after `turnOff`. */
  protected abstract restore(): void;

  setPlaybackRate(rate: number | undefined): void {
    const media = this.element();
    if (rate !== undefined) this.turnOff(rate);
    else if (this._rate !== undefined) this.restore();
    // Players keep playback in a stall by a rate of 0. A rate of the viewer's stays when the plugin's ends.
    if (media && (media.playbackRate === this._rate || (rate !== undefined && media.playbackRate > 0))) {
      const next = rate ?? 1;
      attempt(() => {
        media.playbackRate = next;
      });
      if (Math.abs(media.playbackRate - next) > 1e-3) this._fixed = media;
    }
    this._rate = rate;
  }

  jumpToLive(latencySeconds: number): void {
    const media = this.element();
    const nowSeconds = this.nowSeconds();
    if (media && nowSeconds !== undefined) media.currentTime = nowSeconds - latencySeconds;
  }

  /** The player's bounds within the options' bounds. */
  protected within({ playbackRates: { min, max }, targetSeconds, ...player }: PlayerLimits): LiveLimits {
    const { minPlaybackRate, maxPlaybackRate, maxLatencySeconds = 0 } = this.options.live;
    return {
      isPaceable: player.isPaceable && (!this._fixed || this._fixed !== this.element()),
      playbackRates: {
        min: onStep(minPlaybackRate ?? min, this.rateStep),
        max: onStep(maxPlaybackRate ?? max, this.rateStep),
      },
      // The viewer may have chosen a later target.
      maxLatencySeconds: maxLatencySeconds > targetSeconds ? maxLatencySeconds : player.maxLatencySeconds,
    };
  }
}

/*
 * The page as the host of sessions. Nothing is read before a session needs it, so that servers may import the
 * plugin.
 */

/** Chromium alone has it. */
const connection = () => (navigator as { connection?: { saveData?: boolean; downlink?: number } }).connection!;

export const PAGE: Host = {
  nowMs: () => performance.now(),
  utcMs: () => Date.now(),
  every(periodMs, action) {
    const timer = setInterval(action, periodMs);
    return () => clearInterval(timer);
  },
  soon: (action) => Promise.resolve().then(action),
  savesData: () => attempt(() => connection().saveData) === true,
  isHidden: () => attempt(() => document.hidden) === true,
  storage: () => localStorage,
  // Sizes of a live stream are read again: the server answers 304 while they are the same.
  fetch: (url) => fetch(url, { cache: 'no-cache' }),
  absoluteUrl: (url) =>
    new URL(
      url,
      attempt(() => location.href),
    ),
  linkBps: () => attempt(() => connection().downlink! * 1e6),
  pageLoad: () => pageLoad(performance),
  watchResponses,
  console,
};

/* Whether a cache or the network answered the page's requests, by Resource Timing. */

/** Responses kept: few are under way at a time. */
const KEPT = 32;
/** The browser notes the start of a request a little before or after its player does. */
const SLACK_MS = 5;

/**
 * An observer of what comes from now on, because the browser's list of entries may be full, or long. An entry is found
 * by the size of its body, because URLs repeat, also in other players, and are redirected. Servers of other origins
 * without `Timing-Allow-Origin` report no sizes.
 */
export function watchResponses(): ResponseWatch | undefined {
  return attempt(() => {
    let entries: PerformanceResourceTiming[] = [];
    const add = (more: PerformanceEntryList) => {
      entries = [...entries, ...(more as PerformanceResourceTiming[])].slice(-KEPT);
    };
    const observer = new PerformanceObserver((list) => add(list.getEntries()));
    observer.observe({ type: 'resource' });
    return {
      sourceOf(sinceMs, bytes) {
        // Chromium before 75 has no `takeRecords`.
        add(observer.takeRecords ? observer.takeRecords() : []);
        const found = entries
          .filter(({ startTime, decodedBodySize }) => decodedBodySize === bytes && startTime > sinceMs - SLACK_MS)
          .pop();
        if (!found) return entries.length > 0 ? undefined : 'unknown';
        const { transferSize, encodedBodySize, workerStart } = found;
        const { deliveryType } = found as { deliveryType?: string };
        // A service worker's responses count as cached, also those that it fetches.
        if (workerStart > 0) return deliveryType === 'cache-storage' ? 'cache' : 'unknown';
        // A cache transfers nothing; a revalidation, headers.
        return transferSize < encodedBodySize ? 'cache' : 'network';
      },
      stop: () => observer.disconnect(),
    };
  });
}
