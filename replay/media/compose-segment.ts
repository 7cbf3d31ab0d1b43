/** Composes segments of any duration, place and size from the samples of a clip. */

import { check } from '../../abr/errors.ts';
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

export interface SegmentSpec {
  clip: Clip;
  index: number;
  segmentSeconds: number;
  /** A divisor of `segmentSeconds`. Default: the segment is one chunk. */
  chunkSeconds?: number;
  /** Exact size. Default: the samples' own. */
  sizeBytes?: number;
  padding?: Padding;
}

const FREE_BOX_HEADER_BYTES = 8;
/** Length (4), header (1) and trailing bits (1) of a filler-data NAL unit. */
const FILLER_OVERHEAD_BYTES = 6;
const FILLER_NAL_TYPE = 12;
const SMALLEST_EXTRA_BYTES = { 'free-box': FREE_BOX_HEADER_BYTES, mdat: 1, 'filler-data': FILLER_OVERHEAD_BYTES };

/** A fragment per chunk, of equal sizes unless a chunk's pictures need more. @throws {RangeError} */
export function composeSegment(request: SegmentSpec): ByteRuns[] {
  const { clip, index, padding = 'free-box' } = request;
  const chunks = chunksOf(request);
  const natural = chunks.map(naturalBytes);
  const total = request.sizeBytes ?? sum(natural);
  const equal = equalShares(total, chunks.length).map((size, k) => size - natural[k]!);
  const allFit = equal.every((extra) => extra >= SMALLEST_EXTRA_BYTES[padding]);
  const extras = allFit ? equal : equalShares(total - sum(natural), chunks.length);
  return chunks.map((chunk, k) => {
    const extraBytes = extras[k]!;
    const least = SMALLEST_EXTRA_BYTES[padding];
    if (extraBytes !== 0 && extraBytes < least) {
      const expected = `${natural[k]} bytes, or at least ${natural[k]! + least} with padding`;
      const where = `chunk ${k} of segment ${index}, ${clip.width}x${clip.height}`;
      throw new RangeError(`${where}: expected ${expected}, got ${natural[k]! + extraBytes}`);
    }
    return fragment(clip, chunk, { number: index * chunks.length + k + 1, extraBytes, padding });
  });
}

/** Divides a whole number into `count` whole parts, larger parts first. */
function equalShares(total: number, count: number): number[] {
  const share = Math.floor(total / count);
  return Array.from({ length: count }, (_, i) => share + (i < total - share * count ? 1 : 0));
}

interface Pictures {
  samples: Sample[];
  startTicks: number;
}

function fragment(
  clip: Clip,
  pictures: Pictures,
  { number, extraBytes, padding }: { number: number; extraBytes: number; padding: Padding },
): ByteRuns {
  const { samples } = pictures;
  const unusedBytes = padding === 'mdat' ? extraBytes : 0;
  const fillers = padding === 'filler-data' ? fillerSizes(extraBytes, samples.length) : [];
  const sizes = samples.map(({ bytes }, i) => bytes.length + (fillers[i] ?? 0));
  return new ByteRuns([
    ...(padding === 'free-box' && extraBytes > 0 ? freeBox(extraBytes) : []),
    moof(clip, pictures, { number, sizes, unusedBytes }),
    boxHeader('mdat', unusedBytes + sum(sizes)),
    { fill: 0, count: unusedBytes },
    ...samples.flatMap(({ bytes }, i) => [bytes, ...(fillers[i] ? fillerUnit(fillers[i]) : [])]),
  ]);
}

function freeBox(bytes: number): ByteRun[] {
  const count = bytes - FREE_BOX_HEADER_BYTES;
  return [boxHeader('free', count), { fill: 0, count }];
}

/** Equal shares; if these are too small for a NAL unit, the first sample has all bytes. */
function fillerSizes(extraBytes: number, samples: number): number[] {
  return extraBytes < FILLER_OVERHEAD_BYTES * samples ? [extraBytes] : equalShares(extraBytes, samples);
}

function fillerUnit(bytes: number): ByteRun[] {
  const head = concatBytes([u32(bytes - 4), Uint8Array.of(FILLER_NAL_TYPE)]);
  return [head, { fill: 0xff, count: bytes - FILLER_OVERHEAD_BYTES }, Uint8Array.of(0x80)];
}

export function naturalSegmentBytes(request: SegmentSpec): number {
  return sum(chunksOf(request).map(naturalBytes));
}

export function syncChunks(request: SegmentSpec): boolean[] {
  return chunksOf(request).map(({ samples }) => samples[0]!.isSync);
}

/** When a segment's first sample is presented, in ticks of the clip's timescale. */
export function segmentStartTicks({ clip, index, segmentSeconds }: PlaceOfSegment): number {
  const ticks = index * segmentSeconds * clip.timescale;
  if (clip.kind === 'video') return Math.round(ticks);
  const frameTicks = clip.samples[0]!.durationTicks;
  return Math.ceil(ticks / frameTicks) * frameTicks;
}

/** @throws {InputError} for chunks shorter than a sample. */
function chunksOf(request: SegmentSpec): Pictures[] {
  const { clip, index, segmentSeconds, chunkSeconds = segmentSeconds } = request;
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
  const areFilled = chunks.every((chunk) => chunk.samples.length > 0);
  check(areFilled, 'live.chunkSeconds', 'at least a sample of the clip per chunk', chunkSeconds);
  return chunks;
}

type PlaceOfSegment = Pick<SegmentSpec, 'clip' | 'index' | 'segmentSeconds'>;

/** The clip repeats. A segment's last picture is stretched or cut to end with it. */
function samplesOf(place: PlaceOfSegment): Pictures {
  const { clip, index } = place;
  const startTicks = segmentStartTicks(place);
  const endTicks = segmentStartTicks({ ...place, index: index + 1 });
  const frameTicks = clip.samples[0]!.durationTicks;
  const count = clip.samples.length;
  if (clip.kind === 'audio') {
    const first = startTicks / frameTicks;
    // All frames have equal durations; only the clip's last frame was cut to the clip's duration.
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

/** Bytes of a fragment without padding. */
const naturalBytes = ({ samples }: Pictures): number =>
  moofBytes(samples.length) + 8 + sum(samples.map(({ bytes }) => bytes.length));

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
