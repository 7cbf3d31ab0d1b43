/**
 * Detects the end of a session: the element has ended, or stays at the end of its media.
 *
 * dash.js 5.2.1 sometimes never ends its stream: it tries once, when the last segment is in the buffer, and gives up if
 * a source buffer is busy then (`MediaSourceController.signalEndOfStream`). The element waits at its last picture, the
 * gap controller seeks to the end, and that seek leads half a second back (`seekDurationBackoff`): the last half second
 * repeats, with a stall each time that a viewer would not count.
 */

/** The last picture is closer to the end than this. */
const END_SECONDS = 0.06;
/** An element normally ends within this time after its last picture. dash.js seeks back after about two seconds. */
const PATIENCE_SECONDS = 0.4;

export class PlaybackEnd {
  private _reachedAtSeconds: number | undefined;

  constructor(private readonly _element: Pick<HTMLMediaElement, 'currentTime' | 'duration' | 'ended'>) {}

  /** Whether the last picture is reached, so that waiting is no stall. */
  get isReached(): boolean {
    const { ended, currentTime, duration } = this._element;
    // The duration is NaN before the metadata are loaded.
    return ended || (duration > 0 && currentTime >= duration - END_SECONDS);
  }

  /** Call it often, with the session's clock. */
  isOver(nowSeconds: number): boolean {
    if (this._element.ended) return true;
    this._reachedAtSeconds = this.isReached ? (this._reachedAtSeconds ?? nowSeconds) : undefined;
    return this._reachedAtSeconds !== undefined && nowSeconds - this._reachedAtSeconds > PATIENCE_SECONDS;
  }
}
