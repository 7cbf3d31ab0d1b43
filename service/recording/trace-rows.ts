/**
 * Builds the rows of a recorded trace (`time_s,throughput_mbps,rtt_ms,loss`), one per second: the throughput while
 * players were downloading. A blank row begins a gap.
 */

import type { Observation } from '../../abr/forecast.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** A second's throughput is known if downloads took at least this much of it. */
const LEAST_BUSY_SECONDS = 0.5;

const HEADER = 'time_s,throughput_mbps,rtt_ms,loss\n';

export class TraceRows {
  /** Time of the first row, which is 0 in the trace; undefined before it. */
  startSecond: number | undefined;
  #second = Number.NaN;
  #bits = 0;
  #busySeconds = 0;
  /** `time_s` after the last row; NaN after a blank row. */
  #knownUntil = Number.NaN;

  /** Observations in order of time, at most 1 s long. Returns the completed rows, the header first; `''` if none. */
  add(observation: Observation, ping: TelemetrySecond | undefined): string {
    if (observation.kind === 'request-latency') return '';
    const { startSeconds, endSeconds } = observation;
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
