/**
 * What a run of the service leaves for the next one, in one small file: the link's throughput of the last minutes of
 * downloading, from which the next run learns again what this one had learnt, and the position in the event log.
 */

import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../abr/errors.ts';
import type { Observation } from '../abr/forecast.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Problems } from './problems.ts';
import { isDiskFull } from './recording/files.ts';

export type Throughput = Extract<Observation, { kind: 'throughput' }>;

export interface KeptState {
  /** UTC in ms. */
  savedMs: number;
  /** Seconds are relative to `savedMs`, so below 0; in order of time. */
  throughput: readonly Throughput[];
  /** If the run ended properly: nothing was published later. `next`: the sequence of the next event. */
  events?: { boot: string; next: number } | undefined;
}

/** Name and version of the format. */
const FORMAT = 'leo-abr link 1';
const FILE = 'leo-abr-link.json';
/**
 * Nothing older is used: the load of the link changes, and a minute of downloading makes up for it. The dish's own
 * history is as long. A multiple of the epoch.
 */
export const KEPT_SECONDS = 900;
/** The clock was set back: now or then it was wrong. */
const FUTURE_SECONDS = 1;

export class StateFile {
  readonly #directory: string;
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, FILE);
  }

  /** Undefined if there is none, or none that is recent and valid, which is logged or a problem. */
  async read({ clock, problems, log }: { clock: Clock; problems: Problems; log: Log }): Promise<KeptState | undefined> {
    try {
      const state = parse(await readFile(this.#path, 'utf8'));
      const ageSeconds = (clock.utcMs() - state.savedMs) / 1000;
      if (ageSeconds <= KEPT_SECONDS && ageSeconds >= -FUTURE_SECONDS) return state;
      const age = ageSeconds < 0 ? 'is from the future' : `is ${(ageSeconds / 60).toFixed(0)} min old`;
      log.info({ part: 'state', code: 'too-old' }, `${FILE} ${age}: it is not used`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.report('state', 'ignored', reason(error));
    }
    return undefined;
  }

  /** Replaces the file as a whole. Reports problems and never rejects; false: it was not written. */
  async write({ throughput, ...rest }: KeptState, problems: Problems): Promise<boolean> {
    const rows = throughput.map(({ startSeconds, endSeconds, bits }) => [
      rounded(startSeconds),
      rounded(endSeconds - startSeconds),
      Math.round(bits),
    ]);
    // One after the other, because both use the same temporary file.
    const before = this.#writing;
    const writing = before.then(() => this.#replace(JSON.stringify({ format: FORMAT, ...rest, throughput: rows })));
    this.#writing = writing.catch(() => {});
    try {
      await writing;
      for (const code of ['ignored', 'not-written']) problems.clear('state', code);
      return true;
    } catch (error) {
      problems.report('state', 'not-written', reason(error));
      return false;
    }
  }

  async #replace(text: string): Promise<void> {
    const part = `${this.#path}.new`;
    try {
      await mkdir(this.#directory, { recursive: true });
      await writeFile(part, text, { flush: true });
      await rename(part, this.#path);
    } catch (error) {
      await rm(part, { force: true }).catch(() => {});
      throw error;
    }
  }
}

/** @throws {Error} for text that is not a state of this version */
function parse(text: string): KeptState {
  const { format, savedMs, throughput, events } = (JSON.parse(text) ?? {}) as Record<string, unknown>;
  if (format !== FORMAT) throw new InputError('format', JSON.stringify(FORMAT), format);
  if (!Number.isFinite(savedMs) || !Array.isArray(throughput)) {
    throw new InputError('throughput', 'a list with the time of saving', throughput);
  }
  const { boot, next } = (events ?? {}) as { boot?: unknown; next?: unknown };
  const isLog = typeof boot === 'string' && /^\w{1,20}$/.test(boot) && Number.isSafeInteger(next);
  return {
    savedMs: savedMs as number,
    events: isLog ? { boot, next: next as number } : undefined,
    throughput: throughput.map((row: unknown, i): Throughput => {
      const [startSeconds, seconds, bits] = Array.isArray(row) ? (row as number[]) : [];
      if (startSeconds! <= 0 && seconds! > 0 && bits! >= 0) {
        return { kind: 'throughput', startSeconds: startSeconds!, endSeconds: startSeconds! + seconds!, bits: bits! };
      }
      throw new InputError(`throughput[${i}]`, 'seconds before the time of saving, their number, bits', row);
    }),
  };
}

/** To 10 µs. */
function rounded(seconds: number): number {
  return Number(seconds.toFixed(5));
}

/** Without the folder's path, because everybody in the network can read problems. */
function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // A syntax error would show a part of a file that may be somebody else's.
  const what = error instanceof SyntaxError ? 'it is not JSON' : (code ?? message);
  return `${FILE}: ${isDiskFull(error) ? 'the disk is full' : what}`;
}
