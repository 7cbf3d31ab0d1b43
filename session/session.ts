/** What a session remembers of its requests and choices; another source begins another session. */

import type { Decision, Download, InFlight } from '../abr/controller.ts';
import { SILENCE_SECONDS, type ValidForecast } from '../abr/forecast.ts';
import type { ResponseSource } from './host.ts';
import { LiveStream } from './live/live-stream.ts';
import type { Choice, Outcome, Segment, Situation } from './player-port.ts';
import type { Request, VideoRequest } from './request.ts';

/** Newest downloads in the known throughput. */
const DOWNLOADS_OF_THROUGHPUT = 5;
/** Twice what most rules look back (`RECENT_DOWNLOADS`). */
const DOWNLOADS_KEPT = 32;
/**
 * A response that was complete sooner came from a cache or over a fast link (dash.js uses the same limit): its size
 * over this time is a lower bound of the throughput.
 */
const FAST_SECONDS = 0.01;
/**
 * One or two fast responses after slow ones came from a cache. More in a row that agree, to this factor, came over a
 * link that became fast. Without agreement, twice as many are needed.
 */
const BOUNDS_TO_COUNT = 3;
const AGREEING_FACTOR = 2.5;
/**
 * If nobody says who answered, a response in less than this time, this much faster than the known throughput, and with
 * less than this share of the shortest wait for a first byte, may come from a cache.
 */
const DOUBTED_SECONDS = 0.5;
const DOUBTED_FACTOR = 4;
const DOUBTED_WAIT_SHARE = 0.5;
/** After this many complete downloads, some throughput must have been measured. */
const DOWNLOADS_TO_MEASURE = 3;

/**
 * After a change of server, this many downloads show whether the same link limits both servers, as a link near the viewer
 * does. If it is another link, the throughput differs by at least this factor, as ln.
 */
const DOWNLOADS_TO_COMPARE = 2;
const OTHER_LINK_LOG = 0.7;
/** Scheme, host and port of an absolute URL. */
const ORIGIN = /^\w+:\/\/[^/]+/;

/** A player's clock in whole milliseconds may exceed the elapsed time by this much. */
const CLOCK_SLACK_SECONDS = 0.01;

/** How a request ended. */
export interface End {
  outcome: Outcome;
  nowSeconds: number;
  /** Duration of its last attempt, where the player measures it. Default: until its last bits, if it is whole. */
  downloadSeconds: number | undefined;
  source: ResponseSource;
}

export class Session {
  /** The player has had media to show. */
  started = false;
  /** The server that video was requested from last. */
  origin = new OriginWaits();
  /** By origin; a URL without one has the empty origin. */
  private readonly _origins = new Map<string, OriginWaits>();
  /** Faster or doubted ones since the last measured one, counted as at least `FAST_SECONDS` long. */
  bounds: readonly Download[] = [];
  /** Some of the bounds may come from a cache, though nothing slower was measured: the forecast is lower. */
  isDoubted = false;
  /** Complete video downloads of this server in a row, without those from a cache. */
  wholeDownloads = 0;
  /** The video segment requested last; undefined at the start and after a seek. */
  last: Segment | undefined;
  /** Bitrate of the segment before it. */
  beforeLastBps: number | undefined;
  /** The video request in flight. */
  active: VideoRequest | undefined;
  /** Abandoned downloads of the segment requested last. */
  abandonments = 0;
  wastedBits = 0;
  /** The latest decision. */
  decision: Decision | undefined;
  /** The choice for the next segment and what it was made for, until a request begins or ends. */
  choice: { made: Choice; situation: Situation } | undefined;
  /** The latest forecast that the controller got. */
  forecast: ValidForecast | undefined;
  readonly live = new LiveStream();
  /** Sizes of the ended video downloads. */
  private _endedBits = 0;

  /** Sessions are counted from 1, the player's first source. `_downloadsKept`: downloads kept for a controller's state. */
  constructor(
    readonly number = 1,
    private readonly _downloadsKept = DOWNLOADS_KEPT,
  ) {}

  /** Finished and abandoned video downloads that took `FAST_SECONDS` or more over this link, oldest first. */
  get measured(): readonly Download[] {
    return this.origin.link.measured;
  }

  /** The downloads that show the throughput, oldest first: lower bounds if none was measured or all are outdated. */
  get downloads(): readonly Download[] {
    const isNew = this.measured.length === 0 && !this.isDoubted;
    return isNew || agree(this.bounds) ? this.bounds : this.measured;
  }

  /** Throughput of the newest downloads in bit/s; 0 without downloads. */
  readonly knownBps = (): number => throughputBps(this.downloads);

  /** Downloads complete, but none could be measured. */
  get isBlind(): boolean {
    return this.wholeDownloads >= DOWNLOADS_TO_MEASURE && this.bounds.length + this.measured.length === 0;
  }

  /** Enough fast responses in a row to make earlier measurements, and forecasts from them, obsolete. */
  get isOutdated(): boolean {
    return (this.measured.length > 0 || this.isDoubted) && agree(this.bounds);
  }

  /** Bits of video requested, without failed downloads. */
  get requestedBits(): number {
    return this._endedBits + (this.active ? this.active.sizeBits : 0);
  }

  /** The controller's view of the video request in flight. */
  inFlight(nowSeconds: number): InFlight | undefined {
    const { active, abandonments, wastedBits, requestedBits } = this;
    const totals = { abandonments, sessionRequestedBits: requestedBits, sessionWastedBits: wastedBits };
    return active && { ...active.state(nowSeconds), ...totals };
  }

  /** A seek. Returns false before the first picture: the player only seeks to its start position. */
  sought(): boolean {
    if (this.started) this.last = this.beforeLastBps = this.choice = undefined;
    if (this.started && this.active) this.active.isOvertaken = true;
    return this.started;
  }

  /** Video is requested from this URL. What is known of its server counts from now on. */
  switchOrigin(url: string | null | undefined): void {
    const { _origins: known, origin } = this;
    const [name] = ORIGIN.exec(url!) || [''];
    this.origin = known.get(name) || (known.size ? new OriginWaits(origin.link, DOWNLOADS_TO_COMPARE) : origin);
    known.set(name, this.origin);
    if (this.origin !== origin) this.wholeDownloads = 0;
  }

  /** A video request for the last segment repeats it. */
  began(request: Request): void {
    if (!request.isVideo()) return;
    const { last } = this;
    const { segment } = request;
    this.choice = undefined;
    if (last?.index !== segment.index || last.period.id !== segment.period.id) {
      this.beforeLastBps = last?.representation.bitrateBps;
      this.abandonments = 0;
    }
    this.last = segment;
    this.active = request;
  }

  /** A request is no longer under way. */
  left(request: Request): void {
    if (this.active === request) this.active = undefined;
    if (request.isVideo()) this.choice = undefined;
  }

  /** A request has ended; nothing of a cache's response shows the link. */
  ended(request: Request, { outcome, nowSeconds, downloadSeconds, source }: End): void {
    const isCached = source === 'cache';
    if (!request.isVideo()) {
      request.ended(nowSeconds, outcome, isCached);
      return;
    }
    if (request.isPostponed || (request.isRefused && request.receivedBits === 0)) outcome = 'failed';
    const { requestedAtSeconds, unansweredSeconds } = request;
    const elapsedSeconds = nowSeconds - requestedAtSeconds;
    const isWhole = outcome === 'whole';
    const told =
      downloadSeconds === undefined
        ? (isWhole ? request.lastBitsAtSeconds! : nowSeconds) - requestedAtSeconds
        : unansweredSeconds + downloadSeconds;
    // The player may use the device's clock, which may have been set meanwhile.
    const isPossible = told >= 0 && told < elapsedSeconds + CLOCK_SLACK_SECONDS;
    const seconds = isPossible ? told : elapsedSeconds;
    const isLive = this.live.isPlaying;
    const isDoubted = isWhole && source !== 'network' && !isLive && this._doubts(request, seconds);
    request.ended(nowSeconds, outcome, isCached || isDoubted);
    const originSeconds = isLive || isCached ? 0 : this.origin.ended(request, outcome, nowSeconds, this.knownBps());
    this.left(request);
    if (isWhole && !isCached) this.wholeDownloads++;
    const abandoned = outcome === 'abandoned' && !request.isOvertaken;
    if (!abandoned && (outcome === 'failed' || request.receivedBits === 0)) return;
    this._endedBits += request.sizeBits;
    if (abandoned) {
      this.wastedBits += request.receivedBits;
      this.abandonments++;
    }
    if (!isCached) this._remember(request, { abandoned, seconds, originSeconds, isDoubted });
  }

  /** Adds a download to the history. `originSeconds`: the part of its duration that the origin alone caused. */
  private _remember(request: VideoRequest, { abandoned, seconds, originSeconds, isDoubted }: Remembered): void {
    const linkSeconds = request.linkSeconds(seconds - originSeconds);
    if (linkSeconds === undefined) return;
    const { segmentIndex, segment, receivedBits, sizeBits, requestedAtSeconds } = request;
    const { bitrateBps } = segment.representation;
    const ended = { segmentIndex, bitrateBps, requestedAtSeconds, abandoned, receivedBits, sizeBits };
    const { link } = this.origin;
    if (linkSeconds >= FAST_SECONDS && !isDoubted) {
      // A measured download confirms the bounds before it: the link became fast.
      const isConfirmed = DOUBTED_FACTOR * receivedBits > linkSeconds * throughputBps(this.bounds);
      if (this.isOutdated && isConfirmed) link.measured = this.bounds;
      this.bounds = [];
      this.isDoubted = false;
      const { requestedAtSeconds: sent, firstByteAtSeconds } = request.state(requestedAtSeconds);
      const latency =
        firstByteAtSeconds === undefined ? undefined : { latencySeconds: firstByteAtSeconds - sent - originSeconds };
      link.measured = this._newest(link.measured, { ...ended, downloadSeconds: linkSeconds, ...latency });
      if (--this.origin.toCompare === 0) this._compare(link.measured);
    } else if (!abandoned) {
      this.isDoubted ||= isDoubted;
      const atLeast = Math.max(linkSeconds, FAST_SECONDS);
      this.bounds = this._newest(this.bounds, { ...ended, downloadSeconds: atLeast });
    }
  }

  /** If the first downloads of a server differ from those before, they begin the history of another link. */
  private _compare(downloads: readonly Download[]): void {
    const measured = downloads.slice(-DOWNLOADS_TO_COMPARE);
    const before = downloads.slice(0, -DOWNLOADS_TO_COMPARE);
    if (Math.abs(Math.log(throughputBps(measured) / throughputBps(before))) < OTHER_LINK_LOG) return;
    this.origin.link.measured = before;
    this.origin.link = { measured };
  }

  /**
   * Whether a whole video download may come from a cache, by its throughput and its wait. Before anything is measured,
   * the forecast's highest quantile is the known throughput.
   */
  private _doubts({ receivedBits, firstByteAtSeconds, requestedAtSeconds }: Request, seconds: number): boolean {
    const { measured, isOutdated, forecast } = this;
    if (isOutdated || seconds > DOUBTED_SECONDS) return false;
    const [levels = []] = (forecast?.kind !== 'path' && forecast?.quantilesBps) || [];
    const knownBps = throughputBps(measured) || levels[levels.length - 1] || Number.POSITIVE_INFINITY;
    const waits = measured.map(({ latencySeconds, downloadSeconds }) => latencySeconds ?? downloadSeconds);
    const waitSeconds = firstByteAtSeconds === undefined ? seconds : firstByteAtSeconds - requestedAtSeconds;
    const isSooner = waitSeconds < DOUBTED_WAIT_SHARE * Math.min(...waits);
    return isSooner && receivedBits > DOUBTED_FACTOR * knownBps * Math.max(seconds, FAST_SECONDS);
  }

  private _newest(downloads: readonly Download[], download: Download): readonly Download[] {
    return [...downloads, download].slice(-this._downloadsKept);
  }
}

interface Remembered {
  abandoned: boolean;
  seconds: number;
  originSeconds: number;
  isDoubted: boolean;
}

/** Whether enough bounds in a row agree. */
function agree(bounds: readonly Download[]): boolean {
  const rates = bounds.slice(-BOUNDS_TO_COUNT).map((one) => one.receivedBits / one.downloadSeconds);
  const isEven = Math.max(...rates) <= AGREEING_FACTOR * Math.min(...rates);
  return bounds.length >= (isEven ? 1 : 2) * BOUNDS_TO_COUNT;
}

function throughputBps(downloads: readonly Download[]): number {
  let bits = 0;
  let seconds = 0;
  for (const { receivedBits, downloadSeconds } of downloads.slice(-DOWNLOADS_OF_THROUGHPUT)) {
    bits += receivedBits;
    seconds += downloadSeconds;
  }
  return seconds > 0 ? bits / seconds : 0;
}

/*
 * What is known of a server: its link, and the waits for a first byte that the origin causes and not the link, as when a
 * packager starts, or no cache has the segment. They are learnt per representation, on demand. `LiveWaits` learns the
 * waits for a live encoder.
 */

/** If bits come at least half as fast as before, a longer wait before them, after a switch, is the origin's. */
const SLOW_SECONDS = 1;
const FAST_SHARE = 0.5;
/** One slow switch may be an outage, so it counts for this long. Two slow switches in a row count until a fast switch. */
const UNSURE_SECONDS = 20;
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

  /**
   * `link`: the link that limits the server. It is the link of the server before, until downloads show another.
   * `toCompare`: the number of downloads until they are compared.
   */
  constructor(
    public link: { measured: readonly Download[] } = { measured: [] },
    public toCompare = 0,
  ) {}

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
    const untilSeconds = isSure ? Number.POSITIVE_INFINITY : nowSeconds + UNSURE_SECONDS;
    this._afterSwitch.set(id, { seconds: isSlow ? seconds : 0, untilSeconds });
    this._isLastSwitchSlow = isSlow;
    return isSlow ? Math.max(0, seconds - usualSeconds) : 0;
  }

  /** Since the latest whole download, a request for this representation had no answer. */
  isUnanswered(id: string): boolean {
    return this._broken?.unanswered.has(id) === true;
  }

  /** The situation with the set-up time of a switch to each representation. */
  withSetUps(situation: Situation, nowSeconds: number): Situation {
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
