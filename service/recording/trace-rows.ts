/**
 * The rows of a recorded trace (`time_s,throughput_mbps,rtt_ms,loss`, a second each): the rate while something was
 * downloaded; a blank one ends what is known where nothing was.
 */

import type { Observation } from '../../abr/forecast.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** A second is known where it was used for so much of it. */
const LEAST_BUSY_SECONDS = 0.5;

const HEADER = 'time_s,throughput_mbps,rtt_ms,loss\n';

export class TraceRows {
  /** The second of the first row, from which times count; undefined before there is one. */
  startSecond: number | undefined;
  #second = Number.NaN;
  #bits = 0;
  #busySeconds = 0;
  /** The second after the last row; blank rows are only needed once. */
  #knownUntil = Number.NaN;

  /** In order of time, none longer than a second. The rows that this completes, the header before the first; `''` for none. */
  add(observation: Observation, ping: TelemetrySecond | undefined): string {
    if (observation.kind === 'request-latency') return '';
    const { startSeconds, endSeconds } = observation;
    // It belongs to the second that it begins in.
    const second = Math.floor(startSeconds + 1e-6);
    let rows = '';
    if (second !== this.#second) {
      rows = this.#close(ping);
      this.#second = second;
      this.#bits = 0;
      this.#busySeconds = 0;
    }
    if (observation.kind === 'throughput') {
      this.#bits += observation.bits;
      this.#busySeconds += endSeconds - startSeconds;
    }
    return rows;
  }

  #close(ping: TelemetrySecond | undefined): string {
    if (!(this.#busySeconds >= LEAST_BUSY_SECONDS)) {
      if (Number.isNaN(this.#knownUntil)) return '';
      const end = this.#knownUntil;
      this.#knownUntil = Number.NaN;
      return `${end},,,\n`;
    }
    const header = this.startSecond === undefined ? HEADER : '';
    this.startSecond ??= this.#second;
    const time = this.#second - this.startSecond;
    const isGap = !Number.isNaN(this.#knownUntil) && time > this.#knownUntil;
    const gap = isGap ? `${this.#knownUntil},,,\n` : '';
    this.#knownUntil = time + 1;
    const mbps = (this.#bits / this.#busySeconds / 1e6).toFixed(3);
    const rtt = ping?.latencyMs?.toFixed(1) ?? '';
    const loss = ping?.dropRate?.toFixed(3) ?? '';
    return `${header}${gap}${time},${mbps},${rtt},${loss}\n`;
  }
}
