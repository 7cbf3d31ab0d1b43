/** Sizes of segments that are still to come: given in a file, read off the index, or learnt. */

import { InputError } from '../../abr/errors.ts';
import type { SegmentRequest } from './player-port.ts';

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

/** Fetches a `sizes.json` where given its address; throws as `parseSizes` does, or where there is no answer. */
export async function loadSizes(sizes: SizesFile | string | URL): Promise<SizesFile> {
  if (typeof sizes !== 'string' && !(sizes instanceof URL)) return parseSizes(sizes);
  const response = await fetch(sizes);
  if (!response.ok) throw new Error(`${sizes} answered ${response.status}`);
  return parseSizes(await response.json());
}

export type SegmentQuestion = Omit<SegmentRequest, 'endSeconds'>;

/** What a representation promises of a segment. */
type Declared = Pick<SegmentRequest, 'representation' | 'segmentSeconds'>;

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

  /** A segment has turned out to be `sizeBits` long. */
  learn({ representation: { id, bitrateBps }, segmentSeconds }: Declared, sizeBits: number): void {
    const declaredBits = bitrateBps * segmentSeconds;
    if (!(sizeBits > 0 && declaredBits > 0)) return;
    const ratios = this.#learnt.get(id) ?? [];
    if (ratios.push(sizeBits / declaredBits) > RATIOS_KEPT) ratios.shift();
    // The one that was not downloaded for longest is forgotten first: its period is over.
    this.#learnt.delete(id);
    this.#learnt.set(id, ratios);
    if (this.#learnt.size > REPRESENTATIONS_KEPT) this.#learnt.delete(this.#learnt.keys().next().value!);
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
    return indexedBits ?? bitrateBps * segmentSeconds * this.#ratio(id);
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
