/** A manager around Shaka's own that asks the flow. Shaka's manager goes on measuring, and decides alone after `detach`. */

import type { Flow } from '../../session/flow.ts';
import { DOM_METHODS, type Handlers, listen } from '../adapter-kit.ts';
import type { AbrManager, AbrSettings, SwitchCallback, Variant } from './player.ts';
import type { ShakaPort } from './port.ts';
import type { Requests } from './requests.ts';
import type { AskedManager } from './situation.ts';

/** By a negative estimate a new download takes less time than any buffer lasts, so that Shaka gives up the one in flight. */
const ABORTING_BPS = -1;

/** State that the managers of an attachment share. Shaka makes a manager to play, and others for preloads, also meanwhile. */
export interface Attachment {
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
  limitPrefetch(): void;
  released(manager: PluginManager): void;
}

/** What Shaka has told a manager of one source; the next one begins with nothing. */
class Told {
  /** Shaka's callback for switches; a manager for a preload gets none. */
  switchTo: SwitchCallback | undefined;
  variants: readonly Variant[] = [];
  /** Variants that Shaka has banned for a while. */
  banned: readonly Variant[] = [];
  isEnabled = false;
  /** Shaka has not asked yet. */
  isFirst = true;
  /** Shaka has just asked what to begin with. */
  hasAsked = false;
}

export class PluginManager implements AskedManager {
  settings: AbrSettings | undefined;
  isFast = false;
  private _told = new Told();
  /** The plugin passes a call on to Shaka's manager, whose suggestions do not count then. */
  private _isCalling = false;
  /** This manager is Shaka's alone. */
  private _isEnded = false;

  /** `inner`: Shaka's own manager. */
  constructor(
    readonly inner: AbrManager,
    private readonly _attachment: Attachment,
  ) {}

  /** A source has begun with this manager. */
  get isLoaded(): boolean {
    const { playing, port } = this._attachment;
    return playing === this && port.source.manager === this;
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

  readonly give: SwitchCallback = (...how) => {
    const { isEnabled, switchTo } = this._told;
    if (isEnabled) switchTo?.(...how);
  };

  /** Shaka requests the next segment in the variant that is current after this event. */
  appended({ contentType, end }: { contentType: string; end: number }): void {
    if (!this.isLoaded) return;
    const { flow, port } = this._attachment;
    const { source } = port;
    source.notePlayhead();
    if (contentType !== 'video' || source.isEnd(end) || source.isWithinSegment(end)) return;
    // Shaka had this segment before it asked, and has requested the next one.
    if (flow.isLoading) return;
    source.heedPage();
    if (source.selected?.isRequested) source.selected = undefined;
    if (source.selected) return;
    source.isDue = true;
    this._decideIfDue();
  }

  /** Removes the plugin from the manager; Shaka's own manager goes on. */
  end(): void {
    if (this.isLoaded) this._attachment.port.source.undo.run();
    this._isEnded = true;
  }

  sourceEnded(): void {
    this._told = new Told();
    if (!this.isLoaded) return;
    const { flow, port } = this._attachment;
    port.source.undo.run();
    flow.guard(() => {
      flow.sourceEnded();
      port.sourceEnded();
    });
  }

  private readonly _elementHandlers: Handlers = {
    timeupdate: () => {
      this._attachment.port.source.notePlayhead();
      this._decideIfDue();
    },
    playing: () => this._attachment.flow.played(),
    seeking: () => {
      const { flow, port } = this._attachment;
      const { source } = port;
      // Shaka goes on after what is buffered there; it seeks to where it is when it has cleared the buffer.
      if (source.levelSeconds() > 0 || source.isUnmoved || !flow.sought()) return;
      source.heedPage();
      if (!source.selected) this._decide();
    },
  };

  private readonly _overrides: Partial<AbrManager> = {
    init: (switchTo, ...more) => {
      this._told.switchTo = switchTo;
      this.inner.init((...how) => this._suggested(...how), ...more);
    },
    configure: (settings) => {
      this.settings = settings;
      this.inner.configure(settings);
    },
    setVariants: (variants, ...more) => {
      const { _attachment: attachment, _told: told } = this;
      const { flow, port } = attachment;
      const gone = [...told.banned, ...told.variants].filter((variant) => !variants.includes(variant));
      flow.guard(() => port.forgive(gone));
      told.banned = gone.filter(({ disabledUntilTime }) => disabledUntilTime);
      told.variants = variants;
      if (this.isLoaded) this._setVariants();
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
      const { _attachment: attachment, _told: told } = this;
      const isAsked = told.isEnabled || told.hasAsked;
      told.isEnabled = true;
      told.hasAsked = false;
      this._quietly(() => this.inner.enable());
      if (!this._isInCharge()) return;
      attachment.flow.guard(() => attachment.limitPrefetch());
      if (isAsked) return;
      // The page has had the choice meanwhile.
      const { source } = attachment.port;
      source.given = source.selected = undefined;
      this._suggest();
    },
    disable: () => {
      this._told.isEnabled = false;
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
    getBandwidthEstimate: () =>
      this.isLoaded && this._attachment.port.isAbandoning ? ABORTING_BPS : this.inner.getBandwidthEstimate(),
    stop: () => {
      this.sourceEnded();
      this.inner.stop();
    },
    release: () => {
      this.sourceEnded();
      this._attachment.released(this);
      this.inner.release();
    },
  };

  /** Shaka plays a source with this manager, which is the plugin's. */
  private _isInCharge(): boolean {
    if (this._isLeft || !this._told.switchTo) return false;
    if (!this.isLoaded) this._begin();
    return this.isLoaded;
  }

  private _begin(element?: HTMLMediaElement): void {
    const { _attachment: attachment } = this;
    const { port, flow } = attachment;
    if (!this._told.switchTo || this._isLeft) return;
    if (!this.isLoaded) {
      if (!attachment.begin(this, element)) {
        this.end();
        return;
      }
      port.source.manager = this;
      this._setVariants();
    }
    if (!element) return;
    const { source } = port;
    source.element = element;
    source.undo.run();
    source.undo.add(listen(element, DOM_METHODS, this._elementHandlers, flow.guard));
  }

  /** At an error that stops a stream, as of the audio, Shaka ends all bans, and does not tell its manager. */
  private _restoreVariants(): void {
    const { variants, banned } = this._told;
    const isBack = ({ audio, disabledUntilTime }: Variant) =>
      disabledUntilTime === 0 && variants.some((other) => other.audio === audio);
    const back = banned.filter(isBack);
    if (back.length > 0) this._overrides.setVariants!([...variants, ...back]);
  }

  private _setVariants(): void {
    const { port, flow } = this._attachment;
    const { variants } = port.source;
    flow.guard(() => variants.set(this._told.variants));
    if (variants.isUnknown) {
      flow.events.fault('unsupported-stream', 'the stream declares neither bitrates nor picture sizes');
    }
  }

  private _chooseForPlayer(): Variant {
    const { _attachment: attachment, _told: told } = this;
    const { port, preloaded } = attachment;
    const begun = told.isFirst ? told.variants.find((variant) => preloaded.has(variant)) : undefined;
    if (begun) preloaded.delete(begun);
    told.isFirst = false;
    told.hasAsked = !told.isEnabled;
    port.source.selected = undefined;
    const variant = begun || this._loading() || this._choose();
    port.source.given = variant;
    return variant;
  }

  /** Shaka begins with this choice, and takes no other. While another source plays, the plugin knows nothing of this source. */
  private _chooseForPreload(): Variant {
    const { _attachment: attachment } = this;
    const { port, preloaded } = attachment;
    let variant: Variant;
    if (this._isLeft || this._told.variants.length === 0 || attachment.playing?.isLoaded)
      variant = this.inner.chooseVariant(this.isFast);
    else {
      port.source.manager = this;
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
    if (isShakas) this._told.switchTo?.(...wanted);
    else if (!this._isCalling) this._suggest();
  }

  /** Decides now. What is due at the next request stays due. */
  private _suggest(): void {
    const { flow, port } = this._attachment;
    flow.guard(() => {
      const { source } = port;
      const { isDue } = source;
      source.heedPage();
      if (source.selected || this._loading() || source.isEnd()) return;
      this._decide();
      source.isDue = isDue;
    });
  }

  private _decide(): void {
    const { port, flow } = this._attachment;
    const { settings, source } = port;
    source.isDue = false;
    if (!this._told.isEnabled || !settings.enabled || source.isClearing) return;
    this._restoreVariants();
    port.decide(() => this._choose(), flow.clock.nowSeconds() < settings.switchInterval);
  }

  private _decideIfDue(): void {
    const { port } = this._attachment;
    const { source } = port;
    if (!source.isDue || source.isFull()) return;
    source.heedPage();
    if (source.isDue && !port.isTooEarly) this._decide();
  }

  private _quietly(call: () => void): void {
    this._isCalling = true;
    try {
      call();
    } finally {
      this._isCalling = false;
    }
  }
}
