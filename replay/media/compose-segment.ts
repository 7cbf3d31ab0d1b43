/**
 * Composes media segments (`moof` + `mdat`, or a pair per chunk) from the samples of a clip, at any duration, position
 * and byte size.
 */

import { box, boxHeader, concatBytes, fullBox, u32, u64 } from './boxes.ts';
import { type ByteRun, ByteRuns } from './byte-runs.ts';
import type { Clip, Sample } from './fixture.ts';

/**
 * - `free-box`: an ISO BMFF `free` box in front of the `moof`, which a browser drops after parsing;
 * - `mdat`: bytes at the start of the `mdat` that belong to no sample; dropped too, and between `moof` and the end of
 *   `mdat`, where low-latency players measure throughput;
 * - `filler-data`: H.264 filler-data NAL units (type 12) inside the samples, which count against the source-buffer
 *   quota like real media.
 */
export type Padding = 'free-box' | 'mdat' | 'filler-data';

export interface SegmentRequest {
  clip: Clip;
  /** Counted from 0. */
  index: number;
  segmentSeconds: number;
  /** Exact size. Default: the samples' own. */
  sizeBytes?: number;
  /** Default: `free-box`. */
  padding?: Padding;
}

/** A segment in chunks. `chunkSeconds` is a divisor of `segmentSeconds`. */
export type ChunksRequest = SegmentRequest & { chunkSeconds: number };

/** The prescribed size is smaller than the pictures, or too close to their size for padding. */
export class SegmentSizeError extends Error {
  override readonly name = 'SegmentSizeError';
}

const FREE_BOX_HEADER_BYTES = 8;
/** Length (4), header (1) and trailing bits (1) of a filler-data NAL unit. */
const FILLER_OVERHEAD_BYTES = 6;
const FILLER_NAL_TYPE = 12;
/** The least padding of each kind. */
const SMALLEST_EXTRA_BYTES = { 'free-box': FREE_BOX_HEADER_BYTES, mdat: 1, 'filler-data': FILLER_OVERHEAD_BYTES };

/** The segment's bytes in one fragment. @throws {SegmentSizeError} for a size that cannot be met. */
export function composeSegment(request: SegmentRequest): ByteRuns {
  const { index, sizeBytes, padding } = request;
  return fragment(request.clip, samplesOf(request), {
    name: `segment ${index}`,
    number: index + 1,
    sizeBytes,
    padding,
  });
}

/**
 * The segment's chunks, a fragment each. Their sizes are equal to within a byte, or, where a chunk's pictures need
 * more, the pictures' own plus equal shares of the padding.
 * @throws {SegmentSizeError} for a size that cannot be met.
 */
export function composeChunks(request: ChunksRequest): ByteRuns[] {
  const { clip, index, padding = 'free-box' } = request;
  const chunks = chunksOf(request);
  const natural = chunks.map(({ samples }) => fragmentBytes(samples.map(({ bytes }) => bytes.length)));
  const total = request.sizeBytes ?? sum(natural);
  const equal = equalShares(total, chunks.length);
  const allFit = equal.every((size, k) => size >= natural[k]! + SMALLEST_EXTRA_BYTES[padding]);
  const extra = equalShares(total - sum(natural), chunks.length);
  return chunks.map((chunk, k) =>
    fragment(clip, chunk, {
      name: `chunk ${k} of segment ${index}`,
      number: index * chunks.length + k + 1,
      sizeBytes: allFit ? equal[k]! : natural[k]! + extra[k]!,
      padding,
    }),
  );
}

/** A whole number in `count` whole parts, the larger ones first. */
function equalShares(total: number, count: number): number[] {
  const share = Math.floor(total / count);
  return Array.from({ length: count }, (_, i) => share + (i < total - share * count ? 1 : 0));
}

interface FragmentOptions {
  /** For messages. */
  name: string;
  number: number;
  sizeBytes: number | undefined;
  padding: Padding | undefined;
}

/** Samples in a row, and the time of the first. */
interface Pictures {
  samples: Sample[];
  startTicks: number;
}

function fragment(clip: Clip, pictures: Pictures, options: FragmentOptions): ByteRuns {
  const { samples } = pictures;
  const { name, sizeBytes, padding = 'free-box' } = options;
  const sizes = samples.map(({ bytes }) => bytes.length);
  const natural = fragmentBytes(sizes);
  const extra = sizeBytes === undefined ? 0 : sizeBytes - natural;
  if (!Number.isInteger(extra)) throw new SegmentSizeError(`segment size: expected whole bytes, got ${sizeBytes}`);

  const runs: ByteRun[] = [];
  const smallestExtra = SMALLEST_EXTRA_BYTES[padding];
  if (extra !== 0 && extra < smallestExtra) {
    const seconds = sum(samples.map(({ durationTicks }) => durationTicks)) / clip.timescale;
    throw new SegmentSizeError(
      `${name}: ${sizeBytes} bytes prescribed, but ${clip.width}x${clip.height} pictures of ` +
        `${seconds} s take ${natural} bytes, or at least ${natural + smallestExtra} with padding`,
    );
  }
  const head = (sampleSizes: readonly number[], unusedBytes = 0) =>
    runs.push(
      moof(clip, pictures, { number: options.number, sizes: sampleSizes, unusedBytes }),
      boxHeader('mdat', unusedBytes + sum(sampleSizes)),
    );
  if (extra === 0 || padding !== 'filler-data') {
    if (extra > 0 && padding === 'free-box') {
      const fillBytes = extra - FREE_BOX_HEADER_BYTES;
      runs.push(boxHeader('free', fillBytes), { fill: 0, count: fillBytes });
    }
    const unusedBytes = padding === 'mdat' ? extra : 0;
    head(sizes, unusedBytes);
    if (unusedBytes > 0) runs.push({ fill: 0, count: unusedBytes });
    runs.push(...samples.map(({ bytes }) => bytes));
    return new ByteRuns(runs);
  }
  // Equal shares, the remainder to the first sample; if a share is too small, all goes to the first sample.
  const share = Math.floor(extra / samples.length);
  const shares = samples.map((_, i) => {
    if (share < FILLER_OVERHEAD_BYTES) return i === 0 ? extra : 0;
    return i === 0 ? extra - share * (samples.length - 1) : share;
  });
  head(sizes.map((size, i) => size + shares[i]!));
  samples.forEach((sample, i) => {
    runs.push(sample.bytes);
    const fillerBytes = shares[i]!;
    if (fillerBytes === 0) return;
    runs.push(concatBytes([u32(fillerBytes - 4), Uint8Array.of(FILLER_NAL_TYPE)]));
    runs.push({ fill: 0xff, count: fillerBytes - FILLER_OVERHEAD_BYTES }, Uint8Array.of(0x80));
  });
  return new ByteRuns(runs);
}

/** The segment's bytes without padding; in one fragment unless it has chunks. */
export function naturalSegmentBytes(request: Omit<ChunksRequest, 'chunkSeconds'> & { chunkSeconds?: number }): number {
  const { chunkSeconds = request.segmentSeconds } = request;
  const chunks = chunksOf({ ...request, chunkSeconds });
  return sum(chunks.map(({ samples }) => fragmentBytes(samples.map(({ bytes }) => bytes.length))));
}

/** Of each chunk, whether it begins with a sync sample. */
export function syncChunks(request: ChunksRequest): boolean[] {
  return chunksOf(request).map(({ samples }) => samples[0]!.isSync);
}

/** When a segment's first sample is presented, in ticks of the clip's timescale. */
export function segmentStartTicks({ clip, index, segmentSeconds }: PlaceOfSegment): number {
  const ticks = index * segmentSeconds * clip.timescale;
  if (clip.kind === 'video') return Math.round(ticks);
  const frameTicks = clip.samples[0]!.durationTicks;
  return Math.ceil(ticks / frameTicks) * frameTicks;
}

/** @throws {RangeError} for chunks shorter than a sample. */
function chunksOf(request: ChunksRequest): Pictures[] {
  const { clip, index, segmentSeconds, chunkSeconds } = request;
  const { samples, startTicks } = samplesOf(request);
  const count = Math.round(segmentSeconds / chunkSeconds);
  const firstTicks = index * segmentSeconds * clip.timescale;
  const chunks: Pictures[] = Array.from({ length: count }, () => ({ samples: [], startTicks: 0 }));
  let at = startTicks;
  for (const sample of samples) {
    // A sample belongs to the chunk in which it begins; the starts of video are rounded to ticks.
    const k = Math.floor((at - firstTicks + 1) / (chunkSeconds * clip.timescale));
    const chunk = chunks[Math.min(k, count - 1)]!;
    if (chunk.samples.length === 0) chunk.startTicks = at;
    chunk.samples.push(sample);
    at += sample.durationTicks;
  }
  if (chunks.some((chunk) => chunk.samples.length === 0)) {
    throw new RangeError(`chunkSeconds: expected at least a sample of the clip per chunk, got ${chunkSeconds}`);
  }
  return chunks;
}

type PlaceOfSegment = Pick<SegmentRequest, 'clip' | 'index' | 'segmentSeconds'>;

/**
 * The samples of segment `index`; the clip repeats. Video begins at a sync sample, and its last picture is stretched or
 * cut to end with the segment. An audio frame belongs to the segment in which it begins.
 */
function samplesOf(place: PlaceOfSegment): Pictures {
  const { clip, index } = place;
  const startTicks = segmentStartTicks(place);
  const endTicks = segmentStartTicks({ ...place, index: index + 1 });
  const frameTicks = clip.samples[0]!.durationTicks;
  const count = clip.samples.length;
  if (clip.kind === 'audio') {
    const first = startTicks / frameTicks;
    // All frames have equal durations; only the clip's last one was cut to the clip's duration.
    const frame = (i: number): Sample => ({ ...clip.samples[i % count]!, durationTicks: frameTicks });
    const samples = Array.from({ length: endTicks / frameTicks - first }, (_, i) => frame(first + i));
    return { samples, startTicks };
  }
  const durationTicks = endTicks - startTicks;
  const frames = Math.max(1, Math.round(durationTicks / frameTicks));
  let first = Math.round(startTicks / frameTicks) % count;
  while (!clip.samples[first]!.isSync) first--;
  const samples: Sample[] = Array.from({ length: frames }, (_, i) => clip.samples[(first + i) % count]!);
  const last = samples[frames - 1]!;
  samples[frames - 1] = { ...last, durationTicks: durationTicks - (frames - 1) * frameTicks };
  return { samples, startTicks };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

// mfhd 16, tfhd 16, tfdt 20, trun 20 + 12 per sample; traf and moof 8 each.
const moofBytes = (sampleCount: number): number => 88 + 12 * sampleCount;

const fragmentBytes = (sampleSizes: readonly number[]): number => moofBytes(sampleSizes.length) + 8 + sum(sampleSizes);

function moof(
  clip: Clip,
  { samples, startTicks }: Pictures,
  { number, sizes, unusedBytes }: { number: number; sizes: readonly number[]; unusedBytes: number },
) {
  const dataOffset = moofBytes(samples.length) + 8 + unusedBytes;
  const table = samples.map((sample, i) => concatBytes([u32(sample.durationTicks), u32(sizes[i]!), u32(sample.flags)]));
  return box(
    'moof',
    fullBox('mfhd', 0, 0, u32(number)),
    box(
      'traf',
      // default-base-is-moof
      fullBox('tfhd', 0, 0x020000, u32(clip.trackId)),
      fullBox('tfdt', 1, 0, u64(startTicks)),
      // data offset; duration, size and flags per sample
      fullBox('trun', 0, 0x000701, u32(samples.length), u32(dataOffset), ...table),
    ),
  );
}
