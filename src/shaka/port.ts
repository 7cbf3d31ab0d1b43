/** Implements the core's port for Shaka Player: what may be chosen, and how to switch. */

import type { LiveOptions } from '../../session/page/option-types.ts';
import type { Choice, PlayerPort, Situation } from '../../session/player-port.ts';
import { CatchUp } from './catch-up.ts';
import { LiveStream } from './live.ts';
import type { ShakaPlayer, Stream, Variant } from './player.ts';
import { bitrateOf, idOf, Presentation } from './situation.ts';

/** Shaka's own manager, and its choice on a link without limits. */
interface OwnManager {
  readonly inner: { chooseVariant(): Variant };
  highestVariant(): Variant;
}

export class ShakaPort implements PlayerPort {
  readonly name = 'Shaka Player';
  readonly live: LiveStream;
  readonly presentation: Presentation;
  readonly rate: CatchUp;
  /** Shaka gives up the download in flight, if it asks now. */
  isAbandoning = false;
  /** Shaka's callback for switches, of the present source. */
  switchCallback: ((variant: Variant) => void) | undefined;

  constructor(
    private readonly player: ShakaPlayer,
    options: { readonly live: LiveOptions },
    private readonly manager: () => OwnManager,
  ) {
    this.live = new LiveStream(player);
    this.presentation = new Presentation(player, this.live);
    this.rate = new CatchUp(options, player, this.live, () => this.presentation.element);
  }

  get isEnabled(): boolean {
    return this.player.getConfiguration().abr.enabled;
  }

  manifestUrl(): string | null {
    return this.player.getAssetUri();
  }

  situation(): Situation | undefined {
    const { presentation } = this;
    if (!this.isEnabled || !presentation.hasVideo) return undefined;
    return presentation.situation(this.#allowed(), this.rate.position());
  }

  abandon(choice: Choice): void {
    this.isAbandoning = true;
    this.switchTo(this.variant(choice));
  }

  switchTo(variant: Variant | undefined): void {
    if (variant) this.switchCallback?.(variant);
  }

  /** What plays or loads, if page and Shaka still allow it. */
  loading(): Variant | undefined {
    const active = this.presentation.active();
    return this.#allowed().find((variant) => variant === active);
  }

  variant(choice: Choice | undefined): Variant | undefined {
    return choice && this.#allowed().find(({ video }) => idOf(video!) === choice.representationId);
  }

  sourceEnded(): void {
    this.presentation.variants = [];
    this.presentation.element = undefined;
    this.switchCallback = undefined;
    this.isAbandoning = false;
    this.live.forget();
  }

  /** The variants with the present audio that the page allows, ascending in bitrate; at least one, unless there is no video. */
  #allowed(): Variant[] {
    const { presentation } = this;
    // What plays, or what Shaka itself would begin with.
    const audio = (presentation.active() ?? this.manager().inner.chooseVariant())?.audio;
    const ladder = presentation.variants
      .filter((variant) => variant.video && variant.audio === audio)
      .sort((a, b) => bitrateOf(a) - bitrateOf(b));
    const most = bitrateOf(this.manager().highestVariant());
    const within = ladder.filter((variant) => bitrateOf(variant) <= most && this.#isWithinRestrictions(variant));
    return within.length > 0 ? within : ladder.slice(0, 1);
  }

  /** As Shaka has it: the longer side of a portrait picture counts as its width. Unknown sizes fit. */
  #isWithinRestrictions({ video, bandwidth }: Variant): boolean {
    const { restrictions } = this.player.getConfiguration().abr;
    const { width, height, frameRate }: Stream = video!;
    const values = {
      Width: Math.max(width!, height!),
      Height: Math.min(width!, height!),
      Pixels: width! * height!,
      FrameRate: frameRate!,
      Bandwidth: bandwidth,
    };
    return (Object.keys(values) as (keyof typeof values)[]).every(
      (name) => !(values[name] < restrictions[`min${name}`] || values[name] > restrictions[`max${name}`]),
    );
  }
}
