/** The core's connection to one player: its events, its settings, and the level to load next. */

import type Hls from 'hls.js';
import type { Fragment, HlsListeners, Level, LevelLoadedData, MediaAttachedData } from 'hls.js';
import type { Adaptation } from '../core/adaptation.ts';
import { DOM_METHODS, EMITTER_METHODS, listen } from '../core/listen.ts';
import type { Choice } from '../core/player-port.ts';
import { UndoList } from '../core/undo-list.ts';
import { installCmcd } from './cmcd.ts';
import { allowedLevels, representationOf } from './levels.ts';
import { keepPartEnds } from './part-ends.ts';
import { classOf } from './player.ts';
import { createRequests } from './requests.ts';

export class Connection {
  readonly #requests;
  readonly #undo = new UndoList();
  readonly #mediaUndo = new UndoList();
  #restoreTarget = () => {};
  #target: unknown;
  #hasSource = false;
  #isInCharge = false;
  #playlistSeconds = 0;

  /** `firstLevel`: the level that hls.js itself would play first. */
  constructor(
    readonly hls: Hls,
    private readonly firstLevel: () => number,
    private readonly adaptation: Adaptation,
  ) {
    const { config } = hls;
    this.#requests = createRequests(hls, adaptation);
    this.#undo.add(
      // Otherwise a page's `startLevel: -1` makes hls.js load the first segment twice.
      override(config, 'testBandwidth', false),
      installCmcd(config, adaptation),
      keepPartEnds(hls),
      listen(hls, EMITTER_METHODS, this.#handlers(), adaptation.guard),
    );
  }

  /** Seconds that the latest media playlist took to load; 0 before. */
  get playlistSeconds(): number {
    return this.#playlistSeconds;
  }

  /** Whether the plugin chose the level that plays, and watches its downloads. */
  get isInCharge(): boolean {
    return this.#isInCharge;
  }

  /** The levels that the plugin may choose; none while the page has chosen one. */
  allowed(): Level[] {
    return this.hls.autoLevelEnabled ? allowedLevels(this.hls, this.firstLevel) : [];
  }

  /** The level to load next; undefined leaves it to hls.js. hls.js asks ten times a second and oftener. */
  choose(): number | undefined {
    const { hls, adaptation } = this;
    return adaptation.guard(() => {
      if (this.allowed().length === 0) return undefined;
      // hls.js would load the playlist of another level at once.
      if (hls.loadLevel >= 0 && (this.#requests.loading() || this.#isFull() || this.#isAtEnd())) return hls.loadLevel;
      const choice = adaptation.decisions.decide();
      this.#isInCharge = choice !== undefined;
      return choice && this.#levelOf(choice);
    });
  }

  abandon(choice: Choice): void {
    const { hls } = this;
    const frag: Fragment | undefined = this.#requests.loading();
    if (!frag) return;
    const level = this.#levelOf(choice);
    // Both, as hls.js does (its pull request 6082).
    hls.nextAutoLevel = level;
    hls.nextLoadLevel = level;
    frag.abortRequests();
    hls.trigger(classOf(hls).Events.FRAG_LOAD_EMERGENCY_ABORTED, { frag, part: null, stats: frag.stats });
  }

  /** Applies the option's target latency. */
  setTarget(): void {
    const { hls, adaptation } = this;
    const { config } = hls;
    const { targetLatencySeconds } = adaptation.options.live;
    // Before it has a source, hls.js may still be under construction.
    if (targetLatencySeconds === this.#target || !this.#hasSource) return;
    this.#target = targetLatencySeconds;
    this.#restoreTarget();
    this.#restoreTarget = () => {};
    if (typeof targetLatencySeconds !== 'number') return;
    // A setter of hls.js marks this setting as the page's.
    const { liveSyncDuration } = config;
    hls.targetLatency = targetLatencySeconds;
    this.#restoreTarget = () => {
      if (config.liveSyncDuration === targetLatencySeconds) Object.assign(config, { liveSyncDuration });
    };
  }

  /** Leaves the player, which goes on or is being destroyed. */
  disconnect(): void {
    this.#isInCharge = false;
    this.#mediaUndo.run();
    this.#undo.run();
    this.#restoreTarget();
    this.#requests.forget();
  }

  #handlers(): HlsHandlers {
    const { Events } = classOf(this.hls);
    const requests = this.#requests;
    return {
      [Events.MANIFEST_LOADING]: () => this.#sourceBegins(),
      [Events.MEDIA_ATTACHED]: (event) => this.#mediaAttached(event),
      [Events.MEDIA_DETACHING]: () => this.#mediaUndo.run(),
      [Events.LEVEL_LOADED]: (event) => this.#levelLoaded(event),
      [Events.FRAG_LOADING]: requests.begun,
      [Events.FRAG_LOADED]: requests.loaded,
      [Events.ERROR]: requests.failed,
    };
  }

  #sourceBegins(): void {
    if (this.#hasSource) {
      this.adaptation.sourceEnded();
      this.#requests.forget();
    }
    this.#hasSource = true;
    this.setTarget();
  }

  #mediaAttached({ media }: MediaAttachedData): void {
    const { session, guard } = this.adaptation;
    const handlers = { seeking: () => session.seeked(), playing: () => session.playing() };
    this.#mediaUndo.add(listen(media, DOM_METHODS, handlers, guard));
  }

  #levelLoaded({ stats: { loading }, deliveryDirectives }: LevelLoadedData): void {
    // A server answers a blocking request when the playlist has grown.
    if (deliveryDirectives?.msn === undefined) this.#playlistSeconds = (loading.end - loading.start) / 1000;
  }

  #levelOf({ representationId }: Choice): number {
    return this.hls.levels.indexOf(this.allowed().find((level) => representationOf(level).id === representationId)!);
  }

  #isFull(): boolean {
    return (this.hls.mainForwardBufferInfo?.len ?? 0) >= this.hls.maxBufferLength;
  }

  #isAtEnd(): boolean {
    const details = this.hls.latestLevelDetails;
    return details ? !details.live && this.adaptation.session.record.last?.index === details.endSN : false;
  }
}

type HlsHandlers = { [E in keyof HlsListeners]?: (data: Parameters<HlsListeners[E]>[1]) => void };

/** Returns a function that restores the previous value, if nobody has changed it since. */
function override<O, K extends keyof O>(object: O, key: K, value: O[K]): () => void {
  const before = object[key];
  object[key] = value;
  return () => {
    if (object[key] === value) object[key] = before;
  };
}
