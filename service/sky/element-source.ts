/**
 * Loads orbital elements from a file or a URL, and renews them every few hours. A copy of the URL's elements on the disk
 * is for starts without internet. If elements are too old to locate satellites, they are not fresh.
 *
 * Everybody in the network can read its problems, and URLs may contain secrets. Messages therefore consist of texts of
 * this file, error codes, names of files, and URLs without their query, never of messages of a library or a server.
 */

import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { check, InputError } from '../../abr/errors.ts';
import type { Clock } from '../clock.ts';
import type { Problems } from '../problems.ts';
import { type Elements, parseElements } from './elements.ts';

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
  private readonly _url: URL | undefined;
  private readonly _name: string;
  /** Path of the copy. Each URL has a copy. */
  private readonly _copy: string;
  private _nextMs = Number.NEGATIVE_INFINITY;
  /** The newest elements, whatever their age; undefined before the first success. */
  set: readonly Elements[] | undefined;

  constructor(private readonly _options: ElementSourceOptions) {
    const { source, cacheDirectory } = _options;
    this._url = /^https?:\/\//i.test(source) ? new URL(source) : undefined;
    this._name = this._url === undefined ? basename(source) : `${this._url.origin}${this._url.pathname}`;
    const digest = createHash('sha256').update(source).digest('hex');
    this._copy = join(cacheDirectory, `elements-${digest.slice(0, 16)}.tle`);
  }

  /** Age of the elements that are nearest to now: a wrong epoch of one satellite says nothing of the others. */
  get ageMs(): number {
    const ages = (this.set ?? []).map(({ epochMs }) => this._options.clock.utcMs() - epochMs);
    return ages.reduce((nearest, age) => (Math.abs(age) < Math.abs(nearest) ? age : nearest), Number.POSITIVE_INFINITY);
  }

  /** The elements that locate satellites well. Those from the future do not: they are as inaccurate as old ones. */
  get fresh(): Elements[] {
    const nowMs = this._options.clock.utcMs();
    const mostMs = this._options.maxAgeDays * DAY_MS;
    return (this.set ?? []).filter(({ epochMs }) => Math.abs(nowMs - epochMs) <= mostMs);
  }

  /** Loads elements when they are due. Reports problems and never rejects. */
  async refresh(): Promise<void> {
    const { clock, problems, maxAgeDays, source } = this._options;
    if (clock.monotonicMs() >= this._nextMs) {
      this._nextMs = clock.monotonicMs() + RETRY_MS;
      try {
        this.set = this._url === undefined ? await this._read(source) : await this._fromUrl(this._url);
        for (const code of ['no-elements', 'elements-not-renewed']) problems.clear('sky', code);
        this._nextMs = clock.monotonicMs() + REFRESH_MS;
      } catch (error) {
        // The previous elements stay in use.
        if (this.set !== undefined) problems.clear('sky', 'no-elements');
        const code = this.set === undefined ? 'no-elements' : 'elements-not-renewed';
        problems.report('sky', code, reasonOf(error, this._name));
      }
    }
    if (this.set === undefined || this.fresh.length > 0) problems.clear('sky', 'elements-too-old');
    else {
      const days = (this.ageMs / DAY_MS).toFixed(1);
      problems.report('sky', 'elements-too-old', `the newest are ${days} days old, expected at most ${maxAgeDays}`);
    }
  }

  private async _fromUrl(url: URL): Promise<readonly Elements[]> {
    // After a restart, the copy is in use until the download, and a recent copy replaces the download.
    if (this.set === undefined) {
      this.set = await this._read(this._copy).catch(() => undefined);
      const { mtimeMs = Number.NaN } = (await stat(this._copy).catch(() => undefined)) ?? {};
      if (this.set && Math.abs(this._options.clock.utcMs() - mtimeMs) < REFRESH_MS) return this.set;
    }
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await this._textOf(response);
    if (!response.ok) throw new InputError(this._name, 'an answer with success', response.status);
    const set = this._parse(text);
    const epochMs = middleEpochMs(set);
    if (this.fresh.length > 0 && epochMs < middleEpochMs(this.set!)) {
      const got = `those of ${new Date(epochMs).toISOString()}`;
      throw new InputError(this._name, 'elements as new as those in use', undefined, got);
    }
    // Only valid elements that are no older replace the copy. If it cannot be written, the next start downloads again.
    await this._keep(text).catch(() => {});
    return set;
  }

  private async _textOf({ body }: Response): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of body ?? []) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      check(text.length <= MOST_LENGTH, this._name, `at most ${MOST_LENGTH} characters`, text.length);
    }
    return text;
  }

  private async _keep(text: string): Promise<void> {
    await mkdir(this._options.cacheDirectory, { recursive: true });
    await writeFile(`${this._copy}.new`, text);
    await rename(`${this._copy}.new`, this._copy);
  }

  private async _read(file: string): Promise<Elements[]> {
    return this._parse(await readFile(file, 'utf8'));
  }

  private _parse(text: string): Elements[] {
    const { clock, problems } = this._options;
    const { set, fault } = parseElements(text, this._name, clock.utcMs());
    if (fault === undefined) problems.clear('sky', 'wrong-elements');
    else problems.report('sky', 'wrong-elements', fault);
    return set;
  }
}

/** The median: a wrong epoch of one satellite says nothing of the others. */
function middleEpochMs(set: readonly Elements[]): number {
  return set.map(({ epochMs }) => epochMs).sort((a, b) => a - b)[set.length >> 1]!;
}

function reasonOf(error: unknown, name: string): string {
  if (error instanceof InputError) return error.message;
  const { name: kind, code, cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  // The reason is a word, such as `ECONNREFUSED`, `CERT_HAS_EXPIRED` or `TimeoutError`.
  return `${name}: it cannot be read (${[code, cause?.code, kind].find((one) => /^[A-Z]\w+$/.test(one ?? ''))})`;
}
