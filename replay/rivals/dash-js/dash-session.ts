/**
 * dash.js's memory of a session, computed anew from the state's downloads, so that equal states have equal answers: the
 * buffer level, the rule in use, BOLA's placeholder, the last changes of quality, abandonments.
 *
 * The placeholder (BOLA-E) is the buffer that the session would have if requests had not waited for room. BOLA decides
 * by buffer and placeholder together. The placeholder begins with the first choice by throughput, grows by waits and
 * fades by 1 % per segment. dash.js looks back to the session's beginning: here a session begins with the state's
 * oldest download.
 */

import type { Download, PlayerState } from '../../../abr/controller.ts';
import { highestWithin } from '../../../abr/state/facts.ts';
import { ewmaThroughputBps } from '../ewma-throughput.ts';
import { SAFETY_FACTOR } from '../throughput.ts';
import { ABANDONED_SECONDS, isLowLatency } from './abandon-requests.ts';
import { BolaParameters, MINIMUM_BUFFER_SECONDS } from './bola-parameters.ts';

/** `abr.hybridSwitchBufferTime`: BOLA takes over at this level, the throughput rule below half of it. */
const SWITCH_SECONDS = 12;
/** `buffer.stallThreshold`: the level at which dash.js calls a buffer empty. */
const EMPTY_SECONDS = 0.3;
const PLACEHOLDER_DECAY = 0.99;
/** dash.js reads the buffer level at the element's `timeupdate`, four times a second, so up to this much too high. */
const LEVEL_AGE_SECONDS = 0.25;
/** InsufficientBufferRule: at this share of the throughput, a segment must arrive before the buffer is empty, ... */
const GUARD_SAFETY_FACTOR = 0.7;
/** ... from the third segment on (`segmentIgnoreCount`). */
const GUARD_IGNORES_SEGMENTS = 2;
/** SwitchHistoryRule looks at this many choices, ... */
const HISTORY_CHOICES = 8;
/** ... of which this many may go down for each choice that does not (`switchPercentageThreshold`). */
const HISTORY_DROPS_SHARE = 0.075;

interface RuleChoice {
  representation: number;
  /** BolaRule waits if the buffer is above its limit for the choice, unless the choice is the top. */
  waitSeconds?: number;
  reason: string;
}

/** BolaRule's state, from its first use on. */
interface Bola {
  /** The first chosen segment is in the buffer, so the buffer level decides. */
  isSteady: boolean;
  hasSegment: boolean;
  representation: number;
  placeholderSeconds: number;
  /** End of the last download, or a later choice. */
  idleSinceSeconds: number;
}

export class DashSession {
  private _nowSeconds = 0;
  private _levelSeconds = 0;
  private _segments = 0;
  private _representation = 0;
  private _abandonedUntilSeconds = Number.NEGATIVE_INFINITY;
  private _usesBola: boolean;
  private _bola: Bola | undefined;
  /** [before, chosen] of the last choices. */
  private _changes: (readonly [number, number])[] = [];
  /** Downloads that ended until `_nowSeconds`. */
  private readonly _ended: Download[] = [];
  private readonly _parameters: BolaParameters | undefined;

  constructor(
    private readonly _state: PlayerState,
    private readonly _isDynamic: boolean,
  ) {
    const { ladderBps, bufferCapSeconds, assumed } = _state;
    // dash.js begins with its initial bitrate; the first segment's request shows it later.
    this._representation = highestWithin(ladderBps, assumed?.playerBps || 0);
    if (ladderBps[ladderBps.length - 1]! > ladderBps[0]!) {
      this._parameters = new BolaParameters(ladderBps, bufferCapSeconds);
    }
    this._usesBola = !_isDynamic;
    const run = lastRun(_state);
    this._nowSeconds = run[0]?.requestedAtSeconds ?? _state.nowSeconds;
    run.forEach((download, i) => {
      this._replay(download, run[i - 1], run[i + 1]);
    });
  }

  /** The choice of the next segment. */
  next(): RuleChoice {
    const { nowSeconds, bufferLevelSeconds } = this._state;
    this._advanceTo(nowSeconds);
    // The state's level is exact, also if the state does not have the whole session.
    this._setLevel(bufferLevelSeconds);
    return this._choose();
  }

  private _replay(download: Download, before: Download | undefined, after: Download | undefined): void {
    const { requestedAtSeconds, downloadSeconds, abandoned, segmentIndex, bitrateBps } = download;
    this._advanceTo(requestedAtSeconds);
    const isAgain = before?.abandoned && before.segmentIndex === segmentIndex;
    if (!isAgain) this._choose();
    this._representation = highestWithin(this._state.ladderBps, bitrateBps);
    this._advanceTo(requestedAtSeconds + downloadSeconds);
    this._ended.push(download);
    if (abandoned) this._abandon(after?.bitrateBps ?? bitrateBps);
    // A live player's jump cuts a download off: it is measured, but adds nothing to the buffer.
    else if (download.receivedBits >= download.sizeBits) this._load(downloadSeconds);
  }

  private _advanceTo(seconds: number): void {
    const elapsed = Math.max(0, seconds - this._nowSeconds);
    this._nowSeconds += elapsed;
    this._setLevel(Math.max(0, this._levelSeconds - elapsed * this._state.playbackRate));
  }

  private _setLevel(seconds: number): void {
    this._levelSeconds = seconds;
    if (this._isDynamic) this._usesBola = seconds >= (this._usesBola ? SWITCH_SECONDS / 2 : SWITCH_SECONDS);
    if (this._segments > 0 && seconds <= EMPTY_SECONDS - LEVEL_AGE_SECONDS && this._bola?.isSteady)
      this._bola.placeholderSeconds = 0;
  }

  private _abandon(nextBitrateBps: number): void {
    this._changes = [];
    this._abandonedUntilSeconds = this._nowSeconds + ABANDONED_SECONDS;
    this._representation = highestWithin(this._state.ladderBps, nextBitrateBps);
    const { _bola: bola, _representation: representation, _parameters: parameters } = this;
    if (!bola || !parameters) return;
    bola.representation = representation;
    bola.idleSinceSeconds = this._nowSeconds;
    const level = representation > 0 ? parameters.lowestLevelFor(representation) : MINIMUM_BUFFER_SECONDS;
    this._limitPlaceholder(bola, level - this._levelSeconds);
  }

  private _load(downloadSeconds: number): void {
    const { _bola: bola, _representation: representation, _parameters: parameters } = this;
    if (bola && parameters) {
      bola.representation = representation;
      bola.hasSegment = true;
      bola.idleSinceSeconds = this._nowSeconds;
      bola.placeholderSeconds *= PLACEHOLDER_DECAY;
      const levelAtRequest = this._levelSeconds + downloadSeconds;
      this._limitPlaceholder(bola, parameters.highestLevelFor(representation) - levelAtRequest);
    }
    this._segments++;
    this._setLevel(this._levelSeconds + this._state.segmentSeconds);
  }

  private _limitPlaceholder(bola: Bola, seconds: number): void {
    bola.placeholderSeconds = Math.min(bola.placeholderSeconds, Math.max(0, seconds));
  }

  /** The lowest request of all rules. Without a request the representation stays. */
  private _choose(): RuleChoice {
    const throughputBps = ewmaThroughputBps(this._ended, Number.POSITIVE_INFINITY);
    const isFree = this._nowSeconds >= this._abandonedUntilSeconds;
    const byThroughput = () => (isFree ? this._byThroughput(throughputBps) : undefined);
    const main = this._usesBola ? this._byBuffer(throughputBps) : byThroughput();
    const rules = [main, this._guarded(throughputBps), this._byHistory()];
    const requests = rules.filter((request) => request !== undefined);
    const before = this._representation;
    const waitSeconds = main?.waitSeconds || 0;
    const keep = { representation: before, reason: 'dash.js changes nothing', waitSeconds };
    if (requests.length === 0) return keep;
    const lowest = requests.reduce((a, b) => (b.representation < a.representation ? b : a));
    this._changes = [...this._changes, [before, lowest.representation] as const].slice(-HISTORY_CHOICES);
    return isFree || lowest.representation <= before ? { ...lowest, waitSeconds } : keep;
  }

  private _sustainable(throughputBps: number): number {
    return highestWithin(this._state.ladderBps, SAFETY_FACTOR * throughputBps);
  }

  private _byThroughput(throughputBps: number | undefined): RuleChoice | undefined {
    if (throughputBps === undefined) return undefined;
    const reason = `ThroughputRule: ${(throughputBps / 1e6).toPrecision(3)} Mbit/s`;
    return { representation: this._sustainable(throughputBps), reason };
  }

  private _byBuffer(throughputBps: number | undefined): RuleChoice | undefined {
    const { _parameters: parameters } = this;
    if (!parameters) return undefined;
    this._bola ??= {
      isSteady: false,
      hasSegment: false,
      representation: this._representation,
      placeholderSeconds: 0,
      idleSinceSeconds: this._nowSeconds,
    };
    if (throughputBps === undefined) return undefined;
    const sustainable = this._sustainable(throughputBps);
    if (this._bola.isSteady) return this._bySteadyBuffer(this._bola, sustainable, parameters);
    this._bola.placeholderSeconds = Math.max(0, parameters.lowestLevelFor(sustainable) - this._levelSeconds);
    this._bola.representation = sustainable;
    this._bola.isSteady = this._bola.hasSegment && this._levelSeconds >= this._state.segmentSeconds - LEVEL_AGE_SECONDS;
    return { representation: sustainable, reason: 'BolaRule: starting by throughput' };
  }

  private _bySteadyBuffer(bola: Bola, sustainable: number, parameters: BolaParameters): RuleChoice {
    bola.placeholderSeconds += Math.max(0, this._nowSeconds - bola.idleSinceSeconds);
    bola.idleSinceSeconds = this._nowSeconds;
    const levelSeconds = this._levelSeconds + bola.placeholderSeconds;
    let representation = parameters.choiceAt(levelSeconds);
    // BOLA-O: the buffer level alone does not raise the bitrate above the sustainable one.
    if (representation > bola.representation && representation > sustainable) {
      representation = Math.max(sustainable, bola.representation);
    }
    const roomSeconds = parameters.highestLevelFor(representation) - this._levelSeconds;
    this._limitPlaceholder(bola, roomSeconds);
    bola.representation = representation;
    const isTop = representation === this._state.ladderBps.length - 1;
    const reason = `BolaRule: buffer level with placeholder ${levelSeconds.toFixed(1)} s`;
    return { representation, reason, waitSeconds: isTop ? 0 : Math.max(0, -roomSeconds) };
  }

  private _guarded(throughputBps: number | undefined): RuleChoice | undefined {
    const { ladderBps, segmentSeconds } = this._state;
    const isSilent = this._segments < GUARD_IGNORES_SEGMENTS || isLowLatency(this._state);
    if (isSilent || throughputBps === undefined || this._levelSeconds <= 0) return undefined;
    const bps = (GUARD_SAFETY_FACTOR * throughputBps * this._levelSeconds) / segmentSeconds;
    return { representation: highestWithin(ladderBps, bps), reason: 'InsufficientBufferRule: low buffer' };
  }

  /** Counts choices by the representation before them, from the lowest on, until enough are counted. */
  private _byHistory(): RuleChoice | undefined {
    let drops = 0;
    let others = 0;
    for (let r = 0; r < this._state.ladderBps.length; r++) {
      const own = this._changes.filter(([before]) => before === r);
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

/** The downloads, also abandoned, since the last seek back. Those that were too fast to measure are missing. */
function lastRun({ downloads, segmentIndex }: PlayerState): Download[] {
  let first = downloads.length;
  let index = segmentIndex;
  while (first > 0) {
    const download = downloads[first - 1]!;
    if (download.segmentIndex > (download.abandoned ? index : index - 1)) break;
    index = download.segmentIndex;
    first--;
  }
  return downloads.slice(first);
}
