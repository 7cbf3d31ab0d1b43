/**
 * Follows the player's requests: records video downloads in the session, reports all of them to the meter of the
 * forecasts, and learns segment sizes.
 */

import type { MeteredRequest } from '../../predictor/observation-meter.ts';
import type { LifeCycle } from './life-cycle.ts';
import type { SegmentRequest } from './player-port.ts';
import { type ActiveDownload, beginDownload, dropDownload, endDownload, progressDownload } from './session.ts';

/** A request in flight. */
interface Followed {
  metered: MeteredRequest | undefined;
  /** Undefined for audio and init segments. */
  video: { segment: SegmentRequest; download: ActiveDownload } | undefined;
  receivedBits: number;
  /** The bits that the meter knows. It learns of the first ones later, because they may turn out to be all. */
  meteredBits: number;
}

export interface DownloadsOptions {
  life: LifeCycle;
  /** Called when a video segment was requested, and when a request has ended in whatever way. */
  onChange: () => void;
  /** Called when bits of a video segment have arrived. */
  onProgress: () => void;
}

export type Downloads = ReturnType<typeof createDownloads>;

/** A request is any object that the player keeps from the beginning of the request to its end. */
export function createDownloads({ life, onChange, onProgress }: DownloadsOptions) {
  const followed = new Map<object, Followed>();

  return {
    /** A request was sent; `segment` is undefined for audio and for init segments, which only the meter wants to know. */
    begun(request: object, isMedia: boolean, segment: SegmentRequest | undefined) {
      const { session } = life.running();
      if (session.startMs === undefined) {
        // An init segment does not start the session's clock.
        if (!isMedia) return;
        session.startMs = performance.now();
        life.startForecasting();
      }
      const atSeconds = life.nowSeconds();
      let video: Followed['video'];
      if (segment !== undefined) {
        const { period, representation, endSeconds } = segment;
        const { bitrateBps } = representation;
        const index = period.firstIndex + segment.index;
        const sizeBits = life.sizes.sizeBits(segment);
        const requested = { streamId: period.id, index, bitrateBps, endSeconds, sizeBits, atSeconds };
        video = { segment, download: beginDownload(session, requested) };
      }
      const metered = life.meter()?.requestSent(atSeconds);
      followed.set(request, { metered, video, receivedBits: 0, meteredBits: 0 });
      onChange();
    },

    /** `receivedBits` of the response have arrived so far, of `sizeBits` where the player knows. */
    progressed(request: object, receivedBits: number, sizeBits?: number) {
      const one = followed.get(request);
      if (one === undefined || receivedBits === 0) return;
      const { session } = life.running();
      const { metered, video } = one;
      const now = life.nowSeconds();
      // The player's own retry starts again at the first byte.
      if (receivedBits < one.receivedBits) one.meteredBits = 0;
      if (one.receivedBits === 0) {
        if (metered) life.meter()?.firstByte(metered, now);
      } else if (receivedBits !== one.receivedBits) {
        if (metered) life.meter()?.received(metered, now, receivedBits - one.meteredBits);
        one.meteredBits = receivedBits;
      }
      one.receivedBits = receivedBits;
      if (video === undefined) return;
      const { download } = video;
      progressDownload(download, receivedBits, now);
      onProgress();
      if (sizeBits! > 0) {
        session.requestedBits += sizeBits! - download.sizeBits;
        download.sizeBits = sizeBits!;
      }
    },

    /** A request ended, `downloadSeconds` after it was sent. Its last bits must have been reported before. */
    ended(request: object, outcome: 'whole' | 'abandoned' | 'failed', downloadSeconds: number) {
      const one = followed.get(request);
      if (one === undefined) return;
      followed.delete(request);
      const { session } = life.running();
      const { metered, video, receivedBits, meteredBits } = one;
      const isAbandoned = outcome === 'abandoned';
      const cameAtOnce = !isAbandoned && meteredBits === 0;
      if (metered !== undefined) {
        const now = life.nowSeconds();
        // Abandoned after its first bits.
        if (isAbandoned && receivedBits > meteredBits) life.meter()?.received(metered, now, receivedBits - meteredBits);
        life.meter()?.requestEnded(metered, now, { cameAtOnce });
      }
      if (video !== undefined) {
        const { segment, download } = video;
        const isWhole = outcome === 'whole';
        if (isWhole) session.wholeDownloads++;
        if (!isAbandoned && (!isWhole || receivedBits === 0)) dropDownload(session, download);
        else {
          const sizeBits = isWhole ? receivedBits : download.sizeBits;
          if (cameAtOnce) download.firstByteAtSeconds = undefined;
          endDownload(session, download, { abandoned: isAbandoned, receivedBits, sizeBits, downloadSeconds });
          if (isWhole) life.sizes.learn(segment, sizeBits);
        }
      }
      onChange();
    },

    /** The video request in flight. */
    active(): { request: object; segment: SegmentRequest } | undefined {
      const { active } = life.running().session;
      for (const [request, { video }] of followed) {
        if (video !== undefined && video.download === active) return { request, segment: video.segment };
      }
      return undefined;
    },

    /** The session of these requests is over. */
    forget: () => followed.clear(),
  };
}
