/**
 * Follows the player's requests: records video downloads in the session, reports all of them to the meter of the
 * forecasts, and learns segment sizes.
 */

import { knownBps, LiveDownload, type LiveSegment } from '../../predictor/live-download.ts';
import { MeteredDownload } from '../../predictor/metered-download.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { LiveRequest, SegmentRequest } from './player-port.ts';
import {
  type ActiveDownload,
  beginDownload,
  downloadsOf,
  dropDownload,
  endDownload,
  progressDownload,
} from './session.ts';
import type { Ticker } from './ticker.ts';

/** A player's clock in whole milliseconds may exceed the elapsed time by this much. */
const CLOCK_SLACK_SECONDS = 0.01;

/** A request in flight. */
interface Followed {
  metered: MeteredDownload;
  /** Undefined for audio and init segments. */
  video: ActiveDownload | undefined;
}

/** A request is any object that the player keeps from the beginning of the request to its end. */
export function createDownloads(life: LifeCycle, ticker: Ticker) {
  const followed = new Map<object, Followed>();

  return {
    /**
     * A request was sent; `segment` is undefined for audio and init segments, which only the meter needs. `liveRequest`:
     * of media in a live stream.
     */
    begun(request: object, isMedia: boolean, segment: SegmentRequest | undefined, liveRequest?: LiveRequest) {
      const session = life.session();
      if (session.startMs === undefined) {
        // An init segment does not start the session's clock.
        if (!isMedia) return;
        session.startMs = performance.now();
        life.startForecasting();
      }
      session.isLive ||= liveRequest !== undefined;
      const atSeconds = life.nowSeconds();
      const edge = segment ? session.videoEdge : session.audioEdge;
      const live = liveRequest && new LiveDownload(edge, liveSegment(liveRequest, atSeconds), atSeconds);
      const video =
        segment &&
        beginDownload(session, segment, {
          sizeBits: life.sizes.sizeBits(segment),
          requestedAtSeconds: atSeconds,
          live,
        });
      followed.set(request, { metered: new MeteredDownload(life.meter(), atSeconds, live), video });
      ticker.update();
    },

    /** The server answered that a segment does not exist yet; the player asks again. */
    refused(request: object) {
      followed.get(request)?.metered.refused(life.nowSeconds());
    },

    /**
     * `receivedBits` of the response have arrived so far, of `sizeBits` if the player knows the size; `chunks` so far, if
     * the player reads the body of a live segment in chunks.
     */
    progressed(request: object, receivedBits: number, sizeBits?: number, chunks?: number) {
      const one = followed.get(request);
      if (one === undefined || receivedBits === 0) return;
      const session = life.session();
      const { metered, video } = one;
      const now = life.nowSeconds();
      metered.progressed(now, receivedBits, chunks, knownBps(downloadsOf(session)));
      if (video) video.live = metered.live;
      if (video === undefined) return;
      progressDownload(video, receivedBits, now);
      ticker.progressed();
      if (sizeBits! > 0) {
        session.requestedBits += sizeBits! - video.sizeBits;
        video.sizeBits = sizeBits!;
      }
    },

    /** A request ended, `downloadSeconds` after it was sent. Its last bits must have been reported before. */
    ended(request: object, outcome: 'whole' | 'abandoned' | 'failed', downloadSeconds: number) {
      const one = followed.get(request);
      if (one === undefined) return;
      followed.delete(request);
      const session = life.session();
      const { metered, video } = one;
      const { receivedBits, live } = metered;
      const isAbandoned = outcome === 'abandoned';
      const now = life.nowSeconds();
      const cameAtOnce = metered.ended(now, outcome);
      if (video !== undefined) {
        const isWhole = outcome === 'whole';
        if (isWhole) session.wholeDownloads++;
        if (!isAbandoned && (!isWhole || receivedBits === 0)) dropDownload(session, video);
        else {
          const sizeBits = isWhole ? receivedBits : video.sizeBits;
          if (cameAtOnce) video.firstByteAtSeconds = undefined;
          const elapsedSeconds = now - video.requestedAtSeconds;
          // The player may use the device's clock, which may have been set meanwhile.
          const isPossible = downloadSeconds >= 0 && downloadSeconds < elapsedSeconds + CLOCK_SLACK_SECONDS;
          const seconds = isPossible ? downloadSeconds : elapsedSeconds;
          endDownload(session, video, {
            abandoned: isAbandoned,
            receivedBits,
            sizeBits,
            downloadSeconds: live ? live.linkSeconds(seconds, knownBps(downloadsOf(session))) : seconds,
          });
          if (isWhole) life.sizes.learn(video.segment, sizeBits);
        }
      }
      ticker.update();
    },

    /** The session of these requests is over. */
    forget: () => followed.clear(),
  };
}

/** The segment's chunks on the session's clock. */
function liveSegment({ secondsToFirstChunk, ...segment }: LiveRequest, nowSeconds: number): LiveSegment {
  return { ...segment, firstChunkAtSeconds: nowSeconds + secondsToFirstChunk };
}
