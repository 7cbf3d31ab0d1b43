/** dash.js's catch-up at the live edge: how it may play, and the plugin's rate in its place. */

import type { PlaybackController, StreamInfo } from 'dashjs';
import { ElementRate, type LiveLimits, liveLimits } from '../core/live-rate.ts';
import type { LiveOptions } from '../core/options.ts';
import type { RatePort } from '../core/player-port.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import type { LiveClock } from './live-clock.ts';
import { type DashPlayer, setting } from './player.ts';
import { override } from './settings-guard.ts';

const ENABLED = 'liveCatchup.enabled';
/** Rates relative to 1 where neither page nor stream sets one. dash.js's own, 0.5, is one that viewers notice. */
const UNNOTICED = { min: -0.05, max: 0.05 };
const DRIFT_SECONDS = 12;
const DVB_SCHEME = 'urn:dvb:dash:lowlatency:scope:2019';

export interface CatchUp {
  rate: RatePort;
  limits(stream: StreamInfo, playback: PlaybackController | undefined): LiveLimits & { isPaceable: boolean };
}

export function createCatchUp(
  player: DashPlayer,
  options: { live: LiveOptions },
  { gauge, clock }: { gauge: BufferGauge; clock: LiveClock },
): CatchUp {
  let restore: (() => void) | undefined;
  const rate = new ElementRate({
    element: () => gauge.element(),
    // `player.seek()` would make dash.js take a new latency for the viewer's choice.
    nowSeconds() {
      const latencySeconds = clock.latencySeconds();
      return latencySeconds === undefined ? undefined : gauge.playheadSeconds() + latencySeconds;
    },
    // dash.js then resets the playback rate to 1.
    turnOff() {
      restore ??= override(player, [[ENABLED, false]]);
    },
    restore() {
      restore?.();
      restore = undefined;
    },
  });
  const settingOf = (name: string) => Number(setting(player, `liveCatchup.${name}`));
  return {
    rate,
    /** As dash.js's MediaPlayerModel has them: the settings, else the stream's, else defaults. */
    limits({ manifestInfo }, playback) {
      const enabled = setting(player, ENABLED);
      const targetSeconds = playback?.getLiveDelay?.() ?? 0;
      const { latency, playbackRate: rates } = serviceDescription(manifestInfo) ?? {};
      const { min, max } =
        [
          { min: settingOf('playbackRate.min'), max: settingOf('playbackRate.max') },
          { min: (rates?.min || Number.NaN) - 1, max: (rates?.max || Number.NaN) - 1 },
        ].find((one) => Number.isFinite(one.min) || Number.isFinite(one.max)) ?? UNNOTICED;
      const isDescribed = latency && latency.target > 0 && latency.max > latency.target;
      const streamDrift = isDescribed ? (latency.max - latency.target + 500) / 1000 : DRIFT_SECONDS;
      const drift = Number.isNaN(settingOf('maxDrift')) ? streamDrift : settingOf('maxDrift');
      const limits = {
        targetSeconds,
        isTargetChosen: playback?.getOriginalLiveDelay?.() !== targetSeconds,
        playbackRates: { min: 1 + Math.max(-0.5, Math.min(0, min || 0)), max: 1 + Math.max(0, Math.min(1, max || 0)) },
        maxLatencySeconds: drift > 0 ? targetSeconds + drift : Number.POSITIVE_INFINITY,
      };
      return {
        ...liveLimits(options.live, rate, limits),
        // In the plugin's place, anything but false has been set by the page.
        isPaceable: restore ? enabled === false : Boolean(enabled ?? playback?.getInitialCatchupModeActivated?.()),
      };
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
  const describedBy = (scheme: string | null) => all.filter(({ schemeIdUri }) => schemeIdUri === scheme).pop();
  return describedBy(DVB_SCHEME) ?? describedBy(null);
}
