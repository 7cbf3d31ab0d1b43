/** Implements the flow's port for Shaka Player: what may be chosen, and how to switch. */

import type { AssumedLink } from '../../abr/controller.ts';
import type { Flow } from '../../session/flow.ts';
import type { LiveOptions } from '../../session/page/option-types.ts';
import type { Choice, PlayerPort, Situation } from '../../session/player-port.ts';
import { CatchUp } from './live.ts';
import type { AbrSettings, ShakaPlayer, ShakaStream, Variant } from './player.ts';
import { Source } from './situation.ts';
import { withAudio } from './variants.ts';

/** Segments of an HLS stream before its first picture. */
const PROBED_SEGMENTS = 3;
/** If the buffer is replaced, this many segments stay. */
const KEPT_SEGMENTS = 1.5;
/** Shaka's default for `streaming.maxDisabledTime`, and the time for which a failed variant is banned instead. */
const BANNED_SECONDS = 30;
const AVOIDED_SECONDS = 10;
/** Shaka's default for `abr.switchInterval`: the page has set none. */
const DEFAULT_INTERVAL_SECONDS = 8;
/** If Shaka has cleared its buffer and requests nothing for this long, it has stopped for ever. */
const STOPPED_MS = 2000;

export class ShakaPort implements PlayerPort {
  readonly name = 'Shaka Player';
  readonly rate: CatchUp;
  source: Source;

  constructor(
    private readonly _player: ShakaPlayer,
    options: { readonly live: LiveOptions },
    private readonly _flow: () => Flow,
  ) {
    this.source = new Source(_player);
    this.rate = new CatchUp(options, _player, () => this.source);
  }

  get settings(): AbrSettings {
    return this.source.manager?.settings || this._player.getConfiguration().abr;
  }

  /** Streams without video or without bitrates are left to Shaka. */
  get isUsable(): boolean {
    const { hasVideo, isUnknown } = this.source.variants;
    return hasVideo && !isUnknown;
  }

  /** Shaka gives up the download in flight, if it asks now. */
  get isAbandoning(): boolean {
    const { active } = this._flow().session;
    return active !== undefined && active === this.source.abandoned;
  }

  /** The page has set an interval between switches; or each switch clears the buffer. */
  get isTooEarly(): boolean {
    const { switchInterval, clearBufferSwitch } = this.settings;
    const isKept = switchInterval !== DEFAULT_INTERVAL_SECONDS || clearBufferSwitch;
    return isKept && performance.now() - this.source.switchedAtMs < 1000 * switchInterval && Boolean(this.loading());
  }

  manifestUrl(): string | null {
    return this._player.getAssetUri();
  }

  /**
   * Shaka first loads two more whole segments of an HLS stream, in search of captions, which the plugin cannot abandon.
   * Shaka tells the type of the stream only later, so its URL has to.
   */
  assumed(browserBps: number | undefined): AssumedLink {
    const playerBps = this._inner.getBandwidthEstimate();
    return /\.m3u8/i.test(String(this.manifestUrl()))
      ? { playerBps: playerBps / PROBED_SEGMENTS, browserBps: undefined }
      : { playerBps, browserBps };
  }

  situation(isFirst = false): Situation | undefined {
    if (!this.settings.enabled || !this.isUsable) return undefined;
    const allowed = this._allowed();
    // Shaka's contract: the highest resolution of equal bandwidths that its estimate allows. Sizes are measured later.
    const mostBps = isFirst ? this._inner.getBandwidthEstimate() : 0;
    const isBest = (one: Variant) => !allowed.some((other) => other.bandwidth <= mostBps && isLargerVideo(one, other));
    return this.source.situation(isFirst ? allowed.filter(isBest) : allowed, this.rate.position());
  }

  abandon(choice: Choice): void {
    this.source.abandoned = this._flow().session.active;
    // Another audio would make Shaka discard that download, too.
    const { audio } = this.source.active() || {};
    this.switchTo(this._variants(choice).find((variant) => variant.audio === audio) || this.variant(choice));
  }

  /**
   * Switches to the choice. If each switch clears the buffer, or the page allows a higher bitrate than before, for example
   * in full screen, Shaka replaces what is buffered beyond a margin. Then the plugin goes up if it would go up without that
   * media. If less than a segment stays, playback stalls in any case, and the plugin goes up as far as Shaka would.
   * `isEarly`: playback has just begun, with too little media to clear at each switch.
   */
  decide(choose: () => Variant | undefined, isEarly: boolean): void {
    const { source, settings } = this;
    const { bitrateBps = 0 } = source.variants.ladder(this._allowed()).pop() || {};
    const isOutgrown = source.topBps > 0 && bitrateBps > source.topBps;
    source.topBps = bitrateBps;
    const segmentSeconds = source.segmentSeconds();
    const isCleared = settings.clearBufferSwitch && !isEarly;
    const keptSeconds = isOutgrown ? KEPT_SEGMENTS * segmentSeconds : settings.safeMarginSwitch;
    const active = source.active();
    if (active && (isOutgrown || isCleared) && source.levelSeconds() > keptSeconds) {
      if (keptSeconds >= segmentSeconds) {
        const flow = this._flow();
        const isUsed = (choice: Choice) => this.variant(choice)!.bandwidth > active.bandwidth;
        source.keptSeconds = keptSeconds;
        const variant = flow.guard(() => this.variant(flow.decide(isUsed)));
        source.keptSeconds = Number.POSITIVE_INFINITY;
        if (variant) {
          this.switchTo(variant, keptSeconds);
          return;
        }
      }
      if (isCleared) source.mostBps = Math.max(active.bandwidth, this._inner.chooseVariant().bandwidth);
    }
    const variant = choose();
    source.mostBps = Number.POSITIVE_INFINITY;
    this.switchTo(variant, isCleared ? keptSeconds : undefined);
  }

  /** Switches. If more than `keptSeconds` is buffered, Shaka removes the rest. */
  switchTo(variant: Variant | undefined, keptSeconds = Number.POSITIVE_INFINITY): void {
    if (!variant) return;
    const { source, settings } = this;
    if (source.given !== variant) source.switchedAtMs = performance.now();
    const active = source.active();
    if (!active) this._give(variant, settings.clearBufferSwitch, settings.safeMarginSwitch);
    else if (active === variant || source.levelSeconds() <= keptSeconds) this._give(variant);
    else {
      source.isClearing = true;
      // At `segmentappended`, Shaka is about to set its timer for the next request, and would lose it while it clears.
      Promise.resolve().then(() => this._flow().guard(() => this._clear(variant, active, keptSeconds)));
    }
  }

  /** Shaka has just banned these variants. In an outage others fail, too; the flow avoids a broken variant for longer. */
  forgive(variants: readonly Variant[]): void {
    const { maxDisabledTime } = this._player.getConfiguration().streaming;
    const nowSeconds = Date.now() / 1000;
    for (const variant of variants) {
      const restSeconds = variant.disabledUntilTime! - nowSeconds;
      // Shaka waits before it bans; without a failure it bans for dropped frames. Another length is the page's.
      const isFailure = performance.now() - this.source.failedAtMs < 1000 * AVOIDED_SECONDS;
      const isDefault = maxDisabledTime === BANNED_SECONDS && Math.abs(restSeconds - BANNED_SECONDS) < 1;
      if (isFailure && isDefault) variant.disabledUntilTime = nowSeconds + AVOIDED_SECONDS;
    }
  }

  /** What plays or loads, if page and Shaka still allow it. */
  loading(): Variant | undefined {
    const active = this.source.active();
    return this._allowed().find((variant) => variant === active);
  }

  /**
   * Decides at Shaka's request if there was no decision before it: timers were late, or the playback rate is high.
   * Undefined if the request may stay, as in trick play, whose streams are in no variant.
   */
  decideLate(stream: ShakaStream): Choice | undefined {
    const { source } = this;
    source.heedPage();
    if (source.selected && source.selected.video === stream) source.selected.isRequested = true;
    if (!source.isDue) return undefined;
    source.isDue = false;
    if (this.isTooEarly) return undefined;
    const choice = this._flow().decide();
    const isOther = this.variant(choice)?.video !== stream && this.loading()?.video === stream;
    return isOther ? choice : undefined;
  }

  variant(choice: Choice | undefined): Variant | undefined {
    if (!choice) return undefined;
    const { bandwidthUpgradeTarget, bandwidthDowngradeTarget } = this.settings;
    const { playbackRate, variants } = this.source;
    const ladder = variants.ladder(this._allowed());
    // Shaka's estimate leaves out what came too fast to measure, which may be all.
    const { bounds, downloads } = this._flow().session;
    const isUnmeasurable = bounds.length > 0 && downloads === bounds;
    const bps = (isUnmeasurable ? Number.POSITIVE_INFINITY : this._inner.getBandwidthEstimate()) / playbackRate;
    return withAudio(
      this._variants(choice),
      { rung: ladder.findIndex(({ id }) => id === choice.representationId), rungs: ladder.length },
      {
        reference: this._audio(),
        mostBps: { stay: bps * bandwidthDowngradeTarget, up: bps * bandwidthUpgradeTarget },
      },
    );
  }

  sourceEnded(): void {
    this.source = new Source(this._player);
  }

  private get _inner() {
    return this.source.manager!.inner;
  }

  private _clear(variant: Variant, active: Variant, safeMargin: number): void {
    if (!this.source.isClearing) return;
    this._give(variant, true, safeMargin);
    const revive = () => {
      const { source } = this;
      if (!source.isClearing || source.given !== variant) return;
      source.isClearing = false;
      // Only a switch that clears sets Shaka's timer anew. It has nothing to remove.
      if (!source.isFull()) this._give(active, true, source.levelSeconds() + 1);
    };
    setTimeout(() => this._flow().guard(revive), STOPPED_MS);
  }

  private _give(variant: Variant, isClearing = false, safeMargin = 0): void {
    this.source.given = variant;
    this.source.manager?.give(variant, isClearing, safeMargin);
  }

  /** The variants with the chosen video. */
  private _variants({ representationId }: Choice): Variant[] {
    const { variants } = this.source;
    return this._allowed().filter(({ video }) => variants.rungOf(video!).id === representationId);
  }

  /** What plays, or what Shaka itself would begin with. */
  private _audio(): ShakaStream | null | undefined {
    return (this.source.active() || this._inner.chooseVariant())?.audio;
  }

  /** The variants with video that the page allows; at least one, unless there is no video. */
  private _allowed(): Variant[] {
    const { source } = this;
    const all = source.variants.all.filter(({ video }) => video);
    // As Shaka has it: the others are for a player that prefers them.
    const fast = all.filter(({ audio, video }) => audio?.fastSwitching || video!.fastSwitching);
    const usual = all.filter((variant) => !fast.includes(variant));
    const preferred = (source.manager!.isFast && fast.length > 0) || usual.length === 0 ? fast : usual;
    const highest = this._highest();
    const within = preferred.filter(
      (variant) =>
        variant.bandwidth <= source.mostBps &&
        this._isWithinRestrictions(variant) &&
        (!highest?.video || this._isUpTo(highest, variant)),
    );
    if (within.length > 0) return within;
    return preferred.sort((a, b) => a.bandwidth - b.bandwidth).slice(0, 1);
  }

  /** What Shaka would choose on a link without limits: it knows the sizes of element, screen and window. */
  private _highest(): Variant | null {
    const { inner, isFast } = this.source.manager!;
    const estimate = inner.getBandwidthEstimate;
    inner.getBandwidthEstimate = () => Number.POSITIVE_INFINITY;
    try {
      return inner.chooseVariant(isFast);
    } finally {
      inner.getBandwidthEstimate = estimate;
    }
  }

  private _isUpTo(highest: Variant, { video, bandwidth }: Variant): boolean {
    if (bandwidth > highest.bandwidth) return false;
    const { restrictToElementSize, restrictToScreenSize } = this.settings;
    const isLarger = video!.width! > highest.video!.width! || video!.height! > highest.video!.height!;
    return !((restrictToElementSize || restrictToScreenSize) && isLarger);
  }

  /** As Shaka has it: the longer side of a portrait picture counts as its width. Unknown sizes fit. */
  private _isWithinRestrictions({ video, audio, bandwidth }: Variant): boolean {
    const { restrictions } = this.settings;
    const { width, height, frameRate }: ShakaStream = video!;
    const values = {
      Width: Math.max(width!, height!),
      Height: Math.min(width!, height!),
      Pixels: width! * height!,
      FrameRate: frameRate!,
      ChannelsCount: audio?.channelsCount || Number.NaN,
      Bandwidth: bandwidth,
    };
    return (Object.keys(values) as (keyof typeof values)[]).every(
      (name) => !(values[name] < restrictions[`min${name}`] || values[name] > restrictions[`max${name}`]),
    );
  }
}

/** The other variant has a larger picture at the same bandwidth. */
const isLargerVideo = ({ audio, video, bandwidth }: Variant, other: Variant) =>
  other.bandwidth === bandwidth && other.audio === audio && other.video!.width! > video!.width!;
