/**
 * Loads orbital elements from a file, or from a URL with a copy on disk for starts without internet. Refreshes them
 * every few hours and rejects those that are too old to locate satellites.
 *
 * Everybody in the network can read its problems, and URLs may contain secrets. Messages therefore consist of texts of
 * this file, error codes, and URLs without their query, never of messages of a library or a server.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError } from '../../abr/errors.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import { type ElementSet, parseElements } from './elements.ts';

export interface ElementSourceOptions {
  /** A file or an http(s) URL without name and password. */
  source: string;
  /** Folder for copies of downloaded elements. */
  cacheDirectory: string;
  /** Largest age of the newest epoch. */
  maxAgeDays: number;
  clock: Clock;
  problems: Problems;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** CelesTrak updates a few times a day and asks clients not to download more often. */
const REFRESH_MS = 6 * HOUR_MS;
const RETRY_MS = HOUR_MS / 4;
const TIMEOUT_MS = 30_000;
/** Five times the whole catalogue; also the limit after the decompression of an encoded answer. */
const LARGEST_BYTES = 32 * 1024 * 1024;

export class ElementSource {
  readonly #options: ElementSourceOptions;
  readonly #url: URL | undefined;
  /** For messages. */
  readonly #name: string;
  #nextMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;
  /** The newest elements, of any age; undefined before the first success. */
  set: ElementSet | undefined;

  constructor(options: ElementSourceOptions) {
    const { source } = options;
    this.#options = options;
    this.#url = /^https?:\/\//i.test(source) ? new URL(source) : undefined;
    this.#name = this.#url === undefined ? source : `${this.#url.origin}${this.#url.pathname}`;
  }

  get ageMs(): number {
    return this.#options.clock.utcMs() - (this.set?.newestMs ?? Number.NaN);
  }

  /** Also false for elements from the future, which are as inaccurate as old ones. */
  get isFresh(): boolean {
    return Math.abs(this.ageMs) <= this.#options.maxAgeDays * DAY_MS;
  }

  /** Loads elements when due. True if they have changed. Reports problems and never rejects. */
  async refresh(): Promise<boolean> {
    const { clock, problems, source } = this.#options;
    const before = this.set;
    if (!this.#isBusy && clock.monotonicMs() >= this.#nextMs) {
      this.#isBusy = true;
      try {
        this.set =
          this.#url === undefined
            ? parseElements(await this.#textOf(createReadStream(source)), this.#name)
            : await this.#fromUrl(this.#url);
        for (const code of ['no-elements', 'elements-not-renewed']) problems.clear('sky', code);
        this.#nextMs = clock.monotonicMs() + REFRESH_MS;
      } catch (error) {
        // Continue with the previous elements, or with the copy.
        this.set ??= await this.#copied();
        if (this.set !== undefined) problems.clear('sky', 'no-elements');
        const code = this.set === undefined ? 'no-elements' : 'elements-not-renewed';
        problems.report('sky', code, reason(error, this.#name));
        this.#nextMs = clock.monotonicMs() + RETRY_MS;
      }
      this.#isBusy = false;
    }
    this.#checkAge();
    return this.set !== before;
  }

  #checkAge(): void {
    const { problems, maxAgeDays } = this.#options;
    if (this.set !== undefined && !this.isFresh) {
      const days = (this.ageMs / DAY_MS).toFixed(1);
      problems.report('sky', 'elements-too-old', `the newest are ${days} days old, expected at most ${maxAgeDays}`);
    } else problems.clear('sky', 'elements-too-old');
  }

  async #fromUrl(url: URL): Promise<ElementSet> {
    const { clock } = this.#options;
    // After a restart, use a recent copy instead of a download.
    if (this.set === undefined) {
      const { mtimeMs = Number.NaN } = await stat(this.#copy).catch(() => ({}) as { mtimeMs?: number });
      const copied = Math.abs(clock.utcMs() - mtimeMs) < REFRESH_MS ? await this.#copied() : undefined;
      if (copied !== undefined) return copied;
    }
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    try {
      if (!response.ok) throw new InputError(this.#name, 'an answer with success', response.status);
      const text = response.body === null ? '' : await this.#textOf(response.body);
      const set = parseElements(text, this.#name);
      // After parsing, so that only valid elements replace the copy.
      await this.#keep(text);
      return set;
    } finally {
      // Closes the connection if the body was not read to its end.
      await response.body?.cancel().catch(() => {});
    }
  }

  /** Path of the copy, one per URL. */
  get #copy(): string {
    const { source, cacheDirectory } = this.#options;
    return join(cacheDirectory, `elements-${createHash('sha256').update(source).digest('hex').slice(0, 16)}.tle`);
  }

  async #keep(text: string): Promise<void> {
    const { cacheDirectory, problems } = this.#options;
    try {
      await mkdir(cacheDirectory, { recursive: true });
      await writeFile(`${this.#copy}.new`, text);
      await rename(`${this.#copy}.new`, this.#copy);
      problems.clear('sky', 'elements-not-kept');
    } catch (error) {
      problems.report('sky', 'elements-not-kept', reason(error, cacheDirectory));
    }
  }

  /** The copy of the URL's elements, possibly of an earlier run; undefined if there is no valid one. */
  async #copied(): Promise<ElementSet | undefined> {
    if (this.#url === undefined) return undefined;
    try {
      return parseElements(await readFile(this.#copy, 'utf8'), 'copy');
    } catch {
      return undefined;
    }
  }

  async #textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
    const taken: Uint8Array[] = [];
    let length = 0;
    for await (const piece of pieces) {
      length += piece.length;
      if (length > LARGEST_BYTES) throw new InputError(this.#name, `at most ${LARGEST_BYTES} bytes`, 'more');
      taken.push(piece);
    }
    return Buffer.concat(taken).toString('utf8');
  }
}

function reason(error: unknown, name: string): string {
  if (error instanceof InputError) return error.message;
  const { name: kind, code: own, cause } = error as { name?: unknown; code?: unknown; cause?: { code?: unknown } };
  if (kind === 'TimeoutError') return `${name}: expected an answer within ${TIMEOUT_MS / 1000} s`;
  const code = typeof own === 'string' ? own : cause?.code;
  // `ECONNREFUSED`, `CERT_HAS_EXPIRED` ...
  return `${name}: it cannot be read${/^\w{2,40}$/.test(String(code)) && code !== undefined ? ` (${code})` : ''}`;
}
