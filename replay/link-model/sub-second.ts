/** Statistics of links within a second: dips at handovers, zero bins, autocorrelation. All work on means per 0.1 s. */

import { EPOCH_SECONDS } from '../../abr/forecast.ts';
import { median, quantile } from '../../abr/quantile.ts';
import { mean } from '../evaluation/quantiles.ts';
import { handoverPhaseOf } from '../trace.ts';
import {
  autocorrelation,
  difference,
  linkStatistics,
  logRates,
  OUTAGE_MBPS,
  ratio,
  row,
  type Statistic,
} from './link-statistics.ts';
import type { RateSeries } from './rate-series.ts';

/** The step of the series. */
export const BIN_SECONDS = 0.1;
const BINS_PER_SECOND = 10;
const BINS_PER_EPOCH = EPOCH_SECONDS * BINS_PER_SECOND;
/** Where a dip is looked for: bins before and from the handover on. */
const WINDOW = { before: 3, after: 7 };
/** The bins before that window whose median is the rate without a dip. */
const REFERENCE_BINS = 4 * BINS_PER_SECOND;
/** A longer time below half the rate is more than the cut of a handover. */
const LONG_SECONDS = 0.5;

interface Dip {
  /** 1 - the lowest bin / the median of the 4 s before. */
  depth: number;
  /** Length of the run below half of that median around the lowest bin; 0 if that bin is not below. */
  secondsBelowHalf: number;
}

/** The dip at a bin; undefined at the ends of the series and after 4 s without capacity. */
function dipAt(mbps: Float64Array, bin: number): Dip | undefined {
  const from = bin - WINDOW.before;
  const to = bin + WINDOW.after;
  if (from < REFERENCE_BINS || to > mbps.length) return undefined;
  const reference = median(mbps.subarray(from - REFERENCE_BINS, from));
  if (reference < OUTAGE_MBPS) return undefined;
  let lowest = from;
  for (let i = from; i < to; i++) if (mbps[i]! < mbps[lowest]!) lowest = i;
  const isBelow = (i: number) => mbps[i]! < reference / 2;
  let start = lowest;
  let end = lowest;
  while (isBelow(end)) end++;
  while (end > lowest && isBelow(start - 1)) start--;
  return { depth: 1 - mbps[lowest]! / reference, secondsBelowHalf: (end - start) / BINS_PER_SECOND };
}

/**
 * The statistics per second of a set of links, then those within a second. Those of handovers are over links with a
 * known phase.
 */
export function subSecondStatistics(series: readonly RateSeries[]): Statistic[] {
  const handovers: Dip[] = [];
  const controls: Dip[] = [];
  const zeroAt: number[] = [];
  const zeroElsewhere: number[] = [];
  for (const { mbps, epochPhaseSeconds } of series) {
    if (epochPhaseSeconds === undefined) continue;
    const first = Math.round(handoverPhaseOf(epochPhaseSeconds) * BINS_PER_SECOND);
    mbps.forEach((rate, i) => {
      const inWindow = (i - first + WINDOW.before + BINS_PER_EPOCH) % BINS_PER_EPOCH < WINDOW.before + WINDOW.after;
      (inWindow ? zeroAt : zeroElsewhere).push(rate < OUTAGE_MBPS ? 100 : 0);
    });
    for (let bin = first; bin < mbps.length; bin += BINS_PER_EPOCH) {
      const [handover, control] = [dipAt(mbps, bin), dipAt(mbps, bin + BINS_PER_EPOCH / 2)];
      if (handover !== undefined) handovers.push(handover);
      if (control !== undefined) controls.push(control);
    }
  }
  const pooled = Float64Array.from(series.flatMap(({ mbps }) => [...mbps])).sort();
  const logs = series.map(({ mbps }) => logRates(mbps));
  const depth = (dips: Dip[]) => median(dips.map((dip) => dip.depth));
  const below = handovers.map((dip) => dip.secondsBelowHalf);
  const long = mean(below.map((seconds) => (seconds > LONG_SECONDS ? 100 : 0)));

  return [
    ...linkStatistics(series.map(perSecond)),
    ...[5, 50, 95].map((percent) =>
      row(`p${percent} of 0.1 s, Mbit/s`, quantile(pooled, percent / 100), ratio(1), percent < 25 ? 0.15 : 0.1),
    ),
    row('depth at a handover, median', depth(handovers), difference, 0.03),
    row('depth in mid-epoch, median', depth(controls), difference, 0.03),
    row('below half at a handover, mean s', mean(below), ratio(0.02), 0.1),
    row(`handovers below half for over ${LONG_SECONDS} s, %`, long, ratio(1), 0.3),
    row('zero bins at handovers, %', mean(zeroAt), ratio(0.1), 0.3),
    row('zero bins elsewhere, %', mean(zeroElsewhere), ratio(0.1), 0.3),
    ...[0.1, 0.5, 1, 2, 5].map((lag) => {
      const value = autocorrelation(logs, Math.round(lag * BINS_PER_SECOND));
      return row(`autocorrelation of 0.1 s at ${lag} s`, value, difference, 0.05);
    }),
  ];
}

function perSecond(series: RateSeries): RateSeries {
  const seconds = Math.floor(series.mbps.length / BINS_PER_SECOND);
  const bins = (second: number) => series.mbps.subarray(second * BINS_PER_SECOND, (second + 1) * BINS_PER_SECOND);
  return { ...series, mbps: Float64Array.from({ length: seconds }, (_, second) => mean(bins(second))) };
}
