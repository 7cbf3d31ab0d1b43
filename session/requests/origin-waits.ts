/**
 * Waits for a first byte that are the origin's and not the link's: a packager starts, or no cache has the segment. Learnt
 * per representation, on demand; `LiveWaits` has those for an encoder.
 */

import { SILENCE_SECONDS } from '../../abr/forecast.ts';
import type { Outcome, SegmentDownload } from '../../predictor/link/segment-download.ts';
import type { SegmentRequest, Situation } from '../player-port.ts';

/** A longer wait after a switch is the origin's, if the bits then come as fast as before, or half as fast. */
const SLOW_SECONDS = 1;
const FAST_SHARE = 0.5;
/** A representation without an answer is left out for this long; after another try, until the session ends. */
const LEFT_OUT_SECONDS = 60;

/** A download of video. */
interface EndedVideo extends Pick<SegmentDownload, 'requestedAtSeconds' | 'firstByteAtSeconds' | 'receivedBits'> {
  segment: SegmentRequest;
  isSwitch: boolean;
  dueSeconds: number;
}

/** A download that was not whole. */
interface Broken extends Pick<EndedVideo, 'segment'> {
  isUnanswered: boolean;
  isFailed: boolean;
}

export class OriginWaits {
  /** Seconds to the first byte after the latest switch to a representation, by id; 0 if it was not slow. */
  private readonly _afterSwitch = new Map<string, number>();
  /** Of the latest two downloads. */
  private _latest: readonly number[] = [];
  /** By id, until when. */
  private readonly _leftOut = new Map<string, number>();
  /** The latest video download, if it was not whole. */
  private _broken: Broken | undefined;

  /** Seconds to the first byte of a request that follows the segment `last`; before the first one `Infinity`. */
  expectedSeconds(segment: SegmentRequest | undefined, last: SegmentRequest | undefined): number {
    if (this._latest.length === 0) return Number.POSITIVE_INFINITY;
    return this._usualSeconds + (segment ? this._setUpSeconds(segment.representation.id, last) : 0);
  }

  /**
   * A video download has ended. Returns the seconds of its wait that are neither the link's nor each request's.
   * `knownBps`: throughput of the downloads before.
   */
  ended(download: EndedVideo, outcome: Outcome, nowSeconds: number, knownBps: number): number {
    const { segment, requestedAtSeconds, firstByteAtSeconds, dueSeconds, receivedBits, isSwitch } = download;
    const { id } = segment.representation;
    const broken = this._broken;
    const isFailed = outcome === 'failed';
    const seconds = (firstByteAtSeconds ?? nowSeconds) - requestedAtSeconds;
    const isUnanswered = receivedBits === 0 && (isFailed || seconds > SLOW_SECONDS);
    this._broken = outcome === 'whole' ? undefined : { segment, isUnanswered, isFailed };
    if (firstByteAtSeconds === undefined) return 0;
    const isOnTime = firstByteAtSeconds < Math.max(requestedAtSeconds, dueSeconds) + SILENCE_SECONDS;
    const isSame = broken?.segment.index === segment.index && broken.segment.period.id === segment.period.id;
    // Another representation of the segment came in time: the link is well.
    if (isSame && broken?.isUnanswered && (broken.isFailed || isOnTime)) this._leaveOut(broken, id, nowSeconds);
    if (outcome !== 'whole') return 0;
    const usualSeconds = this._usualSeconds;
    this._latest = [seconds, ...this._latest].slice(0, 2);
    // An outage may have caused the switch.
    if (!isSwitch || broken) return 0;
    const isFast = receivedBits >= FAST_SHARE * knownBps * (nowSeconds - firstByteAtSeconds);
    const isSlow = seconds > SLOW_SECONDS && isFast;
    this._afterSwitch.set(id, isSlow ? seconds : 0);
    return isSlow ? Math.max(0, seconds - usualSeconds) : 0;
  }

  private _leaveOut({ segment }: Broken, answeredId: string, nowSeconds: number): void {
    const { id } = segment.representation;
    if (id === answeredId) return;
    this._leftOut.set(id, this._leftOut.has(id) ? Number.POSITIVE_INFINITY : nowSeconds + LEFT_OUT_SECONDS);
  }

  /** The situation without the representations that are left out, and with the set-up time of a switch to each other one. */
  applied(situation: Situation, last: SegmentRequest | undefined, nowSeconds: number): Situation {
    const { ladder: all, playback } = situation;
    const isLeft = ({ id }: { id: string }) => (this._leftOut.get(id) ?? 0) > nowSeconds;
    const ladder = all.every(isLeft) ? all : all.filter((one) => !isLeft(one));
    const setUps = ladder.map(({ id }) => this._setUpSeconds(id, last));
    if (ladder.length === all.length && !setUps.some((seconds) => seconds > 0)) return situation;
    const setupSeconds = ladder.map((one, i) => (playback.setupSeconds?.[all.indexOf(one)] ?? 0) + setUps[i]!);
    return { ...situation, ladder, playback: { ...playback, setupSeconds } };
  }

  /** What each request waits for its first byte; 0 if that is no longer than an outage. */
  private get _usualSeconds(): number {
    const [first = 0, second = 0] = this._latest;
    const seconds = Math.min(first, second);
    return seconds > SILENCE_SECONDS ? seconds : 0;
  }

  /** Where a representation was not played yet, it is the shortest of the others. */
  private _setUpSeconds(id: string, last: SegmentRequest | undefined): number {
    if (id === last?.representation.id || this._afterSwitch.size === 0) return 0;
    const seconds = this._afterSwitch.get(id) ?? Math.min(...this._afterSwitch.values());
    return Math.max(0, seconds - this._usualSeconds);
  }
}
