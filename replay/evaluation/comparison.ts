/** One algorithm against the baseline, by pairs of sessions, with intervals of the paired differences. */

import type { BaselineComparison, Estimate, ResampledBy, SessionResult } from '../results.ts';
import { effectiveUnits, forEachResample, RESAMPLES, smallSampleStretch, stretchedInterval } from './bootstrap.ts';
import { placeKey } from './plan.ts';
import { UnitSample } from './quantiles.ts';

/** The algorithm whose lead on the baseline is the gap to be closed. */
export const ORACLE = 'mpc-o';

/** A baseline is clearly positive from this share of the top bitrate's QoE on, if its interval is above 0 too. */
const POSITIVE_SHARE = 0.05;
/** A gap under this share of the top bitrate's QoE is too small to say how much of it was closed. */
const GAP_SHARE = 0.02;

/** The sessions of one row's data set (or of all), by algorithm, and the units that they are resampled by. */
export interface ComparisonFrame {
  sessionsByAlgorithm: ReadonlyMap<string, readonly SessionResult[]>;
  baseline: string;
  /** Number of the unit that a session belongs to, below `unitCount`. */
  unitOf(session: SessionResult): number;
  unitCount: number;
  resampledBy: ResampledBy;
  /** QoE-linear of an undisturbed session at the top bitrate. */
  topQoe: number;
  seed: number;
  resamples?: number;
}

/** Sessions of two algorithms at the same places, and the oracle's at the places where it has any. */
class Pairs {
  readonly algorithmQoe: UnitSample;
  readonly baselineQoe: UnitSample;
  readonly algorithmStall: UnitSample;
  readonly baselineStall: UnitSample;
  /** The three at the places that the oracle has played as well. */
  readonly gap: { algorithm: UnitSample; baseline: UnitSample; oracle: UnitSample } | undefined;
  readonly unitSizes: Float64Array;
  readonly count: number;

  constructor(
    frame: ComparisonFrame,
    algorithm: readonly SessionResult[],
    baselineAt: ReadonlyMap<string, SessionResult>,
    oracleAt: ReadonlyMap<string, SessionResult> | undefined,
  ) {
    const pairs: { own: SessionResult; baseline: SessionResult; oracle: SessionResult | undefined; unit: number }[] =
      [];
    for (const own of algorithm) {
      const place = placeKey(own);
      const baseline = baselineAt.get(place);
      if (baseline !== undefined) pairs.push({ own, baseline, oracle: oracleAt?.get(place), unit: frame.unitOf(own) });
    }
    this.count = pairs.length;
    this.unitSizes = new Float64Array(frame.unitCount);
    for (const { unit } of pairs) this.unitSizes[unit]! += 1;

    type Pair = (typeof pairs)[number];
    const sample = (of: readonly Pair[], value: (pair: Pair) => number) =>
      new UnitSample(
        of.map(value),
        of.map((pair) => pair.unit),
        frame.unitCount,
      );
    this.algorithmQoe = sample(pairs, (pair) => pair.own.qoe.linear);
    this.baselineQoe = sample(pairs, (pair) => pair.baseline.qoe.linear);
    this.algorithmStall = sample(pairs, (pair) => pair.own.stallSeconds);
    this.baselineStall = sample(pairs, (pair) => pair.baseline.stallSeconds);
    const triples = pairs.filter((pair) => pair.oracle !== undefined);
    this.gap =
      triples.length === 0
        ? undefined
        : {
            algorithm: sample(triples, (pair) => pair.own.qoe.linear),
            baseline: sample(triples, (pair) => pair.baseline.qoe.linear),
            oracle: sample(triples, (pair) => pair.oracle!.qoe.linear),
          };
  }
}

/** The statistics of a comparison, in the order in which a resample is asked for them. */
const STATISTICS = ['diff', 'baselineMean', 'ratio', 'baselineMedian', 'medianRatio', 'worst', 'gapClosed'] as const;
type Statistic = (typeof STATISTICS)[number];

function statistics(pairs: Pairs, counts: ArrayLike<number>, into: Record<Statistic, number>): void {
  const algorithmMean = pairs.algorithmQoe.mean(counts);
  const baselineMean = pairs.baselineQoe.mean(counts);
  const baselineMedian = pairs.baselineQoe.median(counts);
  into.diff = algorithmMean - baselineMean;
  into.baselineMean = baselineMean;
  into.ratio = ratio(algorithmMean, baselineMean);
  into.baselineMedian = baselineMedian;
  into.medianRatio = ratio(pairs.algorithmQoe.median(counts), baselineMedian);
  into.worst = pairs.algorithmStall.tailMean(counts) - pairs.baselineStall.tailMean(counts);
  const { gap } = pairs;
  if (gap === undefined) into.gapClosed = Number.NaN;
  else {
    const gapFrom = gap.baseline.mean(counts);
    into.gapClosed = ratio(gap.algorithm.mean(counts) - gapFrom, gap.oracle.mean(counts) - gapFrom);
  }
}

/** A ratio has a meaning over a positive denominator alone. */
function ratio(numerator: number, denominator: number): number {
  return denominator > 0 ? numerator / denominator : Number.NaN;
}

/**
 * Every algorithm but the baseline against it, all on the same resamples. Algorithms without a pair are absent.
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
    const pairs = new Pairs(frame, sessions, baselineAt, oracleAt);
    if (pairs.count > 0) compared.set(algorithm, { pairs, resampled: record(() => new Float64Array(resamples)) });
  }

  const values = record(() => 0);
  if (unitCount > 1) {
    forEachResample({ unitCount, seed, resamples }, (counts, resample) => {
      for (const { pairs, resampled } of compared.values()) {
        statistics(pairs, counts, values);
        for (const name of STATISTICS) resampled[name][resample] = values[name];
      }
    });
  }
  const comparisons = new Map<string, BaselineComparison>();
  for (const [algorithm, { pairs, resampled }] of compared) {
    comparisons.set(algorithm, conclude(frame, pairs, resampled));
  }
  return comparisons;
}

function conclude(
  frame: ComparisonFrame,
  pairs: Pairs,
  resampled: Record<Statistic, Float64Array>,
): BaselineComparison {
  const point = record(() => 0);
  statistics(pairs, new Uint32Array(frame.unitCount).fill(1), point);
  const units = pairs.unitSizes.filter((size) => size > 0).length;
  const stretch = smallSampleStretch(effectiveUnits(pairs.unitSizes));
  const estimate = (name: Statistic): Estimate => ({
    value: point[name],
    ci95: units < 2 ? null : stretchedInterval(point[name], resampled[name], stretch),
  });
  /** With one unit there is no interval to ask, so the value alone decides. */
  const isClearlyPositive = (name: Statistic) =>
    point[name] > POSITIVE_SHARE * frame.topQoe && (units < 2 || (estimate(name).ci95?.[0] ?? -1) > 0);
  const allCounts = new Uint32Array(frame.unitCount).fill(1);
  const gap = pairs.gap && pairs.gap.oracle.mean(allCounts) - pairs.gap.baseline.mean(allCounts);
  return {
    baseline: frame.baseline,
    pairs: pairs.count,
    resampledBy: frame.resampledBy,
    units,
    qoeDiff: estimate('diff'),
    qoeMeanRatio: isClearlyPositive('baselineMean') ? estimate('ratio') : null,
    qoeMedianRatio: isClearlyPositive('baselineMedian') ? estimate('medianRatio') : null,
    worst5pctDiff: estimate('worst'),
    oracleGapClosed: gap !== undefined && gap >= GAP_SHARE * frame.topQoe ? estimate('gapClosed') : null,
  };
}

function byPlace(sessions: readonly SessionResult[]): Map<string, SessionResult> {
  return new Map(sessions.map((session) => [placeKey(session), session]));
}

function record<T>(make: () => T): Record<Statistic, T> {
  return Object.fromEntries(STATISTICS.map((name) => [name, make()])) as Record<Statistic, T>;
}
