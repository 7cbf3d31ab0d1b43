/** A trace as mean rates per second (or finer), so that statistics do not depend on the trace's own steps. */

import { PiecewisePath } from '../../abr/index.ts';
import { handoverPhaseOf, type Trace } from '../trace.ts';

export interface RateSeries {
  /** Mean rate of each step in Mbit/s. */
  mbps: Float64Array;
  /** Second of the minute (UTC) of second 0, where known; modulo 15, from the dips, if the sidecar says where they are. */
  epochPhaseSeconds: number | undefined;
  /** Recordings of one group share a clock. */
  group: string;
}

/** The series of a trace, without an incomplete last step; a trace shorter than a step gives one value. */
export function rateSeriesOf(trace: Trace, stepSeconds = 1): RateSeries {
  const { stepEndsSeconds, ratesBps, durationSeconds, metadata } = trace;
  const path = new PiecewisePath({ stepEndsSeconds, ratesBps });
  const steps = Math.floor(durationSeconds / stepSeconds + 1e-6);
  const mbps = new Float64Array(Math.max(1, steps));
  if (steps === 0) mbps[0] = path.cumulativeBits(durationSeconds) / durationSeconds / 1e6;
  let before = 0;
  for (let i = 0; i < steps; i++) {
    const until = path.cumulativeBits((i + 1) * stepSeconds);
    mbps[i] = (until - before) / stepSeconds / 1e6;
    before = until;
  }
  const { epochPhaseSeconds, handoverPhaseSeconds: handover, recordingGroup: group } = metadata;
  return { mbps, epochPhaseSeconds: handover === undefined ? epochPhaseSeconds : handoverPhaseOf(handover), group };
}
