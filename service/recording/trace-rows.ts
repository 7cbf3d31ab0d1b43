/** Rows of a recorded trace: a row per second while players were downloading. A blank row begins a gap. */

import type { Observation } from '../../abr/forecast.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** The throughput of a second is known if downloads took at least this much of it. */
const LEAST_BUSY_SECONDS = 0.5;

const HEADER = 'time_s,throughput_mbps,rtt_ms,loss\n';

export class TraceRows {
  /** Time of the first row, which is 0 in the trace; undefined before the first row. */
  startSecond: number | undefined;
  #second = Number.NaN;
  #bits = 0;
  #busySeconds = 0;
  /** `time_s` after the last row; undefined after a blank row. */
  #knownUntil: number | undefined;

  /** Takes observations in order of time, at most 1 s long. Returns the completed rows; the header comes first. */
  add(observation: Exclude<Observation, { kind: 'request-latency' }>, ping: TelemetrySecond | undefined): string[] {
    const { startSeconds, endSeconds } = observation;
    const second = Math.floor(startSeconds + 1e-6);
    let rows: string[] = [];
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

  #close(ping: TelemetrySecond | undefined): string[] {
    const isKnown = this.#busySeconds >= LEAST_BUSY_SECONDS;
    const rows = isKnown && this.startSecond === undefined ? [HEADER] : [];
    if (isKnown) this.startSecond ??= this.#second;
    const time = this.#second - (this.startSecond ?? 0);
    if (this.#knownUntil !== undefined && (!isKnown || time > this.#knownUntil)) {
      rows.push(`${this.#knownUntil},,,\n`);
      this.#knownUntil = undefined;
    }
    if (!isKnown) return rows;
    this.#knownUntil = time + 1;
    const mbps = (this.#bits / this.#busySeconds / 1e6).toFixed(3);
    rows.push(`${time},${mbps},${ping?.latencyMs?.toFixed(1) ?? ''},${ping?.dropRate?.toFixed(3) ?? ''}\n`);
    return rows;
  }
}
