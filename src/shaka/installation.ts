/** Makes the factory for Shaka's `abrFactory`: it wraps Shaka's own manager in one that asks the core. */

import { InputError } from '../../abr/errors.ts';
import { Adaptation } from '../core/adaptation.ts';
import type { Events } from '../core/events.ts';
import { createHandle, type Installation, type LeoAbrHandle } from '../core/handle.ts';
import { has } from '../core/options.ts';
import type { Choice } from '../core/player-port.ts';
import type { ResolvedOptions } from '../core/resolved-options.ts';
import { type AbrManager, type RequestFilter, type ShakaPlayer, type Stream, whyUnsupported } from './player.ts';
import { requestReports } from './requests.ts';
import { createShakaPort } from './shaka-port.ts';

/** For `player.configure({ abrFactory })`. */
export interface LeoAbrFactory {
  // biome-ignore lint/suspicious/noExplicitAny: Shaka's `AbrManager`, whose types a page may lack.
  (): any;
  /** Usable from now on, before the player loads. */
  readonly handle: LeoAbrHandle;
}

/** Shaka aborts the download in flight if a switch would take less time than the buffer has; less than 0 always does. */
const ABORT_BPS = -1;

/** Implements `createLeoAbrFactory`: `resolve` checks the options, now and at every change. */
export function createFactory<O extends object>(
  player: ShakaPlayer,
  given: O | undefined,
  resolve: (options: O | undefined) => ResolvedOptions,
): LeoAbrFactory {
  if (!has(player, 'getConfiguration')) throw new InputError('player', 'a Shaka Player', player);
  // Shaka's own, unless the page has set another one before.
  const ownFactory: () => AbrManager = player.getConfiguration().abrFactory;
  let newManager = ownFactory;
  const handle = createHandle(given, resolve, (options, events) => {
    const problem = whyUnsupported(player);
    if (problem !== undefined) events.fault('unsupported-player', problem);
    else if (isAttached(ownFactory)) events.fault('already-attached', 'the player has the plugin already');
    else {
      const installation = install(player, ownFactory, options, events);
      newManager = installation.newManager;
      return installation;
    }
    return undefined;
  });
  return Object.assign(() => newManager(), { handle });
}

/** After `detach` the page may leave the factory in the player: it makes the managers that it made before. */
function isAttached(factory: (() => AbrManager) & { handle?: LeoAbrHandle }): boolean {
  return factory.handle?.state.status === 'attached';
}

function install(
  player: ShakaPlayer,
  ownFactory: () => AbrManager,
  options: ResolvedOptions,
  events: Events,
): Installation & { newManager(): AbrManager } {
  /** Shaka's own manager, inside the one that the player has; undefined while it has none. */
  let own: AbrManager | undefined;
  const port = createShakaPort(player, options, () => own!);
  const adaptation = new Adaptation(port, options, events);
  const { guard, session, decisions, planner } = adaptation;
  const { begun, downloaded, handlers } = requestReports(port, adaptation, belated);
  /** What has to be undone when the source ends, and when the manager goes. */
  const ofSource: (() => void)[] = [];
  const ofManager: (() => void)[] = [];
  /** The buffer is full: the decision waits until Shaka is about to request. */
  let isDue = false;
  let isLoaded = false;
  /** Shaka has unloaded a source without stopping its manager: it has saved it as a preload, and makes another one. */
  let isOrphan = false;
  let isDetached = false;

  const addsCmcd = options.cmcd && !player.getConfiguration().cmcd.enabled;
  const enableCmcd = (enabled: boolean) => addsCmcd && player.configure({ cmcd: { enabled } });
  enableCmcd(true);

  const choose = () => guard(() => port.variant(decisions.decide()));
  /** What Shaka gets that asks in mid-download: another variant would abort it, which is for `abandon` to decide. */
  const loading = () => guard(() => (session.record.active && !port.isAbandoning() ? port.loading() : undefined));

  function decide(): void {
    isDue = false;
    if (port.isEnabled()) port.switchTo(choose() ?? own!.chooseVariant());
  }

  /**
   * Decides at Shaka's request if there was no decision before it: timers were late, or the playback rate is high.
   * Undefined if the request may stay, as in trick play, whose streams are in no variant.
   */
  function belated(stream: Stream): Choice | undefined {
    if (!isDue) return undefined;
    isDue = false;
    const choice = decisions.decide();
    const isOther = port.variant(choice)?.video !== stream && port.loading()?.video === stream;
    return isOther ? choice : undefined;
  }

  const whenEmptied = () => {
    if (isDue && !port.isFull()) decide();
  };

  const ofPlayer = {
    ...handlers,
    unloading() {
      isOrphan = true;
      sourceEnded();
    },
    // Shaka requests the next segment in the variant that is current after this event.
    segmentappended({ contentType, end }: { contentType: string; end: number }) {
      if (contentType !== 'video' || port.isEnd(end)) return;
      isDue = true;
      whenEmptied();
    },
  };
  const ofElement = {
    timeupdate: whenEmptied,
    playing: () => session.playing(),
    seeking() {
      // Shaka goes on with what is buffered.
      if (session.seeked() && port.isEmpty()) decide();
    },
  };

  const filter: RequestFilter = (_, request, context) => {
    guard(() => {
      begun(request, context);
      // Shaka has written its CMCD before.
      request.uris = request.uris.map((uri) => adaptation.withCmcd(uri, request.headers));
    });
  };

  function listen(
    target: Pick<ShakaPlayer, 'addEventListener' | 'removeEventListener'>,
    handlers: Record<string, (event: never) => void>,
  ): () => void {
    const removers = Object.entries(handlers).map(([type, handle]) => {
      const guarded = (event: unknown) => guard(() => handle(event as never));
      target.addEventListener(type, guarded);
      return () => target.removeEventListener(type, guarded);
    });
    return () => undo(removers);
  }

  function sourceEnded(): void {
    if (!isLoaded) return;
    isLoaded = false;
    isDue = false;
    undo(ofSource);
    adaptation.sourceEnded();
    port.sourceEnded();
  }

  /** By default (1) Shaka prefetches only the segment that is due; more are requested before anything is decided. */
  function limitPrefetch(): void {
    const { segmentPrefetchLimit: limit } = player.getConfiguration().streaming;
    if (!(limit > 1)) return;
    const set = (segmentPrefetchLimit: number) => player.configure({ streaming: { segmentPrefetchLimit } });
    ofManager.push(() => set(limit));
    set(0);
  }

  /** Overrides methods of Shaka's manager, so that it keeps all that it knows and takes over after `detach`. */
  const overrides = (inner: AbrManager): Partial<AbrManager> => ({
    init(switchTo, ...more) {
      isLoaded = true;
      port.use({ switchTo });
      inner.init((...args) => (isDetached || !port.hasVideo()) && switchTo(...args), ...more);
    },
    setVariants(variants, ...more) {
      port.use({ variants });
      return inner.setVariants(variants, ...more);
    },
    setMediaElement(element) {
      inner.setMediaElement(element);
      port.use({ element });
      ofSource.push(listen(element, ofElement));
    },
    enable() {
      inner.enable();
      guard(limitPrefetch);
    },
    chooseVariant: (...how) => loading() ?? choose() ?? inner.chooseVariant(...how),
    trySuggestStreams: () => void (loading() ?? guard(decide)),
    segmentDownloaded(milliseconds, bytes, allowSwitch, request, context) {
      inner.segmentDownloaded(milliseconds, bytes, allowSwitch, request, context);
      guard(() => downloaded(bytes, request, context));
    },
    getBandwidthEstimate: () => (port.isAbandoning() ? ABORT_BPS : inner.getBandwidthEstimate()),
    stop() {
      isOrphan = false;
      guard(sourceEnded);
      inner.stop();
    },
    release() {
      guard(sourceEnded);
      own = undefined;
      undo(ofManager);
      inner.release();
    },
  });

  return {
    adaptation,
    changed: () => planner.renew(),
    newManager() {
      const inner = ownFactory();
      if (isDetached) return inner;
      if (own && !isOrphan) {
        events.fault('already-attached', 'the factory has made a manager already');
        return inner;
      }
      isOrphan = false;
      undo(ofManager);
      own = inner;
      const networking = player.getNetworkingEngine();
      networking?.registerRequestFilter(filter);
      ofManager.push(listen(player, ofPlayer), () => networking?.unregisterRequestFilter(filter));
      const overridden = overrides(inner);
      return new Proxy(inner, {
        get(target, name: keyof AbrManager) {
          const value: unknown = (isDetached ? undefined : overridden[name]) ?? target[name];
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
    detach() {
      isDetached = true;
      adaptation.stop();
      undo(ofSource);
      undo(ofManager);
      undo([() => enableCmcd(false)]);
    },
  };
}

function undo(steps: (() => void)[]): void {
  for (const step of steps.splice(0)) {
    try {
      step();
    } catch {
      // A destroyed player throws: there is nothing to restore.
    }
  }
}
