/** Live streams in hls.js: their time, and the playback rate. */

import type Hls from 'hls.js';
import type { LevelDetails } from 'hls.js';
import type { LiveOptions } from '../../session/page/option-types.ts';
import type { LiveTime } from '../../session/player-port.ts';
import { ElementRate, type LiveLimits } from '../element-rate.ts';

/** Apple's recommendation for authors, until a media playlist is loaded. */
const USUAL_SEGMENT_SECONDS = 6;

/** Undefined on demand, and before there is a playlist. */
export function liveTime({ config, latestLevelDetails: details }: Hls): LiveTime | undefined {
  if (!details?.live) return undefined;
  // A part exists when it is listed, and so does a segment without parts.
  const firstChunkSeconds = (config.lowLatencyMode && details.partTarget) || segmentDuration(details);
  // hls.js's own estimate of what is captured now: the end of the playlist, plus the time since it grew.
  return { nowSeconds: details.edge + details.age, firstChunkSeconds };
}

/** The mean over the playlist. */
export function segmentDuration(details: LevelDetails | null): number {
  return details?.averagetargetduration || details?.targetduration || USUAL_SEGMENT_SECONDS;
}

/* hls.js's catch-up at the live edge: how it may play, and the plugin's rate in its place. */

export class CatchUp extends ElementRate {
  /** The page's `maxLiveSyncPlaybackRate` while the plugin sets the rate. */
  private _pageRate: number | undefined;

  /** `player`: the present player, if any. */
  constructor(
    options: { readonly live: LiveOptions },
    private readonly _player: () => Hls | undefined,
  ) {
    super(options);
  }

  protected element(): HTMLMediaElement | undefined {
    return this._player()?.media ?? undefined;
  }

  protected nowSeconds(): number | undefined {
    const hls = this._player();
    return hls && liveTime(hls)?.nowSeconds;
  }

  protected turnOff(): void {
    const config = this._player()?.config;
    if (!config) return;
    const { maxLiveSyncPlaybackRate: rate } = config;
    // The page may change its setting meanwhile.
    if (rate !== 1 || this._pageRate === undefined) this._pageRate = rate;
    config.maxLiveSyncPlaybackRate = 1;
  }

  protected restore(): void {
    const config = this._player()?.config;
    if (config?.maxLiveSyncPlaybackRate === 1) config.maxLiveSyncPlaybackRate = this._pageRate ?? 1;
    this._pageRate = undefined;
  }

  /** The element goes on without the player. */
  leave(media: HTMLMediaElement): void {
    if (media.playbackRate === this._rate) media.playbackRate = 1;
  }

  limits({ config, latestLevelDetails: details, targetLatency, maxLatency }: Hls): LiveLimits {
    const { minPlaybackRate, maxPlaybackRate } = this.options.live;
    const most = this._pageRate ?? config.maxLiveSyncPlaybackRate;
    const isLowLatency = config.lowLatencyMode && details!.partTarget > 0;
    return this.within({
      targetSeconds: targetLatency || 0,
      playbackRates: most > 1 ? { max: Math.min(2, most) } : {},
      maxLatencySeconds: maxLatency || Number.POSITIVE_INFINITY,
      // hls.js's default, 1, is no catch-up: on streams without parts, the page asks for one.
      isPaceable: isLowLatency || most > 1 || (minPlaybackRate ?? maxPlaybackRate) !== undefined,
    });
  }
}
