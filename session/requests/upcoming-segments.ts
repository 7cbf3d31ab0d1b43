/** The upcoming segments of each representation. Their boundaries may differ between representations. */

import type { ListedSegment, Situation } from '../player-port.ts';

/** A segment that ends this soon after the one before is not requested (hls.js's `maxFragLookUpTolerance`). */
const TOLERANCE_SECONDS = 0.25;
const ROUNDING_SECONDS = 0.01;

/** The segment to decide on. */
export interface NextSegment {
  /** Counted from the start of the period, without the stream's own index. */
  index: number;
  /** Position in the presentation: the end of the segment before, or where the viewer went. */
  startSeconds: number;
  isAfterSeek?: boolean;
  /** The representation whose segments the plan counts; undefined for the one that loads. */
  id: string | undefined;
}

export class UpcomingSegments {
  /** Segments of one representation: the plan's. */
  readonly rows: readonly ListedSegment[];
  /** Segments to the end of the presentation. */
  readonly remaining: number;
  private readonly _firstSeconds: number;

  /** `most`: rows. */
  constructor(
    private readonly _situation: Pick<Situation, 'segmentAt' | 'playback' | 'period'>,
    { index, startSeconds, isAfterSeek, id }: NextSegment,
    most: number,
  ) {
    const { segmentAt, playback, period } = _situation;
    const rows: ListedSegment[] = [];
    let nextIndex = index;
    let start = startSeconds;
    let position = start + (isAfterSeek ? ROUNDING_SECONDS : TOLERANCE_SECONDS);
    this._firstSeconds = position;
    let remaining = 1;
    while (rows.length < Math.min(most, remaining)) {
      const nominal = { index: nextIndex, startSeconds: start, seconds: playback.segmentSeconds };
      const row = segmentAt?.(position, id) || nominal;
      nextIndex = row.index + 1;
      if (rows.push(row) === 1) remaining = Math.max(1, period.segmentCount - row.index) + period.segmentsAfter;
      start = row.startSeconds + row.seconds;
      position = start + TOLERANCE_SECONDS;
    }
    this.rows = rows;
    this.remaining = remaining;
  }

  /** The representation's segment in the k-th row; undefined where the stream does not list it. */
  of(id: string, k: number): ListedSegment | undefined {
    const { segmentAt } = this._situation;
    return segmentAt && segmentAt(this.positionOf(k), id);
  }

  /** Whether the stream lists the representation's segments. */
  isListed(id: string): boolean {
    const { segmentAt, period } = this._situation;
    return segmentAt?.(period.startSeconds + TOLERANCE_SECONDS, id) !== undefined;
  }

  /** A position in the representation's segment that is requested next, or in the middle of a later row. */
  positionOf(k: number): number {
    const { startSeconds, seconds } = this.rows[k]!;
    return k > 0 ? startSeconds + seconds / 2 : this._firstSeconds;
  }

  /** Whether another representation's segment has the boundaries of the k-th row. */
  isEven({ startSeconds, seconds }: Pick<ListedSegment, 'startSeconds' | 'seconds'>, k: number): boolean {
    const row = this.rows[k]!;
    return (
      Math.abs(startSeconds - row.startSeconds) < TOLERANCE_SECONDS &&
      Math.abs(seconds - row.seconds) < TOLERANCE_SECONDS
    );
  }
}

export type Span = readonly [startSeconds: number, seconds: number];

/** The first of these segments, ascending in time, that ends after a time; undefined after the last. */
export function firstEndingAfter<T>(
  seconds: number,
  segments: readonly T[],
  spanOf: (segment: T) => Span,
): ListedSegment | undefined {
  let low = 0;
  let high = segments.length;
  let found: ListedSegment | undefined;
  while (low < high) {
    const index = (low + high) >> 1;
    const [startSeconds, duration] = spanOf(segments[index]!);
    if (startSeconds + duration > seconds) {
      high = index;
      found = { index, startSeconds, seconds: duration };
    } else low = index + 1;
  }
  return found;
}
