/** What a viewer of a live stream experienced; simulator and benchmark share it. Browser-safe. */

import { isNoticed } from '../../../abr/qoe/off-rate.ts';
import { QOE_UNIT_SECONDS } from '../../../abr/qoe/qoe.ts';
import { weightedQuantiles } from '../../../abr/statistics/distributions.ts';
import type { LiveMetrics } from '../../results.ts';

/** A piece of time with one playback rate, or a piece of a stall. */
export interface PlaybackPiece {
  seconds: number;
  /** Latency at the piece's start. It grows by a second per second of stall, and by 1 - rate while playing. */
  latencySeconds: number;
  /** Media seconds per second of the clock; ignored in a stall. */
  rate: number;
  isStalled: boolean;
}

export interface WatchedStream {
  /** Spans from the first picture to the end, without gaps. Without a picture, a stall lasts from the join to the end. */
  history: readonly PlaybackPiece[];
  /** Bitrates of the received segments in bit/s, in order. */
  bitratesBps: readonly number[];
  segmentSeconds: number;
  ladderBps: readonly number[];
  /** Seeks to the live edge. */
  jumps: number;
}

/** Pieces are cut to this length, as latency changes within them. */
const LONGEST_STEP_SECONDS = 0.1;

/** LoL+'s price of a second of latency: a share of the lowest bitrate up to the limit, of the top bitrate above it. */
const LATENCY_PRICE = { limitSeconds: 1.1, shareOfLowest: 0.05, shareOfTop: 0.1 };

/** LoL+ prices each segment's latency and rate; here each has their mean price over the session. */
export function liveMetrics(stream: WatchedStream): LiveMetrics {
  const { history, bitratesBps, segmentSeconds, ladderBps, jumps } = stream;
  const lowest = ladderBps[0]! / 1e6;
  const top = ladderBps[ladderBps.length - 1]! / 1e6;
  const latencies: { value: number; weight: number }[] = [];
  let [watched, stalled, offRate, deviation, latency, latencyPrice, stalls] = [0, 0, 0, 0, 0, 0, 0];
  let wasStalled = false;
  for (const { seconds, latencySeconds, rate, isStalled } of history) {
    if (!(seconds > 0)) continue;
    watched += seconds;
    if (isStalled) stalled += seconds;
    else if (isNoticed(rate)) offRate += seconds;
    if (!isStalled) deviation += seconds * Math.abs(1 - rate);
    if (isStalled && !wasStalled) stalls++;
    wasStalled = isStalled;
    const count = Math.ceil(seconds / LONGEST_STEP_SECONDS);
    for (let step = 0; step < count; step++) {
      const atMiddle = latencySeconds + ((step + 0.5) / count) * seconds * (isStalled ? 1 : 1 - rate);
      const { limitSeconds, shareOfLowest, shareOfTop } = LATENCY_PRICE;
      const price = atMiddle <= limitSeconds ? shareOfLowest * lowest : shareOfTop * top;
      latency += (atMiddle * seconds) / count;
      latencyPrice += (price * atMiddle * seconds) / count;
      latencies.push({ value: atMiddle, weight: seconds / count });
    }
  }
  if (!(watched > 0)) throw new RangeError(`liveMetrics: expected a history of more than 0 s, got ${watched}`);
  latencies.sort((a, b) => a.value - b.value);

  const playing = watched - stalled;
  let quality = 0;
  let previous: number | undefined;
  for (const bitrate of bitratesBps.map((bps) => bps / 1e6)) {
    quality += segmentSeconds * bitrate - Math.abs(bitrate - (previous ?? bitrate));
    previous = bitrate;
  }
  const rateDeviationMean = playing > 0 ? deviation / playing : 0;
  const perSegment = latencyPrice / watched + lowest * rateDeviationMean;
  // Without segments the stall counts as the stall of one segment.
  const units = (Math.max(1, bitratesBps.length) * segmentSeconds) / QOE_UNIT_SECONDS;
  return {
    qoe: (quality - top * stalled - bitratesBps.length * perSegment) / units,
    watchedSeconds: watched,
    latencySecondsMean: latency / watched,
    latencySecondsP95: weightedQuantiles(latencies, [0.95])[0]!,
    stallSecondsPerMinute: (stalled / watched) * 60,
    stallsPerMinute: (stalls / watched) * 60,
    offRateShare: offRate / watched,
    rateDeviationMean,
    jumps,
  };
}
