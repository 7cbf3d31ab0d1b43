/** Knows which seconds are already recorded, because at each start the dish's history repeats its last 15 minutes. */

import { open } from 'node:fs/promises';
import type { TelemetrySecond } from '../telemetry.ts';
import type { RecordingFile } from './recording-folder.ts';

/** Slightly longer than the dish's history. */
const HISTORY_MS = 960_000;
/** Read at most this much of the newest records; older seconds may be recorded twice. */
const MOST_BYTES = 64 * 1024 * 1024;
/** A second's time may differ by this much between two starts, because the ends of seconds are estimated. */
const SLACK_MS = 1000;

export class RecordedSeconds {
  /** UTC in ms, by the measured values. */
  readonly #atMs = new Map<string, number[]>();

  /** `files`: oldest first. */
  static async of(files: readonly RecordingFile[], nowMs: number): Promise<RecordedSeconds> {
    const seconds = new RecordedSeconds();
    let bytesLeft = MOST_BYTES;
    for (const { kind, path, beganMs } of [...files].reverse()) {
      if (kind !== 'records') continue;
      const text = await endOf(path, bytesLeft);
      for (const [line] of text.matchAll(/^\{"kind":"telemetry",.*\}$/gm)) {
        const second = parsed(line);
        if (second !== undefined && Math.abs(nowMs - second.atMs) < HISTORY_MS) seconds.#add(second);
      }
      bytesLeft -= text.length;
      if (bytesLeft <= 0 || beganMs < nowMs - HISTORY_MS) break;
    }
    return seconds;
  }

  has(second: TelemetrySecond): boolean {
    return this.#of(second).some((atMs) => Math.abs(atMs - second.atMs) < SLACK_MS);
  }

  #add(second: TelemetrySecond): void {
    this.#atMs.set(measured(second), [...this.#of(second), second.atMs]);
  }

  /** Times of the recorded seconds with the same values. */
  #of(second: TelemetrySecond): readonly number[] {
    return this.#atMs.get(measured(second)) ?? [];
  }
}

/** Undefined for a line that is not JSON, because it was edited. */
function parsed(line: string): TelemetrySecond | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function measured({ latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps }: TelemetrySecond): string {
  return [latencyMs, dropRate, downlinkUsageBps, uplinkUsageBps].join(' ');
}

/** The last `most` bytes of a file. */
async function endOf(path: string, most: number): Promise<string> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, most));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('latin1', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
