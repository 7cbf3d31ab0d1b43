/** Files with a number for each segment, by representation: sizes, or qualities as the page knows them. */

import type { PlayerState } from '../abr/controller.ts';
import { check, InputError, isPositive } from '../abr/errors.ts';
import type { Host } from './host.ts';
import type { ListedSegment, Period, Situation } from './player-port.ts';
import { firstEndingAfter, type Span, type UpcomingSegments } from './state.ts';

/** How a file is read: where its lists are, and what they hold. */
export interface SegmentLists {
  /** In errors: `sizes`. */
  name: string;
  /** The list in an entry of `representations`. */
  listOf(entry: never): unknown;
  /** `bytes from 1 to 1e12` */
  expected: string;
  holds(value: number): boolean;
}

/** Returns a valid parsed file; throws an `InputError` that names the first wrong field. */
export function parseLists<T>(value: unknown, { name, listOf, expected, holds }: SegmentLists): T {
  const { representations, firstIndex = 0 } = (value || {}) as { representations?: object; firstIndex?: number };
  const entries = Object.entries(representations || {});
  check(Number.isInteger(firstIndex), `${name}.firstIndex`, 'a whole number', firstIndex);
  check(entries.length > 0, `${name}.representations`, `${expected} by id`, value);
  for (const [id, entry] of entries) {
    const field = `${name}.representations.${id}`;
    const list = listOf(entry as never);
    check(Array.isArray(list), field, `an array of ${expected}`, list);
    for (const [i, one] of list.entries()) check(Number.isFinite(one) && holds(one), `${field}[${i}]`, expected, one);
    const { seconds } = entry as { seconds?: unknown };
    const areDurations = Array.isArray(seconds) && seconds.length === list.length && seconds.every(isPositive);
    check(!seconds || areDurations, `${field}.seconds`, 'a duration above 0 for each segment', seconds);
  }
  return value as T;
}

/** Fetches a file if given its URL; throws an `InputError` that names it. Others are valid. */
export async function loadLists<T>(
  given: T | string | URL,
  { fetch }: Pick<Host, 'fetch'>,
  lists: SegmentLists,
): Promise<T> {
  if (typeof given !== 'string' && !(given instanceof URL)) return given;
  try {
    const response = await fetch(given);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return parseLists(await response.json(), lists);
  } catch (error) {
    throw new InputError(String(given), `segment ${lists.name}`, error);
  }
}

/**
 * `sizes.json`: per representation id, the bytes of each segment in order, with their durations if representations have
 * different boundaries. If periods share the id, their segments follow one another. The file of a live stream may grow.
 */
export interface SizesFile {
  /** Index of the lists' first segment, which counts as `PlayerState.segmentIndex` does. Default 0. */
  firstIndex?: number;
  representations: Record<string, readonly number[] | { bytes: readonly number[]; seconds?: readonly number[] }>;
}

export const SIZE_LISTS: SegmentLists = {
  name: 'sizes',
  listOf: (entry: { bytes?: unknown } | readonly number[] | null) =>
    entry && 'bytes' in Object(entry) ? (entry as { bytes?: unknown }).bytes : entry,
  expected: 'bytes from 1 to 1e12',
  // With far larger sizes, a plan's sums would be infinite and their differences NaN.
  holds: (bytes) => bytes >= 1 && bytes <= 1e12,
};

/** Returns a valid parsed `sizes.json`; throws an `InputError` that names the first wrong field. */
export const parseSizes = (value: unknown): SizesFile => parseLists(value, SIZE_LISTS);

/** A segment in a list: its number, and its boundaries where they are known. */
export type Found = { value: number | undefined } & Partial<ListedSegment>;

interface SegmentList {
  values: readonly number[];
  /** Absent without durations. */
  spans: readonly Span[] | undefined;
}

/** The numbers of a file. Lists with durations are read by time; others by the index in their own representation. */
export class SegmentTable {
  private readonly _lists = new Map<string, SegmentList>();
  private readonly _firstIndex: number;
  private readonly _name: string;

  constructor(file: { firstIndex?: number; representations: object }, { listOf, name }: SegmentLists) {
    this._firstIndex = file.firstIndex || 0;
    this._name = name;
    for (const [id, entry] of Object.entries(file.representations)) {
      let start = 0;
      const { seconds } = entry as { seconds?: readonly number[] };
      const spans = seconds?.map((one): Span => {
        start += one;
        return [start - one, one];
      });
      this._lists.set(id, { values: listOf(entry as never) as number[], spans });
    }
  }

  /**
   * The representation's segment in the k-th row. @throws {InputError} if the boundaries differ between representations,
   * and neither file nor stream says where the representation's are.
   */
  upcoming({ period, ladder, live }: Situation, upcoming: UpcomingSegments, id: string, k: number): Found {
    const row = upcoming.rows[k]!;
    const listed = upcoming.of(id, k);
    const list = this._lists.get(id);
    if (list && !list.spans && !listed && !live) {
      // Others may end later in this period.
      if (upcoming.isListed(id) && row.index < period.segmentCount) return { value: undefined };
      const isWhole = period.firstIndex <= 0 && period.segmentsAfter === 0;
      const isUneven = ladder.some((one) => {
        const { values } = this._lists.get(one.id) || list;
        const other = upcoming.of(one.id, k);
        return (isWhole && values.length !== list.values.length) || (other && !upcoming.isEven(other, k));
      });
      check(!isUneven, `${this._name}.representations.${id}.seconds`, 'durations, because others differ', undefined);
    }
    const { index } = listed || row;
    return { ...listed, ...this.find(id, period, index, live ? undefined : upcoming.positionOf(k)) };
  }

  /**
   * `index`: in the period. `seconds`: a position in the segment, on demand. A list covers one period if it is as long,
   * else all.
   */
  find(id: string, { startSeconds, firstIndex, segmentCount }: Period, index: number, seconds?: number): Found {
    const { values = [], spans }: Partial<SegmentList> = this._lists.get(id) || {};
    const isOfPeriod = values.length === segmentCount;
    if (!spans || seconds === undefined) {
      return { value: values[(isOfPeriod ? index : firstIndex + index) - this._firstIndex] };
    }
    const since = isOfPeriod ? startSeconds : 0;
    const found = firstEndingAfter(seconds, spans, ([start, duration]) => [since + start, duration]);
    return { ...found, value: found && values[found.index] };
  }
}

/** Quality of a segment, 0 to 100; undefined where it is unknown. `index` counts the representation's from the start. */
export type QualityOf = (representationId: string, index: number) => number | undefined;

/**
 * The part of a `quality.json` that a session reads: per representation id, the quality of each segment in order, and
 * its duration if representations have different boundaries.
 */
export interface QualityFile {
  representations: Record<string, { quality: readonly number[]; seconds?: readonly number[] }>;
}

export const QUALITY_LISTS: SegmentLists = {
  name: 'quality',
  listOf: (entry: { quality?: unknown } | null) => entry?.quality,
  expected: 'qualities from 0 to 100',
  holds: (quality) => quality >= 0 && quality <= 100,
};

export type GivenQualities = QualityFile | string | URL | QualityOf;

export class SegmentQualities {
  private _of: ((situation: Situation, segments: UpcomingSegments, id: string, k: number) => unknown) | undefined;

  /** `onFault`: the page's qualities are not usable, and are left out. */
  constructor(
    given: GivenQualities,
    host: Pick<Host, 'fetch'>,
    private readonly _onFault: (cause: unknown) => void,
  ) {
    if (typeof given === 'function') {
      this._of = ({ period }, segments, id, k) =>
        given(id, period.firstIndex + (segments.of(id, k) || segments.rows[k]!).index);
    } else if (typeof given === 'string' || given instanceof URL) {
      loadLists<QualityFile>(given, host, QUALITY_LISTS).then((file) => this._use(file), _onFault);
    } else this._use(given);
  }

  /**
   * The rows of `PlayerState.upcomingQualities`. They end before the first segment that is not known in each
   * representation, because measured and modelled qualities do not compare; undefined without any.
   */
  upcoming(situation: Situation, segments: UpcomingSegments): PlayerState['upcomingQualities'] {
    const of = this._of;
    if (!of) return undefined;
    const rows: number[][] = [];
    const { name, expected, holds } = QUALITY_LISTS;
    try {
      for (let k = 0; k < segments.rows.length; k++) {
        const row = situation.ladder.map(({ id }) => Number(of(situation, segments, id, k) ?? Number.NaN));
        if (!row.every(Number.isFinite)) break;
        const wrong = row.find((one) => !holds(one));
        check(wrong === undefined, name, expected, wrong);
        rows.push(row);
      }
    } catch (error) {
      this._of = undefined;
      this._onFault(error);
    }
    return rows.length > 0 ? rows : undefined;
  }

  private _use(file: QualityFile): void {
    const table = new SegmentTable(file, QUALITY_LISTS);
    this._of = (...question) => table.upcoming(...question).value;
  }
}
