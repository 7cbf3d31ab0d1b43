/** The core of one attachment: an adapter reports to it what its player does, and asks it for decisions. */

import { createAbandonment } from './abandonment.ts';
import { createDecisions } from './decisions.ts';
import { createDownloads } from './downloads.ts';
import type { Events } from './events.ts';
import { createLifeCycle } from './life-cycle.ts';
import type { ResolvedOptions } from './options.ts';
import type { PlayerPort } from './player-port.ts';
import { loadSizes } from './segment-sizes.ts';

export type Adaptation = ReturnType<typeof createAdaptation>;

export function createAdaptation(port: PlayerPort, options: ResolvedOptions, events: Events) {
  let isStopped = false;
  /** Adapters run every handler in this: nothing that goes wrong reaches the player, and nothing runs after `stop`. */
  const guard = <T>(action: () => T): T | undefined =>
    isStopped ? undefined : events.attempt('player-failed', `${port.name} is not as expected`, action);

  const life = createLifeCycle(port, options, events);
  const downloads = createDownloads({
    life,
    onChange: () => abandonment.update(),
    onProgress: () => abandonment.progressed(),
  });
  const decisions = createDecisions({ port, options, events, life, downloads });
  const abandonment = createAbandonment({
    port,
    downloads,
    decisions,
    onTick: () => life.meter()?.advance(life.nowSeconds()),
    guard,
  });
  const { sizes } = options;
  if (sizes !== undefined) {
    loadSizes(sizes).then(
      (file) => life.sizes.useFile(file),
      (error) => events.fault('sizes-unusable', 'segment sizes are estimated', error),
    );
  }

  return {
    guard,
    life,
    downloads,
    decisions,

    /** Playback goes on, or begins. */
    playing() {
      life.running().session.started = true;
    },

    /** The viewer has jumped. Returns false for a seek before the first picture: the player has only found its start. */
    seeked(): boolean {
      const { session } = life.running();
      if (!session.started) return false;
      session.last = undefined;
      session.beforeLast = undefined;
      return true;
    },

    /** The player's source is gone: a new session begins. */
    sourceEnded() {
      abandonment.stop();
      downloads.forget();
      life.next();
    },

    stop() {
      isStopped = true;
      abandonment.stop();
      life.stop();
    },
  };
}
