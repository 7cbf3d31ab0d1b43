/** Installs the flow in the players that the page makes with the controller, one after the other; and removes it. */

import type Hls from 'hls.js';
import type { MediaAttachedData } from 'hls.js';
import type { ResolvedOptions } from '../../session/assemble.ts';
import { Flow } from '../../session/flow.ts';
import type { Events } from '../../session/page/events.ts';
import type { Installation } from '../../session/page/handle.ts';
import { DOM_METHODS, EMITTER_METHODS, listen, override, UndoList } from '../adapter-kit.ts';
import { rungsOf } from './levels.ts';
import { keepPartEnds } from './part-ends.ts';
import { classOf, type HlsHandlers, whyUnsupported } from './player.ts';
import { type Connection, HlsPort } from './port.ts';
import { installCmcd, Requests } from './requests.ts';

export class HlsInstallation implements Installation {
  readonly flow: Flow;
  /** Whether the plugin chose the level that plays, and watches its downloads. */
  isInCharge = false;
  private readonly _port: HlsPort;
  private readonly _undo = new UndoList();
  private readonly _mediaUndo = new UndoList();
  /** How to leave the players that hls.js has made for interstitials and I-frames. */
  private readonly _inner = new Map<Hls, () => void>();
  /** Players that wait until the present one is destroyed, and what hls.js would play first in them. */
  private readonly _waiting = new Map<Hls, () => number>();
  private readonly _targetUndo = new UndoList();
  private _target: unknown;
  private _hasSource = false;
  private _isDetached = false;

  constructor(
    options: ResolvedOptions,
    private readonly _events: Events,
  ) {
    this._port = new HlsPort(options, _events);
    this.flow = new Flow(this._port, options, _events);
  }

  isActive(): boolean {
    return this._port.connection !== undefined;
  }

  /** Whether the plugin decides for this player. */
  isFor(hls: Hls): boolean {
    return hls === this._port.connection?.hls;
  }

  /** A player has been made. The plugin leaves it to hls.js if it is not supported, and if it is an inner player. */
  connect(hls: Hls, firstLevel: () => number): void {
    const { flow } = this;
    const { config } = hls;
    const problem = whyUnsupported(hls);
    if (problem !== undefined) this._events.fault('unsupported-player', problem);
    else if (config.primarySessionId !== undefined) flow.guard(() => this._watchInner(hls));
    else if (this._isDetached) return;
    else if (this.isActive()) {
      this._waiting.set(hls, firstLevel);
      this._events.fault('already-attached', 'another player has this controller until it ends');
    } else this._connect(hls, firstLevel);
  }

  private _connect(hls: Hls, firstLevel: () => number): void {
    const { flow } = this;
    const { config } = hls;
    const state = { playlistSeconds: 0, switchedAtMs: Number.NEGATIVE_INFINITY };
    this._port.connection = { hls, firstLevel, requests: new Requests(hls, flow), ...state };
    const setTest = (isOn: boolean) => {
      config.testBandwidth = isOn;
    };
    this._undo.add(
      // Otherwise a page's `startLevel: -1` makes hls.js load the first segment twice.
      override(false, () => config.testBandwidth, setTest),
      installCmcd(config, flow),
      keepPartEnds(hls, flow.guard),
      listen(hls, EMITTER_METHODS, this._handlers(this._port.connection), flow.guard),
      listen(hls, EMITTER_METHODS, this._port.failures.handlers(hls), flow.guard),
    );
  }

  /** The level to load next; undefined leaves it to hls.js. hls.js asks ten times a second and oftener. */
  choose(): number | undefined {
    const { hls } = this._port.connection!;
    const { flow } = this;
    return flow.guard(() => {
      if (this._port.allowed().length === 0) return undefined;
      // hls.js would load the playlist of another level at once.
      if (hls.loadLevel >= 0 && this._port.isBusy(flow.session.last?.index)) return hls.loadLevel;
      const choice = flow.decide();
      this.isInCharge = choice !== undefined;
      return choice && this._port.levelOf(choice);
    });
  }

  /** A player is destroyed; another player may follow. */
  playerEnded(hls: Hls): void {
    this._leaveInner(hls);
    this._waiting.delete(hls);
    if (!this.isFor(hls)) return;
    this.flow.guard(() => this.flow.sourceEnded());
    this._disconnect();
    this._hasSource = false;
    this._target = undefined;
    this.flow.guard(() => this._connectNext());
  }

  /** A player that waits may have a source and an element already. */
  private _connectNext(): void {
    const [next] = this._waiting;
    if (!next) return;
    const [hls] = next;
    this._waiting.delete(hls);
    this._connect(...next);
    if (hls.url) this._sourceBegins();
    const { media } = hls;
    if (media) this._mediaAttached({ media });
  }

  changed(): void {
    this._setTarget();
  }

  detach(): void {
    this._isDetached = true;
    this.flow.stop();
    this._disconnect();
  }

  /** Leaves the player, which goes on or is being destroyed. */
  private _disconnect(): void {
    const { connection } = this._port;
    if (!connection) return;
    this.isInCharge = false;
    this._mediaUndo.run();
    this._undo.run();
    this._targetUndo.run();
    connection.requests.forget();
    this._port.connection = undefined;
    for (const hls of [...this._inner.keys()]) this._leaveInner(hls);
  }

  /**
   * hls.js makes players of its own from the page's configuration. Their traffic shares the link with the main player,
   * from whose estimate hls.js's own controller adapts them.
   */
  private _watchInner(hls: Hls): void {
    if (hls.config.primarySessionId !== this._port.connection?.hls.sessionId) return;
    const requests = new Requests(hls, this.flow, false);
    const leave = listen(hls, EMITTER_METHODS, requests.handlers, this.flow.guard);
    this._inner.set(hls, () => {
      leave();
      requests.abandon();
    });
  }

  private _leaveInner(hls: Hls): void {
    this._inner.get(hls)?.();
    this._inner.delete(hls);
  }

  /** Applies the option's target latency. */
  private _setTarget(): void {
    const { hls } = this._port.connection || {};
    const { targetLatencySeconds } = this.flow.options.live;
    // Before it has a source, hls.js may still be under construction.
    if (!hls || targetLatencySeconds === this._target || !this._hasSource) return;
    this._target = targetLatencySeconds;
    this._targetUndo.run();
    if (targetLatencySeconds === undefined) return;
    const { config } = hls;
    // A setter of hls.js marks this setting as the page's.
    const { liveSyncDuration } = config;
    hls.targetLatency = targetLatencySeconds;
    this._targetUndo.add(() => {
      if (config.liveSyncDuration === targetLatencySeconds) Object.assign(config, { liveSyncDuration });
    });
  }

  private _handlers(connection: Connection): HlsHandlers {
    const { hls } = connection;
    const { Events } = classOf(hls);
    return {
      ...connection.requests.handlers,
      [Events.MANIFEST_LOADING]: () => this._sourceBegins(),
      // Before the page removes one.
      [Events.MANIFEST_PARSED]: ({ levels }) => rungsOf(levels),
      [Events.LEVEL_SWITCHING]: () => {
        if (hls.autoLevelEnabled) connection.switchedAtMs = performance.now();
      },
      [Events.MEDIA_ATTACHED]: (event) => this._mediaAttached(event),
      [Events.MEDIA_DETACHING]: () => this._mediaUndo.run(),
      [Events.LEVEL_LOADED]: ({ stats: { loading }, deliveryDirectives }) => {
        // A server answers a blocking request when the playlist has grown.
        if (deliveryDirectives?.msn === undefined) connection.playlistSeconds = (loading.end - loading.start) / 1000;
      },
      // This makes hls.js choose: then it asks the browser what it decodes, and removes the other levels.
      [Events.FRAG_BUFFERED]: connection.firstLevel,
    };
  }

  private _sourceBegins(): void {
    if (this._hasSource) {
      this.flow.sourceEnded();
      this._port.connection?.requests.forget();
    }
    this._hasSource = true;
    this._setTarget();
  }

  private _mediaAttached({ media }: Pick<MediaAttachedData, 'media'>): void {
    const { flow } = this;
    const handlers = { seeking: () => flow.sought(), playing: () => flow.played() };
    // hls.js plays interstitials in the same element.
    this._mediaUndo.add(listen(media, DOM_METHODS, handlers, flow.guard), () => this._port.rate.leave(media));
  }
}
