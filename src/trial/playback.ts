/** Measures what a viewer sees of a session by its media element alone, so that it is the same in all arms. */

import { isNoticed } from '../../abr/off-rate.ts';
import { bitrateWeights, QOE_UNIT_SECONDS } from '../../abr/qoe.ts';
import type { SessionReport } from '../../abr/session-report.ts';
import type { VideoSegment } from './observed-player.ts';

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

export type ObservedElement = Pick<
  HTMLMediaElement,
  'currentTime' | 'duration' | 'ended' | 'paused' | 'playbackRate' | 'readyState' | 'seeking'
>;

/** Media that played at one bitrate without waiting. */
interface Piece {
  mbps: number;
  mediaSeconds: number;
  /** Before it. */
  waitedSeconds: number;
}

/** Of one session. Times are seconds of one even clock. */
export class Playback {
  started = false;
  #isEnded = false;
  /** As in the report. */
  readonly #sums = { startupSeconds: 0, watchedSeconds: 0, stallSeconds: 0, stallCount: 0 };
  #offRateSeconds = 0;
  #latency = { seconds: 0, weighted: 0 };
  /** The media whose bitrate is known. */
  readonly #pieces: Piece[] = [];
  /** Since the latest piece. */
  #waitedSeconds = 0;
  /** The newest first. */
  readonly #segments: VideoSegment[] = [];
  #element: ObservedElement | undefined;
  #position: number | undefined;
  #rate = 1;
  #isWaiting = false;
  /** The viewer has chosen another place, whose media have to be loaded. */
  #isAfterSeek = false;
  #stillSeconds = 0;
  #readySeconds = 0;

  constructor(private sampledAtSeconds: number) {}

  /** The media have played to their end. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** A segment is in the buffer, in place of an earlier one. */
  buffered(segment: VideoSegment): void {
    this.#segments.unshift(segment);
    if (this.#segments.length > SEGMENTS_KEPT) this.#segments.pop();
  }

  /** Call it several times a second. Without an element, the session starts up. */
  sample(nowSeconds: number, element: ObservedElement | undefined, latencySeconds = Number.NaN): void {
    const passed = nowSeconds - this.sampledAtSeconds;
    this.sampledAtSeconds = nowSeconds;
    const seconds = passed < ASLEEP_SECONDS ? passed : 0;
    const before = element === this.#element ? this.#position : undefined;
    this.#element = element;
    this.#position = element?.currentTime;
    // A player that loses its source leaves an element at 0, or none.
    if (element && isAtEnd(element)) this.#isEnded = true;
    const moved = before === undefined ? 0 : this.#position! - before;
    const rate = element?.playbackRate || this.#rate;
    const isJump = moved < -JUMP_SECONDS || moved > passed * Math.max(rate, this.#rate) + JUMP_SECONDS;
    const media = isJump ? 0 : Math.max(0, moved);
    this.#rate = rate;
    if (!this.started) this.#startUp(seconds, media, element);
    else if (media < JITTER_SECONDS) this.#stands(seconds, element, isJump);
    else this.#moves(seconds, media, element!, latencySeconds);
  }

  /** The report's fields of what was seen. `bitratesBps`: of the manifest, where known. */
  figures(isLive: boolean, bitratesBps: readonly number[] = []) {
    const { seconds, weighted } = this.#latency;
    const { watchedSeconds } = this.#sums;
    const pieces = this.#pieces;
    const mediaSeconds = pieces.reduce((sum, one) => sum + one.mediaSeconds, 0);
    const topBitrateBps = Math.max(...bitratesBps, ...pieces.map(({ mbps }) => mbps * 1e6));
    return {
      started: this.started,
      ...this.#sums,
      switches: pieces.filter(({ mbps }, i) => i > 0 && mbps !== pieces[i - 1]!.mbps).length,
      ...(mediaSeconds > 0 && {
        meanBitrateBps: (1e6 * pieces.reduce((sum, one) => sum + one.mbps * one.mediaSeconds, 0)) / mediaSeconds,
        topBitrateBps,
        qoe: this.#qoe(topBitrateBps, Number.POSITIVE_INFINITY),
        qoeFirst30Seconds: this.#qoe(topBitrateBps, 30),
        qoeFirst60Seconds: this.#qoe(topBitrateBps, 60),
      }),
      ...(isLive && seconds > 0 && { latencySeconds: weighted / seconds }),
      ...(isLive && watchedSeconds > 0 && { offRateShare: this.#offRateSeconds / watchedSeconds }),
    } satisfies Partial<SessionReport>;
  }

  /** Of the first `limitSeconds` of the media. */
  #qoe(topBitrateBps: number, limitSeconds: number): number {
    const { mu, lambda } = bitrateWeights('linear', [topBitrateBps]);
    let [media, quality, cost] = [0, 0, mu * this.#sums.startupSeconds];
    let before = this.#pieces[0]!.mbps;
    for (const { mbps, mediaSeconds, waitedSeconds } of this.#pieces) {
      if (media >= limitSeconds) break;
      const seconds = Math.min(mediaSeconds, limitSeconds - media);
      cost += mu * waitedSeconds + lambda * Math.abs(mbps - before);
      quality += mbps * seconds;
      media += seconds;
      before = mbps;
    }
    if (media < limitSeconds) cost += mu * this.#waitedSeconds;
    return (quality - QOE_UNIT_SECONDS * cost) / media;
  }

  #startUp(seconds: number, media: number, element: ObservedElement | undefined): void {
    if (element?.paused && element.readyState >= HAVE_FUTURE_DATA) {
      this.#readySeconds += seconds;
      return;
    }
    const sums = this.#sums;
    if (this.#readySeconds > READY_SECONDS) sums.startupSeconds = 0;
    this.#readySeconds = 0;
    // The player seeks to its first picture.
    this.started = media >= JITTER_SECONDS && !element!.paused && !element!.seeking;
    const played = this.started ? Math.min(seconds, media / this.#rate) : 0;
    sums.startupSeconds += seconds - played;
    if (this.started) this.#play(media, played);
  }

  #stands(seconds: number, element: ObservedElement | undefined, isJump: boolean): void {
    const isStopped = !element || element.paused || this.#isEnded;
    // A seek in a stall is the player's.
    if (element?.seeking && !this.#isWaiting) this.#isAfterSeek = true;
    if (isStopped || this.#isAfterSeek) {
      this.#stillSeconds = 0;
      if (isStopped) this.#isWaiting = false;
      return;
    }
    this.#stillSeconds = isJump ? 0 : this.#stillSeconds + seconds;
    if (this.#isWaiting) {
      this.#lose(seconds);
      return;
    }
    // Players stop an element that waits by a rate of 0.
    const isPlayable = element.readyState >= HAVE_FUTURE_DATA && element.playbackRate > 0;
    if (isPlayable && this.#stillSeconds < STILL_SECONDS) return;
    this.#isWaiting = true;
    this.#sums.stallCount++;
    this.#lose(this.#stillSeconds);
  }

  #moves(seconds: number, media: number, element: ObservedElement, latencySeconds: number): void {
    const rate = this.#rate;
    const played = Math.min(seconds, media / rate);
    if (this.#isWaiting) this.#lose(seconds - played);
    this.#isWaiting = false;
    this.#isEnded = this.#isEnded && isAtEnd(element);
    this.#isAfterSeek = false;
    this.#stillSeconds = 0;
    this.#play(media, media / rate);
    if (isNoticed(rate)) this.#offRateSeconds += media / rate;
    if (!(latencySeconds >= 0)) return;
    this.#latency.seconds += played;
    this.#latency.weighted += played * latencySeconds;
  }

  #lose(seconds: number): void {
    this.#sums.stallSeconds += seconds;
    this.#waitedSeconds += seconds;
  }

  #play(mediaSeconds: number, seconds: number): void {
    this.#sums.watchedSeconds += seconds;
    const latest = this.#pieces.at(-1);
    const middleSeconds = this.#position! - mediaSeconds / 2;
    const segment = this.#segments.find(
      (one) => middleSeconds >= one.startSeconds && middleSeconds < one.startSeconds + one.durationSeconds,
    );
    const mbps = segment ? segment.bitrateBps / 1e6 : latest?.mbps;
    if (mbps === undefined) return;
    const waitedSeconds = this.#waitedSeconds;
    this.#waitedSeconds = 0;
    if (latest?.mbps === mbps && waitedSeconds === 0) latest.mediaSeconds += mediaSeconds;
    else this.#pieces.push({ mbps, mediaSeconds, waitedSeconds });
  }
}

function isAtEnd({ ended, currentTime, duration }: ObservedElement): boolean {
  return ended || (duration > 0 && currentTime >= duration - END_SECONDS);
}
