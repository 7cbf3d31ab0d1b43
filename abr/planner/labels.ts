/**
 * Nodes seen before, kept to drop those that cannot do better: a node is dominated by one with the same number of
 * segments chosen and the same last representation from which every continuation brings at least as much.
 *
 * Constant path: the rest depends on the buffer alone, and a second of it is worth at most mu. So the other node must
 * lead in value by mu per second of buffer that it lacks.
 *
 * Any path: requests sent earlier arrive no later (links are first in, first out). So the other node must be no later,
 * have stalled no longer, and have gathered at least as much before stalls. Without a buffer cap stalls do not delay
 * requests; then it may have stalled longer, if it leads by mu per second of that.
 *
 * Where the other node's plans begin with a higher representation it must lead by the margin for ties as well, for of
 * equal plans the one with the lowest first representation wins.
 */

/** Nodes kept per number of segments and last representation; the oldest gives way. */
const KEPT = 16;
/** Numbers per node: value or gathered, buffer or time, stall, first representation. */
const STRIDE = 4;

export interface LabelledNode {
  /** First representation of its segments so far. */
  first: number;
  /** Worth of its segments so far, stalls included. */
  value: number;
  /** Buffer and time at its next request, after any wait for the buffer cap. */
  bufferSeconds: number;
  timeSeconds: number;
  stallSeconds: number;
}

export interface LabelRules {
  mu: number;
  /** By how much plans must differ to be told apart. */
  tieMargin: number;
  onConstantPath: boolean;
  /** Requests wait for the buffer cap. */
  capped: boolean;
}

export class Labels {
  #counts = new Int32Array(0);
  #labels = new Float64Array(0);
  #rules: LabelRules = { mu: 0, tieMargin: 0, onConstantPath: true, capped: false };

  /** Forgets all nodes. `cells`: pairs of a number of segments chosen and a last representation. */
  reset(cells: number, rules: LabelRules): void {
    this.#rules = rules;
    if (cells > this.#counts.length) {
      this.#counts = new Int32Array(cells);
      this.#labels = new Float64Array(cells * KEPT * STRIDE);
    }
    this.#counts.fill(0, 0, cells);
  }

  /** Whether a node is dominated by one of its cell; if not, it is kept there. */
  isDominated(cell: number, node: LabelledNode): boolean {
    const labels = this.#labels;
    const counts = this.#counts;
    const { mu, tieMargin, onConstantPath, capped } = this.#rules;
    const seen = counts[cell]!;
    const start = cell * KEPT * STRIDE;
    const end = start + Math.min(seen, KEPT) * STRIDE;
    const { first, value, stallSeconds } = node;
    const place = start + (seen % KEPT) * STRIDE;
    if (onConstantPath) {
      const { bufferSeconds } = node;
      for (let at = start; at < end; at += STRIDE) {
        const lack = Math.max(0, bufferSeconds - labels[at + 1]!);
        const needed = value + (labels[at + 3]! > first ? 2 * tieMargin : 0);
        if (labels[at]! - mu * lack >= needed) return true;
      }
      labels[place] = value;
      labels[place + 1] = bufferSeconds;
    } else {
      const { timeSeconds } = node;
      const gathered = value + mu * stallSeconds;
      for (let at = start; at < end; at += STRIDE) {
        if (labels[at + 1]! > timeSeconds) continue;
        const longer = Math.max(0, labels[at + 2]! - stallSeconds);
        if (longer > 0 && capped) continue;
        const needed = gathered + (labels[at + 3]! > first ? 2 * tieMargin : 0);
        if (labels[at]! - mu * longer >= needed) return true;
      }
      labels[place] = gathered;
      labels[place + 1] = timeSeconds;
      labels[place + 2] = stallSeconds;
    }
    labels[place + 3] = first;
    counts[cell] = seen + 1;
    return false;
  }
}
