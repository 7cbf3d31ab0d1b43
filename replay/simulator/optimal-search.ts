/**
 * An upper bound of all sessions and its plan, by dynamic programming over labels.
 *
 * A label is the state of a session after its first segments: the time of its next request (`request`), the waited
 * seconds (`waited`), its gains minus switches (`value`), its last representation and the initialised ones. A label
 * dominates another one with the same last representation if its request is no later, its wait no longer, its value no
 * less and if it has initialised all that the other one has; the other one is dropped. With the same later choices it
 * is never worse: a link that serves in order never ends an earlier request later; a longer wait shifts all later
 * deadlines, but also the times at which the buffer has room, and the final cost is the largest lag behind the
 * deadlines, which is no larger either. So idling never helps, nor does abandoning a download, which is idling for the
 * link and the buffer: the bound holds for sessions that do either.
 *
 * Times and waits are rounded down to grids, for fewer labels. A rounded label dominates the exact one, so the result
 * is an upper bound; its plan is valid and can be evaluated with exact times.
 */

import { CapacityBound } from './optimal-capacity.ts';
import type { SessionProblem } from './optimal-problem.ts';

interface SearchOptions {
  /** Grids of the times of requests and of waits, in seconds; powers of 2 are exact. */
  requestGridSeconds: number;
  waitGridSeconds: number;
  /** Treat all representations as initialised: optimistic, with far fewer labels. */
  ignoreInitialisation: boolean;
  /** The sum of a known plan: labels that cannot exceed it are dropped. */
  knownSum: number;
  /** An earlier search of the problem on grids that are multiples of these; its labels bound the new ones. */
  guide?: Search;
  /** The search fails with more labels. */
  mostLabels: number;
}

export interface Search {
  /** The upper bound of all sessions, at least `knownSum`. */
  upperBoundSum: number;
  /** The plan of the bound; undefined if no label exceeds `knownSum`. */
  plan: Uint8Array | undefined;
  /** The labels by number of finished segments. */
  stages: readonly Stage[];
}

/** Labels after the same number of segments. */
interface Stage {
  request: Float64Array;
  waited: Float64Array;
  value: Float64Array;
  /** A bit per representation. */
  initialised: Int32Array;
  last: Uint8Array;
  /** Label of the previous stage x representations + chosen representation. */
  origin: Int32Array;
  /** The label of the guide's stage that dominates it, 0 without a guide. */
  guideLabel: Int32Array;
  /** By choice (label x representations + representation): the next stage's label that dominates it, or `NONE`. */
  heir: Int32Array;
  /** The most that can be added: no session of the label exceeds the larger of `value + toCome` and `knownSum`. */
  toCome: Float64Array;
}

const NONE = -1;

/** Further representations are treated as initialised. */
const MOST_MASKED = 30;

function bitOf(representation: number): number {
  return representation < MOST_MASKED ? 1 << representation : 0;
}

/** Undefined for more than `mostLabels`. */
export function searchPlans(problem: SessionProblem, options: SearchOptions): Search | undefined {
  const { link, sizesBits, gains, switchCosts, mu, segmentSeconds, segmentCount, cutoffSeconds } = problem;
  const { representationCount, bufferCapSeconds, browser } = problem;
  const { requestGridSeconds, waitGridSeconds, guide, mostLabels } = options;
  const isMasked = browser.initSegmentBits > 0 && !options.ignoreInitialisation;
  const maskedBits = isMasked ? (1 << Math.min(MOST_MASKED, representationCount)) - 1 : 0;
  const capacity = guide === undefined ? new CapacityBound(problem, waitGridSeconds) : undefined;
  const candidates = Array.from({ length: representationCount }, () => new Candidates());

  let labels = 0;
  let bestSum = options.knownSum;
  let bestEnd: { segment: number; choice: number } | undefined;
  const stages = [beginning(~maskedBits, representationCount)];
  for (let segment = 0; segment < segmentCount; segment++) {
    const stage = stages[segment]!;
    const isFirst = segment === 0;
    const isLast = segment === segmentCount - 1;
    const guideHeir = guide?.stages[segment]?.heir;
    const guideToCome = guide?.stages[segment + 1]?.toCome;
    for (const list of candidates) list.clear();
    for (let label = 0; label < stage.request.length; label++) {
      const request = stage.request[label]!;
      const waited = stage.waited[label]!;
      const value = stage.value[label]!;
      const initialised = stage.initialised[label]!;
      const last = stage.last[label]!;
      let initialisedAt = -1;
      for (let representation = 0; representation < representationCount; representation++) {
        const choice = label * representationCount + representation;
        const bit = bitOf(representation) & maskedBits;
        const sizeBits = sizesBits[segment * representationCount + representation]!;
        let downloadedAt = request + link.downloadSeconds(request, sizeBits);
        if ((initialised & bit) !== bit && !isFirst) {
          if (initialisedAt < 0) initialisedAt = request + link.downloadSeconds(request, browser.initSegmentBits);
          downloadedAt = initialisedAt + link.downloadSeconds(initialisedAt, sizeBits);
        }
        const appendedAt = downloadedAt + browser.appendSeconds;
        // The element plays down to its stall level and then waits.
        const lag = isFirst ? appendedAt : appendedAt - (segment * segmentSeconds - browser.stallLevelSeconds);
        const waits = lag <= waited ? waited : Math.max(waited, Math.floor(lag / waitGridSeconds) * waitGridSeconds);
        const gain = gains[representation]! - (isFirst ? 0 : switchCosts[last * representationCount + representation]!);
        if (isLast || waits >= cutoffSeconds) {
          const added = waits >= cutoffSeconds ? -mu * cutoffSeconds : gain - mu * waits;
          if (added > stage.toCome[label]!) stage.toCome[label] = added;
          if (value + added > bestSum) {
            bestSum = value + added;
            bestEnd = { segment, choice };
          }
          continue;
        }
        const worth = value + gain;
        const roomAt = (segment + 2) * segmentSeconds + waits - bufferCapSeconds;
        const next = Math.max(appendedAt + browser.requestGapSeconds, roomAt + browser.requestLatenessSeconds);
        let guideLabel = 0;
        if (guideHeir !== undefined) {
          guideLabel = guideHeir[stage.guideLabel[label]! * representationCount + representation]!;
          if (guideLabel === NONE) continue;
        }
        const most = capacity?.toCome(segment + 1, waits, next) ?? guideToCome![guideLabel]!;
        if (worth + most <= bestSum) continue;
        candidates[representation]!.add(choice, Math.floor(next / requestGridSeconds), waits, worth, guideLabel);
      }
    }
    if (isLast) break;
    const next = undominated(stage, candidates, { requestGridSeconds, maskedBits });
    labels += next.request.length;
    if (labels > mostLabels) return undefined;
    stages.push(next);
  }
  boundLabels(problem, stages);
  return {
    upperBoundSum: bestSum,
    plan: bestEnd && planEndingIn(bestEnd, stages, problem),
    stages,
  };
}

/** The stage before the first segment: one label. */
function beginning(initialised: number, representationCount: number): Stage {
  const stage = emptyStage(1, representationCount);
  stage.initialised[0] = initialised;
  return stage;
}

function emptyStage(labels: number, representationCount: number): Stage {
  return {
    request: new Float64Array(labels),
    waited: new Float64Array(labels),
    value: new Float64Array(labels),
    initialised: new Int32Array(labels),
    last: new Uint8Array(labels),
    origin: new Int32Array(labels),
    guideLabel: new Int32Array(labels),
    heir: new Int32Array(labels * representationCount).fill(NONE),
    toCome: new Float64Array(labels).fill(Number.NEGATIVE_INFINITY),
  };
}

/** The results of a stage's choices of one representation, before dominated ones are dropped. */
class Candidates {
  length = 0;
  choice = new Int32Array(256);
  cell = new Float64Array(256);
  waited = new Float64Array(256);
  value = new Float64Array(256);
  guideLabel = new Int32Array(256);

  clear(): void {
    this.length = 0;
  }

  /** `cell`: the time of the request in grid steps. */
  add(choice: number, cell: number, waited: number, value: number, guideLabel: number): void {
    if (this.length === this.choice.length) {
      this.choice = doubled(this.choice);
      this.cell = doubled(this.cell);
      this.waited = doubled(this.waited);
      this.value = doubled(this.value);
      this.guideLabel = doubled(this.guideLabel);
    }
    const i = this.length++;
    this.choice[i] = choice;
    this.cell[i] = cell;
    this.waited[i] = waited;
    this.value[i] = value;
    this.guideLabel[i] = guideLabel;
  }

  /** Indices in the order of requests; in one cell the best first. */
  inOrder(): number[] {
    const { cell, waited, value } = this;
    const keys = new Float64Array(this.length);
    for (let i = 0; i < this.length; i++) keys[i] = cell[i]! * INDEX_SPAN + i;
    const order = Array.from(keys.sort(), (key) => key % INDEX_SPAN);
    for (let from = 0; from < order.length; ) {
      let to = from + 1;
      while (to < order.length && cell[order[to]!]! === cell[order[from]!]!) to++;
      if (to > from + 1) {
        const together = order.slice(from, to).sort((a, b) => value[b]! - value[a]! || waited[a]! - waited[b]!);
        for (const [i, index] of together.entries()) order[from + i] = index;
      }
      from = to;
    }
    return order;
  }
}

/** Packs cell and index exactly into one number: up to 2^24 candidates and 2^29 cells. */
const INDEX_SPAN = 2 ** 24;

function doubled<T extends Float64Array | Int32Array>(values: T): T {
  const longer = new (values.constructor as new (length: number) => T)(2 * values.length);
  longer.set(values);
  return longer;
}

/** Drops dominated candidates, and stores the dominating label of each in `stage.heir`. */
function undominated(
  stage: Stage,
  candidates: readonly Candidates[],
  { requestGridSeconds, maskedBits }: { requestGridSeconds: number; maskedBits: number },
): Stage {
  const representationCount = candidates.length;
  const kept: { list: Candidates; i: number; representation: number; initialised: number }[] = [];
  for (const [representation, list] of candidates.entries()) {
    /** By initialised representations. */
    const staircases = new Map<number, Staircase>();
    for (const i of list.inOrder()) {
      const choice = list.choice[i]!;
      const label = Math.floor(choice / representationCount);
      const initialised = stage.initialised[label]! | (bitOf(representation) & maskedBits);
      const waited = list.waited[i]!;
      const value = list.value[i]!;
      let heir = NONE;
      for (const [others, staircase] of staircases) {
        if ((others & initialised) !== initialised) continue;
        heir = staircase.labelCovering(waited, value);
        if (heir !== NONE) break;
      }
      if (heir === NONE) {
        heir = kept.length;
        kept.push({ list, i, representation, initialised });
        let own = staircases.get(initialised);
        if (own === undefined) {
          own = new Staircase();
          staircases.set(initialised, own);
        }
        own.add(waited, value, heir);
      }
      stage.heir[choice] = heir;
    }
  }
  const next = emptyStage(kept.length, representationCount);
  for (const [label, { list, i, representation, initialised }] of kept.entries()) {
    next.request[label] = list.cell[i]! * requestGridSeconds;
    next.waited[label] = list.waited[i]!;
    next.value[label] = list.value[i]!;
    next.initialised[label] = initialised;
    next.last[label] = representation;
    next.origin[label] = list.choice[i]!;
    next.guideLabel[label] = list.guideLabel[i]!;
  }
  return next;
}

/** The labels with a higher value than all labels with no longer wait; waits and values ascend. */
class Staircase {
  private readonly waited: number[] = [];
  private readonly value: number[] = [];
  private readonly label: number[] = [];

  /** A label with no longer wait and no lower value, or `NONE`. */
  labelCovering(waited: number, value: number): number {
    const at = this.after(waited) - 1;
    return at >= 0 && this.value[at]! >= value ? this.label[at]! : NONE;
  }

  /** Only for labels that are not covered. */
  add(waited: number, value: number, label: number): void {
    let from = this.after(waited);
    let to = from;
    while (to < this.value.length && this.value[to]! <= value) to++;
    if (from > 0 && this.waited[from - 1] === waited) from--;
    this.waited.splice(from, to - from, waited);
    this.value.splice(from, to - from, value);
    this.label.splice(from, to - from, label);
  }

  /** The index of the first longer wait. */
  private after(waited: number): number {
    let low = 0;
    let high = this.waited.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.waited[middle]! <= waited) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Sets `toCome`, from the end to the beginning. */
function boundLabels(problem: SessionProblem, stages: readonly Stage[]): void {
  const { gains, switchCosts, representationCount } = problem;
  for (let done = stages.length - 2; done >= 0; done--) {
    const { heir, last, toCome } = stages[done]!;
    const next = stages[done + 1]!;
    for (let label = 0; label < toCome.length; label++) {
      for (let representation = 0; representation < representationCount; representation++) {
        const successor = heir[label * representationCount + representation]!;
        if (successor === NONE) continue;
        const switchCost = done === 0 ? 0 : switchCosts[last[label]! * representationCount + representation]!;
        const added = gains[representation]! - switchCost + next.toCome[successor]!;
        if (added > toCome[label]!) toCome[label] = added;
      }
    }
  }
}

function planEndingIn(
  end: { segment: number; choice: number },
  stages: readonly Stage[],
  { segmentCount, representationCount }: SessionProblem,
): Uint8Array {
  // The rest of a session that is cut off has no effect.
  const plan = new Uint8Array(segmentCount);
  let { choice } = end;
  for (let { segment } = end; segment >= 0; segment--) {
    plan[segment] = choice % representationCount;
    const label = Math.floor(choice / representationCount);
    choice = stages[segment]!.origin[label]!;
  }
  return plan;
}
