/** Implements the flow's port for hls.js: the levels that may be chosen, and abandonment. */

import type Hls from 'hls.js';
import type { AssumedLink } from '../../abr/controller.ts';
import type { Events } from '../../session/page/events.ts';
import type { LiveOptions } from '../../session/page/option-types.ts';
import type { Choice, PlayerPort, Situation } from '../../session/player-port.ts';
import { allowedRungs, Failures, type Rung, rungsOf } from './levels.ts';
import { CatchUp } from './live.ts';
import { classOf } from './player.ts';
import type { Requests } from './requests.ts';
import { isFull, readSituation } from './situation.ts';

/** A player, while it has the controller. */
export interface Connection {
  readonly hls: Hls;
  /** The level that hls.js itself would play first. */
  firstLevel(): number;
  readonly requests: Requests;
  /** Seconds that the latest media playlist took to load; 0 before. */
  playlistSeconds: number;
  /** The latest automatic switch, by `performance.now()`. */
  switchedAtMs: number;
}

/** For the players that the page makes with the controller, one after the other. */
export class HlsPort implements PlayerPort {
  readonly name = 'hls.js';
  readonly isPolled = true;
  readonly rate: CatchUp;
  readonly failures = new Failures();
  connection: Connection | undefined;

  constructor(
    options: { readonly live: LiveOptions },
    private readonly _events: Events,
  ) {
    this.rate = new CatchUp(options, () => this.connection?.hls);
  }

  manifestUrl(): string | null | undefined {
    return this.connection?.hls.url;
  }

  /** The levels that the plugin may choose; none while the page has chosen one. */
  allowed(): readonly Rung[] {
    const { connection, failures } = this;
    const { hls, firstLevel, requests } = connection || {};
    if (!hls?.autoLevelEnabled) return [];
    const all = rungsOf(hls.levels);
    if (!all) this._events.fault('unsupported-stream', 'levels have neither BANDWIDTH nor RESOLUTION: hls.js decides');
    // Only in an emergency is a level left before the interval has passed.
    const held = !requests!.loading() && this._isHeld() && all?.find(({ level }) => level === hls.loadLevelObj);
    return held ? [held] : allowedRungs(hls, all || [], { failures, firstLevel: firstLevel! });
  }

  /** hls.js refuses an automatic switch now. */
  private _isHeld(): boolean {
    const { hls, switchedAtMs } = this.connection!;
    const { abrSwitchInterval = 0 } = hls.config;
    return performance.now() - switchedAtMs < abrSwitchInterval * 1000;
  }

  assumed(browserBps: number | undefined): AssumedLink {
    return { playerBps: this.connection?.hls.bandwidthEstimate, browserBps };
  }

  situation(): Situation | undefined {
    const ladder = this.allowed();
    if (ladder.length === 0) return undefined;
    const { hls, playlistSeconds } = this.connection!;
    return readSituation(hls, ladder, { playlistSeconds, catchUp: this.rate });
  }

  /** Undefined if the page has forbidden it since the decision. */
  levelOf({ representationId }: Choice): number | undefined {
    const chosen = this.allowed().find(({ id }) => id === representationId);
    return chosen && this.connection!.hls.levels.indexOf(chosen.level);
  }

  abandon(choice: Choice): void {
    const { hls, requests } = this.connection!;
    const frag = requests.loading();
    const level = this.levelOf(choice);
    if (!frag || level === undefined) return;
    const { config } = hls;
    const { abrSwitchInterval } = config;
    const isHeld = this._isHeld();
    if (isHeld) config.abrSwitchInterval = 0;
    // Both, as hls.js does (its pull request 6082).
    hls.nextAutoLevel = level;
    hls.nextLoadLevel = level;
    if (isHeld) config.abrSwitchInterval = abrSwitchInterval;
    frag.abortRequests();
    hls.trigger(classOf(hls).Events.FRAG_LOAD_EMERGENCY_ABORTED, { frag, part: null, stats: frag.stats });
  }

  /** hls.js need not load now: a segment is being loaded, the buffer is full, or `lastIndex` was the last segment. */
  isBusy(lastIndex: number | undefined): boolean {
    const { hls, requests } = this.connection!;
    const { latestLevelDetails: details } = hls;
    const isAtEnd = details && !details.live && lastIndex === details.endSN;
    return Boolean(requests.loading() || isFull(hls) || isAtEnd);
  }
}
