/** Makes the factory for Shaka's `abrFactory`: it wraps Shaka's own manager in one that asks the core. */

import { InputError } from '../../abr/errors.ts';
import { Adaptation } from '../../session/adaptation.ts';
import { has } from '../../session/page/checks.ts';
import type { Events } from '../../session/page/events.ts';
import { createHandle, type Installation, type LeoAbrHandle } from '../../session/page/handle.ts';
import type { LeoAbrOptions } from '../../session/page/option-types.ts';
import type { ResolvedOptions } from '../../session/page/options.ts';
import { override, UndoList } from '../hooks.ts';
import { PAGE } from '../page-host.ts';
import { PluginManager } from './abr.ts';
import { type AbrManager, type ShakaPlayer, whyUnsupported } from './player.ts';
import { ShakaPort } from './port.ts';
import { Requests } from './requests.ts';

/** For `player.configure({ abrFactory })`. */
export interface LeoAbrFactory {
  // biome-ignore lint/suspicious/noExplicitAny: Shaka's `AbrManager`, whose types a page may lack.
  (): any;
  /** Usable from now on, before the player loads. */
  readonly handle: LeoAbrHandle;
}

/** The factory that each of the plugin's replaces. */
const REPLACED = new WeakMap<object, () => AbrManager>();

/** Implements `createLeoAbrFactory`. */
export function createFactory(player: ShakaPlayer, options: LeoAbrOptions | undefined): LeoAbrFactory {
  if (!has(player, 'getConfiguration')) throw new InputError('player', 'a Shaka Player', player);
  // Shaka's own, unless the page has set another one before.
  const present: Partial<LeoAbrFactory> & (() => AbrManager) = player.getConfiguration().abrFactory;
  const isLeft = present.handle?.state.status === 'detached';
  const shakasFactory = (isLeft && REPLACED.get(present)) || present;
  let newManager = shakasFactory;
  const handle = createHandle(options, PAGE, (resolved, events) => {
    const problem = whyUnsupported(player);
    if (problem !== undefined) events.fault('unsupported-player', problem);
    else if (isAttached(shakasFactory)) events.fault('already-attached', 'the player has the plugin already');
    else {
      const installation = new ShakaInstallation(player, shakasFactory, resolved, events);
      newManager = () => installation.newManager();
      return installation;
    }
    return undefined;
  });
  const factory = Object.assign(() => newManager(), { handle });
  REPLACED.set(factory, shakasFactory);
  return factory;
}

/** After `detach` the page may leave the factory in the player: it makes the managers that it made before. */
function isAttached(factory: (() => AbrManager) & { handle?: LeoAbrHandle }): boolean {
  return factory.handle?.state.status === 'attached';
}

class ShakaInstallation implements Installation {
  readonly adaptation: Adaptation;
  readonly #undo = new UndoList();
  readonly #wrap: (inner: AbrManager) => PluginManager;
  /** The manager that the player has. */
  #manager: PluginManager | undefined;
  #isDetached = false;

  constructor(
    player: ShakaPlayer,
    private readonly shakasFactory: () => AbrManager,
    options: ResolvedOptions,
    private readonly events: Events,
  ) {
    const port = new ShakaPort(player, options, () => this.#manager!);
    const adaptation = new Adaptation(port, options, events);
    const requests = new Requests(port, adaptation, (stream) => this.#manager?.decideLate(stream));
    const released = () => {
      this.#manager = undefined;
    };
    this.adaptation = adaptation;
    this.#wrap = (inner) => new PluginManager(inner, player, port, requests, adaptation, released);
    const setCmcd = (enabled: boolean) => player.configure({ cmcd: { enabled } });
    if (options.cmcd) this.#undo.add(override(true, () => player.getConfiguration().cmcd.enabled, setCmcd));
  }

  newManager(): AbrManager {
    const inner = this.shakasFactory();
    if (this.#isDetached) return inner;
    if (this.#manager && !this.#manager.isOrphan) {
      this.events.fault('already-attached', 'the factory has made a manager already');
      return inner;
    }
    this.#manager?.end();
    this.#manager = this.#wrap(inner);
    return this.#manager.proxy();
  }

  changed(): void {
    this.adaptation.planner.renew();
  }

  detach(): void {
    this.#isDetached = true;
    this.adaptation.stop();
    this.#manager?.end();
    this.#undo.run();
  }
}
