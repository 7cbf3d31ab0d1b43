/** Where Shaka asks: its own manager, inside one that asks the core. It keeps all that it knows, and goes on after `detach`. */

import type { Adaptation } from '../core/adaptation.ts';
import { DOM_METHODS, listen, override, UndoList } from '../core/hooks.ts';
import type { Choice } from '../core/player-port.ts';
import type { AbrManager, Request, RequestContext, ShakaPlayer, Stream, Variant } from './player.ts';
import type { ShakaPort } from './port.ts';
import type { Requests } from './requests.ts';

/** Shaka aborts the download in flight if a switch would take less time than the buffer has; less than 0 always does. */
const ABORT_BPS = -1;

export interface ManagerParts {
  player: ShakaPlayer;
  port: ShakaPort;
  requests: Requests;
  adaptation: Adaptation;
  /** Shaka has released the manager. */
  released(): void;
}

export class PluginManager {
  /** Shaka has unloaded the source without stopping the manager: it has saved it as a preload, and makes another one. */
  isOrphan = false;
  readonly #sourceUndo = new UndoList();
  readonly #undo = new UndoList();
  #isLoaded = false;
  /** The buffer is full: the decision waits until Shaka is about to request. */
  #isDue = false;
  #isDetached = false;

  /** `inner`: Shaka's own manager. */
  constructor(
    readonly inner: AbrManager,
    private readonly parts: ManagerParts,
  ) {
    const { player, requests, adaptation } = parts;
    const { guard } = adaptation;
    const filter = (_: number, request: Request, context?: RequestContext) => {
      guard(() => {
        requests.begun(request, context);
        // Shaka has written its CMCD before.
        request.uris = request.uris.map((uri) => adaptation.withCmcd(uri, request.headers));
      });
    };
    const networking = player.getNetworkingEngine();
    networking?.registerRequestFilter(filter);
    this.#undo.add(listen(player, DOM_METHODS, { ...requests.handlers, ...this.#playerHandlers }, guard), () =>
      networking?.unregisterRequestFilter(filter),
    );
  }

  /** For Shaka: its own manager with the methods below in place of some. */
  proxy(): AbrManager {
    return new Proxy(this.inner, {
      get: (target, name: keyof AbrManager) => {
        const value: unknown = (this.#isDetached ? undefined : this.#overrides[name]) ?? target[name];
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** What Shaka would choose on a link without limits: it knows the sizes of element, screen and window. */
  highestVariant(): Variant {
    const { inner } = this;
    const estimate = inner.getBandwidthEstimate;
    inner.getBandwidthEstimate = () => Number.POSITIVE_INFINITY;
    try {
      return inner.chooseVariant();
    } finally {
      inner.getBandwidthEstimate = estimate;
    }
  }

  /**
   * Decides at Shaka's request if there was no decision before it: timers were late, or the playback rate is high.
   * Undefined if the request may stay, as in trick play, whose streams are in no variant.
   */
  decideLate(stream: Stream): Choice | undefined {
    const { port, adaptation } = this.parts;
    if (!this.#isDue) return undefined;
    this.#isDue = false;
    const choice = adaptation.decisions.decide();
    const isOther = port.variant(choice)?.video !== stream && port.loading()?.video === stream;
    return isOther ? choice : undefined;
  }

  /** Removes the plugin from the manager; Shaka's own one goes on. */
  end(): void {
    this.#isDetached = true;
    this.#sourceUndo.run();
    this.#undo.run();
  }

  readonly #playerHandlers = {
    unloading: () => {
      this.isOrphan = true;
      this.#sourceEnded();
    },
    // Shaka requests the next segment in the variant that is current after this event.
    segmentappended: ({ contentType, end }: { contentType: string; end: number }) => {
      if (contentType !== 'video' || this.parts.port.presentation.isEnd(end)) return;
      this.#isDue = true;
      this.#decideIfDue();
    },
  };

  readonly #elementHandlers = {
    timeupdate: () => this.#decideIfDue(),
    playing: () => this.parts.adaptation.session.playing(),
    seeking: () => {
      const { port, adaptation } = this.parts;
      // Shaka goes on with what is buffered.
      if (adaptation.session.seeked() && port.presentation.levelSeconds() === 0) this.#decide();
    },
  };

  readonly #overrides: Partial<AbrManager> = {
    init: (switchTo, ...more) => {
      const { port } = this.parts;
      this.#isLoaded = true;
      port.switchCallback = switchTo;
      this.inner.init((...args) => (this.#isDetached || !port.presentation.hasVideo) && switchTo(...args), ...more);
    },
    setVariants: (variants, ...more) => {
      this.parts.port.presentation.variants = variants;
      return this.inner.setVariants(variants, ...more);
    },
    setMediaElement: (element) => {
      const { port, adaptation } = this.parts;
      this.inner.setMediaElement(element);
      if (!element) return;
      port.presentation.element = element;
      this.#sourceUndo.add(listen(element, DOM_METHODS, this.#elementHandlers, adaptation.guard));
    },
    enable: () => {
      this.inner.enable();
      this.parts.adaptation.guard(() => this.#limitPrefetch());
    },
    chooseVariant: (...how) => this.#loading() ?? this.#choose() ?? this.inner.chooseVariant(...how),
    trySuggestStreams: () => void (this.#loading() ?? this.parts.adaptation.guard(() => this.#decide())),
    segmentDownloaded: (milliseconds, bytes, allowSwitch, request, context) => {
      const { requests, adaptation } = this.parts;
      this.inner.segmentDownloaded(milliseconds, bytes, allowSwitch, request, context);
      adaptation.guard(() => requests.downloaded(bytes, request, context));
    },
    getBandwidthEstimate: () => (this.parts.port.isAbandoning ? ABORT_BPS : this.inner.getBandwidthEstimate()),
    stop: () => {
      this.isOrphan = false;
      this.#sourceEnded();
      this.inner.stop();
    },
    release: () => {
      this.#sourceEnded();
      this.parts.released();
      this.#undo.run();
      this.inner.release();
    },
  };

  #choose(): Variant | undefined {
    const { port, adaptation } = this.parts;
    return adaptation.guard(() => port.variant(adaptation.decisions.decide()));
  }

  /** What Shaka gets that asks in mid-download: another variant would abort it, which is for `abandon` to decide. */
  #loading(): Variant | undefined {
    const { port, adaptation } = this.parts;
    const isLoading = adaptation.session.record.active && !port.isAbandoning;
    return isLoading ? adaptation.guard(() => port.loading()) : undefined;
  }

  #decide(): void {
    const { port } = this.parts;
    this.#isDue = false;
    if (port.isEnabled) port.switchTo(this.#choose() ?? this.inner.chooseVariant());
  }

  #decideIfDue(): void {
    if (this.#isDue && !this.parts.port.presentation.isFull()) this.#decide();
  }

  /** By default (1) Shaka prefetches only the segment that is due; more are requested before anything is decided. */
  #limitPrefetch(): void {
    const { player } = this.parts;
    const get = () => player.getConfiguration().streaming.segmentPrefetchLimit;
    const set = (segmentPrefetchLimit: number) => player.configure({ streaming: { segmentPrefetchLimit } });
    if (get() > 1) this.#undo.add(override(0, get, set));
  }

  #sourceEnded(): void {
    const { port, adaptation } = this.parts;
    if (!this.#isLoaded) return;
    this.#isLoaded = false;
    this.#isDue = false;
    this.#sourceUndo.run();
    adaptation.guard(() => {
      adaptation.sourceEnded();
      port.sourceEnded();
    });
  }
}
