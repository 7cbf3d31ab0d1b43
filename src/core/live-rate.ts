/** The playback rate of a live stream: its bounds, and the element's rate in place of the player's own catch-up. */

import type { LiveOptions } from './options.ts';
import type { LivePosition, RatePort } from './player-port.ts';

/** Smaller changes of the rate cause glitches in Safari's audio (WebKit bug 208142). */
const SAFARI_STEP = 0.25;

/** Smallest change of the rate in this browser, which is told apart as dash.js does. */
function browserRateStep(): number | undefined {
  const agent = globalThis.navigator?.userAgent ?? '';
  const isSafari = /safari/i.test(agent) && !/edg|opr|opios|chrome|crios|firefox|fxios/i.test(agent);
  return isSafari ? SAFARI_STEP : undefined;
}

/** The rate of a whole number of steps from 1 that is nearest towards 1. */
export const onStep = (rate: number, step: number | undefined) =>
  step === undefined ? rate : 1 + Math.trunc((rate - 1) / step) * step;

/** The bounds of the rate and the latency. */
export type LiveLimits = Pick<LivePosition, 'playbackRates' | 'maxLatencySeconds' | 'isTargetFree'>;

/** The player's bounds, and its present target. */
interface PlayerLimits extends Omit<LiveLimits, 'isTargetFree'> {
  targetSeconds: number;
  /** The viewer has chosen the target. Default false. */
  isTargetChosen?: boolean;
}

/** The bounds within those of the options. */
export function liveLimits(
  { minPlaybackRate, maxPlaybackRate, maxLatencySeconds = 0, targetLatencySeconds }: LiveOptions,
  { rateStep }: Pick<RatePort, 'rateStep'>,
  player: PlayerLimits,
): LiveLimits {
  const { min, max } = player.playbackRates;
  return {
    playbackRates: { min: onStep(minPlaybackRate ?? min, rateStep), max: onStep(maxPlaybackRate ?? max, rateStep) },
    // The viewer may have chosen a later target.
    maxLatencySeconds: maxLatencySeconds > player.targetSeconds ? maxLatencySeconds : player.maxLatencySeconds,
    ...(targetLatencySeconds === 'auto' && !player.isTargetChosen && { isTargetFree: true }),
  };
}

/** What a player's adapter knows of its element and its catch-up. */
export interface CatchUp {
  element(): HTMLMediaElement | undefined;
  /** Position in the presentation of what is captured now. */
  nowSeconds(): number | undefined;
  /** Keeps the player from setting the rate, because the plugin sets this one; called at each change. */
  turnOff(rate: number): void;
  /** Lets the player set the rate as before; called after `turnOff`. */
  restore(): void;
}

export class ElementRate implements RatePort {
  readonly rateStep = browserRateStep();
  readonly #catchUp: CatchUp;
  /** The rate that was set; undefined while the player sets it. */
  #rate: number | undefined;

  constructor(catchUp: CatchUp) {
    this.#catchUp = catchUp;
  }

  setPlaybackRate(rate: number | undefined): void {
    const media = this.#catchUp.element();
    if (rate !== undefined) this.#catchUp.turnOff(rate);
    else if (this.#rate !== undefined) this.#catchUp.restore();
    // Players keep playback in a stall by a rate of 0. A rate of the viewer's stays when the plugin's ends.
    if (media && (rate === undefined ? media.playbackRate === this.#rate : media.playbackRate > 0)) {
      media.playbackRate = rate ?? 1;
    }
    this.#rate = rate;
  }

  jumpToLive(latencySeconds: number): void {
    const media = this.#catchUp.element();
    const nowSeconds = this.#catchUp.nowSeconds();
    if (media && nowSeconds !== undefined) media.currentTime = nowSeconds - latencySeconds;
  }
}
