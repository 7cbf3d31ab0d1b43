/** Measures what a viewer sees of a session, by the media element alone: the measure is the same in all arms. */

import { isNoticed } from '../../abr/qoe/off-rate.ts';
import { PERCEIVED_PRICES, type PerceivedPrices } from '../../abr/qoe/perceived-qoe.ts';
import { QOE_UNIT_SECONDS } from '../../abr/qoe/qoe.ts';
import { freezesCost, type Stall } from '../../abr/qoe/session-qoe.ts';
import type { SessionReport } from '../session-report.ts';

const JITTER_SECONDS = 0.005;
/** If the playhead moves by this much more than its rate, or back by this, a seek has set it. */
const JUMP_SECONDS = 0.3;
/** If a playhead that should move stands for this long, playback waits, even without an event. */
const STILL_SECONDS = 0.6;
/** If an element with media stays paused for this long, the viewer and not the page starts it. */
const READY_SECONDS = 0.5;
/** The last picture is this close to the end, so a wait there is no stall. */
const END_SECONDS = 0.1;
/** If no sample came for this long, the device slept. */
const ASLEEP_SECONDS = 65;
const HAVE_FUTURE_DATA = 3;
const SEGMENTS_KEPT = 512;

/** Seconds of the presentation. */
export type VideoSegment = { startSeconds: number; endSeconds: number; bitrateBps: number };

export type ObservedElement = Pick<
  HTMLMediaElement,
  'currentTime' | 'duration' | 'ended' | 'paused' | 'playbackRate' | 'readyState' | 'seeking'
>;

/** Playback of one session. Times are seconds of one even clock. */
export class Playback {
  started = false;
  isEnded = false;
  private _switches = 0;
  private readonly _sums = { startupSeconds: 0, watchedSeconds: 0, stallSeconds: 0, stallCount: 0 };
  private readonly _live = { offRateSeconds: 0, seconds: 0, latencySum: 0 };
  /** Media of known bitrate that played without a wait, after a wait of `waitedSeconds`. */
  private readonly _pieces: { mbps: number; mediaSeconds: number; waitedSeconds: number }[] = [];
  /** Seconds of waiting since the latest piece. */
  private _waitedSeconds = 0;
  private readonly _segments: VideoSegment[] = [];
  private _element: ObservedElement | undefined;
  private _position = 0;
  private _rate = 1;
  private _isWaiting = false;
  /** The viewer has sought to a place whose media the player must load. */
  private _isAfterSeek = false;
  private _stillSeconds = 0;
  private _readySeconds = 0;

  constructor(private _sampledAtSeconds: number) {}

  /** A segment has entered the buffer, and replaces an earlier segment there. */
  buffered(segment: VideoSegment): void {
    this._segments.unshift(segment);
    this._segments.splice(SEGMENTS_KEPT);
  }

  /** Call this several times a second. Without an element, the session is starting up. */
  sample(nowSeconds: number, element: ObservedElement | undefined, latencySeconds = Number.NaN): void {
    const passed = nowSeconds - this._sampledAtSeconds;
    const seconds = passed < ASLEEP_SECONDS ? passed : 0;
    const position = element?.currentTime || 0;
    const moved = element && element === this._element ? position - this._position : 0;
    const rate = element?.playbackRate || this._rate;
    const isJump = moved < -JUMP_SECONDS || moved > passed * Math.max(rate, this._rate) + JUMP_SECONDS;
    const media = isJump ? 0 : Math.max(0, moved);
    this._sampledAtSeconds = nowSeconds;
    this._element = element;
    this._position = position;
    this._rate = rate;
    // A player that loses its source leaves an element at 0, or none.
    if (element && isAtEnd(element)) this.isEnded = true;
    if (!this.started) this._startUp(seconds, media, element);
    else if (media < JITTER_SECONDS) this._stands(seconds, element, isJump);
    else this._moves(seconds, media, element!, latencySeconds);
  }

  /** `qualityOf` gives the quality of a bitrate in Mbit/s, 0 to 100. */
  figures(isLive: boolean, ladderMbps: readonly number[], qualityOf: (mbps: number) => number) {
    const { offRateSeconds, seconds, latencySum } = this._live;
    const top = Math.max(...ladderMbps, ...this._pieces.map(({ mbps }) => mbps));
    const linear = { startupSecond: top, stallSecond: top, stall: 0, fall: 1, rise: 1 };
    const score = (limitSeconds: number) => this._score((mbps) => mbps, linear, limitSeconds);
    const whole = score(Number.POSITIVE_INFINITY);
    return {
      ...{ started: this.started, ...this._sums, switches: this._switches },
      ...(whole.media > this._sums.watchedSeconds / 100 && {
        perceivedQoe: this._score(qualityOf, PERCEIVED_PRICES).qoe,
        ...{ meanBitrateBps: 1e6 * whole.quality, topBitrateBps: 1e6 * top, qoe: whole.qoe },
        qoeFirst30Seconds: score(30).qoe,
        qoeFirst60Seconds: score(60).qoe,
      }),
      ...(isLive && seconds > 0 && { latencySeconds: latencySum / seconds }),
      ...(isLive && this._sums.watchedSeconds > 0 && { offRateShare: offRateSeconds / this._sums.watchedSeconds }),
    } satisfies Partial<SessionReport>;
  }

  /** QoE (abr/qoe/) and mean quality of the first `limitSeconds` of media; `media` seconds have a known bitrate. */
  private _score(
    qualityOf: (mbps: number) => number,
    prices: PerceivedPrices,
    limitSeconds = Number.POSITIVE_INFINITY,
  ) {
    const { startupSecond, fall, rise } = prices;
    const stalls: Stall[] = [];
    let [media, sum, cost, before] = [0, 0, startupSecond * this._sums.startupSeconds, Number.NaN];
    let waited = 0;
    const wait = (seconds: number) => {
      const startSeconds = media + waited;
      waited += seconds;
      if (seconds > 0) stalls.push({ startSeconds, endSeconds: startSeconds + seconds });
    };
    for (const { mbps, mediaSeconds, waitedSeconds } of this._pieces) {
      if (media >= limitSeconds) break;
      const quality = qualityOf(mbps);
      const seconds = Math.min(mediaSeconds, limitSeconds - media);
      const change = quality - before || 0;
      wait(waitedSeconds);
      media += seconds;
      sum += quality * seconds;
      cost += Math.max(rise * change, -fall * change);
      before = quality;
    }
    if (media < limitSeconds) wait(this._waitedSeconds);
    cost += freezesCost(stalls, prices);
    return { media, quality: sum / media, qoe: (sum - QOE_UNIT_SECONDS * cost) / media };
  }

  private _startUp(seconds: number, media: number, element: ObservedElement | undefined): void {
    if (element?.paused && element.readyState >= HAVE_FUTURE_DATA) {
      this._readySeconds += seconds;
      return;
    }
    if (this._readySeconds > READY_SECONDS) this._sums.startupSeconds = 0;
    this._readySeconds = 0;
    // This seek is the player's, to its first picture.
    this.started = media >= JITTER_SECONDS && !element!.paused && !element!.seeking;
    const played = this.started ? Math.min(seconds, media / this._rate) : 0;
    this._sums.startupSeconds += seconds - played;
    if (this.started) this._play(media, played);
  }

  private _stands(seconds: number, element: ObservedElement | undefined, isJump: boolean): void {
    const isStopped = !element || element.paused || this.isEnded;
    // A seek in a stall is the player's.
    this._isAfterSeek ||= element?.seeking === true && !this._isWaiting;
    if (isStopped) this._isWaiting = false;
    this._stillSeconds = isStopped || this._isAfterSeek || isJump ? 0 : this._stillSeconds + seconds;
    if (isStopped || this._isAfterSeek) return;
    // Players stop a waiting element by a rate of 0.
    const isPlayable = element.readyState >= HAVE_FUTURE_DATA && element.playbackRate > 0;
    if (this._isWaiting) this._wait(seconds);
    else if (!isPlayable || this._stillSeconds >= STILL_SECONDS) {
      this._isWaiting = true;
      this._sums.stallCount++;
      this._wait(this._stillSeconds);
    }
  }

  private _moves(seconds: number, media: number, element: ObservedElement, latencySeconds: number): void {
    const played = Math.min(seconds, media / this._rate);
    if (this._isWaiting) this._wait(seconds - played);
    // A stall may have begun within this sample.
    this._stillSeconds = this._isWaiting ? 0 : seconds - played;
    this._isWaiting = false;
    this._isAfterSeek = false;
    this.isEnded &&= isAtEnd(element);
    this._play(media, media / this._rate);
    if (isNoticed(this._rate)) this._live.offRateSeconds += media / this._rate;
    if (!(latencySeconds >= 0)) return;
    this._live.seconds += played;
    this._live.latencySum += played * latencySeconds;
  }

  private _wait(seconds: number): void {
    this._sums.stallSeconds += seconds;
    this._waitedSeconds += seconds;
  }

  private _play(mediaSeconds: number, seconds: number): void {
    this._sums.watchedSeconds += seconds;
    const latest = this._pieces[this._pieces.length - 1];
    const middleSeconds = this._position - mediaSeconds / 2;
    const segment = this._segments.find((one) => middleSeconds >= one.startSeconds && middleSeconds < one.endSeconds);
    const mbps = segment ? segment.bitrateBps / 1e6 : latest?.mbps;
    if (mbps === undefined) return;
    const waitedSeconds = this._waitedSeconds;
    this._waitedSeconds = 0;
    if (latest?.mbps === mbps && waitedSeconds === 0) latest.mediaSeconds += mediaSeconds;
    else this._pieces.push({ mbps, mediaSeconds, waitedSeconds });
    if (latest && latest.mbps !== mbps) this._switches++;
  }
}

const isAtEnd = ({ ended, currentTime, duration }: ObservedElement) =>
  ended || (duration > 0 && currentTime >= duration - END_SECONDS);
