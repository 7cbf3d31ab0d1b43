/** Implements the core's port for Shaka Player: what may be chosen, and how to switch. */

import type { AssumedLink } from '../../abr/controller.ts';
import type { Guard } from '../../session/page/events.ts';
import type { LiveOptions } from '../../session/page/option-types.ts';
import type { Choice, PlayerPort, Situation } from '../../session/player-port.ts';
import { CatchUp, LiveStream } from './live.ts';
import type { AbrManager, AbrSettings, ShakaPlayer, ShakaStream, SwitchCallback, Variant } from './player.ts';
import { Presentation } from './situation.ts';
import { withAudio } from './variants.ts';

/** The manager that Shaka asks. */
interface AskedManager {
  /** Shaka's own manager. */
  readonly inner: Pick<AbrManager, 'chooseVariant' | 'getBandwidthEstimate'>;
  /** As Shaka has configured it. */
  readonly settings: AbrSettings | undefined;
  /** The player prefers fast switching. */
  readonly isFast: boolean;
  /** Its choice on a link without limits. */
  highestVariant(): Variant | null;
  /** Throughput, as far as Shaka estimates it. */
  linkBps(): number;
}

/** Segments of an HLS stream before its first picture. */
const PROBED_SEGMENTS = 3;
/** If the buffer is replaced, this many segments stay. */
const KEPT_SEGMENTS = 1.5;
/** Shaka's default for `streaming.maxDisabledTime`, and the time for which a failed variant is banned instead. */
const BANNED_SECONDS = 30;
const AVOIDED_SECONDS = 10;
/** If Shaka has cleared its buffer and requests nothing for this long, it has stopped for ever. */
const STOPPED_MS = 2000;

export class ShakaPort implements PlayerPort {
  readonly name = 'Shaka Player';
  readonly live: LiveStream;
  readonly presentation: Presentation;
  readonly rate: CatchUp;
  /** Shaka gives up the download in flight, if it asks now. */
  isAbandoning = false;
  /** Shaka clears its buffer, and has requested nothing since. Another switch could stop it for ever. */
  isClearing = false;
  /** Shaka's callback for switches, of the present source. */
  switchCallback: SwitchCallback | undefined;
  manager: AskedManager | undefined;
  /** The last variant that Shaka was given; the page may select another variant. */
  given: Variant | undefined;
  /** The highest bitrate allowed at the latest decision; 0 before. */
  private _topBps = 0;
  /** Variants above are not chosen. */
  private _mostBps = Number.POSITIVE_INFINITY;
  /** When Shaka was given another variant, by `performance.now()`. */
  switchedAtMs = Number.NEGATIVE_INFINITY;
  /** When a request failed. */
  failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly _player: ShakaPlayer,
    options: { readonly live: LiveOptions },
    private readonly _guard: Guard,
  ) {
    this.live = new LiveStream(_player);
    this.presentation = new Presentation(_player, this.live);
    this.rate = new CatchUp(options, _player, this.live, () => this.presentation.element);
  }

  get settings(): AbrSettings {
    return this.manager?.settings || this._player.getConfiguration().abr;
  }

  /** Streams without video or without bitrates are left to Shaka. */
  get isUsable(): boolean {
    const { hasVideo, isUnknown } = this.presentation.variants;
    return hasVideo && !isUnknown;
  }

  manifestUrl(): string | null {
    return this._player.getAssetUri();
  }

  /**
   * Shaka first loads two more whole segments of an HLS stream, in search of captions, which the plugin cannot abandon.
   * Shaka tells the type of the stream only later, so its URL has to.
   */
  assumed(browserBps: number | undefined): AssumedLink {
    const playerBps = this.manager!.inner.getBandwidthEstimate();
    return /\.m3u8/i.test(String(this.manifestUrl()))
      ? { playerBps: playerBps / PROBED_SEGMENTS, browserBps: undefined }
      : { playerBps, browserBps };
  }

  situation(isFirst = false): Situation | undefined {
    if (!this.settings.enabled || !this.isUsable) return undefined;
    const allowed = this._allowed();
    // Shaka's contract: the highest resolution of equal bandwidths that its estimate allows. Sizes are measured later.
    const mostBps = isFirst ? this.manager!.inner.getBandwidthEstimate() : 0;
    const isBest = (one: Variant) => !allowed.some((other) => other.bandwidth <= mostBps && isLargerVideo(one, other));
    return this.presentation.situation(isFirst ? allowed.filter(isBest) : allowed, this.rate.position());
  }

  abandon(choice: Choice): void {
    this.isAbandoning = true;
    // Another audio would make Shaka discard that download, too.
    const { audio } = this.presentation.active() || {};
    this.switchTo(this._variants(choice).find((variant) => variant.audio === audio) || this.variant(choice));
  }

  /**
   * Switches to the choice. If each switch clears the buffer, or the page allows a higher bitrate than before, for example
   * in full screen, Shaka replaces what is buffered beyond a margin. Then the plugin goes up if it would go up without that
   * media. If less than a segment stays, playback stalls in any case, and the plugin goes up as far as Shaka would.
   * `isEarly`: playback has just begun, with too little media to clear at each switch.
   */
  decide(choose: () => Variant | undefined, isEarly: boolean): void {
    const { presentation, settings } = this;
    const { bitrateBps = 0 } = presentation.variants.ladder(this._allowed()).pop() || {};
    const isOutgrown = this._topBps > 0 && bitrateBps > this._topBps;
    this._topBps = bitrateBps;
    const segmentSeconds = presentation.segmentSeconds();
    const isCleared = settings.clearBufferSwitch && !isEarly;
    const keptSeconds = isOutgrown ? KEPT_SEGMENTS * segmentSeconds : settings.safeMarginSwitch;
    const active = presentation.active();
    if (active && (isOutgrown || isCleared) && presentation.levelSeconds() > keptSeconds) {
      if (keptSeconds >= segmentSeconds) {
        presentation.keptSeconds = keptSeconds;
        const variant = choose();
        presentation.keptSeconds = Number.POSITIVE_INFINITY;
        if (variant && variant.bandwidth > active.bandwidth) {
          this.switchTo(variant, keptSeconds);
          return;
        }
      }
      if (isCleared) this._mostBps = Math.max(active.bandwidth, this.manager!.inner.chooseVariant().bandwidth);
    }
    const variant = choose();
    this._mostBps = Number.POSITIVE_INFINITY;
    this.switchTo(variant, isCleared ? keptSeconds : undefined);
  }

  /** Switches. If more than `keptSeconds` is buffered, Shaka removes the rest. */
  switchTo(variant: Variant | undefined, keptSeconds = Number.POSITIVE_INFINITY): void {
    if (!variant) return;
    if (this.given !== variant) this.switchedAtMs = performance.now();
    const { presentation, settings } = this;
    const active = presentation.active();
    if (!active) this._give(variant, settings.clearBufferSwitch, settings.safeMarginSwitch);
    else if (active === variant || presentation.levelSeconds() <= keptSeconds) this._give(variant);
    else {
      this.isClearing = true;
      // At `segmentappended`, Shaka is about to set its timer for the next request, and would lose it while it clears.
      Promise.resolve().then(() => this._guard(() => this._clear(variant, active, keptSeconds)));
    }
  }

  /** Shaka has just banned these variants. In an outage others fail, too; the core avoids a broken variant for longer. */
  forgive(variants: readonly Variant[]): void {
    const { maxDisabledTime } = this._player.getConfiguration().streaming;
    const nowSeconds = Date.now() / 1000;
    for (const variant of variants) {
      const restSeconds = variant.disabledUntilTime! - nowSeconds;
      // Shaka waits before it bans; without a failure it bans for dropped frames. Another length is the page's.
      const isFailure = performance.now() - this.failedAtMs < 1000 * AVOIDED_SECONDS;
      const isDefault = maxDisabledTime === BANNED_SECONDS && Math.abs(restSeconds - BANNED_SECONDS) < 1;
      if (isFailure && isDefault) variant.disabledUntilTime = nowSeconds + AVOIDED_SECONDS;
    }
  }

  /** What plays or loads, if page and Shaka still allow it. */
  loading(): Variant | undefined {
    const active = this.presentation.active();
    return this._allowed().find((variant) => variant === active);
  }

  variant(choice: Choice | undefined): Variant | undefined {
    if (!choice) return undefined;
    const { bandwidthUpgradeTarget, bandwidthDowngradeTarget } = this.settings;
    const { playbackRate } = this.presentation;
    const ladder = this.presentation.variants.ladder(this._allowed());
    const bps = this.manager!.linkBps() / playbackRate;
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
    this.presentation.variants.forget();
    this.presentation.element = undefined;
    this.switchCallback = undefined;
    this.given = undefined;
    this._topBps = 0;
    this.switchedAtMs = Number.NEGATIVE_INFINITY;
    this.isAbandoning = this.isClearing = false;
    this.live.forget();
  }

  private _clear(variant: Variant, active: Variant, safeMargin: number): void {
    if (!this.isClearing) return;
    this._give(variant, true, safeMargin);
    const revive = () => {
      if (!this.isClearing || this.given !== variant) return;
      this.isClearing = false;
      // Only a switch that clears sets Shaka's timer anew. It has nothing to remove.
      if (!this.presentation.isFull()) this._give(active, true, this.presentation.levelSeconds() + 1);
    };
    setTimeout(() => this._guard(revive), STOPPED_MS);
  }

  private _give(variant: Variant, isClearing = false, safeMargin = 0): void {
    this.given = variant;
    if (this.switchCallback) this.switchCallback(variant, isClearing, safeMargin);
  }

  /** The variants with the chosen video. */
  private _variants({ representationId }: Choice): Variant[] {
    const { variants } = this.presentation;
    return this._allowed().filter(({ video }) => variants.rungOf(video!).id === representationId);
  }

  /** What plays, or what Shaka itself would begin with. */
  private _audio(): ShakaStream | null | undefined {
    return (this.presentation.active() || this.manager!.inner.chooseVariant())?.audio;
  }

  /** The variants with video that the page allows; at least one, unless there is no video. */
  private _allowed(): Variant[] {
    const manager = this.manager!;
    const all = this.presentation.variants.all.filter(({ video }) => video);
    // As Shaka has it: the others are for a player that prefers them.
    const fast = all.filter(({ audio, video }) => audio?.fastSwitching || video!.fastSwitching);
    const usual = all.filter((variant) => !fast.includes(variant));
    const preferred = (manager.isFast && fast.length > 0) || usual.length === 0 ? fast : usual;
    const highest = manager.highestVariant();
    const within = preferred.filter(
      (variant) =>
        variant.bandwidth <= this._mostBps &&
        this._isWithinRestrictions(variant) &&
        (!highest?.video || this._isUpTo(highest, variant)),
    );
    if (within.length > 0) return within;
    return preferred.sort((a, b) => a.bandwidth - b.bandwidth).slice(0, 1);
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
