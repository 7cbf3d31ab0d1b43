/**
 * Reconsiders a download while it is under way. dash.js asks its own abandonment rules at progress events only, so in an
 * outage never; this has a timer of its own. In a hidden tab browsers let timers fire once a second or more rarely: then a
 * download is reconsidered that much later.
 */

import type { AbrController, FragmentRequest, Representation } from 'dashjs';

const TICK_MS = 100;
/** After this long without an answer from dash.js the same download may be abandoned once more. */
const ANSWER_WITHIN_MS = 1000;

export interface AbandonerOptions {
  clockMs: () => number;
  /** The video request under way. */
  activeRequest: () => FragmentRequest | undefined;
  /** What to load instead; undefined to go on. Only asked while a request is under way. */
  reconsider: (request: FragmentRequest) => { representation: Representation; message: string } | undefined;
  /** dash.js's controller, as a rule was last given it. */
  abrController: () => AbrController | undefined;
  /** Called at each tick, whether or not anything is reconsidered. */
  onTick: () => void;
  guard: (handler: () => void) => void;
}

export class Abandoner {
  readonly #options: AbandonerOptions;
  #timer: ReturnType<typeof setInterval> | undefined;
  #asked: { request: FragmentRequest; atMs: number } | undefined;

  constructor(options: AbandonerOptions) {
    this.#options = options;
  }

  /** A download began: watch it. */
  start(): void {
    this.#timer ??= setInterval(() => this.#options.guard(() => this.#tick()), TICK_MS);
  }

  /** Nothing is under way any more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#asked = undefined;
  }

  /** Downloads can be abandoned here; else the abandonment rule has to do it at progress events. */
  get isDirect(): boolean {
    return typeof this.#options.abrController()?.setPlaybackQuality === 'function';
  }

  #tick(): void {
    const { activeRequest, abrController, clockMs } = this.#options;
    this.#options.onTick();
    const request = activeRequest();
    if (request === undefined || !this.isDirect) return;
    if (this.#asked?.request === request && clockMs() - this.#asked.atMs < ANSWER_WITHIN_MS) return;
    const instead = this.#options.reconsider(request);
    const streamInfo = request.representation?.mediaInfo?.streamInfo;
    if (instead === undefined || !streamInfo || instead.representation.id === request.representation?.id) return;
    this.#asked = { request, atMs: clockMs() };
    abrController()?.setPlaybackQuality('video', streamInfo, instead.representation, {
      forceAbandon: true,
      message: instead.message,
    });
  }
}
