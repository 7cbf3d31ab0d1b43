/** Caches the links that sessions share: a link per trace and scenario. */

import { PiecewisePath } from '../../abr/index.ts';
import { remembered } from '../remembered.ts';
import { type Scenario, traceScaleOf } from '../scenarios.ts';
import { linkSteps, meanRateBps, type Trace } from '../trace.ts';

const links = new WeakMap<Trace, Map<string, PiecewisePath>>();

/** An endless link with rates x scale x payload share and an RTT per request. @throws {RangeError} without capacity. */
export function linkOf(trace: Trace, scenario: Scenario): PiecewisePath {
  const ofTrace = remembered(links, trace, () => new Map<string, PiecewisePath>());
  const key = JSON.stringify([scenario.traceScale, scenario.payloadShare, scenario.rttSeconds]);
  return remembered(ofTrace, key, () => {
    const meanBps = meanRateBps(trace);
    if (!(meanBps > 0)) {
      throw new RangeError(`trace ${trace.name}: expected a rate above 0 somewhere, got a mean of ${meanBps} bit/s`);
    }
    const steps = linkSteps(trace, traceScaleOf(scenario, trace) * scenario.payloadShare);
    return new PiecewisePath({ ...steps, latencySeconds: scenario.rttSeconds });
  });
}
