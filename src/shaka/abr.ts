/** A manager around Shaka's own that asks the core. Shaka's manager goes on measuring, and decides alone after `detach`. */

import type { Flow } from '../../session/flow.ts';
import type { Choice } from '../../session/player-port.ts';
import { DOM_METHODS, type Handlers, listen, override, UndoList } from '../adapter-kit.ts';
import type { AbrManager, AbrSettings, ShakaPlayer, ShakaStream, SwitchCallback, Variant } from './player.ts';
import type { ShakaPort } from './port.ts';
import type { Requests } from './requests.ts';

/** Shaka aborts the download in flight if a switch would take less time than the buffer has; less than 0 always does. */
const ABORT_BPS = -1;
/** Shaka's default for `abr.switchInterval`: the page has set none. */
const DEFAULT_INTERVAL_SECONDS = 8;

/** State that the managers of an attachment share. Shaka makes a manager to play, and others for preloads, also meanwhile. */
export interface Attachment {
  readonly player: ShakaPlayer;
  readonly port: ShakaPort;
  readonly requests: Requests;
  readonly flow: Flow;
  /** Variants that managers for preloads have chosen: Shaka begins with them. */
  readonly preloaded: WeakSet<Variant>;
  readonly isDetached: boolean;
  /** The manager of the source that plays. */
  readonly playing: PluginManager | undefined;
  /** Shaka plays its source with this manager. Returns false if the element is another player's. */
  begin(manager: PluginManager, element: HTMLMediaElement | undefined): boolean;
  released(manager: PluginManager): void;
}

export class PluginManager {
  private readonly _sourceUndo = new UndoList();
  private readonly _undo = new UndoList();
  settings: AbrSettings | undefined;
  isFast = false;
  private _variants: readonly Variant[] = [];
  /** Variants that Shaka has banned for a while. */
  private _banned: readonly Variant[] = [];
  /** Shaka's callback for the source that plays; a manager for a preload gets none. */
  private _switchTo: SwitchCallback | undefined;
  /** A source has begun with this manager. */
  private _isLoaded = false;
  private _isEnabled = false;
  /** The plugin passes a call on to Shaka's manager, whose suggestions do not count then. */
  private _isCalling = false;
  /** The plugin has made no choice for this source yet. */
  private _isFirst = true;
  /** The buffer is full: the decision waits until Shaka is about to request. */
  private _isDue = false;
  /** The page has selected a variant with this video: a segment of it is loaded before the next decision. */
  private _selected: { video: ShakaStream | null; isRequested: boolean } | undefined;
  /** Shaka has just asked what to begin with. */
  private _hasChosen = false;
  /** This manager is Shaka's alone. */
  private _isEnded = false;

  /** `inner`: Shaka's own manager. */
  constructor(
    readonly inner: AbrManager,
    private readonly _attachment: Attachment,
  ) {}

  get isLoaded(): boolean {
    return this._isLoaded;
  }

  private get _isLeft(): boolean {
    return this._isEnded || this._attachment.isDetached;
  }

  /** For Shaka: its own manager with the methods below in place of some. */
  proxy(): AbrManager {
    return new Proxy(this.inner, {
      get: (target, name: keyof AbrManager) => {
        const value: unknown = (this._isLeft ? undefined : this._overrides[name]) ?? target[name];
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
    const { isUnmeasurable } = this._attachment.flow.session;
    return isUnmeasurable ? Number.POSITIVE_INFINITY : this.inner.getBandwidthEstimate();
  }

  /**
   * Decides at Shaka's request if there was no decision before it: timers were late, or the playback rate is high.
   * Undefined if the request may stay, as in trick play, whose streams are in no variant.
   */
  decideLate(stream: ShakaStream): Choice | undefined {
    const { port, flow } = this._attachment;
    this._heedPage();
    if (this._selected && this._selected.video === stream) this._selected.isRequested = true;
    if (!this._isDue) return undefined;
    this._isDue = false;
    if (this._isTooEarly()) return undefined;
    const choice = flow.decide();
    const isOther = port.variant(choice)?.video !== stream && port.loading()?.video === stream;
    return isOther ? choice : undefined;
  }

  /** The request for a video segment has begun. */
  requested(): void {
    const { flow, port } = this._attachment;
    // Not abandoned is what the page has selected, and at first what has cost the buffer.
    if (this._selected?.isRequested) flow.keepLoading(Number.POSITIVE_INFINITY);
    else if (port.isClearing) flow.keepLoading(1);
    port.isClearing = false;
  }

  /** Shaka requests the next segment in the variant that is current after this event. */
  appended({ contentType, end }: { contentType: string; end: number }): void {
    const { port, flow } = this._attachment;
    const { presentation } = port;
    presentation.notePlayhead();
    if (contentType !== 'video' || presentation.isEnd(end) || presentation.isWithinSegment(end)) return;
    // Shaka had this segment before it asked, and has requested the next one.
    if (flow.isLoading) return;
    this._heedPage();
    if (this._selected?.isRequested) this._selected = undefined;
    if (this._selected) return;
    this._isDue = true;
    this._decideIfDue();
  }

  /** Removes the plugin from the manager; Shaka's own manager goes on. */
  end(): void {
    this._isEnded = true;
    this._sourceUndo.run();
    this._undo.run();
  }

  sourceEnded(): void {
    this._switchTo = undefined;
    if (!this._isLoaded) return;
    this._isLoaded = false;
    this._isFirst = true;
    this._isDue = false;
    this._selected = undefined;
    this._sourceUndo.run();
    const { flow, port } = this._attachment;
    flow.guard(() => {
      flow.sourceEnded();
      port.sourceEnded();
    });
  }

  private readonly _elementHandlers: Handlers = {
    timeupdate: () => {
      this._attachment.port.presentation.notePlayhead();
      this._decideIfDue();
    },
    playing: () => this._attachment.flow.played(),
    seeking: () => {
      const { port, flow } = this._attachment;
      const { presentation } = port;
      // Shaka goes on after what is buffered there; it seeks to where it is when it has cleared the buffer.
      if (presentation.levelSeconds() > 0 || presentation.isUnmoved || !flow.sought()) return;
      this._heedPage();
      if (!this._selected) this._decide();
    },
  };

  private readonly _overrides: Partial<AbrManager> = {
    init: (switchTo, ...more) => {
      this._switchTo = switchTo;
      this.inner.init((...how) => this._suggested(...how), ...more);
    },
    configure: (settings) => {
      this.settings = settings;
      this.inner.configure(settings);
    },
    setVariants: (variants, ...more) => {
      const { flow, port } = this._attachment;
      const gone = [...this._banned, ...this._variants].filter((variant) => !variants.includes(variant));
      flow.guard(() => port.forgive(gone));
      this._banned = gone.filter(({ disabledUntilTime }) => disabledUntilTime);
      this._variants = variants;
      if (this._isLoaded) this._setVariants();
      return this.inner.setVariants(variants, ...more);
    },
    setMediaElement: (element) => {
      this.inner.setMediaElement(element);
      this._begin(element);
    },
    chooseVariant: (isFast = false) => {
      this.isFast = isFast;
      try {
        return this._isInCharge() ? this._chooseForPlayer() : this._chooseForPreload();
      } finally {
        this.isFast = false;
      }
    },
    enable: () => {
      const isAsked = this._isEnabled || this._hasChosen;
      this._isEnabled = true;
      this._hasChosen = false;
      this._quietly(() => this.inner.enable());
      if (!this._isInCharge()) return;
      this._attachment.flow.guard(() => this._limitPrefetch());
      if (isAsked) return;
      // The page has had the choice meanwhile.
      this._attachment.port.given = this._selected = undefined;
      this._suggest();
    },
    disable: () => {
      this._isEnabled = false;
      this.inner.disable();
    },
    trySuggestStreams: () => {
      if (this._isInCharge()) this._suggest();
      else this.inner.trySuggestStreams();
    },
    segmentDownloaded: (milliseconds, bytes, allowSwitch, request, context) => {
      this._quietly(() => this.inner.segmentDownloaded(milliseconds, bytes, allowSwitch, request, context));
      const { flow, requests } = this._attachment;
      flow.guard(() => {
        if (request) requests.downloaded(bytes, request, context);
        else if (this._isInCharge()) requests.sampled(bytes, milliseconds);
      });
    },
    getBandwidthEstimate: () => {
      const { playing, port } = this._attachment;
      return playing === this && port.isAbandoning ? ABORT_BPS : this.inner.getBandwidthEstimate();
    },
    stop: () => {
      this._isEnabled = false;
      this._variants = this._banned = [];
      this.sourceEnded();
      this.inner.stop();
    },
    release: () => {
      this._isEnabled = false;
      this.sourceEnded();
      this._undo.run();
      this._attachment.released(this);
      this.inner.release();
    },
  };

  /** Shaka plays a source with this manager, which is the plugin's. */
  private _isInCharge(): boolean {
    if (this._isLeft || !this._switchTo) return false;
    if (!this._isLoaded) this._begin();
    return this._isLoaded;
  }

  private _begin(element?: HTMLMediaElement): void {
    const { _attachment: attachment } = this;
    const { port, flow } = attachment;
    if (!this._switchTo || this._isLeft) return;
    if (!this._isLoaded) {
      if (!attachment.begin(this, element)) this.end();
      if (this._isLeft) return;
      this._isLoaded = true;
      port.manager = this;
      port.switchCallback = (...how) => this._isEnabled && this._switchTo?.(...how);
      this._setVariants();
    }
    if (!element) return;
    port.presentation.element = element;
    this._sourceUndo.run();
    this._sourceUndo.add(listen(element, DOM_METHODS, this._elementHandlers, flow.guard));
  }

  /** At an error that stops a stream, as of the audio, Shaka ends all bans, and does not tell its manager. */
  private _restoreVariants(): void {
    const isBack = ({ audio, disabledUntilTime }: Variant) =>
      disabledUntilTime === 0 && this._variants.some((other) => other.audio === audio);
    const back = this._banned.filter(isBack);
    if (back.length > 0) this._overrides.setVariants!([...this._variants, ...back]);
  }

  private _setVariants(): void {
    const { port, flow } = this._attachment;
    const { variants } = port.presentation;
    flow.guard(() => variants.set(this._variants));
    if (variants.isUnknown) {
      flow.events.fault('unsupported-stream', 'the stream declares neither bitrates nor picture sizes');
    }
  }

  private _chooseForPlayer(): Variant {
    const { port, preloaded } = this._attachment;
    const begun = this._isFirst ? this._variants.find((variant) => preloaded.has(variant)) : undefined;
    if (begun) preloaded.delete(begun);
    this._isFirst = false;
    this._hasChosen = !this._isEnabled;
    this._selected = undefined;
    const variant = begun || this._loading() || this._choose();
    port.given = variant;
    return variant;
  }

  /** Shaka begins with this choice, and takes no other. While another source plays, the plugin knows nothing of this source. */
  private _chooseForPreload(): Variant {
    const { _attachment: attachment } = this;
    const { port, preloaded } = attachment;
    let variant: Variant;
    if (this._isLeft || this._variants.length === 0 || attachment.playing?.isLoaded)
      variant = this.inner.chooseVariant(this.isFast);
    else {
      port.manager = this;
      this._setVariants();
      variant = this._choose();
    }
    if (variant) preloaded.add(variant);
    return variant;
  }

  /** The plugin's choice, else Shaka's. */
  private _choose(): Variant {
    const { flow, port } = this._attachment;
    const variant = flow.guard(() => port.variant(flow.decide()));
    return variant ?? this.inner.chooseVariant(this.isFast);
  }

  /** The variant for Shaka if it asks during a download: another would abort the download, which only `abandon` may do. */
  private _loading(): Variant | undefined {
    const { flow, port } = this._attachment;
    const isLoading = flow.isLoading && !port.isAbandoning;
    return isLoading ? flow.guard(() => port.loading()) : undefined;
  }

  /** Shaka's own manager switches. It also knows that the kind of network or the size of the element has changed. */
  private _suggested(...wanted: Parameters<SwitchCallback>): void {
    const isShakas = this._isLeft || !this._isInCharge() || !this._attachment.port.isUsable;
    if (isShakas && this._switchTo) this._switchTo(...wanted);
    else if (!this._isCalling) this._suggest();
  }

  /** Decides now. What is due at the next request stays due. */
  private _suggest(): void {
    this._attachment.flow.guard(() => {
      const isDue = this._isDue;
      this._heedPage();
      if (this._selected || this._loading() || this._attachment.port.presentation.isEnd()) return;
      this._decide();
      this._isDue = isDue;
    });
  }

  private _decide(): void {
    this._isDue = false;
    const { port, flow } = this._attachment;
    const { enabled, switchInterval } = port.settings;
    if (!this._isEnabled || !enabled || port.isClearing) return;
    this._restoreVariants();
    port.decide(() => this._choose(), flow.clock.nowSeconds() < switchInterval);
  }

  private _decideIfDue(): void {
    const { port } = this._attachment;
    if (!this._isDue || port.presentation.isFull()) return;
    this._heedPage();
    if (this._isDue && !this._isTooEarly()) this._decide();
  }

  /** The page has set an interval between switches; or each switch clears the buffer. */
  private _isTooEarly(): boolean {
    const { port } = this._attachment;
    const { switchInterval, clearBufferSwitch } = port.settings;
    const isKept = switchInterval !== DEFAULT_INTERVAL_SECONDS || clearBufferSwitch;
    return isKept && performance.now() - port.switchedAtMs < 1000 * switchInterval && Boolean(port.loading());
  }

  /** If the page has selected a variant, a segment of it is due, and no decision. */
  private _heedPage(): void {
    const { port } = this._attachment;
    const active = port.presentation.active();
    if (active && port.given && active !== port.given) {
      this._selected = { video: active.video, isRequested: false };
      this._isDue = false;
    }
    port.given = active ?? port.given;
  }

  private _quietly(call: () => void): void {
    this._isCalling = true;
    try {
      call();
    } finally {
      this._isCalling = false;
    }
  }

  /** By default (1) Shaka prefetches only the segment that is due; more are requested before anything is decided. */
  private _limitPrefetch(): void {
    const { player } = this._attachment;
    const get = () => player.getConfiguration().streaming.segmentPrefetchLimit;
    const set = (segmentPrefetchLimit: number) => player.configure({ streaming: { segmentPrefetchLimit } });
    if (get() > 1) this._undo.add(override(0, get, set));
  }
}
