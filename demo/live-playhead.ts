/**
 * The playhead of a live stream as `PlaybackMeter` expects it: it advances a second per second of playback, because
 * changes of the playback rate and seeks are taken out.
 */

/** A playhead that moved further than its rate explains, by more than this, was seeked. */
const SEEK_SECONDS = 0.5;

export class LivePlayhead {
  /** Seeks after the first picture. */
  jumps = 0;
  readonly #element: Pick<HTMLMediaElement, 'currentTime' | 'playbackRate'>;
  readonly #nowSeconds: () => number;
  #position: number;
  #readAtSeconds: number;
  #playedSeconds = 0;

  constructor(element: Pick<HTMLMediaElement, 'currentTime' | 'playbackRate'>, nowSeconds: () => number) {
    this.#element = element;
    this.#nowSeconds = nowSeconds;
    this.#position = element.currentTime;
    this.#readAtSeconds = nowSeconds();
  }

  /** Seconds of playback so far. Read it often, because a reading assumes one rate since the last. */
  get currentTime(): number {
    const { currentTime, playbackRate } = this.#element;
    const nowSeconds = this.#nowSeconds();
    const moved = currentTime - this.#position;
    const most = playbackRate * (nowSeconds - this.#readAtSeconds) + SEEK_SECONDS;
    this.#position = currentTime;
    this.#readAtSeconds = nowSeconds;
    if (moved >= 0 && moved <= most) this.#playedSeconds += moved / playbackRate;
    else if (this.#playedSeconds > 0) this.jumps++;
    return this.#playedSeconds;
  }
}
