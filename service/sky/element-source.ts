/**
 * Where elements come from: a file, or a URL with a copy on disk, so that a start without the internet has the last ones.
 * They are asked for again every few hours, and refused when they are so old that satellites are elsewhere.
 */

import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import { type ElementSet, parseElements } from './elements.ts';

export interface ElementSourceOptions {
  /** A file (gzip where it ends in .gz), or an http(s) URL. */
  source: string;
  /** Folder for the copy of what a URL gave. */
  cacheDirectory: string;
  /** Elements whose newest epoch is older are refused. Days. */
  maxAgeDays: number;
  clock: Clock;
  problems: Problems;
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** CelesTrak makes new ones a few times a day, and asks not to be asked more often. */
const REFRESH_MS = 6 * HOUR_MS;
const RETRY_MS = HOUR_MS / 4;
const TIMEOUT_MS = 30_000;
const LARGEST_BYTES = 64 * 1024 * 1024;
const CACHE_FILE = 'elements.tle';

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
    if (this.#isBusy || clock.monotonicMs() < this.#nextMs) return false;
    this.#isBusy = true;
    const before = this.#set;
    try {
      const text = isUrl(source) ? await this.#fromUrl(source) : await readText(source);
      this.#set = parseElements(text, withoutSecrets(source));
      problems.clear('sky', 'no-elements');
      this.#nextMs = clock.monotonicMs() + REFRESH_MS;
    } catch (error) {
      // Those that are there serve on until they are too old.
      problems.report('sky', 'no-elements', reason(error, source));
      this.#nextMs = clock.monotonicMs() + RETRY_MS;
    } finally {
      this.#isBusy = false;
    }
    if (this.#set !== undefined && !this.isFresh) {
      const days = (this.ageMs / DAY_MS).toFixed(1);
      problems.report(
        'sky',
        'elements-too-old',
        `the newest are ${days} days old, expected at most ${this.#options.maxAgeDays}`,
      );
    } else problems.clear('sky', 'elements-too-old');
    return this.#set !== before;
  }

  async #fromUrl(url: string): Promise<string> {
    const { cacheDirectory, clock, problems } = this.#options;
    const copy = join(cacheDirectory, CACHE_FILE);
    // A restart is no reason to ask again.
    if (this.#set === undefined) {
      const writtenMs = await stat(copy).then(
        ({ mtimeMs }) => mtimeMs,
        () => Number.NaN,
      );
      if (Math.abs(clock.utcMs() - writtenMs) < REFRESH_MS) return readFile(copy, 'utf8');
    }
    try {
      const response = await (this.#options.fetch ?? fetch)(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (!response.ok) throw new Error(`expected an answer with success, got status ${response.status}`);
      const bytes = Buffer.from(await response.arrayBuffer());
      if (bytes.length > LARGEST_BYTES) throw new Error(`expected at most ${LARGEST_BYTES} bytes, got ${bytes.length}`);
      const text = bytes.toString('utf8');
      // Only what can be read replaces the copy.
      parseElements(text, withoutSecrets(url));
      await mkdir(cacheDirectory, { recursive: true });
      await writeFile(`${copy}.new`, text);
      await rename(`${copy}.new`, copy);
      problems.clear('sky', 'elements-from-copy');
      return text;
    } catch (error) {
      const text = await readFile(copy, 'utf8').catch(() => undefined);
      if (text === undefined) throw error;
      problems.report('sky', 'elements-from-copy', `those of the disk are used: ${reason(error, url)}`);
      return text;
    }
  }
}

export function isUrl(source: string): boolean {
  return /^https?:\/\//.test(source);
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file);
  return (file.endsWith('.gz') ? gunzipSync(bytes, { maxOutputLength: LARGEST_BYTES }) : bytes).toString('utf8');
}

/** Space-Track's addresses may carry a password. */
function withoutSecrets(source: string): string {
  if (!isUrl(source)) return source;
  const { origin, pathname } = new URL(source);
  return `${origin}${pathname}`;
}

function reason(error: unknown, source: string): string {
  const text = error instanceof Error ? error.message : String(error);
  const name = withoutSecrets(source);
  return text.includes(name) ? text : `${name}: ${text}`;
}
