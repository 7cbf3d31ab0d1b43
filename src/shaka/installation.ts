/** Makes the factory for Shaka's `abrFactory`: it wraps Shaka's own manager in a manager that asks the flow. */

import type { ResolvedOptions, Tools } from '../../session/assemble.ts';
import { Flow } from '../../session/flow.ts';
import { has } from '../../session/page/checks.ts';
import type { Events } from '../../session/page/events.ts';
import { createHandle, type Installation, type LeoAbrHandle } from '../../session/page/handle.ts';
import type { LeoAbrOptions } from '../../session/page/option-types.ts';
import { DOM_METHODS, listen, override, UndoList } from '../adapter-kit.ts';
import { PAGE } from '../page-host.ts';
import { wrongPlayer } from '../which-player.ts';
import { type Attachment, PluginManager } from './abr.ts';
import {
  type AbrManager,
  MEDIA_PLAYLIST,
  type RequestContext,
  type ShakaPlayer,
  type ShakaRequest,
  SRC_EQUALS,
  shakasManager,
  type Variant,
  whyUnsupported,
} from './player.ts';
import { ShakaPort } from './port.ts';
import { Requests } from './requests.ts';

/** For `player.configure({ abrFactory })`. */
export interface LeoAbrFactory {
  // biome-ignore lint/suspicious/noExplicitAny: Shaka's `AbrManager`, whose types a page may lack.
  (): any;
  /** Usable from now on, before the player loads. */
  readonly handle: LeoAbrHandle;
}

type Factory = () => AbrManager;

/** What each of the plugin's factories has replaced. */
const REPLACED = new WeakMap<object, Factory>();

/** Whether the plugin has made the factory, also by another copy on the page, and is not detached. */
function isPlugins(factory: object | undefined): boolean {
  const { status = 'detached' } = (factory as Partial<LeoAbrFactory> | undefined)?.handle?.state || {};
  return status !== 'detached';
}

/** Implements `createLeoAbrFactory`. */
export function createFactory(player: ShakaPlayer, options: LeoAbrOptions | undefined, tools?: Tools): LeoAbrFactory {
  if (!has(player, 'getConfiguration')) throw wrongPlayer('Shaka Player', 'player', 'a Shaka Player', player);
  // Shaka's own, unless the page has set another one before.
  const present: Factory = player.getConfiguration().abrFactory;
  // A detached factory is not referenced from here, so that it can be freed.
  const isTaken = isPlugins(present) ? isPlugins.bind(undefined, present) : undefined;
  const replaced = (!isTaken && REPLACED.get(present)) || present;
  let installation: ShakaInstallation | undefined;
  const handle = createHandle({ options, tools }, PAGE, (resolved, events) => {
    const problem = whyUnsupported(player);
    if (problem !== undefined) events.fault('unsupported-player', problem);
    else installation = new ShakaInstallation(player, replaced, resolved, events);
    if (isTaken) events.fault('already-attached', 'the player has the plugin already');
    return installation;
  });
  let isMaking = false;
  const newManager = () => {
    // The page's factory, which this one has replaced, calls this one.
    if (isMaking) return shakasManager(player);
    isMaking = true;
    try {
      return installation && !isTaken?.() ? installation.newManager() : replaced();
    } finally {
      isMaking = false;
    }
  };
  const factory = Object.assign(newManager, { handle });
  // After `detach` the page may leave the factory in the player: it makes the managers that it made before.
  REPLACED.set(factory, replaced);
  return factory;
}

class ShakaInstallation implements Installation, Attachment {
  readonly flow: Flow;
  readonly port: ShakaPort;
  readonly requests: Requests;
  readonly preloaded = new WeakSet<Variant>();
  playing: PluginManager | undefined;
  isDetached = false;
  private readonly _undo = new UndoList();
  private readonly _playerUndo = new UndoList();
  /** Shaka has made a manager here, and has not released the manager with which it played. */
  private _isListening = false;

  constructor(
    private readonly _player: ShakaPlayer,
    private readonly _shakasFactory: () => AbrManager,
    options: ResolvedOptions,
    private readonly _events: Events,
  ) {
    this.port = new ShakaPort(_player, options, () => this.flow);
    this.flow = new Flow(this.port, options, _events);
    this.requests = new Requests(this.port, this.flow);
    const setCmcd = (enabled: boolean) => _player.configure({ cmcd: { enabled } });
    const segmentappended = () =>
      _events.fault('player-failed', 'Shaka plays without the plugin: configure the factory before load()');
    const loaded = () => {
      if (_player.getLoadMode() === SRC_EQUALS)
        _events.fault('unsupported-stream', 'the browser plays this source itself (src=)');
    };
    this._playerUndo.add(listen(_player, DOM_METHODS, { segmentappended, loaded }, this.flow.guard));
    if (options.cmcd) this._undo.add(override(true, () => _player.getConfiguration().cmcd.enabled, setCmcd));
  }

  isActive(): boolean {
    return this._isListening && !this.port.source.variants.isUnknown;
  }

  newManager(): AbrManager {
    const inner = this._shakasFactory();
    if (this.isDetached) return inner;
    if (!this._isListening) this._listen();
    return new PluginManager(inner, this).proxy();
  }

  begin(manager: PluginManager, element: HTMLMediaElement | undefined): boolean {
    const own = this._player.getMediaElement();
    if (element && element !== own) {
      this._events.fault('already-attached', 'another player has this factory');
      const { inner } = manager;
      const { setVariants } = inner;
      inner.setVariants = (variants, ...more) => {
        for (const variant of variants) this.requests.leave(variant);
        return setVariants.call(inner, variants, ...more);
      };
      return false;
    }
    // Shaka forgets the manager of a source that it saves as a preload.
    if (this.playing && this.playing !== manager) this.playing.end();
    this.playing = manager;
    return true;
  }

  /** By default (1) Shaka prefetches only the segment that is due; more are requested before anything is decided. */
  limitPrefetch(): void {
    const { _player: player } = this;
    const get = () => player.getConfiguration().streaming.segmentPrefetchLimit;
    const set = (segmentPrefetchLimit: number) => player.configure({ streaming: { segmentPrefetchLimit } });
    if (get() > 1) this._playerUndo.add(override(0, get, set));
  }

  released(manager: PluginManager): void {
    if (this.playing !== manager) return;
    this.playing = undefined;
    this._leave();
  }

  detach(): void {
    this.isDetached = true;
    this.flow.stop();
    if (this.playing) this.playing.end();
    this._leave();
    this._undo.run();
  }

  private _leave(): void {
    this._isListening = false;
    this._playerUndo.run();
  }

  private _listen(): void {
    this._leave();
    this._isListening = true;
    const { _player: player, flow, requests } = this;
    const { guard } = flow;
    const filter = (_: number, request: ShakaRequest, context?: RequestContext) => {
      guard(() => {
        requests.begun(request, context);
        // Shaka has written its CMCD before.
        request.uris = request.uris.map((uri) => flow.withCmcd(uri, request.headers));
      });
    };
    const responseFilter = (_: number, { data }: { data: ArrayBuffer | ArrayBufferView }, context?: RequestContext) => {
      if (context?.type !== MEDIA_PLAYLIST) return;
      guard(() => this.port.source.live.playlistLoaded(() => new TextDecoder().decode(data)));
    };
    const handlers = {
      ...requests.handlers,
      unloading: () => this.playing?.sourceEnded(),
      segmentappended: (event: { contentType: string; end: number }) => this.playing?.appended(event),
    };
    const networking = player.getNetworkingEngine();
    networking?.registerRequestFilter(filter);
    networking?.registerResponseFilter(responseFilter);
    this._playerUndo.add(listen(player, DOM_METHODS, handlers, guard), () => {
      networking?.unregisterRequestFilter(filter);
      networking?.unregisterResponseFilter(responseFilter);
    });
  }
}
