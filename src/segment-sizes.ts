/** Sizes of segments that are still to come: given in a file, read off the index, or learnt. */

import { describeValue, InputError } from '../abr/errors.ts';

/**
 * `sizes.json`: per representation id the bytes of each of its segments, in order; of all periods one after the other
 * where they share the id.
 */
export interface SizesFile {
  representations: Record<string, readonly number[]>;
}

/** Checks a parsed `sizes.json`; throws an `InputError` that names the first thing wrong. */
export function parseSizes(value: unknown): Map<string, readonly number[]> {
  const representations = isRecord(value) ? (value as { representations?: unknown }).representations : undefined;
  if (!isRecord(representations)) {
    throw new InputError('sizes.representations', 'an object of arrays of bytes per segment', representations);
  }
  const sizes = new Map<string, readonly number[]>();
  for (const [id, bytes] of Object.entries(representations)) {
    const field = `sizes.representations[${describeValue(id)}]`;
    if (!Array.isArray(bytes) || bytes.length === 0) throw new InputError(field, 'a non-empty array of bytes', bytes);
    const wrong = bytes.findIndex((size) => !(Number.isFinite(size) && size > 0));
    if (wrong >= 0) throw new InputError(`${field}[${wrong}]`, 'bytes > 0', bytes[wrong]);
    sizes.set(id, bytes);
  }
  if (sizes.size === 0) throw new InputError('sizes.representations', 'at least one representation', representations);
  return sizes;
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
  indexedBits?: number | undefined;
}

/** Answers with the best that is known: the file, the stream's index, else bitrate x duration x the learnt ratio. */
export class SegmentSizes {
  #file: ReadonlyMap<string, readonly number[]> = new Map();
  readonly #learnt = new Map<string, { ratios: number; count: number }>();
  #ratios = 0;
  #count = 0;

  useFile(sizes: ReadonlyMap<string, readonly number[]>): void {
    this.#file = sizes;
  }

  /** Forgets what was learnt: another stream. */
  forget(): void {
    this.#learnt.clear();
    this.#ratios = 0;
    this.#count = 0;
  }

  /** A segment turned out to have `sizeBits` where its bitrate promises `declaredBits`. */
  learn(representationId: string, sizeBits: number, declaredBits: number): void {
    if (!(sizeBits > 0 && declaredBits > 0)) return;
    const ratio = sizeBits / declaredBits;
    const own = this.#learnt.get(representationId) ?? { ratios: 0, count: 0 };
    this.#learnt.set(representationId, { ratios: own.ratios + ratio, count: own.count + 1 });
    this.#ratios += ratio;
    this.#count++;
  }

  /** Size in bits; > 0. */
  sizeBits(segment: SegmentQuestion): number {
    const { representationId, index, period } = segment;
    const listed = this.#file.get(representationId);
    const bytes = listed?.[listed.length === period.count ? index - period.first : index];
    if (bytes !== undefined) return bytes * 8;
    if (segment.indexedBits !== undefined) return segment.indexedBits;
    return segment.bitrateBps * segment.segmentSeconds * this.#ratio(representationId);
  }

  /** Mean real/declared ratio of the representation, drawn towards that of all by the weight of one segment. */
  #ratio(representationId: string): number {
    const overall = this.#count === 0 ? 1 : this.#ratios / this.#count;
    const own = this.#learnt.get(representationId);
    return own === undefined ? overall : (own.ratios + overall) / (own.count + 1);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
