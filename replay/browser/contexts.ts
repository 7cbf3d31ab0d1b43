/**
 * How many sessions play at the same time. A host that is too slow shows it by late downloads: their sessions are
 * rejected and play again, so the first batches measure what the host delivers on time.
 */

/**
 * After as many batches without a rejection, one more session plays at the same time. While the host plays at most half
 * of what it once carried, it was only busy for a while, and one batch without a rejection doubles the count.
 */
const CLEAN_BATCHES = 5;
/** If the host is too slow for one session as many times in a row, and has never been quick enough, it never will be. */
const MOST_ALONE = 3;

export class Contexts {
  /** The count before each batch, as far as it changed: for the notes of the results. */
  readonly counts: number[];
  private _clean = 0;
  private _aloneLate = 0;
  private _accepted = 0;
  /** The most sessions that were all on time. */
  private _carried = 0;

  /** `least`: players of a household, which play together. A fixed count stays. */
  constructor(
    private readonly _most: number,
    private readonly _least: number,
    private readonly _isFixed: boolean,
  ) {
    this.counts = [_most];
  }

  get count(): number {
    return Math.max(this.counts.at(-1)!, this._least);
  }

  get isFixed(): boolean {
    return this._isFixed;
  }

  /** The host cannot play one session on time. */
  get isHopeless(): boolean {
    return !this._isFixed && this._accepted === 0 && this._aloneLate >= MOST_ALONE;
  }

  /** A batch has ended, in which `rejected` of its sessions, or households, had late downloads. */
  played(sessions: number, rejected: number): void {
    this._accepted += sessions - rejected;
    this._clean = rejected > 0 ? 0 : this._clean + 1;
    this._aloneLate = rejected > 0 && this.count === this._least ? this._aloneLate + 1 : 0;
    if (this._isFixed) return;
    const { count } = this;
    if (rejected === 0) this._carried = Math.max(this._carried, sessions);
    const isRecovering = 2 * count <= this._carried;
    // Half of the sessions late: far too many at a time. A single late one: a little.
    const lower = 2 * rejected >= sessions ? Math.floor(count / 2) : count - 1;
    const isClean = this._clean >= CLEAN_BATCHES && count < this._most;
    const higher = isRecovering ? 2 * count : count + (isClean ? 1 : 0);
    const next = rejected > 0 ? Math.max(this._least, lower) : higher;
    if (next === count) return;
    this._clean = 0;
    this.counts.push(next);
  }
}
