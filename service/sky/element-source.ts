/**
 * Loads orbital elements from a file, or from a URL with a copy on disk for starts without internet. Refreshes them
 * every few hours and rejects those that are too old to locate satellites.
 *
 * Everybody in the network can read its problems, and URLs may contain passwords. Messages therefore consist of texts
 * of this file, error codes, and URLs without credentials and query, never of messages of a library or a server.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unescape as decoded } from 'node:querystring';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { InputError } from '../../abr/errors.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import { type ElementSet, parseElements } from './elements.ts';

export interface ElementSourceOptions {
  /** A file or an http(s) URL, gzip or not. Name and password in a URL are sent as `Authorization: Basic`. */
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
/** Limit before and after decompression: five times the whole catalogue. */
const LARGEST_BYTES = 32 * 1024 * 1024;
const TOO_LARGE = `at most ${LARGEST_BYTES} bytes`;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

export class ElementSource {
  readonly #options: ElementSourceOptions;
  #set: ElementSet | undefined;
  #nextMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;

  constructor(options: ElementSourceOptions) {
    this.#options = options;
  }

  /** The newest elements, of any age; undefined before the first success. */
  get set(): ElementSet | undefined {
    return this.#set;
  }

  get ageMs(): number {
    return this.#options.clock.utcMs() - (this.#set?.newestMs ?? Number.NaN);
  }

  /** Also false for elements from the future, which are as inaccurate as old ones. */
  get isFresh(): boolean {
    return Math.abs(this.ageMs) <= this.#options.maxAgeDays * DAY_MS;
  }

  /** Loads elements when due. True if they have changed. Reports problems and never rejects. */
  async refresh(): Promise<boolean> {
    const { clock, problems, source } = this.#options;
    if (this.#isBusy || clock.monotonicMs() < this.#nextMs) {
      this.#checkAge();
      return false;
    }
    this.#isBusy = true;
    const before = this.#set;
    const name = shown(source);
    try {
      this.#set = isUrl(source)
        ? await this.#fromUrl(name)
        : parseElements(await textOf(createReadStream(source), name), name);
      for (const code of ['no-elements', 'elements-not-renewed']) problems.clear('sky', code);
      this.#nextMs = clock.monotonicMs() + REFRESH_MS;
    } catch (error) {
      // Continue with the previous elements, or with the copy.
      this.#set ??= await this.#copied();
      if (this.#set !== undefined) problems.clear('sky', 'no-elements');
      problems.report('sky', this.#set === undefined ? 'no-elements' : 'elements-not-renewed', reason(error, name));
      this.#nextMs = clock.monotonicMs() + RETRY_MS;
    } finally {
      this.#isBusy = false;
    }
    this.#checkAge();
    return this.#set !== before;
  }

  #checkAge(): void {
    const { problems, maxAgeDays } = this.#options;
    if (this.#set !== undefined && !this.isFresh) {
      const days = (this.ageMs / DAY_MS).toFixed(1);
      problems.report('sky', 'elements-too-old', `the newest are ${days} days old, expected at most ${maxAgeDays}`);
    } else problems.clear('sky', 'elements-too-old');
  }

  async #fromUrl(name: string): Promise<ElementSet> {
    const { clock, source } = this.#options;
    if (!URL.canParse(source)) throw new InputError('source', 'an http(s) address', 'another one');
    // After a restart, use a recent copy instead of a download.
    if (this.#set === undefined) {
      const { mtimeMs = Number.NaN } = await stat(this.#copy).catch(() => ({}) as { mtimeMs?: number });
      const copied = Math.abs(clock.utcMs() - mtimeMs) < REFRESH_MS ? await this.#copied() : undefined;
      if (copied !== undefined) return copied;
    }
    const url = new URL(source);
    const headers: Record<string, string> = {};
    if (url.username !== '' || url.password !== '') {
      const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
      // `fetch` rejects credentials in URLs, and does not forward this header to another origin.
      headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
      url.username = '';
      url.password = '';
    }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    try {
      if (!response.ok) throw new InputError(name, 'an answer with success', response.status);
      const length = Number(response.headers.get('content-length'));
      if (length > LARGEST_BYTES) throw new InputError(name, TOO_LARGE, length);
      const text = response.body === null ? '' : await textOf(response.body, name);
      const set = parseElements(text, name);
      // After parsing, so that only valid elements replace the copy.
      await this.#keep(text);
      return set;
    } finally {
      // Closes the connection if the body was not read to its end.
      await response.body?.cancel().catch(() => {});
    }
  }

  /** Path of the copy, one per URL without its credentials. */
  get #copy(): string {
    const { source, cacheDirectory } = this.#options;
    const url = new URL(source);
    url.username = '';
    url.password = '';
    return join(cacheDirectory, `elements-${createHash('sha256').update(url.href).digest('hex').slice(0, 16)}.tle`);
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
    const { source } = this.#options;
    if (!isUrl(source) || !URL.canParse(source)) return undefined;
    try {
      return parseElements(await readFile(this.#copy, 'utf8'), 'copy');
    } catch {
      return undefined;
    }
  }
}

function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

/** Text, gzip or not. Reads and decompresses at most `LARGEST_BYTES`. */
async function textOf(pieces: AsyncIterable<Uint8Array>, name: string): Promise<string> {
  const taken: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > LARGEST_BYTES) throw new InputError(name, TOO_LARGE, 'more');
    taken.push(piece);
  }
  const bytes = Buffer.concat(taken);
  if (!bytes.subarray(0, 2).equals(GZIP_MAGIC)) return bytes.toString('utf8');
  return (await promisify(gunzip)(bytes, { maxOutputLength: LARGEST_BYTES })).toString('utf8');
}

/** The source without credentials, query and fragment, which may contain secrets. */
function shown(source: string): string {
  if (!isUrl(source) || !URL.canParse(source)) return isUrl(source) ? 'the address' : source;
  const { origin, pathname } = new URL(source);
  return `${origin}${pathname}`;
}

function reason(error: unknown, name: string): string {
  if (error instanceof InputError) return error.message;
  const { name: kind, code: own, cause } = error as { name?: unknown; code?: unknown; cause?: { code?: unknown } };
  if (kind === 'TimeoutError') return `${name}: expected an answer within ${TIMEOUT_MS / 1000} s`;
  const code = typeof own === 'string' ? own : cause?.code;
  if (code === 'ERR_BUFFER_TOO_LARGE') return `${name}: expected ${TOO_LARGE}, got more`;
  // `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `Z_DATA_ERROR` ...
  return `${name}: it cannot be read${/^\w{2,40}$/.test(String(code)) && code !== undefined ? ` (${code})` : ''}`;
}
