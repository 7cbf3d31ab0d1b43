/** Reports the bits of one request to the meter, as far as they show the link's throughput. */

import type { LiveDownload } from './live-download.ts';
import type { MeteredRequest, ObservationMeter } from './observation-meter.ts';

export class MeteredDownload {
  /** Undefined on demand and for init segments. */
  live: LiveDownload | undefined;
  receivedBits = 0;
  readonly #meter: ObservationMeter | undefined;
  readonly #request: MeteredRequest | undefined;
  /** Bits reported to the meter. The first ones are reported late, because they may turn out to be all. */
  #meteredBits = 0;
  #chunks = 0;

  /** `meter`: undefined without a forecaster. */
  constructor(meter: ObservationMeter | undefined, atSeconds: number, live: LiveDownload | undefined) {
    this.#meter = meter;
    this.#request = meter?.requestSent(atSeconds);
    this.live = live;
    this.#waitForEncoder(atSeconds);
  }

  /** The server answered that a live segment does not exist yet; the player asks again. */
  refused(atSeconds: number): void {
    if (!this.live || this.receivedBits > 0) return;
    this.live.refused(atSeconds);
    this.#meter?.waits(this.#request!, atSeconds, atSeconds);
  }

  /**
   * `receivedBits` have arrived so far, and `chunks` whole chunks of a live segment; undefined if the body is not read
   * in chunks. `knownBps`: the throughput that is known.
   */
  progressed(atSeconds: number, receivedBits: number, chunks: number | undefined, knownBps: number): void {
    const meter = this.#meter;
    // The player's own retry starts again at the first byte.
    if (receivedBits < this.receivedBits) {
      this.#meteredBits = 0;
      this.live = undefined;
    }
    const bits = receivedBits - this.receivedBits;
    const newChunks = chunks && chunks - this.#chunks;
    const arrival = bits > 0 || newChunks! > 0 ? this.live?.received(atSeconds, bits, newChunks) : undefined;
    if (arrival?.isBound) {
      // A lower bound counts only where it raises the estimate.
      const isHigher = bits / (atSeconds - arrival.sinceSeconds) > knownBps;
      meter?.resumed(this.#request!, atSeconds, arrival.sinceSeconds, isHigher ? bits : 0);
      this.#meteredBits = receivedBits;
    } else if (this.receivedBits === 0) {
      meter?.firstByte(this.#request!, atSeconds);
    } else if (bits !== 0) {
      const isInChunks = this.live !== undefined && chunks !== undefined;
      meter?.received(this.#request!, atSeconds, isInChunks ? bits : receivedBits - this.#meteredBits);
      this.#meteredBits = receivedBits;
    }
    this.receivedBits = receivedBits;
    if (chunks === undefined) return;
    this.#chunks = chunks;
    this.#waitForEncoder(atSeconds);
  }

  /** Returns whether all bits came at once: then their latency is not known. */
  ended(atSeconds: number, outcome: 'whole' | 'abandoned' | 'failed'): boolean {
    const isAbandoned = outcome === 'abandoned';
    const cameAtOnce = !isAbandoned && this.#meteredBits === 0;
    const restBits = this.receivedBits - this.#meteredBits;
    // Abandoned after its first bits.
    if (isAbandoned && restBits > 0) this.#meter?.received(this.#request!, atSeconds, restBits);
    this.#meter?.requestEnded(this.#request!, atSeconds, { cameAtOnce });
    this.live?.ended(atSeconds, outcome === 'whole');
    return cameAtOnce;
  }

  /** Nothing of a live segment can arrive before its next chunk exists. */
  #waitForEncoder(atSeconds: number): void {
    const { live } = this;
    if (live && live.nextChunkAtSeconds > atSeconds) {
      this.#meter?.waits(this.#request!, atSeconds, live.nextChunkAtSeconds);
    }
  }
}
