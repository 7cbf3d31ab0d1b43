/** dash.js's catch-up at the live edge: how it may play, and the plugin's rate in its place. */

import type { PlaybackController, StreamInfo } from 'dashjs';
import type { LiveOptions } from '../../session/page/option-types.ts';
import { ElementRate, type LiveLimits } from '../element-rate.ts';
import type { BufferGauge } from './buffer-gauge.ts';
import type { LiveClock } from './live.ts';
import { type DashPlayer, setting } from './player.ts';
import { overrideSettings } from './settings.ts';

const ENABLED = 'liveCatchup.enabled';
/** Rates relative to 1 where neither page nor stream sets one. Viewers notice dash.js's own 0.5. */
const UNNOTICED = { min: -0.05, max: 0.05 };
const DRIFT_SECONDS = 12;
const DVB_SCHEME = 'urn:dvb:dash:lowlatency:scope:2019';

export class CatchUp extends ElementRate {
  /** While the rate is the plugin's: turns dash.js's catch-up on again. */
  private _restore: (() => void) | undefined;

  constructor(
    options: { readonly live: LiveOptions },
    private readonly _player: DashPlayer,
    private readonly _parts: { gauge: BufferGauge; clock: LiveClock },
  ) {
    super(options);
  }

  protected element(): HTMLMediaElement | undefined {
    return this._parts.gauge.element();
  }

  /** `player.seek()` would make dash.js take a new latency for the viewer's choice. */
  protected nowSeconds(): number | undefined {
    const { gauge, clock } = this._parts;
    const latencySeconds = clock.latencySeconds();
    return latencySeconds === undefined ? undefined : gauge.playheadSeconds() + latencySeconds;
  }

  /** dash.js then resets the playback rate to 1. */
  protected turnOff(): void {
    this._restore ||= overrideSettings(this._player, [[ENABLED, false]]);
  }

  protected restore(): void {
    if (this._restore) this._restore();
    this._restore = undefined;
  }

  /** As dash.js's MediaPlayerModel has them: the settings, else the stream's, else defaults. */
  limits({ manifestInfo }: StreamInfo, playback: PlaybackController | undefined): LiveLimits {
    const enabled = setting(this._player, ENABLED);
    const targetSeconds = playback?.getLiveDelay?.() || 0;
    const { latency, playbackRate } = serviceDescription(manifestInfo) || {};
    const { min, max } =
      [
        { min: this._setting('playbackRate.min'), max: this._setting('playbackRate.max') },
        { min: (playbackRate?.min || Number.NaN) - 1, max: (playbackRate?.max || Number.NaN) - 1 },
      ].find((one) => Number.isFinite(one.min) || Number.isFinite(one.max)) || UNNOTICED;
    const isDescribed = latency && latency.target > 0 && latency.max > latency.target;
    const streamDrift = isDescribed ? (latency.max - latency.target + 500) / 1000 : DRIFT_SECONDS;
    const maxDrift = this._setting('maxDrift');
    const drift = Number.isNaN(maxDrift) ? streamDrift : maxDrift;
    return this.within({
      targetSeconds,
      playbackRates: { min: 1 + Math.max(-0.5, Math.min(0, min || 0)), max: 1 + Math.max(0, Math.min(1, max || 0)) },
      maxLatencySeconds: drift > 0 ? targetSeconds + drift : Number.POSITIVE_INFINITY,
      // In the plugin's place, anything but false has been set by the page.
      isPaceable: this._restore ? enabled === false : Boolean(enabled ?? playback?.getInitialCatchupModeActivated?.()),
    });
  }

  private _setting(name: string): number {
    return Number(setting(this._player, `liveCatchup.${name}`));
  }
}

/** Undeclared in dash.js's types. Latencies are ms. */
interface ServiceDescription {
  schemeIdUri: string | null;
  latency: { target: number; max: number } | null;
  playbackRate: { min: number; max: number } | null;
}

/** The service description that dash.js applies: the last of DVB's, else the last without a scope. */
function serviceDescription({ serviceDescriptions }: StreamInfo['manifestInfo']): ServiceDescription | undefined {
  const all = (serviceDescriptions || []) as unknown as ServiceDescription[];
  const describedBy = (scheme: string | null) => all.filter(({ schemeIdUri }) => schemeIdUri === scheme).pop();
  return describedBy(DVB_SCHEME) || describedBy(null);
}
