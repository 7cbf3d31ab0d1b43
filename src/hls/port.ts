/** Implements the core's port for hls.js: the levels that may be chosen, and abandonment. */

import type Hls from 'hls.js';
import type { Fragment, Level } from 'hls.js';
import type { LiveOptions } from '../../session/page/option-types.ts';
import type { Choice, PlayerPort, Situation } from '../../session/player-port.ts';
import { CatchUp } from './catch-up.ts';
import { classOf } from './player.ts';
import { allowedLevels, readSituation, representationOf } from './situation.ts';

/** A player, while it has the controller. */
interface Connection {
  hls: Hls;
  /** The level that hls.js itself would play first. */
  firstLevel(): number;
  /** The video segment that hls.js is loading. */
  loading(): Fragment | undefined;
}

/** For the players that the page makes with the controller, one after the other. */
export class HlsPort implements PlayerPort {
  readonly name = 'hls.js';
  readonly isPolled = true;
  readonly rate: CatchUp;
  connection: Connection | undefined;
  /** Seconds that the latest media playlist took to load; 0 before. */
  playlistSeconds = 0;

  constructor(options: { readonly live: LiveOptions }) {
    this.rate = new CatchUp(options, () => this.connection?.hls);
  }

  manifestUrl(): string | null | undefined {
    return this.connection?.hls.url;
  }

  /** The levels that the plugin may choose; none while the page has chosen one. */
  allowed(): Level[] {
    const { hls, firstLevel } = this.connection ?? {};
    return hls?.autoLevelEnabled ? allowedLevels(hls, firstLevel!) : [];
  }

  situation(): Situation | undefined {
    const levels = this.allowed();
    const { playlistSeconds, rate: catchUp } = this;
    return levels.length > 0 ? readSituation(this.connection!.hls, levels, { playlistSeconds, catchUp }) : undefined;
  }

  levelOf({ representationId }: Choice): number {
    const chosen = this.allowed().find((level) => representationOf(level).id === representationId);
    return this.connection!.hls.levels.indexOf(chosen!);
  }

  abandon(choice: Choice): void {
    const { hls, loading } = this.connection!;
    const frag = loading();
    if (!frag) return;
    const level = this.levelOf(choice);
    // Both, as hls.js does (its pull request 6082).
    hls.nextAutoLevel = level;
    hls.nextLoadLevel = level;
    frag.abortRequests();
    hls.trigger(classOf(hls).Events.FRAG_LOAD_EMERGENCY_ABORTED, { frag, part: null, stats: frag.stats });
  }

  /** hls.js need not load now: a segment is being loaded, the buffer is full, or `lastIndex` was the last segment. */
  isBusy(lastIndex: number | undefined): boolean {
    const { hls, loading } = this.connection!;
    const { latestLevelDetails: details } = hls;
    const isFull = (hls.mainForwardBufferInfo?.len ?? 0) >= hls.maxBufferLength;
    return loading() !== undefined || isFull || (details ? !details.live && lastIndex === details.endSN : false);
  }
}
