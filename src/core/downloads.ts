/**
 * Follows the player's requests, each in one download: its bits count for the session's history and the meter of the
 * forecasts, and its size is learnt.
 */

import type { LiveSegment } from '../../predictor/link/live-waits.ts';
import { knownBps, type Outcome, type Progress, SegmentDownload } from '../../predictor/link/segment-download.ts';
import type { Forecasting } from './forecasting.ts';
import type { Planner } from './planner.ts';
import type { LiveRequest, SegmentRequest } from './player-port.ts';
import type { SegmentSizes } from './segment-sizes.ts';
import { downloadsOf, type Session } from './session.ts';
import type { SessionClock } from './session-clock.ts';
import type { Ticker } from './ticker.ts';
import { VideoDownload } from './video-download.ts';

/** A player's clock in whole milliseconds may exceed the elapsed time by this much. */
const CLOCK_SLACK_SECONDS = 0.01;

interface Parts {
  session: Session;
  clock: SessionClock;
  sizes: SegmentSizes;
  forecasting: Forecasting | undefined;
  planner: Pick<Planner, 'startForecasting'>;
  ticker: Ticker;
}

/** A request is any object that the player keeps from the beginning of the request to its end. */
export class Downloads {
  readonly #downloads = new Map<object, SegmentDownload>();

  constructor(private readonly parts: Parts) {}

  /**
   * A request was sent; `segment` is undefined for audio and init segments, which only the meter needs. `liveRequest`:
   * of media in a live stream.
   */
  begun(request: object, isMedia: boolean, segment: SegmentRequest | undefined, liveRequest?: LiveRequest): void {
    const { session, clock, sizes, forecasting, planner, ticker } = this.parts;
    if (!clock.isRunning) {
      // An init segment does not start the session's clock.
      if (!isMedia) return;
      clock.start();
      planner.startForecasting();
    }
    const atSeconds = clock.nowSeconds();
    const { videoEdge, audioEdge } = session.record;
    const context = {
      meter: forecasting?.meter,
      live: liveRequest && { edge: segment ? videoEdge : audioEdge, segment: liveSegment(liveRequest, atSeconds) },
    };
    const download = segment
      ? new VideoDownload(segment, atSeconds, { ...context, sizeBits: sizes.sizeBits(segment) })
      : new SegmentDownload(atSeconds, context);
    this.#downloads.set(request, download);
    session.begin(download, liveRequest !== undefined);
    ticker.update();
  }

  /** The server answered that a segment does not exist yet; the player asks again. */
  refused(request: object): void {
    this.#downloads.get(request)?.refused(this.parts.clock.nowSeconds());
  }

  /** More of the response has arrived. */
  progressed(request: object, progress: Progress): void {
    const { session, clock, ticker } = this.parts;
    const download = this.#downloads.get(request);
    if (download === undefined || progress.receivedBits === 0) return;
    download.progressed(clock.nowSeconds(), progress, knownBps(downloadsOf(session.record)));
    if (download instanceof VideoDownload) ticker.progressed();
  }

  /** A request ended, `downloadSeconds` after it was sent. Its last bits must have been reported before. */
  ended(request: object, outcome: Outcome, downloadSeconds: number): void {
    const { session, clock, sizes, ticker } = this.parts;
    const download = this.#downloads.get(request);
    if (download === undefined) return;
    this.#downloads.delete(request);
    const nowSeconds = clock.nowSeconds();
    download.ended(nowSeconds, outcome);
    if (download instanceof VideoDownload) {
      const elapsedSeconds = nowSeconds - download.requestedAtSeconds;
      // The player may use the device's clock, which may have been set meanwhile.
      const isPossible = downloadSeconds >= 0 && downloadSeconds < elapsedSeconds + CLOCK_SLACK_SECONDS;
      session.end(download, outcome, isPossible ? downloadSeconds : elapsedSeconds);
      if (outcome === 'whole') sizes.learn(download.segment, download.sizeBits);
    }
    ticker.update();
  }

  /** The session of these requests is over. */
  forget(): void {
    this.#downloads.clear();
  }
}

/** The segment's chunks on the session's clock. */
function liveSegment({ secondsToFirstChunk, ...segment }: LiveRequest, nowSeconds: number): LiveSegment {
  return { ...segment, firstChunkAtSeconds: nowSeconds + secondsToFirstChunk };
}
