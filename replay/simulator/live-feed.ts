/** Observes live flights as the plugin does (session/requests/downloads.ts): link or encoder limits them. */

import type { Download, Forecaster, InFlight } from '../../abr/index.ts';
import { knownBps, LinkWatch } from '../../predictor/link/link-watch.ts';
import { LiveEdge, type LiveSegment, LiveWaits } from '../../predictor/link/live-waits.ts';
import { ObservationMeter } from '../../predictor/link/observation-meter.ts';
import { SegmentDownload } from '../../predictor/link/segment-download.ts';
import type { ChunkedFlight } from '../link/chunked-flight.ts';

/** A page sees a body in such parts: as the origin sends its chunks, or by progress events. */
const READ_SECONDS = { chunks: 0.004, whole: 0.05 };

interface Observed {
  flight: ChunkedFlight;
  download: SegmentDownload;
  readUntilSeconds: number;
  /** Whole chunks that are not reported yet. */
  chunks: number;
}

export class LiveFeed {
  private readonly meter: ObservationMeter | undefined;
  private readonly edge = new LiveEdge();
  private observed: Observed | undefined;
  private ended: SegmentDownload | undefined;

  /** `downloads`: those that the controller sees. */
  constructor(
    forecaster: Forecaster | undefined,
    private readonly downloads: readonly Download[],
  ) {
    this.meter = forecaster && new ObservationMeter((observation) => forecaster.observe(observation));
  }

  begin(flight: ChunkedFlight, segment: LiveSegment): void {
    const { requestedAtSeconds } = flight;
    const waits = new LiveWaits(this.edge, segment, requestedAtSeconds);
    const options = { meter: this.meter, waits, knownBps: () => knownBps(this.downloads) };
    const download = new SegmentDownload(requestedAtSeconds, { link: new LinkWatch(requestedAtSeconds, options) });
    this.observed = { flight, download, readUntilSeconds: requestedAtSeconds, chunks: 0 };
  }

  /** Reports the progress until `atSeconds`; `hasEnded`: the flight is complete or abandoned. */
  report(atSeconds: number, hasEnded: boolean): void {
    const { observed, meter } = this;
    if (observed === undefined) return;
    const { flight, download } = observed;
    const { transfers } = flight;
    const hasChunks = transfers.length > 1;
    const readSeconds = hasChunks ? READ_SECONDS.chunks : READ_SECONDS.whole;
    for (const transfer of transfers) {
      const { startSeconds, endSeconds } = transfer;
      let bits = flight.bitsOf(transfer, observed.readUntilSeconds);
      for (let at = Math.max(startSeconds, observed.readUntilSeconds); at < Math.min(endSeconds, atSeconds); ) {
        at = Math.min(at + readSeconds, endSeconds, atSeconds);
        const until = flight.bitsOf(transfer, at);
        if (at >= endSeconds) observed.chunks++;
        if (until > bits) {
          const totalBits = download.receivedBits + until - bits;
          const chunks = hasChunks ? observed.chunks : undefined;
          download.received(at, { totalBits, chunks });
          observed.chunks = 0;
        }
        bits = until;
        observed.readUntilSeconds = at;
      }
    }
    if (!hasEnded) {
      meter?.advance(atSeconds);
      return;
    }
    this.observed = undefined;
    this.ended = download;
    download.ended(atSeconds, atSeconds >= flight.endsAtSeconds ? 'whole' : 'abandoned');
  }

  /** The download in flight, as if its media had existed at the request. */
  withoutWaits(inFlight: InFlight, nowSeconds: number): InFlight {
    return this.observed!.download.link!.withoutWaits(inFlight, nowSeconds);
  }

  /** The download that has just ended, over the link alone; undefined: it says nothing about the link. */
  measured(download: Download): Download | undefined {
    const downloadSeconds = this.ended!.link!.linkSeconds(download.downloadSeconds);
    return downloadSeconds === undefined ? undefined : { ...download, downloadSeconds };
  }
}
