/** The playback rate of a live stream: its bounds, and the element's rate in place of the player's own catch-up. */

import { attempt } from '../session/page/events.ts';
import type { LiveOptions } from '../session/page/option-types.ts';
import { type LivePosition, onStep, type RatePort } from '../session/player-port.ts';

/** Smaller changes of the rate cause glitches in Safari's audio (WebKit bug 208142). */
const SAFARI_STEP = 0.25;

/** Smallest change of the rate in this browser; browsers are told apart as in dash.js. */
function browserRateStep(): number | undefined {
  const agent = attempt(() => navigator.userAgent) || '';
  const isSafari = /safari/i.test(agent) && !/edg|opr|opios|chrome|crios|firefox|fxios/i.test(agent);
  return isSafari ? SAFARI_STEP : undefined;
}

/** The bounds of the rate and the latency, and whether the plugin may set the rate. */
export type LiveLimits = Pick<LivePosition, 'playbackRates' | 'maxLatencySeconds' | 'isPaceable'>;

/** The player's bounds, and its present target. Without bounds of the rate: rates that viewers do not notice. */
interface PlayerLimits extends Omit<LiveLimits, 'playbackRates'> {
  playbackRates: Partial<LiveLimits['playbackRates']>;
  targetSeconds: number;
}

/** The element's rate in place of the player's own catch-up; an adapter adds what its player needs. */
export abstract class ElementRate implements RatePort {
  readonly rateStep = browserRateStep();
  /** The rate that was set; undefined while the player sets it. */
  protected _rate: number | undefined;
  /** The element that kept its rate when another was set, as televisions and remote playback do. */
  private _fixed: HTMLMediaElement | undefined;

  constructor(protected readonly options: { readonly live: LiveOptions }) {}

  protected abstract element(): HTMLMediaElement | undefined;

  /** Position in the presentation of what is captured now. */
  protected abstract nowSeconds(): number | undefined;

  /** Keeps the player from setting the rate, because the plugin sets this one; called at each change. */
  protected abstract turnOff(rate: number): void;

  /** Lets the player set the rate as before; called after `turnOff`. */
  protected abstract restore(): void;

  setPlaybackRate(rate: number | undefined): void {
    const media = this.element();
    if (rate !== undefined) this.turnOff(rate);
    else if (this._rate !== undefined) this.restore();
    // Players keep playback in a stall by a rate of 0. A rate of the viewer's stays when the plugin's ends.
    if (media && (media.playbackRate === this._rate || (rate !== undefined && media.playbackRate > 0))) {
      const next = rate ?? 1;
      attempt(() => {
        media.playbackRate = next;
      });
      if (Math.abs(media.playbackRate - next) > 1e-3) this._fixed = media;
    }
    this._rate = rate;
  }

  jumpToLive(latencySeconds: number): void {
    const media = this.element();
    const nowSeconds = this.nowSeconds();
    if (media && nowSeconds !== undefined) media.currentTime = nowSeconds - latencySeconds;
  }

  /** The options' bounds, else the player's. */
  protected within({ playbackRates: { min = 0.95, max = 1.05 }, targetSeconds, ...player }: PlayerLimits): LiveLimits {
    const { minPlaybackRate, maxPlaybackRate, maxLatencySeconds = 0 } = this.options.live;
    return {
      isPaceable: player.isPaceable && (!this._fixed || this._fixed !== this.element()),
      playbackRates: {
        min: onStep(minPlaybackRate ?? min, this.rateStep),
        max: onStep(maxPlaybackRate ?? max, this.rateStep),
      },
      // The viewer may have chosen a later target.
      maxLatencySeconds: maxLatencySeconds > targetSeconds ? maxLatencySeconds : player.maxLatencySeconds,
    };
  }
}
