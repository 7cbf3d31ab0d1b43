/** The record of the present playback session: its video downloads and what was chosen. Only its methods change it. */

import type { Decision, Download, InFlight } from '../../abr/controller.ts';
import type { ValidForecast } from '../../abr/forecast.ts';
import {
  type DownloadContext,
  knownBps,
  type Outcome,
  SegmentDownload,
} from '../../predictor/link/segment-download.ts';
import { LiveStream } from '../live/live-stream.ts';
import type { Choice, SegmentRequest, Situation } from '../player-port.ts';
import { OriginWaits } from './origin-waits.ts';

/** Controllers of pages look back at most 16 downloads. */
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

/** The part of `InFlight` that a download knows without its session. */
type DownloadState = Omit<InFlight, 'abandonments' | 'sessionRequestedBits' | 'sessionWastedBits'>;

/** The download of a video segment. */
export class VideoDownload extends SegmentDownload {
  /** An attempt has failed without a bit, and the player may give up: another representation is requested. */
  isRefused = false;

  /** Until then, on the session's clock, the download is not reconsidered. */
  keptUntilSeconds = 0;

  /** When the request was sent; if the origin is slow, when its first byte is expected. Until then, it is not reconsidered. */
  dueSeconds = 0;

  constructor(
    readonly segment: SegmentRequest,
    requestedAtSeconds: number,
    context: DownloadContext,
  ) {
    super(requestedAtSeconds, context);
  }

  /** Counted from the start of the presentation. */
  get segmentIndex(): number {
    const { period, index } = this.segment;
    return period.firstIndex + index;
  }

  /** A copy of its state, for a controller. */
  state(nowSeconds: number): DownloadState {
    const { segmentIndex, sizeBits, requestedAtSeconds, receivedBits, firstByteAtSeconds, lastProgressAtSeconds } =
      this;
    const { bitrateBps } = this.segment.representation;
    const times = { requestedAtSeconds, firstByteAtSeconds };
    return {
      segmentIndex,
      bitrateBps,
      sizeBits,
      receivedBits,
      ...(lastProgressAtSeconds !== undefined && { lastBitsAtSeconds: lastProgressAtSeconds }),
      ...times,
      ...this.link.withoutWaits(times, nowSeconds),
    };
  }
}

class MutableRecord {
  /** The player has had media to show. */
  started = false;
  /** Finished and abandoned video downloads that took `FAST_SECONDS` or more, oldest first. */
  measured: readonly Download[] = [];
  /** Faster or doubted ones since the last measured one, counted as at least `FAST_SECONDS` long. */
  bounds: readonly Download[] = [];
  /** Some of the bounds may come from a cache, though nothing slower was measured: the forecast is lower. */
  isDoubted = false;
  /** Complete video downloads, without those from a cache. */
  wholeDownloads = 0;
  /** The video segment requested last; undefined at the start and after a seek. */
  last: SegmentRequest | undefined;
  /** Bitrate of the segment before it. */
  beforeLastBps: number | undefined;
  /** The video download in flight. */
  active: VideoDownload | undefined;
  /** Abandoned downloads of the segment requested last. */
  abandonments = 0;
  /** Sizes of the ended video downloads. */
  endedBits = 0;
  wastedBits = 0;
  /** The latest decision. */
  decision: Decision | undefined;
  /** The choice for the next segment and what it was made for, until a request begins or ends. */
  choice: { made: Choice; situation: Situation } | undefined;
  /** The latest forecast that the controller got. */
  forecast: ValidForecast | undefined;

  readonly live = new LiveStream();
  readonly origin = new OriginWaits();

  /** Sessions are counted from 1, the player's first source. */
  constructor(readonly number: number) {}

  /** The downloads that show the throughput, oldest first: lower bounds if none was measured or all are outdated. */
  get downloads(): readonly Download[] {
    const isNew = this.measured.length === 0 && !this.isDoubted;
    return isNew || agree(this.bounds) ? this.bounds : this.measured;
  }

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
    return this.endedBits + (this.active ? this.active.sizeBits : 0);
  }

  /** A copy of the video download in flight, for a controller. */
  inFlight(nowSeconds: number): InFlight | undefined {
    const { active, abandonments, wastedBits, requestedBits } = this;
    const totals = { abandonments, sessionRequestedBits: requestedBits, sessionWastedBits: wastedBits };
    return active && { ...active.state(nowSeconds), ...totals };
  }
}

/** Whether enough bounds in a row agree. */
function agree(bounds: readonly Download[]): boolean {
  const rates = bounds.slice(-BOUNDS_TO_COUNT).map((one) => one.receivedBits / one.downloadSeconds);
  const isEven = Math.max(...rates) <= AGREEING_FACTOR * Math.min(...rates);
  return bounds.length >= (isEven ? 1 : 2) * BOUNDS_TO_COUNT;
}

export type SessionRecord = Readonly<MutableRecord>;

export class Session {
  record: SessionRecord = new MutableRecord(1);

  /** `downloadsKept`: as many downloads are in a controller's state, at most. */
  constructor(private readonly _downloadsKept = DOWNLOADS_KEPT) {}

  /** The player has another source: forgets everything. */
  next(): void {
    this.record = new MutableRecord(this.record.number + 1);
  }

  /** The player has media to show. */
  playing(): void {
    (this.record as MutableRecord).started = true;
  }

  /** A seek. Returns false before the first picture: the player only seeks to its start position. */
  seeked(): boolean {
    if (!this.record.started) return false;
    Object.assign(this.record, { last: undefined, beforeLastBps: undefined, choice: undefined });
    return true;
  }

  /** Audio, video or an init segment is requested; a video request for the last segment repeats it. */
  begin(download: SegmentDownload): void {
    const record: MutableRecord = this.record;
    if (!(download instanceof VideoDownload)) return;
    const { last } = record;
    const { segment } = download;
    record.choice = undefined;
    if (last?.index !== segment.index || last.period.id !== segment.period.id) {
      record.beforeLastBps = last?.representation.bitrateBps;
      record.abandonments = 0;
    }
    record.last = segment;
    record.active = download;
  }

  /** A download is no longer under way. */
  leave(download: SegmentDownload): void {
    const record: MutableRecord = this.record;
    if (record.active === download) record.active = undefined;
    if (download instanceof VideoDownload) record.choice = undefined;
  }

  /**
   * Whether a whole video download may come from a cache, by its throughput and its wait. Before anything is measured,
   * the forecast's highest quantile is the known throughput.
   */
  doubts({ receivedBits, firstByteAtSeconds, requestedAtSeconds }: VideoDownload, downloadSeconds: number): boolean {
    const { measured, isOutdated, forecast } = this.record as MutableRecord;
    if (isOutdated || downloadSeconds > DOUBTED_SECONDS) return false;
    const [levels = []] = (forecast?.kind !== 'path' && forecast?.quantilesBps) || [];
    const known = knownBps(measured) || levels[levels.length - 1] || Number.POSITIVE_INFINITY;
    const waits = measured.map(({ latencySeconds, downloadSeconds: seconds }) => latencySeconds ?? seconds);
    const waitSeconds = firstByteAtSeconds === undefined ? downloadSeconds : firstByteAtSeconds - requestedAtSeconds;
    const isSooner = waitSeconds < DOUBTED_WAIT_SHARE * Math.min(...waits);
    return isSooner && receivedBits > DOUBTED_FACTOR * known * Math.max(downloadSeconds, FAST_SECONDS);
  }

  /**
   * A video download has ended, `downloadSeconds` after its request. A failed or empty one is not recorded, nor one from
   * a cache. `setUp`: seconds that it waited for the origin alone.
   */
  end(
    download: VideoDownload,
    outcome: Outcome,
    downloadSeconds: number,
    { setUp = 0, isCached = false, isDoubted = false } = {},
  ): void {
    const record: MutableRecord = this.record;
    const { segmentIndex, segment, receivedBits, sizeBits, requestedAtSeconds } = download;
    const abandoned = outcome === 'abandoned';
    this.leave(download);
    if (outcome === 'whole' && !isCached) record.wholeDownloads++;
    if (!abandoned && (outcome === 'failed' || receivedBits === 0)) return;
    record.endedBits += sizeBits;
    if (abandoned) {
      record.wastedBits += receivedBits;
      record.abandonments++;
    }
    const linkSeconds = isCached ? undefined : download.link.linkSeconds(downloadSeconds - setUp);
    if (linkSeconds === undefined) return;
    const { bitrateBps } = segment.representation;
    const ended = { segmentIndex, bitrateBps, requestedAtSeconds, abandoned, receivedBits, sizeBits };
    if (linkSeconds >= FAST_SECONDS && !isDoubted) {
      // A measured download confirms the bounds before it: the link became fast.
      const isConfirmed = DOUBTED_FACTOR * receivedBits > linkSeconds * knownBps(record.bounds);
      if (record.isOutdated && isConfirmed) record.measured = record.bounds;
      record.bounds = [];
      record.isDoubted = false;
      const { requestedAtSeconds: sent, firstByteAtSeconds } = download.state(requestedAtSeconds);
      const latency =
        firstByteAtSeconds === undefined ? undefined : { latencySeconds: firstByteAtSeconds - sent - setUp };
      record.measured = this._kept(record.measured, { ...ended, downloadSeconds: linkSeconds, ...latency });
    } else if (!abandoned) {
      record.isDoubted ||= isDoubted;
      const seconds = Math.max(linkSeconds, FAST_SECONDS);
      record.bounds = this._kept(record.bounds, { ...ended, downloadSeconds: seconds });
    }
  }

  /** The controller gets this forecast. */
  forecast(forecast: ValidForecast | undefined): void {
    (this.record as MutableRecord).forecast = forecast;
  }

  /** The controller has decided; `choice`: on the next segment. */
  decided(decision: Decision, choice?: SessionRecord['choice']): void {
    const record: MutableRecord = this.record;
    record.decision = decision;
    record.choice = choice ?? record.choice;
  }

  /** The choice for the next segment has to be made anew. */
  forgetChoice(): void {
    (this.record as MutableRecord).choice = undefined;
  }

  private _kept(downloads: readonly Download[], download: Download): readonly Download[] {
    return [...downloads, download].slice(-this._downloadsKept);
  }
}
