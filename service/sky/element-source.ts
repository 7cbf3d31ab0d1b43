/**
 * Loads orbital elements from a file or a URL, and renews them every few hours. A copy of the URL's elements on the disk
 * is for starts without internet. If elements are too old to locate satellites, they are not fresh.
 *
 * Everybody in the network can read its problems, and URLs may contain secrets. Messages therefore consist of texts of
 * this file, error codes, and URLs without their query, never of messages of a library or a server.
 */

import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { check, InputError } from '../../abr/errors.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import { type ElementSet, parseElements } from './elements.ts';

export interface ElementSourceOptions {
  /** A file, or an http(s) URL without name and password. */
  source: string;
  cacheDirectory: string;
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
/** Ten times the elements of all satellites in orbit. */
const MOST_LENGTH = 32e6;

export class ElementSource {
  readonly #url: URL | undefined;
  readonly #name: string;
  /** Path of the copy. Each URL has a copy. */
  readonly #copy: string;
  #nextMs = Number.NEGATIVE_INFINITY;
  /** The newest elements, whatever their age; undefined before the first success. */
  set: ElementSet | undefined;

  constructor(private readonly options: ElementSourceOptions) {
    const { source, cacheDirectory } = options;
    this.#url = /^https?:\/\//i.test(source) ? new URL(source) : undefined;
    this.#name = this.#url === undefined ? source : `${this.#url.origin}${this.#url.pathname}`;
    const digest = createHash('sha256').update(source).digest('hex');
    this.#copy = join(cacheDirectory, `elements-${digest.slice(0, 16)}.tle`);
  }

  get ageMs(): number {
    return this.options.clock.utcMs() - (this.set?.newestMs ?? Number.NaN);
  }

  /** Elements from the future are not fresh: they are as inaccurate as old elements. */
  get isFresh(): boolean {
    return Math.abs(this.ageMs) <= this.options.maxAgeDays * DAY_MS;
  }

  /** Loads elements when they are due. Reports problems and never rejects. */
  async refresh(): Promise<void> {
    const { clock, problems, maxAgeDays, source } = this.options;
    if (clock.monotonicMs() >= this.#nextMs) {
      this.#nextMs = clock.monotonicMs() + RETRY_MS;
      try {
        this.set = this.#url === undefined ? await this.#read(source) : await this.#fromUrl(this.#url);
        for (const code of ['no-elements', 'elements-not-renewed']) problems.clear('sky', code);
        this.#nextMs = clock.monotonicMs() + REFRESH_MS;
      } catch (error) {
        // The previous elements stay in use, or else the copy.
        if (this.#url !== undefined) this.set ??= await this.#read(this.#copy).catch(() => undefined);
        if (this.set !== undefined) problems.clear('sky', 'no-elements');
        const code = this.set === undefined ? 'no-elements' : 'elements-not-renewed';
        problems.report('sky', code, reasonOf(error, this.#name));
      }
    }
    if (this.set === undefined || this.isFresh) problems.clear('sky', 'elements-too-old');
    else {
      const days = (this.ageMs / DAY_MS).toFixed(1);
      problems.report('sky', 'elements-too-old', `the newest are ${days} days old, expected at most ${maxAgeDays}`);
    }
  }

  async #fromUrl(url: URL): Promise<ElementSet> {
    // After a restart, a recent copy replaces the download.
    if (this.set === undefined) {
      const copied = await stat(this.#copy).catch(() => undefined);
      const isRecent = copied && Math.abs(this.options.clock.utcMs() - copied.mtimeMs) < REFRESH_MS;
      const set = isRecent ? await this.#read(this.#copy).catch(() => undefined) : undefined;
      if (set !== undefined) return set;
    }
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await this.#textOf(response);
    if (!response.ok) throw new InputError(this.#name, 'an answer with success', response.status);
    const set = parseElements(text, this.#name);
    // Only valid elements replace the copy. If it cannot be written, the next start downloads again.
    await this.#keep(text).catch(() => {});
    return set;
  }

  async #textOf({ body }: Response): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of body ?? []) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      check(text.length <= MOST_LENGTH, this.#name, `at most ${MOST_LENGTH} characters`, text.length);
    }
    return text;
  }

  async #keep(text: string): Promise<void> {
    await mkdir(this.options.cacheDirectory, { recursive: true });
    await writeFile(`${this.#copy}.new`, text);
    await rename(`${this.#copy}.new`, this.#copy);
  }

  async #read(file: string): Promise<ElementSet> {
    return parseElements(await readFile(file, 'utf8'), this.#name);
  }
}

function reasonOf(error: unknown, name: string): string {
  if (error instanceof InputError) return error.message;
  const { name: kind, code, cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  // The reason is a word, such as `ECONNREFUSED`, `CERT_HAS_EXPIRED` or `TimeoutError`.
  return `${name}: it cannot be read (${[code, cause?.code, kind].find((one) => /^[A-Z]\w+$/.test(one ?? ''))})`;
}
