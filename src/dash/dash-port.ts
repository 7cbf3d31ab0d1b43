/** dash.js behind the core's port. dash.js shows its objects to rules only, so the port keeps those of the latest call. */

import type { Representation, RulesContext } from 'dashjs';
import type { Choice, PlayerPort } from '../core/player-port.ts';
import { type BufferGauge, bufferGauge } from './buffer-gauge.ts';
import { type DashPlayer, originOf, setting } from './player.ts';
import { allowedRepresentations, readSituation } from './situation.ts';

export interface DashPort extends PlayerPort {
  /** A rule was called for video. */
  look(context: RulesContext): void;
  /** The representation chosen. */
  representation(choice: Choice): Representation | undefined;
  gauge: BufferGauge;
  /** dash.js has cut its buffer targets, because the source buffer was full. */
  quotaExceeded(): void;
  /** The source is gone. */
  sourceEnded(): void;
}

export function dashPort(player: DashPlayer): DashPort {
  const gauge = bufferGauge(player);
  let latest: RulesContext | undefined;
  let isQuotaExceeded = false;

  const representation = ({ representationId }: Choice) =>
    latest && allowedRepresentations(latest).find(({ id }) => id === representationId);
  return {
    name: 'dash.js',
    origin: () => originOf(player),
    situation(isFirst) {
      const isAdaptive = setting(player, 'abr.autoSwitchBitrate.video') === true;
      return latest && isAdaptive
        ? readSituation({ player, context: latest, gauge, isQuotaExceeded, isFirst })
        : undefined;
    },
    canAbandon: () => typeof latest?.getAbrController().setPlaybackQuality === 'function',
    abandon(choice) {
      const reason = { forceAbandon: true, message: choice.message };
      latest!.getAbrController().setPlaybackQuality('video', latest!.getStreamInfo(), representation(choice)!, reason);
    },
    look(context) {
      latest = context;
    },
    representation,
    gauge,
    quotaExceeded() {
      isQuotaExceeded = true;
    },
    sourceEnded() {
      gauge.forget();
      latest = undefined;
      isQuotaExceeded = false;
    },
  };
}
