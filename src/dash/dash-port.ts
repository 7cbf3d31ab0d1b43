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
  /** The source is gone. */
  sourceEnded(): void;
}

export function dashPort(player: DashPlayer): DashPort {
  const gauge = bufferGauge(player);
  let latest: RulesContext | undefined;

  const representation = ({ representationId }: Choice) =>
    latest && allowedRepresentations(latest).find(({ id }) => id === representationId);
  return {
    name: 'dash.js',
    origin: () => originOf(player),
    situation(isFirst) {
      if (!latest || setting(player, 'abr.autoSwitchBitrate.video') !== true) return undefined;
      const situation = readSituation(player, latest, gauge);
      if (!isFirst || !(Number(setting(player, 'abr.initialBitrate.video')) > 0)) return situation;
      const current = latest.getRepresentation();
      return { ...situation, ladder: situation.ladder.filter(({ id }) => id === current.id) };
    },
    abandon(choice) {
      const reason = { forceAbandon: true, message: choice.message };
      latest!.getAbrController().setPlaybackQuality('video', latest!.getStreamInfo(), representation(choice)!, reason);
    },
    look(context) {
      latest = context;
    },
    representation,
    gauge,
    sourceEnded() {
      gauge.forget();
      latest = undefined;
      gauge.isQuotaExceeded = false;
    },
  };
}
