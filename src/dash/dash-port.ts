/** Implements the core's port for dash.js. Only rules get dash.js's objects, so the port keeps the latest context. */

import type { Representation, RulesContext } from 'dashjs';
import type { LiveOptions } from '../core/options.ts';
import type { Choice, PlayerPort } from '../core/player-port.ts';
import { BufferGauge } from './buffer-gauge.ts';
import type { createCatchUp } from './catch-up.ts';
import { LiveClock } from './live-clock.ts';
import { type DashPlayer, originOf, setting } from './player.ts';
import { allowedRepresentations, readSituation } from './situation.ts';

export interface DashPort extends PlayerPort {
  /** Keeps the context of a rule's call for video. */
  look(context: RulesContext): void;
  representation(choice: Choice): Representation | undefined;
  gauge: BufferGauge;
  clock: LiveClock;
  sourceEnded(): void;
}

/** Without `newCatchUp`, dash.js alone sets the playback rate. */
export function dashPort(
  player: DashPlayer,
  options: { live: LiveOptions },
  newCatchUp?: typeof createCatchUp,
): DashPort {
  const gauge = new BufferGauge(player);
  const clock = new LiveClock(player, gauge);
  const catchUp = newCatchUp?.(player, options, { gauge, clock });
  let latest: RulesContext | undefined;

  const representation = ({ representationId }: Choice) =>
    latest && allowedRepresentations(latest).find(({ id }) => id === representationId);
  return {
    name: 'dash.js',
    origin: () => originOf(player),
    situation(isFirst) {
      if (!latest || setting(player, 'abr.autoSwitchBitrate.video') !== true) return undefined;
      const situation = readSituation(player, latest, { gauge, clock, catchUp });
      if (!isFirst || !(Number(setting(player, 'abr.initialBitrate.video')) > 0)) return situation;
      const current = latest.getRepresentation();
      return { ...situation, ladder: situation.ladder.filter(({ id }) => id === current.id) };
    },
    abandon(choice) {
      const reason = { forceAbandon: true, message: choice.message };
      latest!.getAbrController().setPlaybackQuality('video', latest!.getStreamInfo(), representation(choice)!, reason);
    },
    rate: catchUp?.rate,
    look(context) {
      latest = context;
    },
    representation,
    gauge,
    clock,
    sourceEnded() {
      gauge.forget();
      clock.forget();
      latest = undefined;
      gauge.isQuotaExceeded = false;
    },
  };
}
