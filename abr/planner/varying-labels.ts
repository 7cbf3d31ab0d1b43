/** Labels (labels.ts) for a path of any kind: its numbers per node are gathered value, time, stall, first representation. */

import { type LabelledNode, Labels, STRIDE } from './labels.ts';

export class VaryingLabels extends Labels {
  protected override dominates(start: number, end: number, node: LabelledNode): boolean {
    const { table } = this;
    const { mu, tieMargin, capped, isPaused } = this.rules;
    const { first, timeSeconds, stallSeconds } = node;
    const gathered = node.value + mu * stallSeconds;
    for (let at = start; at < end; at += STRIDE) {
      if (table[at + 1]! > timeSeconds || (isPaused && table[at + 3] !== first)) continue;
      const longer = Math.max(0, table[at + 2]! - stallSeconds);
      if (longer > 0 && capped) continue;
      const needed = gathered + (table[at + 3]! > first ? 2 * tieMargin : 0);
      if (table[at]! - mu * longer >= needed) return true;
    }
    return false;
  }

  protected override keep(at: number, { first, value, timeSeconds, stallSeconds }: LabelledNode): void {
    this.table[at] = value + this.rules.mu * stallSeconds;
    this.table[at + 1] = timeSeconds;
    this.table[at + 2] = stallSeconds;
    this.table[at + 3] = first;
  }
}
