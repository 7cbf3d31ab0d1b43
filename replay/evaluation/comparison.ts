/** Compares algorithms with the baseline by pairs of sessions, with intervals of the paired differences. */

import type { BaselineComparison, Estimate, ResampledBy, SessionResult } from '../results.ts';
import { estimates } from './bootstrap.ts';
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

type Statistic =
  | 'diff'
  | 'baselineMean'
  | 'ratio'
  | 'baselineMedian'
  | 'medianRatio'
  | 'worst'
  | 'severe'
  | 'gap'
  | 'gapClosed'
  | keyof typeof LIVE;

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
  const { sessionsByAlgorithm, baseline } = frame;
  const baselineSessions = sessionsByAlgorithm.get(baseline);
  if (baselineSessions === undefined) return new Map();
  const baselineAt = byPlace(baselineSessions);
  const oracleSessions = sessionsByAlgorithm.get(ORACLE);
  const oracleAt = oracleSessions && byPlace(oracleSessions);
  const compared = [...sessionsByAlgorithm].flatMap(([algorithm, sessions]) => {
    const pairs = algorithm === baseline ? undefined : pairsOf(frame, sessions, baselineAt, oracleAt);
    return pairs?.count ? [[algorithm, comparisonOf(frame, pairs)] as const] : [];
  });
  return new Map(compared);
}

function comparisonOf(frame: ComparisonFrame, pairs: Pairs): BaselineComparison {
  const { seed, resamples } = frame;
  const { unitSizes } = pairs;
  const of = estimates({ unitSizes, seed, resamples }, (counts) => statistics(pairs, counts));
  const units = unitSizes.filter((size) => size > 0).length;
  // With one unit there is no interval, so the value decides.
  const isClearlyPositive = ({ value, ci95 }: Estimate) =>
    value > POSITIVE_SHARE * frame.topQoe && (units < 2 || (ci95?.[0] ?? -1) > 0);
  return {
    baseline: frame.baseline,
    pairs: pairs.count,
    resampledBy: frame.resampledBy,
    units,
    qoeDiff: of.diff,
    qoeMeanRatio: isClearlyPositive(of.baselineMean) ? of.ratio : null,
    qoeMedianRatio: isClearlyPositive(of.baselineMedian) ? of.medianRatio : null,
    worst5pctDiff: of.worst,
    severeShareDiff: of.severe,
    oracleGapClosed: of.gap.value >= GAP_SHARE * frame.topQoe && of.gapClosed.value <= 1 ? of.gapClosed : null,
    ...(pairs.live && { live: liveRecord((name) => of[name]) }),
  };
}

export function isSevere({ stallSeconds }: SessionResult): boolean {
  return stallSeconds > SEVERE_STALL_SECONDS;
}

function byPlace(sessions: readonly SessionResult[]): Map<string, SessionResult> {
  return new Map(sessions.map((session) => [placeKey(session), session]));
}
