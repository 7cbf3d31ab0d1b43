/**
 * Follows the player's requests, each in one download: its bits count for the session's history and the meter of the
 * forecasts, and its size is learnt. Adapters only say that a request was sent, has received bits, or has ended.
 */

import {
  type Arrived,
  knownBps,
  LinkWatch,
  type Outcome,
  SegmentDownload,
} from '../../predictor/link/segment-download.ts';
import type { Ticker } from '../decisions/ticker.ts';
import type { Forecasting } from '../forecasting/forecasting.ts';
import type { Host, ResponseSource, ResponseWatch } from '../host.ts';
import type { Guard } from '../page/events.ts';
import type { PlayerPort, RequestReport } from '../player-port.ts';
import type { SegmentSizes } from './segment-sizes.ts';
import { type Session, VideoDownload } from './session.ts';
import type { SessionClock } from './session-clock.ts';

/** A player's clock in whole milliseconds may exceed the elapsed time by this much. */
const CLOCK_SLACK_SECONDS = 0.01;

interface DownloadParts {
  port: Pick<PlayerPort, 'arrived'>;
  host: Pick<Host, 'nowMs' | 'every' | 'watchResponses'>;
  guard: Guard;
  session: Session;
  clock: SessionClock;
  sizes: SegmentSizes;
  forecasting: Forecasting | undefined;
  ticker: Ticker;
}

/** A request is any object that the player keeps from the beginning of the request to its end. */
export type RequestsInFlight = Map<object, SegmentDownload>;

/** A request that has ended. */
interface Ended {
  download: SegmentDownload;
  outcome: Outcome;
  nowSeconds: number;
  downloadSeconds: number | undefined;
}

export class Downloads {
  /** Ends of whole requests: the browser tells up to a task later who answered. */
  private readonly _pending = new Set<() => void>();
  private readonly _responses: ResponseWatch | undefined;

  /** `downloads`: those in flight, which only this class changes. */
  constructor(
    private readonly _downloads: RequestsInFlight,
    private readonly _parts: DownloadParts,
  ) {
    this._responses = _parts.host.watchResponses();
  }

  /** A request was sent. */
  requested(request: object, { isMedia, isOpaque, segment, live }: RequestReport): void {
    const { session, clock, sizes, forecasting, ticker } = this._parts;
    if (!clock.isRunning) {
      // An init segment does not start the session's clock.
      if (!isMedia) return;
      clock.start();
      forecasting?.start(clock);
    }
    const atSeconds = clock.nowSeconds();
    if (live && segment) sizes.requestedLive();
    const waits = live && session.record.live.requested(live, segment !== undefined, atSeconds);
    const expectedSeconds = live ? 0 : session.record.origin.expectedSeconds(atSeconds, segment?.representation.id);
    const link = new LinkWatch(atSeconds, {
      meter: isOpaque ? undefined : forecasting?.meter,
      expectedSeconds,
      waits,
      knownBps: () => knownBps(session.record.downloads),
    });
    const download = segment
      ? new VideoDownload(segment, atSeconds, { link, sizeBits: sizes.sizeBits(segment) })
      : new SegmentDownload(atSeconds, { link });
    if (download instanceof VideoDownload) {
      download.dueSeconds = atSeconds + (expectedSeconds < Number.POSITIVE_INFINITY ? expectedSeconds : 0);
      const { keepsForSeconds = 0 } = session.record.decision || {};
      download.keptUntilSeconds = isOpaque ? Number.POSITIVE_INFINITY : atSeconds + keepsForSeconds;
    }
    this._downloads.set(request, download);
    session.begin(download);
    ticker.update();
  }

  /** The player has sent the same request again. `isLimited`: it gives up playback after some attempts. */
  restarted(request: object, isLimited = false): void {
    const { session, clock } = this._parts;
    const download = this._downloads.get(request);
    // A live segment may not exist yet.
    const isRefused = isLimited && download?.receivedBits === 0 && !session.record.live.isRequested;
    download?.restarted(clock.nowSeconds());
    if (!isRefused || !(download instanceof VideoDownload)) return;
    download.isRefused = true;
    download.keptUntilSeconds = download.dueSeconds = 0;
  }

  /** The server answered that a segment does not exist yet; the player asks again. */
  refused(request: object): void {
    this._downloads.get(request)?.refused(this._parts.clock.nowSeconds());
  }

  /** The response has begun; the size of its body may be known. */
  responded(request: object, sizeBits?: number): void {
    this._downloads.get(request)?.responded(this._parts.clock.nowSeconds(), sizeBits);
  }

  /** A report of bits comes; returns whether to skip it: later reports, the end and plans count its bits. */
  skipReport(request: object): boolean {
    return this._downloads.get(request)?.link.skipReport() === true;
  }

  /** Counts the bits of skipped reports, for a plan. */
  readArrived(): void {
    const { port, session } = this._parts;
    this._settle();
    if (!port.arrived || session.record.live.isRequested) return;
    for (const request of this._downloads.keys()) this.received(request, port.arrived(request));
  }

  /** More of the body has arrived. */
  received(request: object, arrived: Arrived): void {
    const download = this._downloads.get(request);
    const isNews = arrived.addedBits! > 0 || arrived.totalBits! > 0 || arrived.chunks! > 0;
    if (download === undefined || !isNews) return;
    const { clock, ticker } = this._parts;
    const atSeconds = clock.nowSeconds();
    download.received(atSeconds, arrived);
    if (download instanceof VideoDownload) ticker.progressed(atSeconds);
  }

  /**
   * A request ended; its last bits must have been reported before. `downloadSeconds`: duration of its last attempt, where
   * the player measures it. Default: until its last bits, if it is whole.
   */
  ended(request: object, outcome: Outcome, downloadSeconds?: number): void {
    const { clock, session, host, guard } = this._parts;
    const download = this._downloads.get(request);
    if (download === undefined) return;
    const nowSeconds = clock.nowSeconds();
    this._downloads.delete(request);
    const ended = { download, outcome, nowSeconds, downloadSeconds };
    const watch = outcome === 'whole' ? this._responses : undefined;
    const sentMs = host.nowMs() - 1000 * (nowSeconds - download.requestedAtSeconds);
    const sourceOf = () => watch && watch.sourceOf(sentMs, download.receivedBits / 8);
    const source = sourceOf();
    // Live, the end of a request times the encoder.
    if (!watch || source || session.record.live.isRequested) {
      this._ended(ended, source);
      return;
    }
    // The player may ask for the next segment before the browser says where this one came from.
    session.leave(download);
    const settle = () => {
      stop();
      this._pending.delete(settle);
      this._ended(ended, sourceOf());
    };
    const stop = host.every(0, () => guard(settle));
    this._pending.add(settle);
  }

  private _settle(): void {
    for (const settle of this._pending) settle();
  }

  private _ended({ download, outcome, nowSeconds, downloadSeconds }: Ended, source: ResponseSource): void {
    const { session, sizes, ticker } = this._parts;
    const { requestedAtSeconds, lastProgressAtSeconds, unansweredSeconds } = download;
    const elapsedSeconds = nowSeconds - requestedAtSeconds;
    const isWhole = outcome === 'whole';
    const isCached = source === 'cache';
    if (!(download instanceof VideoDownload)) download.ended(nowSeconds, outcome, isCached);
    else {
      if (download.isRefused && download.receivedBits === 0) outcome = 'failed';
      const endSeconds = isWhole ? lastProgressAtSeconds! : nowSeconds;
      const told =
        downloadSeconds === undefined ? endSeconds - requestedAtSeconds : unansweredSeconds + downloadSeconds;
      // The player may use the device's clock, which may have been set meanwhile.
      const isPossible = told >= 0 && told < elapsedSeconds + CLOCK_SLACK_SECONDS;
      const seconds = isPossible ? told : elapsedSeconds;
      const { live, origin, downloads } = session.record;
      const isOpen = isWhole && source !== 'network' && !live.isRequested;
      const isDoubted = isOpen && session.doubts(download, seconds);
      download.ended(nowSeconds, outcome, isCached || isDoubted);
      const known = knownBps(downloads);
      const setUp = live.isRequested || isCached ? 0 : origin.ended(download, outcome, nowSeconds, known);
      session.end(download, outcome, seconds, { setUp, isCached, isDoubted });
      if (isWhole) sizes.learn(download.segment, download.sizeBits);
    }
    ticker.update();
  }

  /** The session of these requests is over. */
  forget(): void {
    this._settle();
    this._downloads.clear();
  }

  stop(): void {
    this.forget();
    if (this._responses) this._responses.stop();
  }
}
