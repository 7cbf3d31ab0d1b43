/** Measures what a viewer sees of a session by its media element alone, so that it is the same in all arms. */

import { isNoticed } from '../../abr/qoe/off-rate.ts';
import { QOE_UNIT_SECONDS } from '../../abr/qoe/qoe.ts';
import type { SessionReport } from '../../abr/qoe/session-report.ts';

const JITTER_SECONDS = 0.005;
/** A playhead that moves by more than this beyond its rate, or back by this, was set there. */
const JUMP_SECONDS = 0.3;
/** A playhead that should move and stands for this long waits, even without an event. */
const STILL_SECONDS = 0.6;
/** If a paused element has had media for this long, the viewer starts it later than the page. */
const READY_SECONDS = 0.5;
/** The last picture is closer to the end than this: waiting there is no stall. */
const END_SECONDS = 0.1;
/** The device slept if nothing was sampled for this long. */
const ASLEEP_SECONDS = 65;
const HAVE_FUTURE_DATA = 3;
const SEGMENTS_KEPT = 512;

/** Seconds of the presentation. */
export type VideoSegment = { startSeconds: number; endSeconds: number; bitrateBps: number };

export type ObservedElement = Pick<
  HTMLMediaElement,
  'currentTime' | 'duration' | 'ended' | 'paused' | 'playbackRate' | 'readyState' | 'seeking'
>;

/** Of one session. Times are seconds of one even clock. */
export class Playback {
  started = false;
  isEnded = false;
  readonly #sums = { startupSeconds: 0, watchedSeconds: 0, stallSeconds: 0, stallCount: 0 };
  readonly #live = { offRateSeconds: 0, seconds: 0, latencySum: 0 };
  /** Media of known bitrate that played without waiting. `waitedSeconds`, `change` of Mbit/s: before it. */
  readonly #pieces: { mbps: number; mediaSeconds: number; waitedSeconds: number; change: number }[] = [];
  /** Since the latest piece. */
  #waitedSeconds = 0;
  readonly #segments: VideoSegment[] = [];
  #element: ObservedElement | undefined;
  #position = 0;
  #rate = 1;
  #isWaiting = false;
  /** The viewer has chosen another place, whose media have to be loaded. */
  #isAfterSeek = false;
  #stillSeconds = 0;
  #readySeconds = 0;

  constructor(private sampledAtSeconds: number) {}

  /** A segment is in the buffer, in place of an earlier one. */
  buffered(segment: VideoSegment): void {
    this.#segments.unshift(segment);
    this.#segments.splice(SEGMENTS_KEPT);
  }

  /** Call it several times a second. Without an element, the session starts up. */
  sample(nowSeconds: number, element: ObservedElement | undefined, latencySeconds = Number.NaN): void {
    const passed = nowSeconds - this.sampledAtSeconds;
    const seconds = passed < ASLEEP_SECONDS ? passed : 0;
    const position = element?.currentTime ?? 0;
    const moved = element && element === this.#element ? position - this.#position : 0;
    const rate = element?.playbackRate || this.#rate;
    const isJump = moved < -JUMP_SECONDS || moved > passed * Math.max(rate, this.#rate) + JUMP_SECONDS;
    const media = isJump ? 0 : Math.max(0, moved);
    this.sampledAtSeconds = nowSeconds;
    this.#element = element;
    this.#position = position;
    this.#rate = rate;
    // A player that loses its source leaves an element at 0, or none.
    if (element && isAtEnd(element)) this.isEnded = true;
    if (!this.started) this.#startUp(seconds, media, element);
    else if (media < JITTER_SECONDS) this.#stands(seconds, element, isJump);
    else this.#moves(seconds, media, element!, latencySeconds);
  }

  figures(isLive: boolean, bitratesBps: readonly number[] = []) {
    const { offRateSeconds, seconds, latencySum } = this.#live;
    const topBitrateBps = Math.max(...bitratesBps, ...this.#pieces.map(({ mbps }) => mbps * 1e6));
    const whole = this.#score(topBitrateBps);
    return {
      ...{ started: this.started, ...this.#sums, switches: this.#pieces.filter(({ change }) => change > 0).length },
      ...(whole.media > this.#sums.watchedSeconds / 100 && {
        ...{ meanBitrateBps: 1e6 * whole.mbps, topBitrateBps, qoe: whole.qoe },
        qoeFirst30Seconds: this.#score(topBitrateBps, 30).qoe,
        qoeFirst60Seconds: this.#score(topBitrateBps, 60).qoe,
      }),
      ...(isLive && seconds > 0 && { latencySeconds: latencySum / seconds }),
      ...(isLive && this.#sums.watchedSeconds > 0 && { offRateShare: offRateSeconds / this.#sums.watchedSeconds }),
    } satisfies Partial<SessionReport>;
  }

  /** QoE-linear (abr/qoe/qoe.ts) of the first `limitSeconds` of the media whose bitrate is known: `media` seconds. */
  #score(topBitrateBps: number, limitSeconds = Number.POSITIVE_INFINITY) {
    const topMbps = topBitrateBps / 1e6;
    let [media, quality, cost] = [0, 0, topMbps * this.#sums.startupSeconds];
    for (const { mbps, mediaSeconds, waitedSeconds, change } of this.#pieces) {
      if (media >= limitSeconds) break;
      const seconds = Math.min(mediaSeconds, limitSeconds - media);
      media += seconds;
      quality += mbps * seconds;
      cost += topMbps * waitedSeconds + change;
    }
    if (media < limitSeconds) cost += topMbps * this.#waitedSeconds;
    return { media, mbps: quality / media, qoe: (quality - QOE_UNIT_SECONDS * cost) / media };
  }

  #startUp(seconds: number, media: number, element: ObservedElement | undefined): void {
    if (element?.paused && element.readyState >= HAVE_FUTURE_DATA) {
      this.#readySeconds += seconds;
      return;
    }
    if (this.#readySeconds > READY_SECONDS) this.#sums.startupSeconds = 0;
    this.#readySeconds = 0;
    // The player seeks to its first picture.
    this.started = media >= JITTER_SECONDS && !element!.paused && !element!.seeking;
    const played = this.started ? Math.min(seconds, media / this.#rate) : 0;
    this.#sums.startupSeconds += seconds - played;
    if (this.started) this.#play(media, played);
  }

  #stands(seconds: number, element: ObservedElement | undefined, isJump: boolean): void {
    const isStopped = !element || element.paused || this.isEnded;
    // A seek in a stall is the player's.
    this.#isAfterSeek ||= element?.seeking === true && !this.#isWaiting;
    if (isStopped) this.#isWaiting = false;
    this.#stillSeconds = isStopped || this.#isAfterSeek || isJump ? 0 : this.#stillSeconds + seconds;
    if (isStopped || this.#isAfterSeek) return;
    // Players stop an element that waits by a rate of 0.
    const isPlayable = element.readyState >= HAVE_FUTURE_DATA && element.playbackRate > 0;
    if (this.#isWaiting) this.#wait(seconds);
    else if (!isPlayable || this.#stillSeconds >= STILL_SECONDS) {
      this.#isWaiting = true;
      this.#sums.stallCount++;
      this.#wait(this.#stillSeconds);
    }
  }

  #moves(seconds: number, media: number, element: ObservedElement, latencySeconds: number): void {
    const played = Math.min(seconds, media / this.#rate);
    if (this.#isWaiting) this.#wait(seconds - played);
    this.#isWaiting = false;
    this.#isAfterSeek = false;
    this.#stillSeconds = 0;
    this.isEnded &&= isAtEnd(element);
    this.#play(media, media / this.#rate);
    if (isNoticed(this.#rate)) this.#live.offRateSeconds += media / this.#rate;
    if (!(latencySeconds >= 0)) return;
    this.#live.seconds += played;
    this.#live.latencySum += played * latencySeconds;
  }

  #wait(seconds: number): void {
    this.#sums.stallSeconds += seconds;
    this.#waitedSeconds += seconds;
  }

  #play(mediaSeconds: number, seconds: number): void {
    this.#sums.watchedSeconds += seconds;
    const latest = this.#pieces.at(-1);
    const middleSeconds = this.#position - mediaSeconds / 2;
    const segment = this.#segments.find((one) => middleSeconds >= one.startSeconds && middleSeconds < one.endSeconds);
    const mbps = segment ? segment.bitrateBps / 1e6 : latest?.mbps;
    if (mbps === undefined) return;
    const waitedSeconds = this.#waitedSeconds;
    this.#waitedSeconds = 0;
    if (latest?.mbps === mbps && waitedSeconds === 0) latest.mediaSeconds += mediaSeconds;
    else this.#pieces.push({ mbps, mediaSeconds, waitedSeconds, change: Math.abs(mbps - (latest?.mbps ?? mbps)) });
  }
}

const isAtEnd = ({ ended, currentTime, duration }: ObservedElement) =>
  ended || (duration > 0 && currentTime >= duration - END_SECONDS);
