/** dash.js's catch-up at the live edge: how it may play, and the plugin's rate in its place. */

import type { PlaybackController, StreamInfo } from 'dashjs';
import type { LiveOptions } from '../core/options.ts';
import { limited } from '../core/pacing.ts';
import type { LivePosition, RatePort } from '../core/player-port.ts';
import { browserRateStep } from '../core/rate-step.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import type { LiveClock } from './live-clock.ts';
import { type DashPlayer, setting } from './player.ts';
import { override } from './settings-guard.ts';

const ENABLED = 'liveCatchup.enabled';
/** Rates relative to 1 where neither page nor stream sets one. dash.js's own, 0.5, is one that viewers notice. */
const UNNOTICED = { min: -0.05, max: 0.05 };
const DRIFT_SECONDS = 12;
const DVB_SCHEME = 'urn:dvb:dash:lowlatency:scope:2019';

export interface CatchUp extends RatePort {
  limits(
    stream: StreamInfo,
    playback: PlaybackController | undefined,
  ): Pick<LivePosition, 'playbackRates' | 'maxLatencySeconds' | 'isTargetFree' | 'isCaughtUp'>;
}

export function createCatchUp(
  player: DashPlayer,
  options: { live: LiveOptions },
  { gauge, clock }: { gauge: BufferGauge; clock: LiveClock },
): CatchUp {
  let restore: (() => void) | undefined;
  let written: number | undefined;
  const rateStep = browserRateStep();
  const given = (name: string) => Number(setting(player, `liveCatchup.${name}`));
  return {
    rateStep,
    /** As dash.js's MediaPlayerModel has them: the settings, else the stream's, else defaults. */
    limits({ manifestInfo }, playback) {
      const enabled = setting(player, ENABLED);
      const targetSeconds = playback?.getLiveDelay?.() ?? 0;
      const { latency, playbackRate: rates } = serviceDescription(manifestInfo) ?? {};
      const { min, max } =
        [
          { min: given('playbackRate.min'), max: given('playbackRate.max') },
          { min: (rates?.min || Number.NaN) - 1, max: (rates?.max || Number.NaN) - 1 },
        ].find((one) => Number.isFinite(one.min) || Number.isFinite(one.max)) ?? UNNOTICED;
      const isDescribed = latency && latency.target > 0 && latency.max > latency.target;
      const ofStream = isDescribed ? (latency.max - latency.target + 500) / 1000 : DRIFT_SECONDS;
      const drift = Number.isNaN(given('maxDrift')) ? ofStream : given('maxDrift');
      const limits = {
        targetSeconds,
        isTargetChosen: playback?.getOriginalLiveDelay?.() !== targetSeconds,
        playbackRates: { min: 1 + Math.max(-0.5, Math.min(0, min || 0)), max: 1 + Math.max(0, Math.min(1, max || 0)) },
        maxLatencySeconds: drift > 0 ? targetSeconds + drift : Number.POSITIVE_INFINITY,
      };
      return {
        ...limited(options.live, { rateStep }, limits),
        // In the plugin's place, anything but false has been set by the page.
        isCaughtUp: restore ? enabled === false : Boolean(enabled ?? playback?.getInitialCatchupModeActivated?.()),
      };
    },
    setPlaybackRate(rate) {
      const video = gauge.element();
      if (rate === undefined) {
        if (video?.playbackRate === written) video!.playbackRate = 1;
        restore?.();
        restore = undefined;
        return;
      }
      // dash.js then writes 1.
      restore ??= override(player, [[ENABLED, false]]);
      written = rate;
      // 0: dash.js keeps playback in a stall.
      if (video?.playbackRate) video.playbackRate = rate;
    },
    jumpToLive(latencySeconds) {
      const video = gauge.element();
      const present = clock.latencySeconds();
      // `player.seek()` would make dash.js take the new latency for the viewer's choice.
      if (video && present !== undefined) video.currentTime += present - latencySeconds;
    },
  };
}

/** Undeclared in dash.js's types. Latencies are ms. */
interface ServiceDescription {
  schemeIdUri: string | null;
  latency: { target: number; max: number } | null;
  playbackRate: { min: number; max: number } | null;
}

/** The one that dash.js applies: the last of DVB's, else the last without a scope. */
function serviceDescription({ serviceDescriptions }: StreamInfo['manifestInfo']): ServiceDescription | undefined {
  const all = (serviceDescriptions ?? []) as unknown as ServiceDescription[];
  const ofScheme = (scheme: string | null) => all.filter(({ schemeIdUri }) => schemeIdUri === scheme).pop();
  return ofScheme(DVB_SCHEME) ?? ofScheme(null);
}
