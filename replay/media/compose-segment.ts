/**
 * Composes media segments (`moof` + `mdat`) from the samples of a clip, at any duration, position and byte size.
 *
 * Two ways to reach a size: an ISO BMFF `free` box in front of the `moof`, which a browser receives and then forgets;
 * or H.264 filler-data NAL units (type 12) inside the samples, which it keeps, so that they count against the
 * source-buffer quota as real media of that bitrate would.
 */

import { box, boxHeader, concatBytes, fullBox, u32, u64 } from './boxes.ts';
import { type ByteRun, ByteRuns } from './byte-runs.ts';
import type { Clip, Sample } from './fixture.ts';

/** What makes a segment as long as prescribed. */
export type Padding = 'free-box' | 'filler-data';

export interface SegmentRequest {
  clip: Clip;
  /** Counted from 0. */
  index: number;
  segmentSeconds: number;
  /** Exact size in bytes. Default: as the samples make it. */
  sizeBytes?: number;
  /** Default: `free-box`. */
  padding?: Padding;
}

/** A segment that cannot be as small, or cannot be padded, as asked. */
export class SegmentSizeError extends Error {
  override readonly name = 'SegmentSizeError';
}

const FREE_BOX_HEADER_BYTES = 8;
/** Length (4), header (1) and trailing bits (1) of a filler-data NAL unit. */
const FILLER_OVERHEAD_BYTES = 6;
const FILLER_NAL_TYPE = 12;

/** The segment's bytes. @throws {SegmentSizeError} where the size cannot be met. */
export function composeSegment(request: SegmentRequest): ByteRuns {
  const { clip, sizeBytes, padding = 'free-box' } = request;
  const { samples, startTicks } = samplesOf(request);
  const sizes = samples.map(({ bytes }) => bytes.length);
  const natural = segmentBytes(sizes);
  const extra = sizeBytes === undefined ? 0 : sizeBytes - natural;
  if (!Number.isInteger(extra)) throw new SegmentSizeError(`segment size: expected whole bytes, got ${sizeBytes}`);

  const runs: ByteRun[] = [];
  if (extra === 0) {
    runs.push(moof(request, samples, sizes, startTicks), boxHeader('mdat', sum(sizes)));
    runs.push(...samples.map(({ bytes }) => bytes));
    return new ByteRuns(runs);
  }
  const smallestExtra = padding === 'free-box' ? FREE_BOX_HEADER_BYTES : FILLER_OVERHEAD_BYTES;
  if (extra < smallestExtra) {
    throw new SegmentSizeError(
      `segment ${request.index}: ${sizeBytes} bytes prescribed, but ${clip.width}x${clip.height} pictures of ` +
        `${request.segmentSeconds} s take ${natural} bytes, or at least ${natural + smallestExtra} with padding`,
    );
  }
  if (padding === 'free-box') {
    runs.push(boxHeader('free', extra - FREE_BOX_HEADER_BYTES), { fill: 0, count: extra - FREE_BOX_HEADER_BYTES });
    runs.push(moof(request, samples, sizes, startTicks), boxHeader('mdat', sum(sizes)));
    runs.push(...samples.map(({ bytes }) => bytes));
    return new ByteRuns(runs);
  }
  // Even shares, the remainder to the first; too little for all goes to the first alone.
  const share = Math.floor(extra / samples.length);
  const shares = samples.map((_, i) => {
    if (share < FILLER_OVERHEAD_BYTES) return i === 0 ? extra : 0;
    return i === 0 ? extra - share * (samples.length - 1) : share;
  });
  const padded = sizes.map((size, i) => size + shares[i]!);
  runs.push(moof(request, samples, padded, startTicks), boxHeader('mdat', sum(padded)));
  samples.forEach((sample, i) => {
    runs.push(sample.bytes);
    const fillerBytes = shares[i]!;
    if (fillerBytes === 0) return;
    runs.push(concatBytes([u32(fillerBytes - 4), Uint8Array.of(FILLER_NAL_TYPE)]));
    runs.push({ fill: 0xff, count: fillerBytes - FILLER_OVERHEAD_BYTES }, Uint8Array.of(0x80));
  });
  return new ByteRuns(runs);
}

/** Bytes that the segment has without padding. */
export function naturalSegmentBytes(request: Omit<SegmentRequest, 'sizeBytes' | 'padding'>): number {
  return segmentBytes(samplesOf(request).samples.map(({ bytes }) => bytes.length));
}

/**
 * The samples of segment `index`: the clip goes round and round. Video begins at a sync sample and its last picture is
 * stretched or cut to end with the segment; audio frames go to the segment in which they begin.
 */
function samplesOf({ clip, index, segmentSeconds }: Pick<SegmentRequest, 'clip' | 'index' | 'segmentSeconds'>) {
  const frameTicks = clip.samples[0]!.durationTicks;
  const count = clip.samples.length;
  if (clip.kind === 'audio') {
    const firstFrame = (i: number) => Math.ceil((i * segmentSeconds * clip.timescale) / frameTicks);
    const first = firstFrame(index);
    // Every frame decodes to the same number of samples; only the clip's end was cut to its duration.
    const frame = (i: number): Sample => ({ ...clip.samples[i % count]!, durationTicks: frameTicks });
    const samples = Array.from({ length: firstFrame(index + 1) - first }, (_, i) => frame(first + i));
    return { samples, startTicks: first * frameTicks };
  }
  const startTicks = Math.round(index * segmentSeconds * clip.timescale);
  const durationTicks = Math.round((index + 1) * segmentSeconds * clip.timescale) - startTicks;
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

const segmentBytes = (sampleSizes: readonly number[]): number => moofBytes(sampleSizes.length) + 8 + sum(sampleSizes);

function moof(request: SegmentRequest, samples: readonly Sample[], sizes: readonly number[], startTicks: number) {
  const dataOffset = moofBytes(samples.length) + 8;
  const table = samples.map((sample, i) => concatBytes([u32(sample.durationTicks), u32(sizes[i]!), u32(sample.flags)]));
  return box(
    'moof',
    fullBox('mfhd', 0, 0, u32(request.index + 1)),
    box(
      'traf',
      // default-base-is-moof
      fullBox('tfhd', 0, 0x020000, u32(request.clip.trackId)),
      fullBox('tfdt', 1, 0, u64(startTicks)),
      // data offset; duration, size and flags per sample
      fullBox('trun', 0, 0x000701, u32(samples.length), u32(dataOffset), ...table),
    ),
  );
}
