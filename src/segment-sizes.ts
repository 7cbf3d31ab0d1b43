/** Sizes of segments that are still to come: given in a file, read off the index, or learnt. */

import { InputError } from '../abr/errors.ts';

/** Segments of each representation that the learnt ratio is the mean of, the latest ones. */
const RATIOS_KEPT = 16;
/** Representations that ratios are kept of: more than a ladder has. Each advertisement may bring new ids. */
const REPRESENTATIONS_KEPT = 64;

/**
 * `sizes.json`: per representation id the bytes of each of its segments, in order; of all periods one after the other
 * where they share the id.
 */
export interface SizesFile {
  representations: Record<string, readonly number[]>;
}

/** Returns a parsed `sizes.json` that is one; throws an `InputError` that names the first thing wrong. */
export function parseSizes(value: unknown): SizesFile {
  const file = value as Partial<SizesFile> | null | undefined;
  const entries = Object.entries(file?.representations ?? {});
  if (entries.length === 0) throw new InputError('sizes.representations', 'arrays of bytes by id', file);
  for (const [id, bytes] of entries) {
    const field = `sizes.representations.${id}`;
    if (!Array.isArray(bytes)) throw new InputError(field, 'an array of bytes', bytes);
    bytes.forEach((size, i) => {
      if (!(Number.isFinite(size) && size > 0)) throw new InputError(`${field}[${i}]`, 'bytes > 0', size);
    });
  }
  return file as SizesFile;
}

/** What is known of a segment whose size is asked for. */
export interface SegmentQuestion {
  representationId: string;
  /** In the presentation, from 0. */
  index: number;
  /** The period that it belongs to: index of its first segment, and how many it has. */
  period: { first: number; count: number | undefined };
  bitrateBps: number;
  segmentSeconds: number;
  /** From the stream's own index, where it has one. */
  indexedBits: number | undefined;
}

/** Answers with the best that is known: the file, the stream's index, else bitrate x duration x the learnt ratio. */
export class SegmentSizes {
  #file: SizesFile['representations'] = {};
  #learnt = new Map<string, number[]>();

  useFile(file: SizesFile): void {
    this.#file = file.representations;
  }

  /** Forgets what was learnt: another stream. */
  forget(): void {
    this.#learnt.clear();
  }

  /** A segment turned out to have `sizeBits` where its bitrate promises `declaredBits`. */
  learn(representationId: string, sizeBits: number, declaredBits: number): void {
    if (!(sizeBits > 0 && declaredBits > 0)) return;
    const ratios = this.#learnt.get(representationId) ?? [];
    if (ratios.push(sizeBits / declaredBits) > RATIOS_KEPT) ratios.shift();
    // The one that was not downloaded for longest is forgotten first: its period is over.
    this.#learnt.delete(representationId);
    this.#learnt.set(representationId, ratios);
    if (this.#learnt.size > REPRESENTATIONS_KEPT) this.#learnt.delete(this.#learnt.keys().next().value!);
  }

  /** Size in bits; > 0. */
  sizeBits({ representationId, index, period, bitrateBps, segmentSeconds, indexedBits }: SegmentQuestion): number {
    const listed = this.#file[representationId];
    const bytes = listed?.[listed.length === period.count ? index - period.first : index];
    if (bytes !== undefined) return bytes * 8;
    return indexedBits ?? bitrateBps * segmentSeconds * this.#ratio(representationId);
  }

  /** Mean real/declared ratio of the representation, drawn towards that of all by the weight of one segment. */
  #ratio(representationId: string): number {
    const overall = mean([...this.#learnt.values()].flat()) ?? 1;
    return mean([overall, ...(this.#learnt.get(representationId) ?? [])]) ?? 1;
  }
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
