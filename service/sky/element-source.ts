/**
 * Where elements come from: a file, or a URL with a copy on disk, so that a start without the internet has the last
 * ones. They are asked for again every few hours, and refused when they are so old that satellites are elsewhere.
 *
 * Everybody in the network may read what is reported here, and addresses may hold passwords: messages are made of words
 * of this file, codes of errors, and addresses without credentials and query; never of what a library or a server says.
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
  /** A file or an http(s) URL, gzip or not. A name and a password in a URL are sent as `Authorization: Basic`. */
  source: string;
  /** Folder for the copies of what URLs gave. */
  cacheDirectory: string;
  /** Elements whose newest epoch is older are refused. Days. */
  maxAgeDays: number;
  clock: Clock;
  problems: Problems;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** CelesTrak makes new ones a few times a day, and asks not to be asked more often. */
const REFRESH_MS = 6 * HOUR_MS;
const RETRY_MS = HOUR_MS / 4;
const TIMEOUT_MS = 30_000;
/** Five times all satellites that are catalogued; as it is sent, and decompressed. */
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

  /** The newest ones, whatever their age; undefined before any were read. */
  get set(): ElementSet | undefined {
    return this.#set;
  }

  get ageMs(): number {
    return this.#options.clock.utcMs() - (this.#set?.newestMs ?? Number.NaN);
  }

  /** Whether satellites would be where these say. Elements of the future are as wrong as old ones. */
  get isFresh(): boolean {
    return Math.abs(this.ageMs) <= this.#options.maxAgeDays * DAY_MS;
  }

  /** Reads them where it is time to; true where there are other ones now. Never rejects: problems are reported. */
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
      // Those that are there, or on disk, serve on until they are too old.
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
    // A restart is no reason to ask again.
    if (this.#set === undefined) {
      const { mtimeMs = Number.NaN } = await stat(this.#copy).catch(() => ({}) as { mtimeMs?: number });
      const copied = Math.abs(clock.utcMs() - mtimeMs) < REFRESH_MS ? await this.#copied() : undefined;
      if (copied !== undefined) return copied;
    }
    const url = new URL(source);
    const headers: Record<string, string> = {};
    if (url.username !== '' || url.password !== '') {
      const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
      // `fetch` takes none in addresses, and does not send this header on to another origin.
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
      // Only what can be read replaces the copy.
      await this.#keep(text);
      return set;
    } finally {
      // Of an answer that is refused the rest is not wanted; one that was read has none.
      await response.body?.cancel().catch(() => {});
    }
  }

  /** One per address: a corrected one has other elements. Credentials are no part of its name. */
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

  /** What a URL gave last, in this run or in one before; undefined where there is nothing that can be read. */
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

/** Text, gzip or not; no more of it is taken into memory than there may be. */
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

/** A source as others may see it: credentials, query and fragment may hold secrets. */
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
