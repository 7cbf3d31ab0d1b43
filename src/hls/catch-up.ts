/** hls.js's catch-up at the live edge: how it may play, and the plugin's rate in its place. */

import type Hls from 'hls.js';
import type { LevelDetails } from 'hls.js';
import { ElementRate, type LiveLimits, liveLimits } from '../core/live-rate.ts';
import type { LiveOptions } from '../core/options.ts';
import type { RatePort } from '../core/player-port.ts';

/** Rates that viewers do not notice. */
const UNNOTICED = { min: 0.95, max: 1.05 };

export interface CatchUp {
  rate: RatePort;
  limits(hls: Hls, details: LevelDetails): LiveLimits & { isPaceable: boolean };
}

/** `player`: the present one, if any. */
export function createCatchUp(options: { live: LiveOptions }, player: () => Hls | undefined): CatchUp {
  /** The page's `maxLiveSyncPlaybackRate` while the plugin sets the rate. */
  let pageRate: number | undefined;
  const rate = new ElementRate({
    element: () => player()?.media ?? undefined,
    nowSeconds() {
      const details = player()?.latestLevelDetails;
      return details ? nowSeconds(details) : undefined;
    },
    turnOff() {
      const config = player()?.config;
      if (!config) return;
      // The page may change its setting meanwhile.
      if (config.maxLiveSyncPlaybackRate !== 1 || pageRate === undefined) pageRate = config.maxLiveSyncPlaybackRate;
      config.maxLiveSyncPlaybackRate = 1;
    },
    restore() {
      const config = player()?.config;
      if (config?.maxLiveSyncPlaybackRate === 1 && pageRate !== undefined) config.maxLiveSyncPlaybackRate = pageRate;
      pageRate = undefined;
    },
  });
  return {
    rate,
    limits(hls, details) {
      const { live } = options;
      const most = pageRate ?? hls.config.maxLiveSyncPlaybackRate;
      const isLowLatency = hls.config.lowLatencyMode && details.partTarget > 0;
      return {
        ...liveLimits(live, rate, {
          targetSeconds: hls.targetLatency ?? 0,
          playbackRates: { ...UNNOTICED, ...(most > 1 && { max: Math.min(2, most) }) },
          maxLatencySeconds: hls.maxLatency || Number.POSITIVE_INFINITY,
        }),
        // hls.js's default, 1, is no catch-up: on streams without parts, the page asks for one.
        isPaceable: isLowLatency || most > 1 || (live.minPlaybackRate ?? live.maxPlaybackRate) !== undefined,
      };
    },
  };
}

/** hls.js's own estimate of what is captured now: the end of the playlist, plus the time since it grew. */
export const nowSeconds = ({ edge, age }: LevelDetails): number => edge + age;
