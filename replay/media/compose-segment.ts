/**
 * Composes media segments (`moof` + `mdat`) from the samples of a clip, at any duration, position and byte size.
 * Padding is an ISO BMFF `free` box in front of the `moof`, which a browser drops after parsing, or H.264 filler-data
 * NAL units (type 12) inside the samples, which count against the source-buffer quota like real media.
 */

import { box, boxHeader, concatBytes, fullBox, u32, u64 } from './boxes.ts';
import { type ByteRun, ByteRuns } from './byte-runs.ts';
import type { Clip, Sample } from './fixture.ts';

export type Padding = 'free-box' | 'filler-data';

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

/** The prescribed size is smaller than the pictures, or too close to their size for padding. */
export class SegmentSizeError extends Error {
  override readonly name = 'SegmentSizeError';
}

const FREE_BOX_HEADER_BYTES = 8;
/** Length (4), header (1) and trailing bits (1) of a filler-data NAL unit. */
const FILLER_OVERHEAD_BYTES = 6;
const FILLER_NAL_TYPE = 12;

/** The segment's bytes. @throws {SegmentSizeError} for a size that cannot be met. */
export function composeSegment(request: SegmentRequest): ByteRuns {
  const { clip, sizeBytes, padding = 'free-box' } = request;
  const { samples, startTicks } = samplesOf(request);
  const sizes = samples.map(({ bytes }) => bytes.length);
  const natural = segmentBytes(sizes);
  const extra = sizeBytes === undefined ? 0 : sizeBytes - natural;
  if (!Number.isInteger(extra)) throw new SegmentSizeError(`segment size: expected whole bytes, got ${sizeBytes}`);

  const runs: ByteRun[] = [];
  const smallestExtra = padding === 'free-box' ? FREE_BOX_HEADER_BYTES : FILLER_OVERHEAD_BYTES;
  if (extra !== 0 && extra < smallestExtra) {
    throw new SegmentSizeError(
      `segment ${request.index}: ${sizeBytes} bytes prescribed, but ${clip.width}x${clip.height} pictures of ` +
        `${request.segmentSeconds} s take ${natural} bytes, or at least ${natural + smallestExtra} with padding`,
    );
  }
  if (extra === 0 || padding === 'free-box') {
    const fillBytes = extra - FREE_BOX_HEADER_BYTES;
    if (extra > 0) runs.push(boxHeader('free', fillBytes), { fill: 0, count: fillBytes });
    runs.push(moof(request, samples, sizes, startTicks), boxHeader('mdat', sum(sizes)));
    runs.push(...samples.map(({ bytes }) => bytes));
    return new ByteRuns(runs);
  }
  // Equal shares, the remainder to the first sample; if a share is too small, all goes to the first sample.
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

/** The segment's bytes without padding. */
export function naturalSegmentBytes(request: Omit<SegmentRequest, 'sizeBytes' | 'padding'>): number {
  return segmentBytes(samplesOf(request).samples.map(({ bytes }) => bytes.length));
}

/**
 * The samples of segment `index`; the clip repeats. Video begins at a sync sample, and its last picture is stretched or
 * cut to end with the segment. An audio frame belongs to the segment in which it begins.
 */
function samplesOf({ clip, index, segmentSeconds }: Pick<SegmentRequest, 'clip' | 'index' | 'segmentSeconds'>) {
  const frameTicks = clip.samples[0]!.durationTicks;
  const count = clip.samples.length;
  if (clip.kind === 'audio') {
    const firstFrame = (i: number) => Math.ceil((i * segmentSeconds * clip.timescale) / frameTicks);
    const first = firstFrame(index);
    // All frames have equal durations; only the clip's last one was cut to the clip's duration.
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
