/** Measures all segments of a stream, several at a time. Results stay on disk, so that another run can continue. */

import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { InputError } from '../../abr/errors.ts';
import { placeOf } from '../../replay/formats/place.ts';
import { QUALITY_SCHEMA, type QualityFile } from '../../replay/quality-file.ts';
import { remembered } from '../../replay/remembered.ts';
import type { Watched } from '../shared/progress.ts';
import { type Comparison, firstPictureSeconds, type Pictures, probe, type Run, vmafOf } from './ffmpeg.ts';
import { bytesOf, type StreamRepresentation, type StreamSegment } from './pieces.ts';

/** VMAF's models by the lines of the display. Both assume a viewer at the usual distance. */
const MODELS = { 1080: 'vmaf_v0.6.1', 2160: 'vmaf_4k_v0.6.1' } as const;
/** The display has 2160 lines by default if the source has more lines than this. */
const MOST_LINES_OF_1080 = 1440;
/** Comparisons start this early, so that rounding skips no picture. It is half of a picture's time at 120 Hz. */
const EARLY_SECONDS = 0.004;
/** If a segment's own time differs this much from the manifest's, the clocks are unrelated. */
const CLOCK_SECONDS = 1;
/** Segments that begin this far apart show that boundaries differ between representations. */
const UNEVEN_SECONDS = 0.1;

export interface Measurement {
  source: string;
  stream: string;
  representations: readonly StreamRepresentation[];
  ffmpeg: string;
  /** Default: 2160 if the source has more than 1440 lines, else 1080. */
  displayedLines?: keyof typeof MODELS;
  /** Number of processes at a time. */
  jobs: number;
  /** Lines of JSON: versions of source and stream, then one line per segment. Incomplete lines are measured again. */
  progressFile: string;
}

/** `quality` is the mean VMAF, 0 to 100. */
type Measured = { id: string; index: number; bytes: number; quality: number };

/**
 * `onResume` gets the number of segments that an earlier run measured. @throws {InputError} for files that ffmpeg
 * cannot read, and for a progress file of another source, stream or display.
 */
export async function measureQuality(
  measurement: Measurement,
  { signal, onProgress, onResume }: Watched & { onResume?(count: number): void },
): Promise<QualityFile> {
  const { representations, source, ffmpeg, progressFile } = measurement;
  const run = { ffmpeg, ...(signal && { signal }) };
  const pictures = await probe(source, run);
  const lines = measurement.displayedLines ?? (pictures.height > MOST_LINES_OF_1080 ? 2160 : 1080);
  const metric = MODELS[lines];
  const versions = { source: versionOf(source), stream: versionOf(measurement.stream) };
  const done = openProgress(progressFile, { metric, ...versions });
  if (done.size > 0) onResume?.(done.size);

  const all = representations.flatMap((one) => one.segments.map((_, index) => ({ representation: one, index })));
  if (done.size === all.length) onProgress?.(done.size, all.length);
  const left = all.filter(({ representation, index }) => !done.has(keyOf(representation.id, index)));
  const meter = new SegmentMeter(run, { source, model: metric, ...sizeWithin(lines, pictures.aspect) }, pictures);
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const measured = await meter.measure(next.representation, next.index);
      appendFileSync(progressFile, `${JSON.stringify(measured)}\n`);
      done.set(keyOf(measured.id, measured.index), measured);
      onProgress?.(done.size, all.length);
    }
  };
  // After a fault, the other workers end their segments and take no more.
  const stop = (error: unknown) => {
    left.length = 0;
    throw error;
  };
  const workers = await Promise.allSettled(Array.from({ length: measurement.jobs }, () => worker().catch(stop)));
  const failed = workers.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return qualityFile(representations, metric, done);
}

/** Finds each segment's pictures in the source and compares both. */
class SegmentMeter {
  /** Media times of first pictures by `keyOf`. */
  readonly #firstSeconds = new Map<string, Promise<number>>();

  constructor(
    private readonly run: Run,
    private readonly to: Pick<Comparison, 'source' | 'model' | 'width' | 'height'>,
    private readonly pictures: Pictures,
  ) {}

  async measure({ id, segments }: StreamRepresentation, index: number): Promise<Measured> {
    const segment = segments[index]!;
    const first = segments[segment.firstIndex]!;
    const placed = { ...this.run, place: placeOf({ file: segment.file, field: `segment ${index} of ${id}` }) };
    const media = mediaOf(segment);
    let sinceSeconds = 0;
    if (segment !== first) {
      const key = keyOf(id, segment.firstIndex);
      const known = remembered(this.#firstSeconds, key, () => firstPictureSeconds(mediaOf(first), placed));
      const bySeconds = (await firstPictureSeconds(media, placed)) - (await known);
      const expected = segment.startSeconds - first.startSeconds;
      sinceSeconds = Math.abs(bySeconds - expected) < CLOCK_SECONDS ? bySeconds : expected;
    }
    const { frameRate, firstSeconds } = this.pictures;
    const startSeconds = Math.max(0, firstSeconds + first.startSeconds + sinceSeconds - EARLY_SECONDS);
    const vmaf = await vmafOf(media, { ...this.to, frameRate, startSeconds, seconds: segment.seconds }, placed);
    return { id, index, bytes: bytesOf(segment).length, quality: Math.round(vmaf * 100) / 100 };
  }
}

function qualityFile(
  representations: readonly StreamRepresentation[],
  metric: string,
  done: ReadonlyMap<string, Measured>,
): QualityFile {
  const durations = representations[0]!.segments.map(({ seconds }) => seconds).sort((a, b) => a - b);
  const others = representations[0]!.segments;
  const isUneven = representations.some(({ segments }) =>
    segments.some(
      ({ startSeconds }, i) => others[i] && Math.abs(startSeconds - others[i].startSeconds) > UNEVEN_SECONDS,
    ),
  );
  const entries = representations.map(({ id, segments, ...about }) => {
    const rows = segments.map((_, index) => done.get(keyOf(id, index))!);
    const measured = { bytes: rows.map(({ bytes }) => bytes), quality: rows.map(({ quality }) => quality) };
    return [id, { ...about, ...measured, ...(isUneven && { seconds: segments.map(({ seconds }) => seconds) }) }];
  });
  return {
    ...{ schema: QUALITY_SCHEMA, metric, segmentSeconds: durations[durations.length >> 1]! },
    representations: Object.fromEntries(entries),
  };
}

const keyOf = (id: string, index: number) => `${id} ${index}`;

function mediaOf(segment: StreamSegment): Buffer {
  return segment.init ? Buffer.concat([bytesOf(segment.init), bytesOf(segment)]) : bytesOf(segment);
}

/** The largest picture with this aspect ratio on the display. For an upright picture, the display is turned. */
function sizeWithin(lines: number, aspect: number): { width: number; height: number } {
  const even = (pixels: number) => 2 * Math.round(pixels / 2);
  if (aspect < 1) {
    const { width, height } = sizeWithin(lines, 1 / aspect);
    return { width: height, height: width };
  }
  const width = Math.min((lines * 16) / 9, lines * aspect);
  return { width: even(width), height: even(width / aspect) };
}

function versionOf(file: string): string {
  const { size, mtimeMs } = statSync(file);
  return `${size} bytes of ${new Date(mtimeMs).toISOString()}`;
}

/** Returns the segments of an earlier run by `keyOf`. Begins the file if it does not exist. */
function openProgress(file: string, of: Record<string, string>): Map<string, Measured> {
  const head = JSON.stringify(of);
  if (!existsSync(file)) {
    writeFileSync(file, `${head}\n`);
    return new Map();
  }
  const [first = '', ...lines] = readFileSync(file, 'utf8').split('\n');
  if (first !== head) {
    const expected = `the progress of measuring ${head} (delete the file to begin anew)`;
    throw new InputError(file, expected, undefined, first.slice(0, 300));
  }
  // The last line is empty, unless the process ended while it wrote the line.
  const partial = lines.pop();
  if (partial) writeFileSync(file, [first, ...lines, ''].join('\n'));
  return new Map(
    lines.map((line) => {
      const measured = JSON.parse(line) as Measured;
      return [keyOf(measured.id, measured.index), measured];
    }),
  );
}
