/** Where Shaka asks: its own manager, inside one that asks the core. It keeps all that it knows, and goes on after `detach`. */

import type { Adaptation } from '../../session/adaptation.ts';
import type { Choice } from '../../session/player-port.ts';
import { DOM_METHODS, type Handlers, listen, override, UndoList } from '../hooks.ts';
import type { AbrManager, AbrSettings, ShakaPlayer, ShakaStream, SwitchCallback, Variant } from './player.ts';
import type { ShakaPort } from './port.ts';
import type { Requests } from './requests.ts';

/** Shaka aborts the download in flight if a switch would take less time than the buffer has; less than 0 always does. */
const ABORT_BPS = -1;
/** Shaka's default for `abr.switchInterval`: the page has set none. */
const DEFAULT_INTERVAL_SECONDS = 8;

/** What the managers of one attachment share. Shaka makes one to play, and others for preloads, also while it plays. */
export interface Attachment {
  readonly player: ShakaPlayer;
  readonly port: ShakaPort;
  readonly requests: Requests;
  readonly adaptation: Adaptation;
  /** What managers for preloads have chosen: Shaka begins with it. */
  readonly preloaded: WeakSet<Variant>;
  readonly isDetached: boolean;
  /** The manager of the source that plays. */
  readonly playing: PluginManager | undefined;
  /** Shaka plays its source with this manager. Returns false if that is another player's. */
  begin(manager: PluginManager, element: HTMLMediaElement | undefined): boolean;
  released(manager: PluginManager): void;
}

export class PluginManager {
  readonly #sourceUndo = new UndoList();
  readonly #undo = new UndoList();
  settings: AbrSettings | undefined;
  isFast = false;
  #variants: readonly Variant[] = [];
  /** Shaka's callback for the source that plays; a manager for a preload gets none. */
  #switchTo: SwitchCallback | undefined;
  /** A source has begun with this manager. */
  #isLoaded = false;
  #isEnabled = false;
  /** The plugin passes a call on to Shaka's manager, whose suggestions do not count then. */
  #isCalling = false;
  /** There is no choice for this source yet. */
  #isFirst = true;
  /** The buffer is full: the decision waits until Shaka is about to request. */
  #isDue = false;
  /** The page has selected a variant with this video: a segment of it is loaded before the next decision. */
  #selected: { video: ShakaStream | null; isRequested: boolean } | undefined;
  /** Shaka has just asked what to begin with. */
  #hasChosen = false;
  /** This manager is Shaka's alone. */
  #isEnded = false;

  /** `inner`: Shaka's own manager. */
  constructor(
    readonly inner: AbrManager,
    private readonly attachment: Attachment,
  ) {}

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get #isLeft(): boolean {
    return this.#isEnded || this.attachment.isDetached;
  }

  /** For Shaka: its own manager with the methods below in place of some. */
  proxy(): AbrManager {
    return new Proxy(this.inner, {
      get: (target, name: keyof AbrManager) => {
        const value: unknown = (this.#isLeft ? undefined : this.#overrides[name]) ?? target[name];
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** What Shaka would choose on a link without limits: it knows the sizes of element, screen and window. */
  highestVariant(): Variant | null {
    const { inner } = this;
    const estimate = inner.getBandwidthEstimate;
    inner.getBandwidthEstimate = () => Number.POSITIVE_INFINITY;
    try {
      return inner.chooseVariant(this.isFast);
    } finally {
      inner.getBandwidthEstimate = estimate;
    }
  }

  /** Shaka's estimate leaves out what came too fast to measure. */
  linkBps(): number {
    const { downloads, bounds } = this.attachment.adaptation.session.record;
    return downloads === bounds && bounds.length > 0 ? Number.POSITIVE_INFINITY : this.inner.getBandwidthEstimate();
  }

  /**
   * Decides at Shaka's request if there was no decision before it: timers were late, or the playback rate is high.
   * Undefined if the request may stay, as in trick play, whose streams are in no variant.
   */
  decideLate(stream: ShakaStream): Choice | undefined {
    const { port, adaptation } = this.attachment;
    this.#heedPage();
    if (this.#selected?.video === stream) this.#selected.isRequested = true;
    if (!this.#isDue) return undefined;
    this.#isDue = false;
    if (this.#isTooEarly()) return undefined;
    const choice = adaptation.decisions.decide();
    const isOther = port.variant(choice)?.video !== stream && port.loading()?.video === stream;
    return isOther ? choice : undefined;
  }

  /** The request for a video segment has begun. */
  requested(): void {
    const { active } = this.attachment.adaptation.session.record;
    // The page has selected it, so it is not abandoned.
    if (this.#selected?.isRequested) active?.keep(Number.POSITIVE_INFINITY);
  }

  /** Shaka requests the next segment in the variant that is current after this event. */
  appended({ contentType, end }: { contentType: string; end: number }): void {
    const { port, adaptation } = this.attachment;
    const { presentation } = port;
    if (contentType !== 'video' || presentation.isEnd(end) || presentation.isWithinSegment(end)) return;
    // Shaka had this segment before it asked, and has requested the next one.
    if (adaptation.session.record.active) return;
    this.#heedPage();
    if (this.#selected?.isRequested) this.#selected = undefined;
    if (this.#selected) return;
    this.#isDue = true;
    this.#decideIfDue();
  }

  /** Removes the plugin from the manager; Shaka's own one goes on. */
  end(): void {
    this.#isEnded = true;
    this.#sourceUndo.run();
    this.#undo.run();
  }

  sourceEnded(): void {
    this.#switchTo = undefined;
    if (!this.#isLoaded) return;
    this.#isLoaded = false;
    this.#isFirst = true;
    this.#isDue = false;
    this.#selected = undefined;
    this.#sourceUndo.run();
    const { adaptation, port } = this.attachment;
    adaptation.guard(() => {
      adaptation.sourceEnded();
      port.sourceEnded();
    });
  }

  readonly #elementHandlers: Handlers = {
    timeupdate: () => this.#decideIfDue(),
    playing: () => this.attachment.adaptation.session.playing(),
    seeking: () => {
      const { port, adaptation } = this.attachment;
      // Shaka goes on after what is buffered there; it nudges the playhead over a stall, and after it has cleared the buffer.
      if (port.presentation.levelSeconds() > 0 || !adaptation.session.seeked()) return;
      this.#heedPage();
      if (!this.#selected) this.#decide();
    },
  };

  readonly #overrides: Partial<AbrManager> = {
    init: (switchTo, ...more) => {
      this.#switchTo = switchTo;
      this.inner.init((...how) => this.#suggested(...how), ...more);
    },
    configure: (settings) => {
      this.settings = settings;
      this.inner.configure(settings);
    },
    setVariants: (variants, ...more) => {
      this.#variants = variants;
      if (this.#isLoaded) this.#setVariants();
      return this.inner.setVariants(variants, ...more);
    },
    setMediaElement: (element) => {
      this.inner.setMediaElement(element);
      this.#begin(element);
    },
    chooseVariant: (isFast = false) => {
      this.isFast = isFast;
      try {
        return this.#isInCharge() ? this.#chooseForPlayer() : this.#chooseForPreload();
      } finally {
        this.isFast = false;
      }
    },
    enable: () => {
      const isAsked = this.#isEnabled || this.#hasChosen;
      this.#isEnabled = true;
      this.#hasChosen = false;
      this.#quietly(() => this.inner.enable());
      if (!this.#isInCharge()) return;
      this.attachment.adaptation.guard(() => this.#limitPrefetch());
      if (isAsked) return;
      // The page has had the choice meanwhile.
      this.attachment.port.given = this.#selected = undefined;
      this.#suggest();
    },
    disable: () => {
      this.#isEnabled = false;
      this.inner.disable();
    },
    trySuggestStreams: () => {
      if (this.#isInCharge()) this.#suggest();
      else this.inner.trySuggestStreams();
    },
    segmentDownloaded: (milliseconds, bytes, allowSwitch, request, context) => {
      this.#quietly(() => this.inner.segmentDownloaded(milliseconds, bytes, allowSwitch, request, context));
      const { adaptation, requests } = this.attachment;
      adaptation.guard(() => {
        if (request) requests.downloaded(bytes, request, context);
        else if (this.#isInCharge()) requests.sampled(bytes, milliseconds);
      });
    },
    getBandwidthEstimate: () => {
      const { playing, port } = this.attachment;
      return playing === this && port.isAbandoning ? ABORT_BPS : this.inner.getBandwidthEstimate();
    },
    stop: () => {
      this.#isEnabled = false;
      this.sourceEnded();
      this.inner.stop();
    },
    release: () => {
      this.#isEnabled = false;
      this.sourceEnded();
      this.#undo.run();
      this.attachment.released(this);
      this.inner.release();
    },
  };

  /** Shaka plays a source with this manager, which is the plugin's. */
  #isInCharge(): boolean {
    if (this.#isLeft || !this.#switchTo) return false;
    if (!this.#isLoaded) this.#begin();
    return this.#isLoaded;
  }

  #begin(element?: HTMLMediaElement): void {
    const { attachment } = this;
    const { port, adaptation } = attachment;
    if (!this.#switchTo || this.#isLeft) return;
    if (!this.#isLoaded) {
      if (!attachment.begin(this, element)) this.end();
      if (this.#isLeft) return;
      this.#isLoaded = true;
      port.manager = this;
      port.switchCallback = this.#switchTo;
      this.#setVariants();
    }
    if (!element) return;
    port.presentation.element = element;
    this.#sourceUndo.run();
    this.#sourceUndo.add(listen(element, DOM_METHODS, this.#elementHandlers, adaptation.guard));
  }

  #setVariants(): void {
    const { port, adaptation } = this.attachment;
    const { variants } = port.presentation;
    adaptation.guard(() => variants.set(this.#variants));
    if (variants.isUnknown) {
      adaptation.events.fault('unsupported-stream', 'the stream declares neither bitrates nor picture sizes');
    }
  }

  #chooseForPlayer(): Variant {
    const { port, preloaded } = this.attachment;
    const begun = this.#isFirst ? this.#variants.find((variant) => preloaded.has(variant)) : undefined;
    if (begun) preloaded.delete(begun);
    this.#isFirst = false;
    this.#hasChosen = !this.#isEnabled;
    this.#selected = undefined;
    const variant = begun ?? this.#loading() ?? this.#choose();
    port.given = variant;
    return variant;
  }

  /** Shaka begins with this choice, and takes no other. While another source plays, the plugin knows nothing of this one. */
  #chooseForPreload(): Variant {
    const { attachment } = this;
    const { port, preloaded } = attachment;
    let variant: Variant;
    if (this.#isLeft || attachment.playing?.isLoaded) variant = this.inner.chooseVariant(this.isFast);
    else {
      port.manager = this;
      this.#setVariants();
      variant = this.#choose();
    }
    if (variant) preloaded.add(variant);
    return variant;
  }

  /** The plugin's choice, else Shaka's. */
  #choose(): Variant {
    const { adaptation, port } = this.attachment;
    const variant = adaptation.guard(() => port.variant(adaptation.decisions.decide()));
    return variant ?? this.inner.chooseVariant(this.isFast);
  }

  /** What Shaka gets that asks in mid-download: another variant would abort it, which is for `abandon` to decide. */
  #loading(): Variant | undefined {
    const { adaptation, port } = this.attachment;
    const isLoading = adaptation.session.record.active && !port.isAbandoning;
    return isLoading ? adaptation.guard(() => port.loading()) : undefined;
  }

  /** Shaka's own manager switches. It also knows that the kind of network or the size of the element has changed. */
  #suggested(...[variant, ...how]: Parameters<SwitchCallback>): void {
    const isShakas = this.#isLeft || !this.#isInCharge() || !this.attachment.port.isUsable;
    if (isShakas) this.#switchTo?.(variant, ...how);
    else if (!this.#isCalling) this.#suggest();
  }

  /** Decides now. What is due at the next request stays due. */
  #suggest(): void {
    this.attachment.adaptation.guard(() => {
      const isDue = this.#isDue;
      this.#heedPage();
      if (this.#selected || this.#loading() || this.attachment.port.presentation.isEnd()) return;
      this.#decide();
      this.#isDue = isDue;
    });
  }

  #decide(): void {
    this.#isDue = false;
    const { port } = this.attachment;
    if (this.#isEnabled && port.settings.enabled) port.switchTo(this.#choose());
  }

  #decideIfDue(): void {
    const { port } = this.attachment;
    if (!this.#isDue || port.presentation.isFull()) return;
    this.#heedPage();
    if (this.#isDue && !this.#isTooEarly()) this.#decide();
  }

  /** The page has set an interval between switches; or each switch clears the buffer. */
  #isTooEarly(): boolean {
    const { port } = this.attachment;
    const { switchInterval, clearBufferSwitch } = port.settings;
    const isKept = switchInterval !== DEFAULT_INTERVAL_SECONDS || clearBufferSwitch;
    return isKept && performance.now() - port.switchedAtMs < 1000 * switchInterval && Boolean(port.loading());
  }

  /** If the page has selected a variant, a segment of it is due, and no decision. */
  #heedPage(): void {
    const { port } = this.attachment;
    const active = port.presentation.active();
    if (active && port.given && active !== port.given) {
      this.#selected = { video: active.video, isRequested: false };
      this.#isDue = false;
    }
    port.given = active ?? port.given;
  }

  #quietly(call: () => void): void {
    this.#isCalling = true;
    try {
      call();
    } finally {
      this.#isCalling = false;
    }
  }

  /** By default (1) Shaka prefetches only the segment that is due; more are requested before anything is decided. */
  #limitPrefetch(): void {
    const { player } = this.attachment;
    const get = () => player.getConfiguration().streaming.segmentPrefetchLimit;
    const set = (segmentPrefetchLimit: number) => player.configure({ streaming: { segmentPrefetchLimit } });
    if (get() > 1) this.#undo.add(override(0, get, set));
  }
}
