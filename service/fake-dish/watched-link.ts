/** The service beside a simulated dish whose link it has watched for minutes, as one that runs from boot has. */

import { PassiveCapacity } from '../link/passive-capacity.ts';
import type { Throughput } from '../link/shared-link.ts';
import { type RunningService, type ServiceOptions, startService } from '../start-service.ts';
import { type DishScript, type SimulatedCapacity, syntheticDish } from './simulated-dish.ts';

const WATCHED_SECONDS = 300;

/** Listens on a free port of this machine. `options.clock`: its UTC is that of `capacity`. */
export async function startServiceOnLink(
  capacity: SimulatedCapacity,
  options: Pick<ServiceOptions, 'version' | 'onFault'> & Required<Pick<ServiceOptions, 'clock'>>,
): Promise<RunningService> {
  const dish = syntheticDish({ seed: 1, capacity });
  const running = await startService({ ...options, port: 0, dish });
  running.service.recall(downloadsBefore(options.clock.utcMs(), dish));
  return running;
}

/** The household's downloads, as the dish's usage shows them. */
function downloadsBefore(utcMs: number, dish: DishScript): Throughput[] {
  const capacity = new PassiveCapacity();
  const lastMs = Math.floor(utcMs / 1000) * 1000;
  return Array.from({ length: WATCHED_SECONDS }, (_, i) => {
    const atMs = lastMs - (WATCHED_SECONDS - 1 - i) * 1000;
    const { downlinkUsageBps } = dish.at(atMs);
    return capacity.observe((atMs - utcMs) / 1000, downlinkUsageBps, Number.NEGATIVE_INFINITY);
  }).filter((one) => one?.kind === 'throughput');
}
