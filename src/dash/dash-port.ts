/** dash.js behind the core's port. dash.js shows its objects to rules only, so the port keeps those of the latest call. */

import type { Representation, RulesContext } from 'dashjs';
import type { Choice, PlayerPort } from '../core/player-port.ts';
import { bufferGauge } from './buffer-gauge.ts';
import { type DashPlayer, originOf, setting } from './player.ts';
import { allowedRepresentations, readSituation, type VideoView, videoView } from './situation.ts';

export interface DashPort extends PlayerPort {
  /** A rule was called for video. */
  look(context: RulesContext): void;
  /** The representation chosen. */
  representation(choice: Choice): Representation | undefined;
  /** The viewer has jumped: earlier buffer levels are void. */
  seeked(): void;
  /** dash.js has cut its buffer targets, because the source buffer was full. */
  quotaExceeded(): void;
  /** The source is gone. */
  sourceEnded(): void;
  stop(): void;
}

export function dashPort(player: DashPlayer): DashPort {
  const gauge = bufferGauge(player);
  let view: VideoView | undefined;
  let isQuotaExceeded = false;

  const representation = ({ representationId }: Choice) =>
    view && allowedRepresentations(view).find(({ id }) => id === representationId);
  return {
    name: 'dash.js',
    origin: () => originOf(player),
    situation() {
      const isAdaptive = setting(player, 'abr.autoSwitchBitrate.video') === true;
      return view && isAdaptive ? readSituation({ player, view, gauge, isQuotaExceeded }) : undefined;
    },
    canAbandon: () => typeof view?.abr.setPlaybackQuality === 'function',
    abandon(choice) {
      const { abr, streamInfo } = view!;
      const reason = { forceAbandon: true, message: choice.message };
      abr.setPlaybackQuality('video', streamInfo, representation(choice)!, reason);
    },
    look(context) {
      view = videoView(context);
    },
    representation,
    seeked: gauge.forget,
    quotaExceeded() {
      isQuotaExceeded = true;
    },
    sourceEnded() {
      gauge.forget();
      view = undefined;
      isQuotaExceeded = false;
    },
    stop: gauge.stop,
  };
}
