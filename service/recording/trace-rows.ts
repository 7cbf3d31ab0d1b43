/** Rows of a recorded trace: a row per second while players were downloading. A blank row begins a gap. */

import type { Observation } from '../../abr/forecast.ts';
import type { TelemetrySecond } from '../telemetry.ts';

/** The throughput of a second is known if downloads took at least this much of it. */
const LEAST_BUSY_SECONDS = 0.5;

export const HEADER = 'time_s,throughput_mbps,rtt_ms,loss\n';
export const isBlank = (row: string | undefined) => row?.endsWith(',,,\n') === true;

export class TraceRows {
  /** Time of the first row, which is 0 in the trace; undefined before the first row. */
  startSecond: number | undefined;
  private _second = Number.NaN;
  private _bits = 0;
  private _busySeconds = 0;
  /** `time_s` after the last row; undefined after a blank row. */
  private _knownUntil: number | undefined;
  private _ping: TelemetrySecond | undefined;

  /** Takes observations in order of time, at most 1 s long. Returns the completed rows; the header comes first. */
  add(observation: Exclude<Observation, { kind: 'request-latency' }>, ping: TelemetrySecond | undefined): string[] {
    const { startSeconds, endSeconds } = observation;
    const second = Math.floor(startSeconds + 1e-6);
    let rows: string[] = [];
    this._ping = ping;
    if (second !== this._second) {
      rows = this.end();
      this._second = second;
      this._bits = 0;
      this._busySeconds = 0;
    }
    if (observation.kind === 'throughput') {
      this._bits += observation.bits;
      this._busySeconds += endSeconds - startSeconds;
    }
    return rows;
  }

  /** Returns the row of the second that the newest observation is in. */
  end(): string[] {
    const ping = this._ping;
    const isKnown = this._busySeconds >= LEAST_BUSY_SECONDS;
    const rows = isKnown && this.startSecond === undefined ? [HEADER] : [];
    if (isKnown) this.startSecond ??= this._second;
    const time = this._second - (this.startSecond ?? 0);
    if (this._knownUntil !== undefined && (!isKnown || time > this._knownUntil)) {
      rows.push(`${this._knownUntil},,,\n`);
      this._knownUntil = undefined;
    }
    if (!isKnown) return rows;
    this._knownUntil = time + 1;
    const mbps = (this._bits / this._busySeconds / 1e6).toFixed(3);
    rows.push(`${time},${mbps},${ping?.latencyMs?.toFixed(1) ?? ''},${ping?.dropRate?.toFixed(3) ?? ''}\n`);
    return rows;
  }
}
