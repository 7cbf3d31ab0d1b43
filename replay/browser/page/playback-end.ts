/**
 * When a session is over: the element has ended, or stands at the end of its media and nobody ends it.
 *
 * dash.js 5.2.1 at times never ends its stream. It does so once, when the last segment is in the buffer, and leaves it out
 * where a source buffer is busy at that moment (`MediaSourceController.signalEndOfStream`). The element then waits at its
 * last picture, the gap controller seeks to the end to help it on, and seeks there lead half a second back
 * (`seekDurationBackoff`): half a second of video over and over, and a stall each time, that no viewer of a
 * whole video would count.
 */

/** What is read of the element. */
export interface EndingPlayhead {
  readonly currentTime: number;
  readonly duration: number;
  readonly ended: boolean;
}

/** Closer to its end than this there is no other picture to come. */
const END_SECONDS = 0.06;
/** An element that stands there ends within this, if it does. dash.js seeks back after some two seconds. */
const PATIENCE_SECONDS = 0.4;

export class PlaybackEnd {
  private readonly element: EndingPlayhead;
  private reachedAtSeconds: number | undefined;

  constructor(element: EndingPlayhead) {
    this.element = element;
  }

  /** No other picture is to come: waiting here is no stall. */
  get isReached(): boolean {
    const { ended, currentTime, duration } = this.element;
    // The duration is NaN before there is one.
    return ended || (duration > 0 && currentTime >= duration - END_SECONDS);
  }

  /** To be asked often, with the session's clock. */
  isOver(nowSeconds: number): boolean {
    if (this.element.ended) return true;
    this.reachedAtSeconds = this.isReached ? (this.reachedAtSeconds ?? nowSeconds) : undefined;
    return this.reachedAtSeconds !== undefined && nowSeconds - this.reachedAtSeconds > PATIENCE_SECONDS;
  }
}
