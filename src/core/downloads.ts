/**
 * Follows the player's requests: records video downloads in the session, reports all of them to the meter of the
 * forecasts, and learns segment sizes.
 */

import { LiveDownload, type LiveSegment } from '../../predictor/live-download.ts';
import type { MeteredRequest } from '../../predictor/observation-meter.ts';
import type { Abandonment } from './abandonment.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { LiveRequest, SegmentRequest } from './player-port.ts';
import {
  type ActiveDownload,
  beginDownload,
  dropDownload,
  endDownload,
  knownBps,
  progressDownload,
} from './session.ts';

/** A player's clock in whole milliseconds may exceed the elapsed time by this much. */
const CLOCK_SLACK_SECONDS = 0.01;

/** A request in flight. */
interface Followed {
  /** Undefined without a forecaster. */
  metered: MeteredRequest | undefined;
  /** Undefined for audio and init segments. */
  video: ActiveDownload | undefined;
  /** Undefined on demand and for init segments. */
  live: LiveDownload | undefined;
  receivedBits: number;
  /** Bits reported to the meter. The first ones are reported late, because they may turn out to be all. */
  meteredBits: number;
  /** Chunks of a live segment so far. */
  chunks: number;
}

export type Downloads = ReturnType<typeof createDownloads>;

/** A request is any object that the player keeps from the beginning of the request to its end. */
export function createDownloads(life: LifeCycle, abandonment: Abandonment) {
  const followed = new Map<object, Followed>();

  /** Nothing of a live segment can arrive before its next chunk exists. */
  function waitForEncoder({ metered, live }: Followed, now: number) {
    if (live && live.nextChunkAtSeconds > now) life.meter()?.waits(metered!, now, live.nextChunkAtSeconds);
  }

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
      const metered = life.meter()?.requestSent(atSeconds);
      const one = { metered, video, live, receivedBits: 0, meteredBits: 0, chunks: 0 };
      followed.set(request, one);
      waitForEncoder(one, atSeconds);
      abandonment.update();
    },

    /** The server answered that a segment does not exist yet; the player asks again. */
    refused(request: object) {
      const one = followed.get(request);
      if (!one?.live || one.receivedBits > 0) return;
      const now = life.nowSeconds();
      one.live.refused(now);
      life.meter()?.waits(one.metered!, now, now);
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
      // The player's own retry starts again at the first byte.
      if (receivedBits < one.receivedBits) {
        one.meteredBits = 0;
        one.live = undefined;
        if (video) video.live = undefined;
      }
      const { live } = one;
      const bits = receivedBits - one.receivedBits;
      const newChunks = chunks && chunks - one.chunks;
      const arrival = bits > 0 || newChunks! > 0 ? live?.received(now, bits, newChunks) : undefined;
      if (arrival?.isBound) {
        // A lower bound counts only where it raises the estimate.
        const isHigher = bits / (now - arrival.sinceSeconds) > knownBps(session);
        life.meter()?.resumed(metered!, now, arrival.sinceSeconds, isHigher ? bits : 0);
        one.meteredBits = receivedBits;
      } else if (one.receivedBits === 0) {
        life.meter()?.firstByte(metered!, now);
      } else if (bits !== 0) {
        life.meter()?.received(metered!, now, live && chunks !== undefined ? bits : receivedBits - one.meteredBits);
        one.meteredBits = receivedBits;
      }
      if (live && chunks !== undefined) {
        one.chunks = chunks;
        waitForEncoder(one, now);
      }
      one.receivedBits = receivedBits;
      if (video === undefined) return;
      progressDownload(video, receivedBits, now);
      abandonment.progressed();
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
      const { metered, video, live, receivedBits, meteredBits } = one;
      const isAbandoned = outcome === 'abandoned';
      const cameAtOnce = !isAbandoned && meteredBits === 0;
      const now = life.nowSeconds();
      // Abandoned after its first bits.
      if (isAbandoned && receivedBits > meteredBits) life.meter()?.received(metered!, now, receivedBits - meteredBits);
      life.meter()?.requestEnded(metered!, now, { cameAtOnce });
      if (outcome === 'whole') live?.ended();
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
            downloadSeconds: live ? live.linkSeconds(seconds, knownBps(session)) : seconds,
          });
          if (isWhole) life.sizes.learn(video.segment, sizeBits);
        }
      }
      abandonment.update();
    },

    /** The session of these requests is over. */
    forget: () => followed.clear(),
  };
}

/** The segment's chunks on the session's clock. */
function liveSegment({ secondsToFirstChunk, ...segment }: LiveRequest, nowSeconds: number): LiveSegment {
  return { ...segment, firstChunkAtSeconds: nowSeconds + secondsToFirstChunk };
}
