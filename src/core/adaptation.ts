/** The core of one attachment: an adapter reports its player's events to it and asks it for decisions. */

import { createAbandonment } from './abandonment.ts';
import { createDecisions } from './decisions.ts';
import { createDownloads } from './downloads.ts';
import type { Events } from './events.ts';
import { createLifeCycle } from './life-cycle.ts';
import type { ResolvedOptions } from './options.ts';
import type { PlayerPort } from './player-port.ts';
import { loadSizes } from './segment-sizes.ts';
import { createTicker } from './ticker.ts';

export type Adaptation = ReturnType<typeof createAdaptation>;

export function createAdaptation(port: PlayerPort, options: ResolvedOptions, events: Events) {
  const life = createLifeCycle(port, options, events);
  const decisions = createDecisions(port, life, events);
  const abandonment = createAbandonment(port, life, decisions);
  const pacing = port.rate && options.newPacing?.(port.rate, port, life, events);
  const ticker = createTicker(life, pacing ? [abandonment, pacing] : [abandonment]);
  const downloads = createDownloads(life, ticker);
  const { sizes } = options;
  if (sizes !== undefined) {
    loadSizes(sizes).then(
      (file) => life.sizes.useFile(file),
      (error) => events.fault('sizes-unusable', 'segment sizes are estimated', error),
    );
  }
  return {
    life,
    decisions,
    downloads,
    /** The player has lost its source. */
    sourceEnded() {
      ticker.stop();
      pacing?.release();
      downloads.forget();
      life.next();
    },
    /** The plugin is detached. */
    stop() {
      ticker.stop();
      life.stop();
      pacing?.release();
    },
  };
}
