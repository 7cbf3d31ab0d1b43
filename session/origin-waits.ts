/**
 * Waits for a first byte that the origin causes and not the link: a packager starts, or no cache has the segment. They are
 * learnt per representation, on demand. `LiveWaits` learns the waits for a live encoder.
 */

import { SILENCE_SECONDS } from '../abr/forecast.ts';
import type { Outcome, Situation } from './player-port.ts';
import type { VideoRequest } from './request.ts';

/** If bits come at least half as fast as before, a longer wait before them, after a switch, is the origin's. */
const SLOW_SECONDS = 1;
const FAST_SHARE = 0.5;
/** One slow switch may be an outage, so it counts for this long. Two slow switches in a row count until a fast switch. */
const DOUBTED_SECONDS = 20;
/** If a request waits longer, the origin does not answer. An outage of a satellite link often causes shorter waits. */
const UNANSWERED_SECONDS = 1.2;
/**
 * A representation without an answer is avoided for this long, and six times as long after each further try. It may have
 * been an outage of the link, so the first time is short.
 */
const AVOIDED_SECONDS = 10;
const LONGER_TIMES = 6;
/** Set-up time of a representation while it is avoided. */
const AVOIDED_SET_UP_SECONDS = 60;

/** A request of video. */
type EndedVideo = Pick<
  VideoRequest,
  'segment' | 'segmentIndex' | 'requestedAtSeconds' | 'dueSeconds' | 'firstByteAtSeconds' | 'receivedBits'
>;

/** Downloads of a segment that were not whole, and the representations without an answer. */
interface Broken {
  segmentIndex: number;
  unanswered: Set<string>;
}

/** How a representation is avoided. */
interface Avoided {
  untilSeconds: number;
  /** For how long. */
  seconds: number;
}

export class OriginWaits {
  /** Seconds to the first byte after the latest switch to a representation, by id; 0 if it was not slow. */
  private readonly _afterSwitch = new Map<string, { seconds: number; untilSeconds: number }>();
  private _isLastSwitchSlow = false;
  /** The waits of the latest two downloads, in seconds. */
  private _latest: readonly number[] = [];
  /** By id. */
  private readonly _avoided = new Map<string, Avoided>();
  /** Since the latest whole video download. */
  private _broken: Broken | undefined;
  /** The representation of the latest video download. */
  private _lastId: string | undefined;

  /** Seconds to the first byte of a request, of video for this representation; `Infinity` before the first request. */
  expectedSeconds(nowSeconds: number, id?: string): number {
    if (this._latest.length === 0) return Number.POSITIVE_INFINITY;
    return this._usualSeconds + this._setUpSeconds(nowSeconds, id);
  }

  /**
   * A video download has ended. Returns the seconds of its wait that are neither the link's nor each request's.
   * `knownBps`: throughput of the downloads before.
   */
  ended(download: EndedVideo, outcome: Outcome, nowSeconds: number, knownBps: number): number {
    const { segment, segmentIndex, requestedAtSeconds, firstByteAtSeconds, dueSeconds, receivedBits } = download;
    const { id } = segment.representation;
    const broken = this._broken;
    const isSwitch = id !== this._lastId;
    this._lastId = id;
    const seconds = (firstByteAtSeconds ?? nowSeconds) - requestedAtSeconds;
    const isUnanswered = receivedBits === 0 && (outcome === 'failed' || seconds > UNANSWERED_SECONDS);
    const unanswered = broken?.segmentIndex === segmentIndex ? broken.unanswered : new Set<string>();
    this._broken = outcome === 'whole' ? undefined : { segmentIndex, unanswered };
    if (isUnanswered) unanswered.add(id);
    if (firstByteAtSeconds === undefined) return 0;
    // Another representation of the segment came in time: the link is well.
    if (firstByteAtSeconds < dueSeconds + SILENCE_SECONDS) this._avoid(unanswered, id, nowSeconds);
    unanswered.clear();
    if (outcome !== 'whole') return 0;
    this._avoided.delete(id);
    const usualSeconds = this._usualSeconds;
    this._latest = [seconds, ...this._latest].slice(0, 2);
    // An outage may have caused the switch.
    if (!isSwitch || broken) return 0;
    const isFast = receivedBits >= FAST_SHARE * knownBps * (nowSeconds - firstByteAtSeconds);
    const isSlow = seconds > SLOW_SECONDS && isFast;
    const isSure = this._isLastSwitchSlow || (this._afterSwitch.get(id)?.seconds || 0) > 0;
    const untilSeconds = isSure ? Number.POSITIVE_INFINITY : nowSeconds + DOUBTED_SECONDS;
    this._afterSwitch.set(id, { seconds: isSlow ? seconds : 0, untilSeconds });
    this._isLastSwitchSlow = isSlow;
    return isSlow ? Math.max(0, seconds - usualSeconds) : 0;
  }

  /** Since the latest whole download, a request for this representation had no answer. */
  isUnanswered(id: string): boolean {
    return this._broken?.unanswered.has(id) === true;
  }

  /** The situation with the set-up time of a switch to each representation. */
  applied(situation: Situation, nowSeconds: number): Situation {
    if (this._afterSwitch.size + this._avoided.size === 0) return situation;
    const { ladder, playback } = situation;
    const setUps = ladder.map(({ id }) => {
      const isAvoided = (this._avoided.get(id)?.untilSeconds || 0) > nowSeconds;
      return isAvoided ? AVOIDED_SET_UP_SECONDS : this._setUpSeconds(nowSeconds, id);
    });
    if (!setUps.some((seconds) => seconds > 0)) return situation;
    const { setupSeconds = [] } = playback;
    return {
      ...situation,
      playback: { ...playback, setupSeconds: setUps.map((seconds, i) => seconds + (setupSeconds[i] || 0)) },
    };
  }

  /** These did not answer. Several at once were an outage, unless they fail again. */
  private _avoid(ids: ReadonlySet<string>, answeringId: string, nowSeconds: number): void {
    const isOutage = ids.size > 1;
    for (const id of ids) {
      if (id === answeringId) continue;
      const known = this._avoided.get(id);
      const longerSeconds = (known?.seconds || 0) * LONGER_TIMES || AVOIDED_SECONDS;
      const seconds = isOutage && !known ? 0 : longerSeconds;
      this._avoided.set(id, { untilSeconds: nowSeconds + seconds, seconds });
    }
  }

  /** Seconds that every request waits for its first byte; 0 if the link alone explains the wait. */
  private get _usualSeconds(): number {
    const [first = 0, second = 0] = this._latest;
    const seconds = Math.min(first, second);
    return seconds > SILENCE_SECONDS ? seconds : 0;
  }

  /** Seconds before a switch's first byte; the shortest of the others if this representation was not played yet. */
  private _setUpSeconds(nowSeconds: number, id: string | undefined): number {
    if (!id || id === this._lastId || this._afterSwitch.size === 0) return 0;
    const countedSeconds = ({ seconds, untilSeconds }: { seconds: number; untilSeconds: number }) =>
      nowSeconds < untilSeconds ? seconds : 0;
    const own = this._afterSwitch.get(id);
    const known = own ? [own] : Array.from(this._afterSwitch.values());
    return Math.max(0, Math.min(...known.map(countedSeconds)) - this._usualSeconds);
  }
}
