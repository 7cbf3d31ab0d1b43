/** Where Shaka asks: its own manager, inside one that asks the core. It keeps all that it knows, and goes on after `detach`. */

import type { Adaptation } from '../../session/adaptation.ts';
import type { Choice } from '../../session/player-port.ts';
import { DOM_METHODS, listen, override, UndoList } from '../hooks.ts';
import type { AbrManager, Request, RequestContext, ShakaPlayer, Stream, Variant } from './player.ts';
import type { ShakaPort } from './port.ts';
import type { Requests } from './requests.ts';

/** Shaka aborts the download in flight if a switch would take less time than the buffer has; less than 0 always does. */
const ABORT_BPS = -1;

export class PluginManager {
  /** Shaka has unloaded the source without stopping the manager: it has saved it as a preload, and makes another one. */
  isOrphan = false;
  readonly #sourceUndo = new UndoList();
  readonly #undo = new UndoList();
  #isLoaded = false;
  /** The buffer is full: the decision waits until Shaka is about to request. */
  #isDue = false;
  #isDetached = false;

  /** `inner`: Shaka's own manager. `released`: Shaka has released this one. */
  constructor(
    readonly inner: AbrManager,
    private readonly player: ShakaPlayer,
    private readonly port: ShakaPort,
    private readonly requests: Requests,
    private readonly adaptation: Adaptation,
    private readonly released: () => void,
  ) {
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
    if (!this.#isDue) return undefined;
    this.#isDue = false;
    const choice = this.adaptation.decisions.decide();
    const isOther = this.port.variant(choice)?.video !== stream && this.port.loading()?.video === stream;
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
      if (contentType !== 'video' || this.port.presentation.isEnd(end)) return;
      this.#isDue = true;
      this.#decideIfDue();
    },
  };

  readonly #elementHandlers = {
    timeupdate: () => this.#decideIfDue(),
    playing: () => this.adaptation.session.playing(),
    seeking: () => {
      // Shaka goes on after what is buffered there; it nudges the playhead over a stall.
      if (this.port.presentation.levelSeconds() === 0 && this.adaptation.session.seeked()) this.#decide();
    },
  };

  readonly #overrides: Partial<AbrManager> = {
    init: (switchTo, ...more) => {
      this.#isLoaded = true;
      this.port.switchCallback = switchTo;
      this.inner.init(
        (...args) => (this.#isDetached || !this.port.presentation.hasVideo) && switchTo(...args),
        ...more,
      );
    },
    setVariants: (variants, ...more) => {
      this.port.presentation.variants = variants;
      return this.inner.setVariants(variants, ...more);
    },
    setMediaElement: (element) => {
      this.inner.setMediaElement(element);
      if (!element) return;
      this.port.presentation.element = element;
      this.#sourceUndo.add(listen(element, DOM_METHODS, this.#elementHandlers, this.adaptation.guard));
    },
    enable: () => {
      this.inner.enable();
      this.adaptation.guard(() => this.#limitPrefetch());
    },
    chooseVariant: (...how) => this.#loading() ?? this.#choose() ?? this.inner.chooseVariant(...how),
    trySuggestStreams: () => void (this.#loading() ?? this.adaptation.guard(() => this.#decide())),
    segmentDownloaded: (milliseconds, bytes, allowSwitch, request, context) => {
      this.inner.segmentDownloaded(milliseconds, bytes, allowSwitch, request, context);
      this.adaptation.guard(() => this.requests.downloaded(bytes, request, context));
    },
    getBandwidthEstimate: () => (this.port.isAbandoning ? ABORT_BPS : this.inner.getBandwidthEstimate()),
    stop: () => {
      this.isOrphan = false;
      this.#sourceEnded();
      this.inner.stop();
    },
    release: () => {
      this.#sourceEnded();
      this.released();
      this.#undo.run();
      this.inner.release();
    },
  };

  #choose(): Variant | undefined {
    return this.adaptation.guard(() => this.port.variant(this.adaptation.decisions.decide()));
  }

  /** What Shaka gets that asks in mid-download: another variant would abort it, which is for `abandon` to decide. */
  #loading(): Variant | undefined {
    const isLoading = this.adaptation.session.record.active && !this.port.isAbandoning;
    return isLoading ? this.adaptation.guard(() => this.port.loading()) : undefined;
  }

  #decide(): void {
    this.#isDue = false;
    if (this.port.isEnabled) this.port.switchTo(this.#choose() ?? this.inner.chooseVariant());
  }

  #decideIfDue(): void {
    if (this.#isDue && !this.port.presentation.isFull()) this.#decide();
  }

  /** By default (1) Shaka prefetches only the segment that is due; more are requested before anything is decided. */
  #limitPrefetch(): void {
    const get = () => this.player.getConfiguration().streaming.segmentPrefetchLimit;
    const set = (segmentPrefetchLimit: number) => this.player.configure({ streaming: { segmentPrefetchLimit } });
    if (get() > 1) this.#undo.add(override(0, get, set));
  }

  #sourceEnded(): void {
    if (!this.#isLoaded) return;
    this.#isLoaded = false;
    this.#isDue = false;
    this.#sourceUndo.run();
    this.adaptation.guard(() => {
      this.adaptation.sourceEnded();
      this.port.sourceEnded();
    });
  }
}
