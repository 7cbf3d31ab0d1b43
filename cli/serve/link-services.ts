/** A prediction service on the link of a replayed session. */

import type { ReplaySession } from '../../replay/origin/index.ts';
import type { RunningService } from '../../service/index.ts';
import { TOOL_VERSION } from '../tool.ts';
import { capacityOf } from './serve-simulated.ts';

/** Its clocks are the session's, which stand until the link starts: it sees each second of the link when the player does. */
export async function serviceOn(session: ReplaySession): Promise<RunningService> {
  // Imported here, so that other commands start without the service.
  const { startService, syntheticDish } = await import('../../service/index.ts');
  return startService({
    version: TOOL_VERSION,
    port: 0,
    dish: syntheticDish({ seed: 1, capacity: capacityOf(session.spec.trace, session.publishedLink) }),
    clock: { utcMs: () => Math.round(session.utcMs), monotonicMs: () => session.nowSeconds * 1000 },
  });
}
