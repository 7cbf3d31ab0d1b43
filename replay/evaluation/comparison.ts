/** Compares algorithms with the baseline by pairs of sessions, with intervals of the paired differences. */

import type { BaselineComparison, Estimate, FirstMinute, ResampledBy, SessionResult } from '../results.ts';
import { placeKey } from './plan/plan.ts';
import { estimates } from './statistics/bootstrap.ts';
import { differences } from './statistics/paired-means.ts';
import { UnitSample } from './statistics/quantiles.ts';

/** The algorithm whose gain over the baseline is the gap that other algorithms close in part. */
export const ORACLE = 'mpc-o';

/** All received bits of a session: of its segments, and those that were discarded. */
export function deliveredBits({ segments, wastedBits }: SessionResult): number {
  return segments.reduce((bits, { sizeBits }) => bits + sizeBits, wastedBits);
}

/** A baseline is clearly positive if it exceeds this share of the top bitrate's QoE and its interval is above 0. */
const POSITIVE_SHARE = 0.05;
const SEVERE_STALL_SECONDS = 10;
/** In points of perceived QoE: below this lead of the oracle, there is no `oracleGapClosed`. */
const LEAST_GAP = 2;

/** Live figures whose mean differences are compared. */
const LIVE = {
  qoeDiff: ({ live }: SessionResult) => live!.qoe,
  latencySecondsDiff: ({ live }: SessionResult) => live!.latencySecondsMean,
  stallSecondsPerMinuteDiff: ({ live }: SessionResult) => live!.stallSecondsPerMinute,
  freezesPerMinuteDiff: freezesPerMinute,
  bitrateBpsDiff: ({ meanBitrateBps }: SessionResult) => meanBitrateBps,
};
const START_NAMES = ['perceivedFirst60Seconds', 'rampSeconds'] as const;
const LIVE_NAMES = Object.keys(LIVE) as (keyof typeof LIVE)[];

interface ComparisonFrame {
  sessionsByAlgorithm: ReadonlyMap<string, readonly SessionResult[]>;
  baseline: string;
  /** The number of a session's unit, below `unitCount`. */
  unitOf(session: SessionResult): number;
  unitCount: number;
  resampledBy: ResampledBy;
  /** First minute of a session on demand. */
  startOf(session: SessionResult): FirstMinute;
  /** QoE-linear of an undisturbed session at the top bitrate. */
  topQoe: number;
  seed: number;
  resamples?: number;
}

interface Pair {
  own: SessionResult;
  baseline: SessionResult;
  oracle: SessionResult | undefined;
  unit: number;
  startDiff: FirstMinute | undefined;
}

/** Compares every other algorithm with the baseline, on the same resamples. An algorithm without pairs is absent. */
export function compareWithBaseline(frame: ComparisonFrame): Map<string, BaselineComparison> {
  const { sessionsByAlgorithm, baseline: baselineName, unitOf } = frame;
  const baselineAt = byPlace(sessionsByAlgorithm.get(baselineName));
  const oracleAt = byPlace(sessionsByAlgorithm.get(ORACLE));
  const startDifference = differences(frame.startOf);
  const compared = new Map<string, BaselineComparison>();
  for (const [algorithm, sessions] of sessionsByAlgorithm) {
    if (algorithm === baselineName) continue;
    const pairs = sessions.flatMap((own): Pair[] => {
      const baseline = baselineAt.get(placeKey(own));
      if (!baseline) return [];
      const startDiff = own.live || baseline.live ? undefined : startDifference(own, baseline);
      return [{ own, baseline, oracle: oracleAt.get(placeKey(own)), unit: unitOf(own), startDiff }];
    });
    if (pairs.length > 0) compared.set(algorithm, comparisonOf(frame, pairs));
  }
  return compared;
}

function byPlace(sessions: readonly SessionResult[] = []): Map<string, SessionResult> {
  return new Map(sessions.map((session) => [placeKey(session), session]));
}

function samplesOf(pairs: readonly Pair[], unitCount: number) {
  const sample = (of: (pair: Pair) => number, members: readonly Pair[] = pairs) =>
    new UnitSample(
      members.map(of),
      members.map(({ unit }) => unit),
      unitCount,
    );
  const isLive = pairs.every(({ own, baseline }) => own.live && baseline.live);
  // Without the oracle these samples are empty and their statistics NaN.
  const triples = pairs.filter(({ oracle }) => oracle !== undefined);
  return {
    own: sample(({ own }) => own.qoe.linear),
    baseline: sample(({ baseline }) => baseline.qoe.linear),
    perceived: sample(({ own, baseline }) => own.qoe.perceived - baseline.qoe.perceived),
    ownStalls: sample(({ own }) => own.stallSeconds),
    baselineStalls: sample(({ baseline }) => baseline.stallSeconds),
    severe: sample(({ own, baseline }) => Number(isSevere(own)) - Number(isSevere(baseline))),
    ownBits: sample(({ own }) => deliveredBits(own)),
    ownSegments: sample(({ own }) => own.segments.length),
    baselineBits: sample(({ baseline }) => deliveredBits(baseline)),
    baselineSegments: sample(({ baseline }) => baseline.segments.length),
    ownOfTriples: sample(({ own }) => own.qoe.perceived, triples),
    baselineOfTriples: sample(({ baseline }) => baseline.qoe.perceived, triples),
    oracle: sample(({ oracle }) => oracle!.qoe.perceived, triples),
    start: pairs.every(({ startDiff }) => startDiff)
      ? START_NAMES.map((name) => [name, sample(({ startDiff }) => startDiff![name])] as const)
      : [],
    live: isLive
      ? LIVE_NAMES.map((name) => [name, sample(({ own, baseline }) => LIVE[name](own) - LIVE[name](baseline))] as const)
      : [],
  };
}

function statistics(samples: ReturnType<typeof samplesOf>, counts: ArrayLike<number>) {
  const [mean, baselineMean] = [samples.own.mean(counts), samples.baseline.mean(counts)];
  const gapFrom = samples.baselineOfTriples.mean(counts);
  const gap = samples.oracle.mean(counts) - gapFrom;
  const more = [...samples.start, ...samples.live].map(([name, sample]) => [name, sample.mean(counts)] as const);
  return {
    diff: mean - baselineMean,
    perceived: samples.perceived.mean(counts),
    baselineMean,
    ratio: ratio(mean, baselineMean),
    worst: samples.ownStalls.tailMean(counts) - samples.baselineStalls.tailMean(counts),
    severe: samples.severe.mean(counts),
    delivered: ratio(
      samples.ownBits.mean(counts) * samples.baselineSegments.mean(counts),
      samples.baselineBits.mean(counts) * samples.ownSegments.mean(counts),
    ),
    gap,
    gapClosed: ratio(samples.ownOfTriples.mean(counts) - gapFrom, gap),
    ...(Object.fromEntries(more) as Record<keyof typeof LIVE | keyof FirstMinute, number>),
  };
}

/** NaN unless the denominator is positive. */
function ratio(numerator: number, denominator: number): number {
  return denominator > 0 ? numerator / denominator : Number.NaN;
}

function comparisonOf(frame: ComparisonFrame, pairs: readonly Pair[]): BaselineComparison {
  const { baseline, unitCount, resampledBy, topQoe, seed, resamples } = frame;
  const samples = samplesOf(pairs, unitCount);
  const unitOf = pairs.map(({ unit }) => unit);
  const of = estimates({ unitOf, unitCount, seed, resamples }, (counts) => statistics(samples, counts));
  const units = new Set(unitOf).size;
  // With one unit there is no interval, so the value decides.
  const isClearlyPositive = ({ value, ci95 }: Estimate) =>
    value > POSITIVE_SHARE * topQoe && (units < 2 || (ci95?.[0] ?? -1) > 0);
  const parts = <Name extends keyof typeof of>(names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, of[name]])) as Record<Name, Estimate>;
  return {
    ...{ baseline, pairs: pairs.length, resampledBy, units },
    qoeDiff: of.diff,
    perceivedDiff: of.perceived,
    qoeMeanRatio: isClearlyPositive(of.baselineMean) ? of.ratio : null,
    worst5pctDiff: of.worst,
    severeShareDiff: of.severe,
    ...(Number.isFinite(of.delivered.value) && { deliveredRatio: of.delivered }),
    oracleGapClosed: of.gap.value >= LEAST_GAP && of.gapClosed.value <= 1 ? of.gapClosed : null,
    ...(samples.start.length > 0 && { firstMinute: parts(START_NAMES) }),
    ...(samples.live.length > 0 && { live: parts(LIVE_NAMES) }),
  };
}

export function freezesPerMinute({ live, freezeCount }: SessionResult): number {
  return (60 * freezeCount) / live!.watchedSeconds;
}

export function isSevere({ stallSeconds }: SessionResult): boolean {
  return stallSeconds > SEVERE_STALL_SECONDS;
}
