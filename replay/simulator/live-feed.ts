/** Reports live flights to a forecaster: throughput while the link was the limit, and nothing while the encoder was. */

import { type Forecaster, SILENCE_SECONDS } from '../../abr/index.ts';
import type { LiveFlight } from './live-flight.ts';

/** Pieces of throughput do not cross a multiple of this, as in the plugin's meter. */
const PIECES_PER_SECOND = 10;

export class LiveFeed {
  private flight: LiveFlight | undefined;
  private reportedUntilSeconds = 0;

  constructor(private readonly forecaster: Forecaster) {}

  begin(flight: LiveFlight): void {
    const { requestedAtSeconds } = flight;
    if (requestedAtSeconds > this.reportedUntilSeconds) {
      const startSeconds = this.reportedUntilSeconds;
      this.forecaster.observe({ kind: 'idle', startSeconds, endSeconds: requestedAtSeconds });
    }
    this.flight = flight;
    this.reportedUntilSeconds = requestedAtSeconds;
  }

  /** Reports the progress until `atSeconds`; `hasEnded`: the flight is complete or abandoned. */
  report(atSeconds: number, hasEnded: boolean): void {
    const { flight, forecaster } = this;
    if (flight === undefined) return;
    const { requestedAtSeconds, firstByteAtSeconds, transfers } = flight;
    this.throughput(requestedAtSeconds + SILENCE_SECONDS, Math.min(atSeconds, firstByteAtSeconds), () => 0);
    if (firstByteAtSeconds <= atSeconds) {
      if (firstByteAtSeconds > this.reportedUntilSeconds || this.reportedUntilSeconds === requestedAtSeconds) {
        const latencySeconds = firstByteAtSeconds - requestedAtSeconds;
        forecaster.observe({ kind: 'request-latency', atSeconds: firstByteAtSeconds, latencySeconds });
        this.reportedUntilSeconds = firstByteAtSeconds;
      }
      for (const transfer of transfers) {
        const untilSeconds = Math.min(atSeconds, transfer.endSeconds);
        this.throughput(transfer.startSeconds, untilSeconds, (seconds) => flight.bitsOf(transfer, seconds));
      }
    }
    this.reportedUntilSeconds = Math.max(this.reportedUntilSeconds, atSeconds);
    if (hasEnded) this.flight = undefined;
  }

  /** Pieces of an interval that were not reported yet. */
  private throughput(fromSeconds: number, untilSeconds: number, bitsUntil: (seconds: number) => number): void {
    let startSeconds = Math.max(fromSeconds, this.reportedUntilSeconds);
    while (startSeconds < untilSeconds) {
      const next = (Math.floor(startSeconds * PIECES_PER_SECOND + 1e-9) + 1) / PIECES_PER_SECOND;
      const endSeconds = Math.min(next, untilSeconds);
      const bits = bitsUntil(endSeconds) - bitsUntil(startSeconds);
      this.forecaster.observe({ kind: 'throughput', startSeconds, endSeconds, bits });
      startSeconds = endSeconds;
    }
  }
}
