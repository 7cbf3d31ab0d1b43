/** Compares algorithms with the baseline by pairs of sessions, with intervals of the paired differences. */

import type { BaselineComparison, Estimate, ResampledBy, SessionResult } from '../results.ts';
import { effectiveUnits, forEachResample, RESAMPLES, smallSampleStretch, stretchedInterval } from './bootstrap.ts';
import { placeKey } from './plan.ts';
import { UnitSample } from './quantiles.ts';

/** Its gain over the baseline is the gap that the other algorithms close partly. */
export const ORACLE = 'mpc-o';

/** A baseline is clearly positive if it exceeds this share of the top bitrate's QoE and its interval is above 0. */
const POSITIVE_SHARE = 0.05;
/** A session that stalls for longer is severe. */
const SEVERE_STALL_SECONDS = 10;
/** A gap below this share of the top bitrate's QoE is too small for `oracleGapClosed`. */
const GAP_SHARE = 0.02;

/** Of live sessions, the differences of these means are compared, too. */
const LIVE = {
  qoeDiff: ({ live }: SessionResult) => live!.qoe,
  latencySecondsDiff: ({ live }: SessionResult) => live!.latencySecondsMean,
  stallSecondsPerMinuteDiff: ({ live }: SessionResult) => live!.stallSecondsPerMinute,
  stallsPerMinuteDiff: ({ live }: SessionResult) => live!.stallsPerMinute,
  bitrateBpsDiff: ({ meanBitrateBps }: SessionResult) => meanBitrateBps,
};
const LIVE_STATISTICS = Object.keys(LIVE) as (keyof typeof LIVE)[];

/** The sessions of a data set (or of all) by algorithm, and their units of resampling. */
interface ComparisonFrame {
  sessionsByAlgorithm: ReadonlyMap<string, readonly SessionResult[]>;
  baseline: string;
  /** The number of a session's unit, below `unitCount`. */
  unitOf(session: SessionResult): number;
  unitCount: number;
  resampledBy: ResampledBy;
  /** QoE-linear of an undisturbed session at the top bitrate. */
  topQoe: number;
  seed: number;
  resamples?: number;
}

type Pairs = ReturnType<typeof pairsOf>;
type SessionAt = ReadonlyMap<string, SessionResult>;

/** Pairs of sessions at the same places, and triples with the oracle's where it has one. */
function pairsOf(
  { unitOf, unitCount }: ComparisonFrame,
  algorithm: readonly SessionResult[],
  baselineAt: SessionAt,
  oracleAt: SessionAt | undefined,
) {
  const pairs = algorithm.flatMap((own) => {
    const place = placeKey(own);
    const baseline = baselineAt.get(place);
    return baseline === undefined ? [] : [{ own, baseline, oracle: oracleAt?.get(place), unit: unitOf(own) }];
  });
  const unitSizes = new Float64Array(unitCount);
  for (const { unit } of pairs) unitSizes[unit]! += 1;

  type Pair = (typeof pairs)[number];
  const sample = (members: readonly Pair[], value: (pair: Pair) => number) => {
    const units = members.map(({ unit }) => unit);
    return new UnitSample(members.map(value), units, unitCount);
  };
  const triples = pairs.filter(({ oracle }) => oracle !== undefined);
  return {
    count: pairs.length,
    unitSizes,
    algorithmQoe: sample(pairs, ({ own }) => own.qoe.linear),
    baselineQoe: sample(pairs, ({ baseline }) => baseline.qoe.linear),
    algorithmStall: sample(pairs, ({ own }) => own.stallSeconds),
    baselineStall: sample(pairs, ({ baseline }) => baseline.stallSeconds),
    severe: sample(pairs, ({ own, baseline }) => Number(isSevere(own)) - Number(isSevere(baseline))),
    oracleTriples:
      triples.length === 0
        ? undefined
        : {
            algorithm: sample(triples, ({ own }) => own.qoe.linear),
            baseline: sample(triples, ({ baseline }) => baseline.qoe.linear),
            oracle: sample(triples, ({ oracle }) => oracle!.qoe.linear),
          },
    /** In the order of `LIVE_STATISTICS`; undefined on demand. */
    live: pairs.every(({ own, baseline }) => own.live && baseline.live)
      ? LIVE_STATISTICS.map((name) => sample(pairs, ({ own, baseline }) => LIVE[name](own) - LIVE[name](baseline)))
      : undefined,
  };
}

const STATISTICS = [
  'diff',
  'baselineMean',
  'ratio',
  'baselineMedian',
  'medianRatio',
  'worst',
  'severe',
  'gap',
  'gapClosed',
  ...LIVE_STATISTICS,
] as const;
type Statistic = (typeof STATISTICS)[number];

function statistics(pairs: Pairs, counts: ArrayLike<number>): Record<Statistic, number> {
  const algorithmMean = pairs.algorithmQoe.mean(counts);
  const baselineMean = pairs.baselineQoe.mean(counts);
  const baselineMedian = pairs.baselineQoe.median(counts);
  const { algorithm, baseline, oracle } = pairs.oracleTriples ?? {};
  const gapFrom = baseline?.mean(counts) ?? Number.NaN;
  const gap = (oracle?.mean(counts) ?? Number.NaN) - gapFrom;
  return {
    diff: algorithmMean - baselineMean,
    baselineMean,
    ratio: ratio(algorithmMean, baselineMean),
    baselineMedian,
    medianRatio: ratio(pairs.algorithmQoe.median(counts), baselineMedian),
    worst: pairs.algorithmStall.tailMean(counts) - pairs.baselineStall.tailMean(counts),
    severe: pairs.severe.mean(counts),
    gap,
    gapClosed: ratio((algorithm?.mean(counts) ?? Number.NaN) - gapFrom, gap),
    ...liveRecord((_, index) => pairs.live?.[index]?.mean(counts) ?? Number.NaN),
  };
}

/** A value for each of `LIVE_STATISTICS`. */
function liveRecord<T>(of: (name: keyof typeof LIVE, index: number) => T): Record<keyof typeof LIVE, T> {
  const entries = LIVE_STATISTICS.map((name, index) => [name, of(name, index)]);
  return Object.fromEntries(entries) as Record<keyof typeof LIVE, T>;
}

/** NaN unless the denominator is positive. */
function ratio(numerator: number, denominator: number): number {
  return denominator > 0 ? numerator / denominator : Number.NaN;
}

/**
 * Compares every other algorithm with the baseline, all on the same resamples. Algorithms without pairs are absent.
 * Cost: resamples x (units + sessions) per algorithm.
 */
export function compareWithBaseline(frame: ComparisonFrame): Map<string, BaselineComparison> {
  const { sessionsByAlgorithm, baseline, unitCount, seed, resamples = RESAMPLES } = frame;
  const compared = new Map<string, { pairs: Pairs; resampled: Record<Statistic, Float64Array> }>();
  const baselineSessions = sessionsByAlgorithm.get(baseline);
  if (baselineSessions === undefined) return new Map();
  const baselineAt = byPlace(baselineSessions);
  const oracleSessions = sessionsByAlgorithm.get(ORACLE);
  const oracleAt = oracleSessions && byPlace(oracleSessions);
  for (const [algorithm, sessions] of sessionsByAlgorithm) {
    if (algorithm === baseline) continue;
    const pairs = pairsOf(frame, sessions, baselineAt, oracleAt);
    if (pairs.count === 0) continue;
    const resampled = Object.fromEntries(STATISTICS.map((name) => [name, new Float64Array(resamples)]));
    compared.set(algorithm, { pairs, resampled: resampled as Record<Statistic, Float64Array> });
  }
  if (unitCount > 1) {
    forEachResample({ unitCount, seed, resamples }, (counts, resample) => {
      for (const { pairs, resampled } of compared.values()) {
        const values = statistics(pairs, counts);
        for (const name of STATISTICS) resampled[name][resample] = values[name];
      }
    });
  }
  return new Map([...compared].map(([name, { pairs, resampled }]) => [name, comparisonOf(frame, pairs, resampled)]));
}

function comparisonOf(
  frame: ComparisonFrame,
  pairs: Pairs,
  resampled: Record<Statistic, Float64Array>,
): BaselineComparison {
  const point = statistics(pairs, new Uint32Array(frame.unitCount).fill(1));
  const units = pairs.unitSizes.filter((size) => size > 0).length;
  const stretch = smallSampleStretch(effectiveUnits(pairs.unitSizes));
  const estimate = (name: Statistic): Estimate => ({
    value: point[name],
    ci95: units < 2 ? null : stretchedInterval(point[name], resampled[name], stretch),
  });
  // With one unit there is no interval, so the value decides.
  const isClearlyPositive = (name: Statistic) =>
    point[name] > POSITIVE_SHARE * frame.topQoe && (units < 2 || (estimate(name).ci95?.[0] ?? -1) > 0);
  return {
    baseline: frame.baseline,
    pairs: pairs.count,
    resampledBy: frame.resampledBy,
    units,
    qoeDiff: estimate('diff'),
    qoeMeanRatio: isClearlyPositive('baselineMean') ? estimate('ratio') : null,
    qoeMedianRatio: isClearlyPositive('baselineMedian') ? estimate('medianRatio') : null,
    worst5pctDiff: estimate('worst'),
    severeShareDiff: estimate('severe'),
    oracleGapClosed: point.gap >= GAP_SHARE * frame.topQoe ? estimate('gapClosed') : null,
    ...(pairs.live && { live: liveRecord(estimate) }),
  };
}

export function isSevere({ stallSeconds }: SessionResult): boolean {
  return stallSeconds > SEVERE_STALL_SECONDS;
}

function byPlace(sessions: readonly SessionResult[]): Map<string, SessionResult> {
  return new Map(sessions.map((session) => [placeKey(session), session]));
}
