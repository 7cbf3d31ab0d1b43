/** Makes simulated dishes: of `serve --dish simulated`, and of the demo's links. */

import { SHIPPED_TRACES } from '../../replay/link-model/shipped-traces.ts';
import { synthesizeTrace } from '../../replay/link-model/synthesize-trace.ts';
import { type Trace, traceStartUtcMs, wrapSeconds } from '../../replay/trace.ts';
import type { DishScript, SimulatedCapacity } from '../../service/index.ts';

/** The dish of `serve --dish simulated`. */
export function typicalDish(): Promise<DishScript> {
  return dishOf(synthesizeTrace(SHIPPED_TRACES.find(({ name }) => name === 'stationary-typical')!));
}

/** The second argument has the steps of the link that replays the trace. Default: the trace's steps. */
export async function dishOf(
  trace: Trace,
  { stepEndsSeconds, ratesBps }: Pick<SimulatedCapacity, 'stepEndsSeconds' | 'ratesBps'> = trace,
): Promise<DishScript> {
  // The import is here, so that the demo starts without the service.
  const { syntheticDish } = await import('../../service/index.ts');
  const times = { startUtcMs: traceStartUtcMs(trace.metadata), wrapSeconds: wrapSeconds(trace) };
  return syntheticDish({ seed: 1, capacity: { ...times, stepEndsSeconds, ratesBps, rttSeconds: trace.rttSeconds } });
}
