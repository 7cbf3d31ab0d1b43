/** Which seconds of the dish the folder holds already: at each start the dish tells of its last quarter of an hour again. */

import { open } from 'node:fs/promises';
import type { TelemetrySecond } from '../telemetry.ts';
import type { RecordingFile } from './recording-folder.ts';

/** What the dish remembers, and some more. */
const HISTORY_MS = 960_000;
/** So much is read of the newest records; what is older is then recorded twice. */
const MOST_BYTES = 64 * 1024 * 1024;
/** When the dish's seconds end is learnt anew at each start. */
const SLACK_MS = 1000;

export class RecordedSeconds {
  /** UTC in ms, by what the dish measured. */
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
    const atMs = this.#atMs.get(measured(second)) ?? [];
    return atMs.some((one) => Math.abs(one - second.atMs) < SLACK_MS);
  }

  clear(): void {
    this.#atMs.clear();
  }

  #add(second: TelemetrySecond): void {
    const key = measured(second);
    const atMs = this.#atMs.get(key);
    if (atMs === undefined) this.#atMs.set(key, [second.atMs]);
    else atMs.push(second.atMs);
  }
}

/** Undefined for a line that somebody has changed. */
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
