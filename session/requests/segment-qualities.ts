/** Qualities of future segments, as the page knows them. */

import type { PlayerState } from '../../abr/controller.ts';
import type { Host } from '../host.ts';
import type { Situation } from '../player-port.ts';
import { loadLists, type SegmentLists, SegmentTable } from './segment-lists.ts';
import type { UpcomingSegments } from './upcoming-segments.ts';

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
  listOf: (entry: { quality?: unknown } | null) => entry && entry.quality,
  expected: 'qualities from 0 to 100',
  holds: (quality) => quality >= 0 && quality <= 100,
};

export type GivenQualities = QualityFile | string | URL | QualityOf;

export class SegmentQualities {
  private _of: ((situation: Situation, segments: UpcomingSegments, id: string, k: number) => unknown) | undefined;

  /** `onFault`: the page's qualities are not usable, and are left out. */
  constructor(
    given: GivenQualities | undefined,
    host: Pick<Host, 'fetch'>,
    private readonly _onFault: (cause: unknown) => void,
  ) {
    if (typeof given === 'function') {
      this._of = ({ period }, segments, id, k) =>
        given(id, period.firstIndex + (segments.of(id, k) || segments.rows[k]!).index);
    } else if (typeof given === 'string' || given instanceof URL) {
      loadLists<QualityFile>(given, host, QUALITY_LISTS).then((file) => this._use(file), _onFault);
    } else if (given) this._use(given);
  }

  /**
   * The rows of `PlayerState.upcomingQualities`. They end before the first segment that is not known in each
   * representation, because measured and modelled qualities do not compare; undefined without any.
   */
  upcoming(situation: Situation, segments: UpcomingSegments): PlayerState['upcomingQualities'] {
    const of = this._of;
    if (!of) return undefined;
    const rows: number[][] = [];
    try {
      for (let k = 0; k < segments.rows.length; k++) {
        const row = situation.ladder.map(({ id }) => Number(of(situation, segments, id, k)));
        if (!row.every(Number.isFinite)) break;
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
