/** Qualities of future segments, as the page knows them. */

import type { PlayerState } from '../../abr/controller.ts';
import type { Host } from '../host.ts';
import type { Situation } from '../player-port.ts';
import { loadLists, type SegmentLists } from './segment-lists.ts';

/** Quality of a segment, 0 to 100; undefined where it is unknown. `index` counts from the start of the presentation. */
export type QualityOf = (representationId: string, index: number) => number | undefined;

/** The part of a `quality.json` that a session reads: per representation id, the quality of each segment in order. */
export interface QualityFile {
  representations: Record<string, { quality: readonly number[] }>;
}

export const QUALITY_LISTS: SegmentLists = {
  name: 'quality',
  listOf: (entry: { quality?: unknown } | null) => entry && entry.quality,
  expected: 'qualities from 0 to 100',
  holds: (quality) => quality >= 0 && quality <= 100,
};

export type GivenQualities = QualityFile | string | URL | QualityOf;

export class SegmentQualities {
  private _of: QualityOf | undefined;

  /** `onFault`: the page's qualities are not usable, and are left out. */
  constructor(
    given: GivenQualities | undefined,
    host: Pick<Host, 'fetch'>,
    private readonly _onFault: (cause: unknown) => void,
  ) {
    if (typeof given === 'function') this._of = given;
    else if (typeof given === 'string' || given instanceof URL) {
      loadLists<QualityFile>(given, host, QUALITY_LISTS).then((file) => this._use(file), _onFault);
    } else if (given) this._use(given);
  }

  /**
   * The rows of `PlayerState.upcomingQualities` for `count` segments of the period from `index` on, each less the price of
   * its bits. They end before the first segment that is not known in each representation, because measured and modelled
   * qualities do not compare; undefined without any.
   */
  upcoming(
    { period, ladder }: Pick<Situation, 'period' | 'ladder'>,
    { index, count, pricePerMbps }: { index: number; count: number; pricePerMbps: number },
  ): PlayerState['upcomingQualities'] {
    const of = this._of;
    if (!of) return undefined;
    const rows: number[][] = [];
    try {
      for (let k = 0; k < count; k++) {
        const row = ladder.map(
          ({ id, bitrateBps }) => Number(of(id, period.firstIndex + index + k)) - (pricePerMbps * bitrateBps) / 1e6,
        );
        if (!row.every(Number.isFinite)) break;
        rows.push(row);
      }
    } catch (error) {
      this._of = undefined;
      this._onFault(error);
    }
    return rows.length > 0 ? rows : undefined;
  }

  private _use({ representations }: QualityFile): void {
    this._of = (id, index) => representations[id]?.quality[index];
  }
}
