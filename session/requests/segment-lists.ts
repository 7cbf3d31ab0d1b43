/** Files with a number for each segment, by representation. */

import { check, InputError } from '../../abr/errors.ts';
import type { Host } from '../host.ts';
import type { ListedSegment, Situation } from '../player-port.ts';
import { firstEndingAfter, type UpcomingSegments } from './upcoming-segments.ts';

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
    const areDurations = Array.isArray(seconds) && seconds.length === list.length && seconds.every((one) => one > 0);
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

/** A segment in a list: its number, and its boundaries where they are known. */
type Found = { value: number | undefined } & Partial<ListedSegment>;

/** The numbers of a file. Lists with durations are read by time; others by the index in their own representation. */
export class SegmentTable {
  private readonly _lists = new Map<string, { values: readonly number[]; ends: readonly number[] | undefined }>();
  private readonly _firstIndex: number;
  private readonly _name: string;

  constructor(file: { firstIndex?: number; representations: object }, { listOf, name }: SegmentLists) {
    this._firstIndex = file.firstIndex || 0;
    this._name = name;
    for (const [id, entry] of Object.entries(file.representations)) {
      let end = 0;
      const ends = (entry as { seconds?: readonly number[] }).seconds?.map((seconds) => (end += seconds));
      this._lists.set(id, { values: listOf(entry as never) as number[], ends });
    }
  }

  /**
   * The representation's segment in the k-th row. @throws {InputError} if the boundaries differ between representations,
   * and neither file nor stream says where the representation's are.
   */
  upcoming({ period, ladder, live }: Situation, upcoming: UpcomingSegments, id: string, k: number): Found {
    const listed = upcoming.of(id, k);
    const list = this._lists.get(id);
    if (!list) return { ...listed, value: undefined };
    if (list.ends && !live) return this.at(id, upcoming.positionOf(k), period);
    if (!listed && !live) {
      // Others may end later.
      if (upcoming.isListed(id)) return { value: undefined };
      const isWhole = period.firstIndex <= 0 && period.segmentsAfter === 0;
      const isUneven = ladder.some((one) => {
        const length = this._lists.get(one.id)?.values.length ?? list.values.length;
        const other = upcoming.of(one.id, k);
        return (isWhole && length !== list.values.length) || (other && !upcoming.isEven(other, k));
      });
      const field = `${this._name}.representations.${id}.seconds`;
      check(!isUneven, field, 'durations, because segments differ between representations', undefined);
    }
    const { index } = listed || upcoming.rows[k]!;
    return { ...listed, value: this.byIndex(id, index, period) };
  }

  /** By time, if the file has durations. */
  at(id: string, seconds: number, { startSeconds, segmentCount }: Situation['period']): Found {
    const { values, ends } = this._lists.get(id) || {};
    if (!ends) return { value: undefined };
    const since = values!.length === segmentCount ? startSeconds : 0;
    const i = firstEndingAfter(seconds - since, ends.length, (n) => ends[n]!);
    if (i === undefined) return { value: undefined };
    const start = i > 0 ? ends[i - 1]! : 0;
    return { value: values![i], startSeconds: since + start, seconds: ends[i]! - start };
  }

  /** `index`: from the start of the period. A list covers one period if it is as long, else all. */
  byIndex(id: string, index: number, { firstIndex, segmentCount }: Situation['period']): number | undefined {
    const values = this._lists.get(id)?.values;
    return values?.[(values.length === segmentCount ? index : firstIndex + index) - this._firstIndex];
  }
}
