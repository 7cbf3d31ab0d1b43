/** Measures what a viewer sees of a session by its media element alone, so that it is the same in all arms. */

import { isNoticed } from '../../abr/off-rate.ts';
import { bitrateWeights, QOE_UNIT_SECONDS } from '../../abr/qoe.ts';
import type { SessionReport } from '../../abr/session-report.ts';

/** Smaller movements of the playhead are jitter. */
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
/** `HTMLMediaElement.HAVE_FUTURE_DATA`. */
const HAVE_FUTURE_DATA = 3;
/** Segments whose bitrate is remembered. */
const SEGMENTS_KEPT = 512;

/** A segment in the buffer; seconds of the presentation. */
export interface BufferedSegment {
  startSeconds: number;
  endSeconds: number;
  bitrateBps: number;
}

export type ObservedElement = Pick<
  HTMLMediaElement,
  'currentTime' | 'duration' | 'ended' | 'paused' | 'playbackRate' | 'readyState' | 'seeking'
>;

/** What QoE counts of the first `limitSeconds` of the media that play. */
class QoeWindow {
  #mediaSeconds = 0;
  /** Sum of Mbit/s times units of media. */
  #quality = 0;
  #change = 0;
  #waitSeconds = 0;

  constructor(private readonly limitSeconds: number) {}

  played(mbps: number, mediaSeconds: number): void {
    const counted = Math.max(0, Math.min(mediaSeconds, this.limitSeconds - this.#mediaSeconds));
    this.#quality += (mbps * counted) / QOE_UNIT_SECONDS;
    this.#mediaSeconds += counted;
  }

  switched(mbps: number): void {
    if (this.#mediaSeconds < this.limitSeconds) this.#change += Math.abs(mbps);
  }

  waited(seconds: number): void {
    if (this.#mediaSeconds < this.limitSeconds) this.#waitSeconds += seconds;
  }

  qoe(startupSeconds: number, topBitrateBps: number): number {
    const { mu, lambda } = bitrateWeights('linear', [topBitrateBps]);
    const cost = mu * (startupSeconds + this.#waitSeconds) + lambda * this.#change;
    return (this.#quality - cost) / (this.#mediaSeconds / QOE_UNIT_SECONDS);
  }
}

/** Of one session. Times are seconds of one even clock. */
export class Playback {
  started = false;
  #isEnded = false;
  /** As in the report. */
  readonly #sums = { startupSeconds: 0, watchedSeconds: 0, stallSeconds: 0, stallCount: 0, switches: 0 };
  #offRateSeconds = 0;
  /** Seconds of media that played and whose bitrate is known, and their bits. */
  #mediaSeconds = 0;
  #mediaBits = 0;
  #latency = { seconds: 0, weighted: 0 };
  readonly #windows = { whole: new QoeWindow(Number.POSITIVE_INFINITY), 30: new QoeWindow(30), 60: new QoeWindow(60) };
  #segments: BufferedSegment[] = [];
  #bitrateBps: number | undefined;
  #highestBps = 0;
  #position: number | undefined;
  #rate = 1;
  #isWaiting = false;
  /** The viewer has chosen another place, whose media have to be loaded. */
  #isAfterSeek = false;
  #stillSeconds = 0;
  #readySeconds = 0;

  constructor(private sampledAtSeconds: number) {}

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** A segment is in the buffer, in place of an earlier one. */
  buffered(segment: BufferedSegment): void {
    this.#segments.push(segment);
    if (this.#segments.length > SEGMENTS_KEPT) this.#segments.shift();
  }

  /** The element is another one. */
  elementChanged(): void {
    this.#position = undefined;
  }

  /** An event of the element: `sample` comes first. */
  happened(type: string): void {
    if (type === 'waiting' && this.started && !this.#isAfterSeek) this.#wait();
    else if (type === 'seeking' && this.started && !this.#isWaiting) this.#isAfterSeek = true;
    else if (type === 'play' && !this.started && this.#readySeconds > READY_SECONDS) {
      this.#sums.startupSeconds = 0;
      this.#readySeconds = 0;
    }
  }

  /** Call it several times a second, and at each event of the element. Without an element, the session starts up. */
  sample(nowSeconds: number, element: ObservedElement | undefined, latencySeconds?: number): void {
    const passed = nowSeconds - this.sampledAtSeconds;
    this.sampledAtSeconds = nowSeconds;
    const seconds = passed < ASLEEP_SECONDS ? passed : 0;
    const before = this.#position;
    this.#position = element?.currentTime;
    // A player that loses its source leaves an element at 0, or none.
    if (element && isAtEnd(element)) this.#isEnded = true;
    const moved = before === undefined || element === undefined ? 0 : element.currentTime - before;
    const rate = element?.playbackRate || this.#rate;
    const isJump = moved < -JUMP_SECONDS || moved > passed * Math.max(rate, this.#rate) + JUMP_SECONDS;
    const media = isJump ? 0 : Math.max(0, moved);
    this.#rate = rate;
    if (!this.started) this.#startUp(seconds, media, element);
    else if (media < JITTER_SECONDS) this.#stands(seconds, element, isJump);
    else this.#moves(seconds, media, element!, latencySeconds);
  }

  /** The report's fields of what was seen. `topBitrateBps`: of the manifest, where known. */
  figures(isLive: boolean, topBitrateBps = 0) {
    const { seconds, weighted } = this.#latency;
    return {
      started: this.started,
      ...this.#sums,
      ...(this.#mediaSeconds > 0 && this.#qualities(Math.max(topBitrateBps, this.#highestBps))),
      ...(isLive && seconds > 0 && { latencySeconds: weighted / seconds }),
      ...(isLive &&
        this.#sums.watchedSeconds > 0 && { offRateShare: this.#offRateSeconds / this.#sums.watchedSeconds }),
    } satisfies Partial<SessionReport>;
  }

  #qualities(topBitrateBps: number) {
    const qoe = (window: QoeWindow) => window.qoe(this.#sums.startupSeconds, topBitrateBps);
    return {
      meanBitrateBps: this.#mediaBits / this.#mediaSeconds,
      topBitrateBps,
      qoe: qoe(this.#windows.whole),
      qoeFirst30Seconds: qoe(this.#windows[30]),
      qoeFirst60Seconds: qoe(this.#windows[60]),
    };
  }

  #startUp(seconds: number, media: number, element: ObservedElement | undefined): void {
    // The player seeks to its first picture.
    if (media >= JITTER_SECONDS && element && !element.paused && !element.seeking) {
      this.started = true;
      this.#sums.startupSeconds += Math.max(0, seconds - media / this.#rate);
      this.#play(media, Math.min(seconds, media / this.#rate));
      return;
    }
    const isViewers = element?.paused && element.readyState >= HAVE_FUTURE_DATA;
    if (isViewers) this.#readySeconds += seconds;
    else this.#sums.startupSeconds += seconds;
  }

  #stands(seconds: number, element: ObservedElement | undefined, isJump: boolean): void {
    if (!element || element.paused || this.#isEnded || this.#isAfterSeek) {
      this.#stillSeconds = 0;
      if (element?.paused || this.#isEnded) this.#isWaiting = false;
      return;
    }
    if (this.#isWaiting) {
      this.#lose(seconds);
      return;
    }
    this.#stillSeconds = isJump ? 0 : this.#stillSeconds + seconds;
    // Players stop an element that waits by a rate of 0.
    if (this.#stillSeconds < STILL_SECONDS && element.playbackRate > 0) return;
    this.#wait();
    this.#lose(this.#stillSeconds);
  }

  #moves(seconds: number, media: number, element: ObservedElement, latencySeconds: number | undefined): void {
    const rate = this.#rate;
    const played = Math.min(seconds, media / rate);
    if (this.#isWaiting) this.#lose(seconds - played);
    this.#isWaiting = false;
    this.#isEnded = this.#isEnded && isAtEnd(element);
    this.#isAfterSeek = false;
    this.#stillSeconds = 0;
    this.#play(media, media / rate);
    if (isNoticed(rate)) this.#offRateSeconds += media / rate;
    if (latencySeconds === undefined || !(latencySeconds >= 0)) return;
    this.#latency.seconds += played;
    this.#latency.weighted += played * latencySeconds;
  }

  #wait(): void {
    if (this.#isWaiting || this.#isEnded) return;
    this.#isWaiting = true;
    this.#sums.stallCount++;
  }

  #lose(seconds: number): void {
    this.#sums.stallSeconds += seconds;
    for (const window of Object.values(this.#windows)) window.waited(seconds);
  }

  #play(media: number, seconds: number): void {
    this.#sums.watchedSeconds += seconds;
    const bps = this.#bitrateAt(this.#position! - media / 2) ?? this.#bitrateBps;
    if (bps === undefined) return;
    const change = (bps - (this.#bitrateBps ?? bps)) / 1e6;
    if (change !== 0) this.#sums.switches++;
    this.#bitrateBps = bps;
    this.#highestBps = Math.max(this.#highestBps, bps);
    this.#mediaSeconds += media;
    this.#mediaBits += media * bps;
    for (const window of Object.values(this.#windows)) {
      window.switched(change);
      window.played(bps / 1e6, media);
    }
  }

  #bitrateAt(seconds: number): number | undefined {
    for (let i = this.#segments.length - 1; i >= 0; i--) {
      const { startSeconds, endSeconds, bitrateBps } = this.#segments[i]!;
      if (seconds >= startSeconds && seconds < endSeconds) return bitrateBps;
    }
    return undefined;
  }
}

function isAtEnd({ ended, currentTime, duration }: ObservedElement): boolean {
  return ended || (duration > 0 && currentTime >= duration - END_SECONDS);
}
