/** A trace as mean rates per second, so that statistics do not depend on the trace's own steps. */

import { PiecewisePath } from '../../abr/index.ts';
import type { Trace } from '../trace.ts';

export interface RateSeries {
  /** Mean rate of each whole second in Mbit/s. */
  mbps: Float64Array;
  /** Second of the minute (UTC) of second 0, where known. */
  epochPhaseSeconds: number | undefined;
  /** Recordings of one group share a clock. */
  group: string;
}

/** The series of a trace, without an incomplete last second; a trace shorter than a second gives one value. */
export function rateSeriesOf(trace: Trace): RateSeries {
  const { stepEndsSeconds, ratesBps, durationSeconds, metadata } = trace;
  const path = new PiecewisePath({ stepEndsSeconds, ratesBps });
  const seconds = Math.floor(durationSeconds + 1e-6);
  const mbps = new Float64Array(Math.max(1, seconds));
  if (seconds === 0) mbps[0] = path.cumulativeBits(durationSeconds) / durationSeconds / 1e6;
  let before = 0;
  for (let i = 0; i < seconds; i++) {
    const until = path.cumulativeBits(i + 1);
    mbps[i] = (until - before) / 1e6;
    before = until;
  }
  return { mbps, epochPhaseSeconds: metadata.epochPhaseSeconds, group: metadata.recordingGroup };
}
