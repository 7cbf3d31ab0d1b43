/**
 * Observes live flights as the plugin does in a page (src/core/downloads.ts), with its own classes: what the link
 * limits is told apart from what the encoder limits.
 */

import type { Download, Forecaster } from '../../abr/index.ts';
import { LiveDownload, LiveEdge, type LiveSegment } from '../../predictor/live-download.ts';
import { type MeteredRequest, ObservationMeter } from '../../predictor/observation-meter.ts';
import type { LiveFlight } from './live-flight.ts';

/** A page sees a body in parts this long apart: in low latency as it reads them, otherwise by progress events. */
const READ_SECONDS = { chunks: 0.01, whole: 0.05 };

/** The newest downloads tell the known throughput, as in the plugin. */
const DOWNLOADS_OF_THROUGHPUT = 5;

interface Observed {
  flight: LiveFlight;
  live: LiveDownload;
  /** Undefined without a forecaster. */
  metered: MeteredRequest | undefined;
  readUntilSeconds: number;
  readBits: number;
  meteredBits: number;
}

export class LiveFeed {
  private readonly meter: ObservationMeter | undefined;
  private readonly edge = new LiveEdge();
  private observed: Observed | undefined;
  private ended: LiveDownload | undefined;

  /** `downloads`: those that the controller sees. */
  constructor(
    forecaster: Forecaster | undefined,
    private readonly downloads: readonly Download[],
  ) {
    this.meter = forecaster && new ObservationMeter((observation) => forecaster.observe(observation));
  }

  begin(flight: LiveFlight, segment: LiveSegment): void {
    const { requestedAtSeconds } = flight;
    const live = new LiveDownload(this.edge, segment, requestedAtSeconds);
    const metered = this.meter?.requestSent(requestedAtSeconds);
    this.observed = { flight, live, metered, readUntilSeconds: requestedAtSeconds, readBits: 0, meteredBits: 0 };
    this.waitForEncoder(requestedAtSeconds);
  }

  /** Reports the progress until `atSeconds`; `hasEnded`: the flight is complete or abandoned. */
  report(atSeconds: number, hasEnded: boolean): void {
    const { observed, meter } = this;
    if (observed === undefined) return;
    const { flight, live, metered } = observed;
    const { transfers } = flight;
    const hasChunks = transfers.length > 1;
    const readSeconds = hasChunks ? READ_SECONDS.chunks : READ_SECONDS.whole;
    for (const transfer of transfers) {
      const { startSeconds, endSeconds } = transfer;
      let bits = flight.bitsOf(transfer, observed.readUntilSeconds);
      for (let at = Math.max(startSeconds, observed.readUntilSeconds); at < Math.min(endSeconds, atSeconds); ) {
        at = Math.min(at + readSeconds, endSeconds, atSeconds);
        const until = flight.bitsOf(transfer, at);
        const chunks = at >= endSeconds ? 1 : 0;
        if (until > bits) this.received(at, until - bits, hasChunks ? chunks : undefined);
        bits = until;
        observed.readUntilSeconds = at;
      }
    }
    if (!hasEnded) {
      meter?.advance(atSeconds);
      return;
    }
    this.observed = undefined;
    this.ended = live;
    const { readBits, meteredBits } = observed;
    const isWhole = atSeconds >= flight.endsAtSeconds;
    const cameAtOnce = isWhole && meteredBits === 0;
    if (!isWhole && readBits > meteredBits) meter?.received(metered!, atSeconds, readBits - meteredBits);
    meter?.requestEnded(metered!, atSeconds, { cameAtOnce });
    if (isWhole) live.ended();
  }

  /** The download that has just ended, over the link alone; undefined: it says nothing about the link. */
  measured(download: Download): Download | undefined {
    const downloadSeconds = this.ended!.linkSeconds(download.downloadSeconds, this.knownBps());
    return downloadSeconds === undefined ? undefined : { ...download, downloadSeconds };
  }

  private received(atSeconds: number, bits: number, chunks: number | undefined): void {
    const { observed, meter } = this;
    const { live, metered, readBits } = observed!;
    const { isBound, sinceSeconds } = live.received(atSeconds, bits, chunks);
    observed!.readBits += bits;
    if (isBound) {
      // A lower bound counts only where it raises the estimate.
      const isHigher = bits / (atSeconds - sinceSeconds) > this.knownBps();
      meter?.resumed(metered!, atSeconds, sinceSeconds, isHigher ? bits : 0);
    } else if (readBits === 0) meter?.firstByte(metered!, atSeconds);
    else meter?.received(metered!, atSeconds, chunks === undefined ? observed!.readBits - observed!.meteredBits : bits);
    if (isBound || readBits > 0) observed!.meteredBits = observed!.readBits;
    if (chunks !== undefined) this.waitForEncoder(atSeconds);
  }

  /** Nothing of a live segment can arrive before its next chunk exists. */
  private waitForEncoder(atSeconds: number): void {
    const { live, metered } = this.observed!;
    if (live.nextChunkAtSeconds > atSeconds) this.meter?.waits(metered!, atSeconds, live.nextChunkAtSeconds);
  }

  private knownBps(): number {
    const latest = this.downloads.slice(-DOWNLOADS_OF_THROUGHPUT);
    const seconds = latest.reduce((sum, { downloadSeconds }) => sum + downloadSeconds, 0);
    return seconds > 0 ? latest.reduce((sum, { receivedBits }) => sum + receivedBits, 0) / seconds : 0;
  }
}
