/** Installs the core in the players that the page makes with the controller, one after the other; and removes it. */

import type Hls from 'hls.js';
import type { LevelLoadedData, MediaAttachedData } from 'hls.js';
import { Adaptation } from '../../session/adaptation.ts';
import type { Events } from '../../session/page/events.ts';
import type { Installation } from '../../session/page/handle.ts';
import type { ResolvedOptions } from '../../session/page/options.ts';
import { DOM_METHODS, EMITTER_METHODS, listen, override, UndoList } from '../hooks.ts';
import { rungsOf } from './levels.ts';
import { keepPartEnds } from './part-ends.ts';
import { classOf, type HlsHandlers, whyUnsupported } from './player.ts';
import { HlsPort } from './port.ts';
import { installCmcd, Requests } from './requests.ts';

export class HlsInstallation implements Installation {
  readonly adaptation: Adaptation;
  readonly #port: HlsPort;
  #requests!: Requests;
  readonly #undo = new UndoList();
  readonly #mediaUndo = new UndoList();
  /** How to leave the players that hls.js has made for interstitials and I-frames. */
  readonly #inner = new Map<Hls, () => void>();
  #restoreTarget = () => {};
  #target: unknown;
  #hasSource = false;
  #isInCharge = false;
  #isDetached = false;

  constructor(
    options: ResolvedOptions,
    private readonly events: Events,
  ) {
    this.#port = new HlsPort(options, events);
    this.adaptation = new Adaptation(this.#port, options, events);
  }

  isActive(): boolean {
    return this.#port.connection !== undefined;
  }

  /** Whether the plugin chose the level that plays, and watches its downloads. */
  get isInCharge(): boolean {
    return this.#isInCharge;
  }

  /** Returns false, after a fault, for a player that the plugin leaves to hls.js; without one, for an inner player. */
  connect(hls: Hls, firstLevel: () => number): boolean {
    const { adaptation } = this;
    const { config } = hls;
    const problem = whyUnsupported(hls);
    if (problem === undefined && config.primarySessionId !== undefined) {
      adaptation.guard(() => this.#watchInner(hls));
      return false;
    }
    if (problem !== undefined) this.events.fault('unsupported-player', problem);
    else if (this.isActive()) this.events.fault('already-attached', 'another player has this controller');
    if (problem !== undefined || this.isActive() || this.#isDetached) return false;
    const requests = new Requests(hls, adaptation);
    this.#requests = requests;
    this.#port.connection = { hls, firstLevel, loading: () => requests.loading() };
    const setTest = (isOn: boolean) => {
      config.testBandwidth = isOn;
    };
    this.#undo.add(
      // Otherwise a page's `startLevel: -1` makes hls.js load the first segment twice.
      override(false, () => config.testBandwidth, setTest),
      installCmcd(config, adaptation),
      keepPartEnds(hls, adaptation.guard),
      listen(hls, EMITTER_METHODS, this.#handlers(hls), adaptation.guard),
    );
    return true;
  }

  /** The level to load next; undefined leaves it to hls.js. hls.js asks ten times a second and oftener. */
  choose(): number | undefined {
    const { hls } = this.#port.connection!;
    const { guard, decisions, session } = this.adaptation;
    return guard(() => {
      if (this.#port.allowed().length === 0) return undefined;
      // hls.js would load the playlist of another level at once.
      if (hls.loadLevel >= 0 && this.#port.isBusy(session.record.last?.index)) return hls.loadLevel;
      const choice = decisions.decide();
      this.#isInCharge = choice !== undefined;
      return choice && this.#port.levelOf(choice);
    });
  }

  /** A player is destroyed; another one may follow. */
  playerEnded(hls: Hls): void {
    this.#leaveInner(hls);
    if (hls !== this.#port.connection?.hls) return;
    this.adaptation.guard(() => this.adaptation.sourceEnded());
    this.#disconnect();
    this.#port.connection = undefined;
    this.#hasSource = false;
    this.#port.playlistSeconds = 0;
    this.#port.switchedAtMs = Number.NEGATIVE_INFINITY;
    this.#target = undefined;
  }

  changed(): void {
    this.#setTarget();
  }

  detach(): void {
    this.#isDetached = true;
    this.adaptation.stop();
    this.#disconnect();
  }

  /** Leaves the player, which goes on or is being destroyed. */
  #disconnect(): void {
    if (!this.isActive()) return;
    this.#isInCharge = false;
    this.#mediaUndo.run();
    this.#undo.run();
    this.#restoreTarget();
    this.#requests.forget();
    for (const hls of [...this.#inner.keys()]) this.#leaveInner(hls);
  }

  /**
   * hls.js makes players of its own from the page's configuration. Their traffic shares the link with the main player,
   * from whose estimate hls.js's own controller adapts them.
   */
  #watchInner(hls: Hls): void {
    if (hls.config.primarySessionId !== this.#port.connection?.hls.sessionId) return;
    const requests = new Requests(hls, this.adaptation, false);
    const leave = listen(hls, EMITTER_METHODS, requests.handlers, this.adaptation.guard);
    this.#inner.set(hls, () => {
      leave();
      requests.abandon();
    });
  }

  #leaveInner(hls: Hls): void {
    this.#inner.get(hls)?.();
    this.#inner.delete(hls);
  }

  /** Applies the option's target latency. */
  #setTarget(): void {
    const { hls } = this.#port.connection ?? {};
    const { targetLatencySeconds } = this.adaptation.options.live;
    // Before it has a source, hls.js may still be under construction.
    if (!hls || targetLatencySeconds === this.#target || !this.#hasSource) return;
    this.#target = targetLatencySeconds;
    this.#restoreTarget();
    this.#restoreTarget = () => {};
    if (typeof targetLatencySeconds !== 'number') return;
    const { config } = hls;
    // A setter of hls.js marks this setting as the page's.
    const { liveSyncDuration } = config;
    hls.targetLatency = targetLatencySeconds;
    this.#restoreTarget = () => {
      if (config.liveSyncDuration === targetLatencySeconds) Object.assign(config, { liveSyncDuration });
    };
  }

  #handlers(hls: Hls): HlsHandlers {
    const { Events } = classOf(hls);
    return {
      ...this.#requests.handlers,
      [Events.MANIFEST_LOADING]: () => this.#sourceBegins(),
      // Before the page removes one.
      [Events.MANIFEST_PARSED]: ({ levels }) => rungsOf(levels),
      [Events.LEVEL_SWITCHING]: () => {
        if (hls.autoLevelEnabled) this.#port.switchedAtMs = performance.now();
      },
      [Events.MEDIA_ATTACHED]: (event) => this.#mediaAttached(event),
      [Events.MEDIA_DETACHING]: () => this.#mediaUndo.run(),
      [Events.LEVEL_LOADED]: (event) => this.#levelLoaded(event),
    };
  }

  #sourceBegins(): void {
    if (this.#hasSource) {
      this.adaptation.sourceEnded();
      this.#requests.forget();
    }
    this.#hasSource = true;
    this.#setTarget();
  }

  #mediaAttached({ media }: MediaAttachedData): void {
    const { session, guard } = this.adaptation;
    const handlers = { seeking: () => session.seeked(), playing: () => session.playing() };
    this.#mediaUndo.add(listen(media, DOM_METHODS, handlers, guard));
  }

  #levelLoaded({ stats: { loading }, deliveryDirectives }: LevelLoadedData): void {
    // A server answers a blocking request when the playlist has grown.
    if (deliveryDirectives?.msn === undefined) this.#port.playlistSeconds = (loading.end - loading.start) / 1000;
  }
}
