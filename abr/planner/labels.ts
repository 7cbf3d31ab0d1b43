/**
 * Nodes kept to drop dominated ones. A node is dominated by another with as many chosen segments and the same last
 * representation, if every continuation of the other is worth at least as much.
 *
 * Constant path: the rest depends on the buffer alone, and a second of buffer is worth at most mu. So the other node must
 * lead in value by mu per second of buffer that it lacks.
 *
 * Any path: requests sent earlier arrive no later (links are first in, first out). So the other node must be no later,
 * have stalled no longer, and have gathered at least as much before stalls. Without a buffer cap stalls do not delay
 * requests; then it may have stalled longer, if it leads by mu per second of that. In a paused player the first download
 * takes time from no buffer, so there only nodes with the same first representation are compared.
 *
 * If the other node begins with a higher representation it must also lead by the tie margin, because ties go to the
 * lowest first representation.
 */

/** Nodes kept per number of segments and last representation; the oldest is overwritten. */
const KEPT = 64;
/** Numbers per node; the fourth is the first representation. */
export const STRIDE = 4;

export interface LabelledNode {
  /** First representation of its segments so far. */
  first: number;
  /** Value of its segments so far, stalls included. */
  value: number;
  /** Buffer and time at its next request, after any wait for the buffer cap. */
  bufferSeconds: number;
  timeSeconds: number;
  stallSeconds: number;
}

export interface LabelRules {
  mu: number;
  /** Values that differ by less are equal. */
  tieMargin: number;
  /** Requests wait for the buffer cap. */
  capped: boolean;
  isPaused: boolean;
}

/** For a constant path. Its numbers per node: value, buffer, none, first representation. */
export class Labels {
  #counts = new Int32Array(0);
  protected table = new Float64Array(0);
  protected rules: LabelRules = { mu: 0, tieMargin: 0, capped: false, isPaused: false };

  /** Forgets all nodes. A cell is a number of chosen segments and a last representation. */
  reset(cells: number, rules: LabelRules): void {
    this.rules = rules;
    if (cells > this.#counts.length) {
      this.#counts = new Int32Array(cells);
      this.table = new Float64Array(cells * KEPT * STRIDE);
    }
    this.#counts.fill(0, 0, cells);
  }

  /** Whether a node of its cell dominates this one. If none does, this one is kept there. */
  isDominated(cell: number, node: LabelledNode): boolean {
    const seen = this.#counts[cell]!;
    const start = cell * KEPT * STRIDE;
    if (this.dominates(start, start + Math.min(seen, KEPT) * STRIDE, node)) return true;
    this.keep(start + (seen % KEPT) * STRIDE, node);
    this.#counts[cell] = seen + 1;
    return false;
  }

  /** Whether one of the nodes from `start` to `end` in the table dominates `node`. */
  protected dominates(start: number, end: number, { first, value, bufferSeconds }: LabelledNode): boolean {
    const { table } = this;
    const { mu, tieMargin } = this.rules;
    for (let at = start; at < end; at += STRIDE) {
      const lack = Math.max(0, bufferSeconds - table[at + 1]!);
      const needed = value + (table[at + 3]! > first ? 2 * tieMargin : 0);
      if (table[at]! - mu * lack >= needed) return true;
    }
    return false;
  }

  protected keep(at: number, { first, value, bufferSeconds }: LabelledNode): void {
    this.table[at] = value;
    this.table[at + 1] = bufferSeconds;
    this.table[at + 3] = first;
  }
}
