/**
 * A bound that no session can beat, and the plan behind it, by dynamic programming over labels.
 *
 * A label is what is left of a session after its first segments: the moment its next request leaves (`request`), the
 * seconds waited so far (`waited`), its gains less switches so far (`value`), its last representation and those already
 * initialised. It dominates another one of the same last representation if its request leaves no later, it has waited no
 * longer, is worth no less and has initialised no fewer; that one is then dropped. By the same choices from then on it
 * never fares worse: a link that serves in order never ends an earlier request later; to have waited longer moves all
 * later deadlines, but also the moments at which the buffer has room, and in the end only the longest lag behind the
 * deadlines counts, which is no longer here either. So idling never helps, nor does abandoning a download, which is
 * idling as far as the link and the buffer are concerned: the bound holds for sessions that do either.
 *
 * Moments and waits are rounded down to grids to keep labels few. That makes a label dominate what it stands for, so the
 * result is an upper bound; the plan behind it is a real one, to be judged by exact times.
 */

import { CapacityBound } from './optimal-capacity.ts';
import type { SessionProblem } from './optimal-problem.ts';

export interface SearchOptions {
  /** Grids in seconds that moments of requests and waits are rounded down to; powers of 2 are exact. */
  requestGridSeconds: number;
  waitGridSeconds: number;
  /** Take every representation as initialised from the start: optimistic, with far fewer labels. */
  ignoreInitialisation: boolean;
  /** A sum that is known to be reached: labels that cannot beat it are dropped. */
  knownSum: number;
  /** An earlier search of the same problem whose grids are multiples of these: its labels bound what becomes of them. */
  guide?: Search;
  /** Gives up when it comes to keep more labels. */
  mostLabels: number;
}

export interface Search {
  /** No session's sum is higher. At least `knownSum`. */
  upperBoundSum: number;
  /** The plan behind the bound; undefined where no label beats `knownSum`. */
  plan: Uint8Array | undefined;
  /** Labels that were kept, by the number of segments done. */
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
  /** What it came from: label of the stage before x representations + representation chosen. */
  origin: Int32Array;
  /** The label of the guide's stage that dominates it, 0 without a guide. */
  guideLabel: Int32Array;
  /** By choice (label x representations + representation): the next stage's label that stands for it, or `NONE`. */
  heir: Int32Array;
  /** What can still be added at most: no session that the label stands for has more than `value + toCome` or `knownSum`. */
  toCome: Float64Array;
}

const NONE = -1;

/** Representations beyond these are taken as initialised from the start. */
const MOST_MASKED = 30;

function bitOf(representation: number): number {
  return representation < MOST_MASKED ? 1 << representation : 0;
}

/** Undefined when there would be more than `mostLabels`. */
export function searchPlans(problem: SessionProblem, options: SearchOptions): Search | undefined {
  const { link, sizesBits, gains, switchCosts, mu, segmentSeconds, segmentCount, cutoffSeconds } = problem;
  const { representationCount, bufferCapSeconds, browser } = problem;
  const { requestGridSeconds, waitGridSeconds, guide, mostLabels } = options;
  const isMasked = browser.initSegmentBits > 0 && !options.ignoreInitialisation;
  const maskedBits = isMasked ? (1 << Math.min(MOST_MASKED, representationCount)) - 1 : 0;
  const capacity = guide === undefined ? new CapacityBound(problem, waitGridSeconds) : undefined;
  const seconds = new Float64Array(representationCount);
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
      link.downloadSecondsEach(request, {
        sizesBits,
        from: segment * representationCount,
        count: representationCount,
        seconds,
      });
      let initialisedAt = -1;
      for (let representation = 0; representation < representationCount; representation++) {
        const choice = label * representationCount + representation;
        const bit = bitOf(representation) & maskedBits;
        let downloadedAt = request + seconds[representation]!;
        if ((initialised & bit) !== bit && !isFirst) {
          if (initialisedAt < 0) initialisedAt = request + link.downloadSeconds(request, browser.initSegmentBits);
          const sizeBits = sizesBits[segment * representationCount + representation]!;
          downloadedAt = initialisedAt + link.downloadSeconds(initialisedAt, sizeBits);
        }
        const appendedAt = downloadedAt + browser.appendSeconds;
        // The element plays until its stall level is left; what comes later is waited for.
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

/** What the choices of a stage lead to, of one representation, before dominated ones are dropped. */
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

  /** `cell`: the moment of the request in grid steps. */
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

  /** Indices in the order of their requests; of requests in one cell the best first. */
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

/** Cell and index share a number exactly: up to 2^24 candidates and 2^29 cells. */
const INDEX_SPAN = 2 ** 24;

function doubled<T extends Float64Array | Int32Array>(values: T): T {
  const longer = new (values.constructor as new (length: number) => T)(2 * values.length);
  longer.set(values);
  return longer;
}

/** Drops candidates that others dominate, and notes in `stage.heir` what stands for each. */
function undominated(
  stage: Stage,
  candidates: readonly Candidates[],
  { requestGridSeconds, maskedBits }: { requestGridSeconds: number; maskedBits: number },
): Stage {
  const representationCount = candidates.length;
  const kept: { list: Candidates; i: number; representation: number; initialised: number }[] = [];
  for (const [representation, list] of candidates.entries()) {
    /** By what is initialised. */
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

/** Of the labels seen so far, those that are worth more than all that waited no longer: seconds and values ascend. */
class Staircase {
  private readonly waited: number[] = [];
  private readonly value: number[] = [];
  private readonly label: number[] = [];

  /** A label that has waited no longer and is worth no less, or `NONE`. */
  labelCovering(waited: number, value: number): number {
    const at = this.after(waited) - 1;
    return at >= 0 && this.value[at]! >= value ? this.label[at]! : NONE;
  }

  /** Only for what is not covered. */
  add(waited: number, value: number, label: number): void {
    let from = this.after(waited);
    let to = from;
    while (to < this.value.length && this.value[to]! <= value) to++;
    if (from > 0 && this.waited[from - 1] === waited) from--;
    this.waited.splice(from, to - from, waited);
    this.value.splice(from, to - from, value);
    this.label.splice(from, to - from, label);
  }

  /** The first step that has waited longer. */
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

/** Fills in `toCome`, from the end to the beginning. */
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
  // Of a session that is cut off, the rest does not matter.
  const plan = new Uint8Array(segmentCount);
  let { choice } = end;
  for (let { segment } = end; segment >= 0; segment--) {
    plan[segment] = choice % representationCount;
    const label = Math.floor(choice / representationCount);
    choice = stages[segment]!.origin[label]!;
  }
  return plan;
}
