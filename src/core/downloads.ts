/**
 * Follows the player's requests: records video downloads in the session, reports all of them to the meter of the
 * forecasts, and learns segment sizes.
 */

import type { MeteredRequest } from '../../predictor/observation-meter.ts';
import type { Abandonment } from './abandonment.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { SegmentRequest } from './player-port.ts';
import { type ActiveDownload, beginDownload, dropDownload, endDownload, progressDownload } from './session.ts';

/** A player's clock in whole milliseconds may exceed the elapsed time by this much. */
const CLOCK_SLACK_SECONDS = 0.01;

/** A request in flight. */
interface Followed {
  /** Undefined without a forecaster. */
  metered: MeteredRequest | undefined;
  /** Undefined for audio and init segments. */
  video: ActiveDownload | undefined;
  receivedBits: number;
  /** Bits reported to the meter. The first ones are reported late, because they may turn out to be all. */
  meteredBits: number;
}

export type Downloads = ReturnType<typeof createDownloads>;

/** A request is any object that the player keeps from the beginning of the request to its end. */
export function createDownloads(life: LifeCycle, abandonment: Abandonment) {
  const followed = new Map<object, Followed>();

  return {
    /** A request was sent; `segment` is undefined for audio and init segments, which only the meter needs. */
    begun(request: object, isMedia: boolean, segment: SegmentRequest | undefined) {
      const session = life.session();
      if (session.startMs === undefined) {
        // An init segment does not start the session's clock.
        if (!isMedia) return;
        session.startMs = performance.now();
        life.startForecasting();
      }
      const atSeconds = life.nowSeconds();
      const video =
        segment &&
        beginDownload(session, segment, { sizeBits: life.sizes.sizeBits(segment), requestedAtSeconds: atSeconds });
      const metered = life.meter()?.requestSent(atSeconds);
      followed.set(request, { metered, video, receivedBits: 0, meteredBits: 0 });
      abandonment.update();
    },

    /** `receivedBits` of the response have arrived so far, of `sizeBits` if the player knows the size. */
    progressed(request: object, receivedBits: number, sizeBits?: number) {
      const one = followed.get(request);
      if (one === undefined || receivedBits === 0) return;
      const session = life.session();
      const { metered, video } = one;
      const now = life.nowSeconds();
      // The player's own retry starts again at the first byte.
      if (receivedBits < one.receivedBits) one.meteredBits = 0;
      if (one.receivedBits === 0) {
        life.meter()?.firstByte(metered!, now);
      } else if (receivedBits !== one.receivedBits) {
        life.meter()?.received(metered!, now, receivedBits - one.meteredBits);
        one.meteredBits = receivedBits;
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
      const { metered, video, receivedBits, meteredBits } = one;
      const isAbandoned = outcome === 'abandoned';
      const cameAtOnce = !isAbandoned && meteredBits === 0;
      const now = life.nowSeconds();
      // Abandoned after its first bits.
      if (isAbandoned && receivedBits > meteredBits) life.meter()?.received(metered!, now, receivedBits - meteredBits);
      life.meter()?.requestEnded(metered!, now, { cameAtOnce });
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
          endDownload(session, video, { abandoned: isAbandoned, receivedBits, sizeBits, downloadSeconds: seconds });
          if (isWhole) life.sizes.learn(video.segment, sizeBits);
        }
      }
      abandonment.update();
    },

    /** The session of these requests is over. */
    forget: () => followed.clear(),
  };
}
