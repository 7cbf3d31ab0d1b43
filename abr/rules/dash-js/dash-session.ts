/**
 * What dash.js remembers of a session, computed anew from the downloads of the state, so that equal states have equal
 * answers: the buffer's course, which rule is in use, BOLA's placeholder, the last changes of quality, abandonments.
 *
 * The placeholder (BOLA-E) is buffer that the session would have if requests had not waited for room: BOLA decides by
 * the sum of both. It begins with the first choice by throughput, grows by waits and fades by 1 % per segment.
 * dash.js looks back to the session's beginning. A state with fewer downloads is one that began with the oldest of them.
 */

import type { Download, PlayerState } from '../../controller.ts';
import { ewmaThroughputBps } from '../../state/ewma-throughput.ts';
import { highestWithin } from '../../state/ladder.ts';
import { SAFETY_FACTOR } from '../throughput.ts';
import { BolaParameters, MINIMUM_BUFFER_SECONDS } from './bola-parameters.ts';

/** `abr.hybridSwitchBufferTime`: BOLA takes over at this level, the throughput rule again below half of it. */
const SWITCH_SECONDS = 12;
/** `buffer.stallThreshold`: the level at which dash.js calls a buffer empty. */
const EMPTY_SECONDS = 0.3;
/** `abandonLoadTimeout`. */
const ABANDONED_SECONDS = 10;
const PLACEHOLDER_DECAY = 0.99;
/** dash.js reads the buffer level at the element's `timeupdate`, four times a second, and so up to this much too high. */
const LEVEL_AGE_SECONDS = 0.25;
/** InsufficientBufferRule: a segment has to arrive before the buffer is empty at this share of the throughput ... */
const GUARD_SAFETY_FACTOR = 0.7;
/** ... from the third segment on (`segmentIgnoreCount`). */
const GUARD_IGNORES_SEGMENTS = 2;
/** SwitchHistoryRule: of this many choices ... */
const HISTORY_CHOICES = 8;
/** ... at most this many may go down for each that does not (`switchPercentageThreshold`). */
const HISTORY_DROPS_SHARE = 0.075;

interface RuleChoice {
  representation: number;
  /** BolaRule waits with a buffer above its limit for its choice, unless that is the top. */
  waitSeconds?: number;
  reason: string;
}

/** BolaRule's state, from its first use on. */
interface Bola {
  /** The first segment was chosen and is in the buffer: the buffer level decides. */
  isSteady: boolean;
  hasSegment: boolean;
  representation: number;
  placeholderSeconds: number;
  /** The end of the last download, or the last choice after it. */
  idleSinceSeconds: number;
}

export class DashSession {
  private nowSeconds = 0;
  private levelSeconds = 0;
  private segments = 0;
  private representation = 0;
  private abandonedUntilSeconds = Number.NEGATIVE_INFINITY;
  private usesBola: boolean;
  private bola: Bola | undefined;
  /** [before, chosen] of the last choices. */
  private changes: (readonly [number, number])[] = [];
  /** `downloads` until then. */
  private readonly ended: Download[] = [];
  private readonly parameters: BolaParameters | undefined;

  constructor(
    private readonly state: PlayerState,
    private readonly isDynamic: boolean,
  ) {
    const { ladderBps, bufferCapSeconds } = state;
    if (ladderBps[ladderBps.length - 1]! > ladderBps[0]!) {
      this.parameters = new BolaParameters(ladderBps, bufferCapSeconds);
    }
    this.usesBola = !isDynamic;
    const run = lastRun(state);
    this.nowSeconds = run[0]?.requestedAtSeconds ?? state.nowSeconds;
    run.forEach((download, i) => {
      this.replay(download, run[i - 1], run[i + 1]);
    });
  }

  /** The choice of the next segment. */
  next(): RuleChoice {
    const { nowSeconds, bufferLevelSeconds } = this.state;
    this.advanceTo(nowSeconds);
    // The truth, where the state has less than the whole session.
    this.setLevel(bufferLevelSeconds);
    return this.choose();
  }

  private replay(download: Download, before: Download | undefined, after: Download | undefined): void {
    const { requestedAtSeconds, downloadSeconds, abandoned, segmentIndex, bitrateBps } = download;
    this.advanceTo(requestedAtSeconds);
    const isAgain = before?.abandoned && before.segmentIndex === segmentIndex;
    if (!isAgain) this.choose();
    this.representation = highestWithin(this.state.ladderBps, bitrateBps);
    this.advanceTo(requestedAtSeconds + downloadSeconds);
    this.ended.push(download);
    if (abandoned) this.abandon(after?.bitrateBps ?? bitrateBps);
    else this.load(downloadSeconds);
  }

  private advanceTo(seconds: number): void {
    const elapsed = Math.max(0, seconds - this.nowSeconds);
    this.nowSeconds += elapsed;
    this.setLevel(Math.max(0, this.levelSeconds - elapsed * this.state.playbackRate));
  }

  private setLevel(seconds: number): void {
    this.levelSeconds = seconds;
    if (this.isDynamic) this.usesBola = seconds >= (this.usesBola ? SWITCH_SECONDS / 2 : SWITCH_SECONDS);
    if (this.segments > 0 && seconds <= EMPTY_SECONDS - LEVEL_AGE_SECONDS && this.bola?.isSteady)
      this.bola.placeholderSeconds = 0;
  }

  private abandon(nextBitrateBps: number): void {
    this.changes = [];
    this.abandonedUntilSeconds = this.nowSeconds + ABANDONED_SECONDS;
    this.representation = highestWithin(this.state.ladderBps, nextBitrateBps);
    const { bola, representation, parameters } = this;
    if (!bola || !parameters) return;
    bola.representation = representation;
    bola.idleSinceSeconds = this.nowSeconds;
    const level = representation > 0 ? parameters.lowestLevelFor(representation) : MINIMUM_BUFFER_SECONDS;
    this.limitPlaceholder(bola, level - this.levelSeconds);
  }

  private load(downloadSeconds: number): void {
    const { bola, representation, parameters } = this;
    if (bola && parameters) {
      bola.representation = representation;
      bola.hasSegment = true;
      bola.idleSinceSeconds = this.nowSeconds;
      bola.placeholderSeconds *= PLACEHOLDER_DECAY;
      const levelAtRequest = this.levelSeconds + downloadSeconds;
      this.limitPlaceholder(bola, parameters.highestLevelFor(representation) - levelAtRequest);
    }
    this.segments++;
    this.setLevel(this.levelSeconds + this.state.segmentSeconds);
  }

  private limitPlaceholder(bola: Bola, seconds: number): void {
    bola.placeholderSeconds = Math.min(bola.placeholderSeconds, Math.max(0, seconds));
  }

  /** The lowest request of all rules; without one the representation stays. */
  private choose(): RuleChoice {
    const throughputBps = ewmaThroughputBps(this.ended, Number.POSITIVE_INFINITY);
    const isFree = this.nowSeconds >= this.abandonedUntilSeconds;
    const byThroughput = () => (isFree ? this.byThroughput(throughputBps) : undefined);
    const main = this.usesBola ? this.byBuffer(throughputBps) : byThroughput();
    const rules = [main, this.guarded(throughputBps), this.byHistory()];
    const requests = rules.filter((request) => request !== undefined);
    const before = this.representation;
    const waitSeconds = main?.waitSeconds ?? 0;
    const keep = { representation: before, reason: 'dash.js changes nothing', waitSeconds };
    if (requests.length === 0) return keep;
    const lowest = requests.reduce((a, b) => (b.representation < a.representation ? b : a));
    this.changes = [...this.changes, [before, lowest.representation] as const].slice(-HISTORY_CHOICES);
    return isFree || lowest.representation <= before ? { ...lowest, waitSeconds } : keep;
  }

  private sustainable(throughputBps: number): number {
    return highestWithin(this.state.ladderBps, SAFETY_FACTOR * throughputBps);
  }

  private byThroughput(throughputBps: number | undefined): RuleChoice | undefined {
    if (throughputBps === undefined) return undefined;
    const reason = `ThroughputRule: ${(throughputBps / 1e6).toPrecision(3)} Mbit/s`;
    return { representation: this.sustainable(throughputBps), reason };
  }

  private byBuffer(throughputBps: number | undefined): RuleChoice | undefined {
    const { parameters } = this;
    if (!parameters) return undefined;
    this.bola ??= {
      isSteady: false,
      hasSegment: false,
      representation: this.representation,
      placeholderSeconds: 0,
      idleSinceSeconds: this.nowSeconds,
    };
    if (throughputBps === undefined) return undefined;
    const sustainable = this.sustainable(throughputBps);
    if (this.bola.isSteady) return this.bySteadyBuffer(this.bola, sustainable, parameters);
    this.bola.placeholderSeconds = Math.max(0, parameters.lowestLevelFor(sustainable) - this.levelSeconds);
    this.bola.representation = sustainable;
    this.bola.isSteady = this.bola.hasSegment && this.levelSeconds >= this.state.segmentSeconds - LEVEL_AGE_SECONDS;
    return { representation: sustainable, reason: 'BolaRule: starting by throughput' };
  }

  private bySteadyBuffer(bola: Bola, sustainable: number, parameters: BolaParameters): RuleChoice {
    bola.placeholderSeconds += Math.max(0, this.nowSeconds - bola.idleSinceSeconds);
    bola.idleSinceSeconds = this.nowSeconds;
    const levelSeconds = this.levelSeconds + bola.placeholderSeconds;
    let representation = parameters.choiceAt(levelSeconds);
    // BOLA-O: the buffer level alone does not raise the bitrate above the sustainable one.
    if (representation > bola.representation && representation > sustainable) {
      representation = Math.max(sustainable, bola.representation);
    }
    const roomSeconds = parameters.highestLevelFor(representation) - this.levelSeconds;
    this.limitPlaceholder(bola, roomSeconds);
    bola.representation = representation;
    const isTop = representation === this.state.ladderBps.length - 1;
    const reason = `BolaRule: buffer level with placeholder ${levelSeconds.toFixed(1)} s`;
    return { representation, reason, waitSeconds: isTop ? 0 : Math.max(0, -roomSeconds) };
  }

  private guarded(throughputBps: number | undefined): RuleChoice | undefined {
    const { ladderBps, segmentSeconds } = this.state;
    if (this.segments < GUARD_IGNORES_SEGMENTS || throughputBps === undefined || this.levelSeconds <= 0)
      return undefined;
    const bps = (GUARD_SAFETY_FACTOR * throughputBps * this.levelSeconds) / segmentSeconds;
    return { representation: highestWithin(ladderBps, bps), reason: 'InsufficientBufferRule: low buffer' };
  }

  /** Counts choices by the representation before them, from the lowest on, until they are enough. */
  private byHistory(): RuleChoice | undefined {
    let drops = 0;
    let others = 0;
    for (let r = 0; r < this.state.ladderBps.length; r++) {
      const own = this.changes.filter(([before]) => before === r);
      const ownDrops = own.filter(([before, chosen]) => chosen < before).length;
      drops += ownDrops;
      others += own.length - ownDrops;
      if (drops + others < HISTORY_CHOICES || !(drops / others > HISTORY_DROPS_SHARE)) continue;
      const representation = r > 0 && ownDrops > 0 ? r - 1 : r;
      return { representation, reason: `SwitchHistoryRule: ${drops} of ${drops + others} choices went down` };
    }
    return undefined;
  }
}

/** The downloads of the consecutive segments before the one to decide on, with abandoned ones, oldest first. */
function lastRun({ downloads, segmentIndex }: PlayerState): Download[] {
  let first = downloads.length;
  let index = segmentIndex;
  while (first > 0) {
    const download = downloads[first - 1]!;
    if (download.segmentIndex !== (download.abandoned ? index : index - 1)) break;
    index = download.segmentIndex;
    first--;
  }
  return downloads.slice(first);
}
