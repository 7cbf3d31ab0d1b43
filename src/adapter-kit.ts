/** What adapters share: guarded listeners, restored settings, and the media element's pause and picture. */

import { attempt, type Guard } from '../session/page/events.ts';

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
    // A destroyed player throws: there is nothing to restore.
    for (const step of this._steps.splice(0)) attempt(step);
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
