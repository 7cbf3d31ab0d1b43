/** The core behind hls.js's ABR controller, for the players that the page makes with it, one after the other. */

import type Hls from 'hls.js';
import { Adaptation } from '../core/adaptation.ts';
import type { Events } from '../core/events.ts';
import type { Installation } from '../core/handle.ts';
import type { PlayerPort } from '../core/player-port.ts';
import type { ResolvedOptions } from '../core/resolved-options.ts';
import { createCatchUp } from './catch-up.ts';
import { Connection } from './connection.ts';
import { originOf, whyUnsupported } from './player.ts';
import { readSituation } from './situation.ts';

export type Plugin = ReturnType<typeof createPlugin>;

export function createPlugin(options: ResolvedOptions, events: Events) {
  let connection: Connection | undefined;
  let isDetached = false;
  const catchUp = createCatchUp(options, () => connection?.hls);
  const port: PlayerPort = {
    name: 'hls.js',
    isPolled: true,
    origin: () => connection && originOf(connection.hls),
    situation() {
      const levels = connection?.allowed() ?? [];
      const context = { playlistSeconds: connection?.playlistSeconds ?? 0, catchUp };
      return levels.length > 0 ? readSituation(connection!.hls, levels, context) : undefined;
    },
    abandon: (choice) => connection?.abandon(choice),
    rate: catchUp.rate,
  };
  const adaptation = new Adaptation(port, options, events);

  return {
    adaptation,
    isActive: () => connection !== undefined,
    /** Undefined, after a fault, for a player that the plugin leaves to hls.js. */
    connect(hls: Hls, firstLevel: () => number): Connection | undefined {
      const problem = whyUnsupported(hls);
      if (problem !== undefined) events.fault('unsupported-player', problem);
      else if (connection) events.fault('already-attached', 'another player has this controller');
      else if (!isDetached) connection = new Connection(hls, firstLevel, adaptation);
      return connection?.hls === hls ? connection : undefined;
    },
    /** The player is destroyed; another one may follow. */
    playerEnded(): void {
      adaptation.sourceEnded();
      connection?.disconnect();
      connection = undefined;
    },
    changed(): void {
      connection?.setTarget();
      adaptation.planner.renew();
    },
    detach(): void {
      isDetached = true;
      adaptation.stop();
      connection?.disconnect();
    },
  } satisfies Installation & Record<string, unknown>;
}
