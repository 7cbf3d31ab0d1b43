/** hls.js's catch-up at the live edge: how it may play, and the plugin's rate in its place. */

import type Hls from 'hls.js';
import type { LevelDetails } from 'hls.js';
import type { LiveOptions } from '../core/options.ts';
import { limited } from '../core/pacing.ts';
import type { LivePosition, RatePort } from '../core/player-port.ts';
import { browserRateStep } from '../core/rate-step.ts';

/** Rates that viewers do not notice. */
const UNNOTICED = { min: 0.95, max: 1.05 };

export interface Rate extends RatePort {
  limits(
    hls: Hls,
    details: LevelDetails,
  ): Pick<LivePosition, 'playbackRates' | 'maxLatencySeconds' | 'isTargetFree' | 'isCaughtUp'>;
}

/** `player`: the present one, if any. */
export function createRate(options: { live: LiveOptions }, player: () => Hls | undefined): Rate {
  const rateStep = browserRateStep();
  /** The page's `maxLiveSyncPlaybackRate` while the plugin sets the rate. */
  let wished: number | undefined;
  let written: number | undefined;
  return {
    rateStep,
    limits(hls, details) {
      const { live } = options;
      const most = wished ?? hls.config.maxLiveSyncPlaybackRate;
      const isLowLatency = hls.config.lowLatencyMode && details.partTarget > 0;
      return {
        ...limited(live, this, {
          targetSeconds: hls.targetLatency ?? 0,
          isTargetChosen: false,
          playbackRates: { ...UNNOTICED, ...(most > 1 && { max: Math.min(2, most) }) },
          maxLatencySeconds: hls.maxLatency || Number.POSITIVE_INFINITY,
        }),
        // hls.js's default, 1, is no catch-up: on streams without parts, the page asks for one.
        isCaughtUp: isLowLatency || most > 1 || (live.minPlaybackRate ?? live.maxPlaybackRate) !== undefined,
      };
    },
    setPlaybackRate(rate) {
      const hls = player();
      if (!hls) return;
      const { media, config } = hls;
      if (rate === undefined) {
        if (media?.playbackRate === written) media!.playbackRate = 1;
        // A wish that the page has changed since stays.
        if (wished !== undefined && config.maxLiveSyncPlaybackRate === 1) config.maxLiveSyncPlaybackRate = wished;
        wished = undefined;
        return;
      }
      if (config.maxLiveSyncPlaybackRate !== 1 || wished === undefined) wished = config.maxLiveSyncPlaybackRate;
      config.maxLiveSyncPlaybackRate = 1;
      written = rate;
      if (media?.playbackRate) media.playbackRate = rate;
    },
    jumpToLive(latencySeconds) {
      const { media, latestLevelDetails: details } = player() ?? {};
      if (media && details) media.currentTime = details.edge + details.age - latencySeconds;
    },
  };
}
