/** The download of a video segment. */

import type { InFlight } from '../../abr/controller.ts';
import { type DownloadContext, SegmentDownload } from '../../predictor/link/segment-download.ts';
import type { SegmentRequest } from './player-port.ts';

/** The part of `InFlight` that a download knows without its session. */
type DownloadState = Omit<InFlight, 'abandonments' | 'sessionRequestedBits' | 'sessionWastedBits'>;

export class VideoDownload extends SegmentDownload {
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
    const times = { requestedAtSeconds, firstByteAtSeconds, lastProgressAtSeconds };
    return { segmentIndex, bitrateBps, sizeBits, receivedBits, ...this.withoutWaits(times, nowSeconds) };
  }
}
