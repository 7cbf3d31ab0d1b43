/** Sizes of future segments: from a file, from the stream's index, or learnt. */

import { check, InputError } from '../../abr/errors.ts';
import type { SegmentRequest, Situation } from './player-port.ts';

/** The learnt ratio is the mean over this many latest segments of a representation. */
const RATIOS_KEPT = 16;
/** More than any ladder has; limits memory, because each advertisement may bring new ids. */
const REPRESENTATIONS_KEPT = 64;

/**
 * `sizes.json`: per representation id, the bytes of each segment in order. If periods share the id, their segments
 * follow one another.
 */
export interface SizesFile {
  representations: Record<string, readonly number[]>;
}

/** Returns a valid parsed `sizes.json`; throws an `InputError` that names the first wrong field. */
export function parseSizes(value: unknown): SizesFile {
  const file = value as Partial<SizesFile> | null | undefined;
  const entries = Object.entries(file?.representations ?? {});
  check(entries.length > 0, 'sizes.representations', 'arrays of bytes by id', file);
  for (const [id, bytes] of entries) {
    const field = `sizes.representations.${id}`;
    check(Array.isArray(bytes), field, 'an array of bytes', bytes);
    for (const [i, size] of bytes.entries())
      check(Number.isFinite(size) && size > 0, `${field}[${i}]`, 'bytes > 0', size);
  }
  return file as SizesFile;
}

/** Fetches a `sizes.json` if given its URL; throws an `InputError` that names it. Others are valid. */
export async function loadSizes(sizes: SizesFile | string | URL): Promise<SizesFile> {
  if (typeof sizes !== 'string' && !(sizes instanceof URL)) return sizes;
  try {
    const response = await fetch(sizes);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return parseSizes(await response.json());
  } catch (error) {
    throw new InputError(String(sizes), 'segment sizes', error);
  }
}

export type SegmentQuestion = Omit<SegmentRequest, 'endSeconds'>;

/** A segment's declared bitrate and duration. */
type Declared = Pick<SegmentRequest, 'representation' | 'segmentSeconds'>;

/** Gives the best known size: from the file, else the stream's index, else bitrate x duration x learnt ratio. */
export class SegmentSizes {
  #file: SizesFile['representations'] = {};
  #learnt = new Map<string, number[]>();
  /** Mean of the learnt ratios, and by representation. */
  #ratio = 1;
  #ratios = new Map<string, number>();
  /** The latest answer of `upcoming`, and the question; undefined once sizes have changed. */
  #upcoming: readonly (readonly number[])[] = [];
  #upcomingOf: string | undefined;

  useFile(file: SizesFile): void {
    this.#file = file.representations;
    this.#upcomingOf = undefined;
  }

  /** Forgets the learnt ratios, for another stream. */
  forget(): void {
    this.#learnt.clear();
    this.#ratios.clear();
    this.#ratio = 1;
    this.#upcomingOf = undefined;
  }

  /** A downloaded segment has `sizeBits`. */
  learn({ representation: { id, bitrateBps }, segmentSeconds }: Declared, sizeBits: number): void {
    const declaredBits = bitrateBps * segmentSeconds;
    if (!(sizeBits > 0 && declaredBits > 0)) return;
    const ratios = this.#learnt.get(id) ?? [];
    if (ratios.push(sizeBits / declaredBits) > RATIOS_KEPT) ratios.shift();
    // Forget the representation unused for longest: its period is over.
    this.#learnt.delete(id);
    this.#learnt.set(id, ratios);
    if (this.#learnt.size > REPRESENTATIONS_KEPT) this.#learnt.delete(this.#learnt.keys().next().value!);
    this.#ratio = mean([...this.#learnt.values()].flat());
    // The mean over all representations counts as one segment.
    this.#ratios = new Map([...this.#learnt].map(([one, own]) => [one, mean([this.#ratio, ...own])]));
    this.#upcomingOf = undefined;
  }

  /**
   * `[segment][representation]`: sizes of `count` segments of the period from `index` on, in bits. The same question
   * has the same answer until a size is learnt, because a download is reconsidered often.
   */
  upcoming(
    { period, ladder, playback: { segmentSeconds }, indexedBits }: Situation,
    index: number,
    count: number,
  ): readonly (readonly number[])[] {
    const question = [period.id, index, count, segmentSeconds, ...ladder.map(({ id }) => id)].join();
    if (question !== this.#upcomingOf) {
      this.#upcomingOf = question;
      this.#upcoming = Array.from({ length: count }, (_, k) =>
        ladder.map((representation) => {
          const at = index + k;
          const bits = indexedBits(representation.id, at);
          return this.sizeBits({ period, representation, index: at, segmentSeconds, indexedBits: bits });
        }),
      );
    }
    return this.#upcoming;
  }

  /** Size in bits; > 0. */
  sizeBits({
    representation: { id, bitrateBps },
    index,
    period,
    segmentSeconds,
    indexedBits,
  }: SegmentQuestion): number {
    const listed = this.#file[id];
    const bytes = listed?.[listed.length === period.segmentCount ? index : period.firstIndex + index];
    if (bytes !== undefined) return bytes * 8;
    return indexedBits ?? bitrateBps * segmentSeconds * (this.#ratios.get(id) ?? this.#ratio);
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
