/** The figures of households, from their sessions; README.md defines them. */

import { quantile } from '../../../abr/statistics/distributions.ts';
import { seedOf } from '../../../abr/statistics/random.ts';
import {
  ALL_DATASETS,
  type HouseholdResult,
  type Results,
  type SegmentRow,
  type SessionResult,
} from '../../results.ts';
import type { Scenario } from '../../scenarios.ts';
import { qualitiesOf, type RatedScenario } from '../../segment-qualities.ts';
import { groupBy } from '../group-by.ts';
import { differences, pairedMeans } from '../statistics/paired-means.ts';
import { mean, meansOf, tailMean } from '../statistics/quantiles.ts';
import { type DatasetUnits, unitsByDataset } from '../statistics/resampling-units.ts';

/** FESTIVE's window k. */
const WINDOW_SECONDS = 20;

/** A row per household, in the sessions' order. Sessions outside households have no row. */
export function householdsOf(
  sessions: readonly SessionResult[],
  scenario: Pick<Scenario, 'segmentSeconds'> & RatedScenario,
): HouseholdResult[] {
  const shared = sessions.filter(({ household }) => household !== undefined);
  const keyOf = ({ dataset, trace, startSeconds, household }: SessionResult) =>
    JSON.stringify([dataset, trace, startSeconds, household!.name, household!.algorithm]);
  return [...groupBy(shared, keyOf).values()].map((members) => {
    const [{ trace, dataset, group, startSeconds, household }] = members as [SessionResult];
    const qoes = members.map(qoeOf);
    const sorted = Float64Array.from(qoes).sort();
    const { name, algorithm, linkUtilisation, trafficBps } = household!;
    const perceived = members.map(({ qoe }) => qoe.perceived);
    const rated = members.filter(({ segments }) => segments.length > 0);
    return {
      ...{ trace, dataset, group, startSeconds, household: name, algorithm, players: members.length },
      ...{ perceived: rounded(mean(perceived)), perceivedLeast: Math.min(...perceived) },
      ...(rated.length > 0 && {
        quality: rounded(mean(rated.map(({ segments }) => mean(qualitiesOf(segments, scenario))))),
      }),
      stallSeconds: rounded(mean(members.map(({ stallSeconds }) => stallSeconds))),
      qoeSum: rounded(qoes.reduce((sum, qoe) => sum + qoe, 0)),
      qoeLeast: sorted[0]!,
      qoeP5: rounded(quantile(sorted, 0.05)),
      qoeUnfairness: rounded(unfairness(qoes)),
      bitrateUnfairness: rounded(unfairness(members.map(({ meanBitrateBps }) => meanBitrateBps))),
      instability: rounded(mean(members.map(({ segments }) => instability(segments, scenario)))),
      linkUtilisation,
      ...(trafficBps !== undefined && { trafficBps }),
    };
  });
}

/** sqrt(1 - Jain's index), as in FESTIVE (Jiang, Sekar and Zhang, CoNEXT 2012): 0 for equal values, below 1. */
export function unfairness(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares > 0 ? Math.sqrt(Math.max(0, 1 - (sum * sum) / (values.length * squares))) : 0;
}

/**
 * FESTIVE's instability of a session, averaged over its seconds of media from the window's length on (0 for shorter
 * ones): the sum of |b(t - d) - b(t - d - 1)| w(d), d = 0 to k - 1, over the sum of b(t - d) w(d), d = 1 to k, with
 * w(d) = k - d, k = 20 s and the bitrate b.
 */
export function instability(
  segments: readonly Pick<SegmentRow, 'bitrateBps'>[],
  { segmentSeconds }: Pick<Scenario, 'segmentSeconds'>,
): number {
  const k = WINDOW_SECONDS;
  const seconds = Math.floor(segments.length * segmentSeconds);
  const bitrates = Array.from(
    { length: seconds },
    (_, second) => segments[Math.min(segments.length - 1, Math.floor(second / segmentSeconds))]!.bitrateBps,
  );
  const values: number[] = [];
  for (let t = k; t < seconds; t++) {
    let changes = 0;
    let sum = 0;
    for (let d = 0; d < k; d++) changes += Math.abs(bitrates[t - d]! - bitrates[t - d - 1]!) * (k - d);
    for (let d = 1; d <= k; d++) sum += bitrates[t - d]! * (k - d);
    values.push(changes / sum);
  }
  return values.length > 0 ? mean(values) : 0;
}

const DIFFERENCES = ['perceived', 'perceivedLeast', 'quality', 'stallSeconds', 'qoeSum', 'qoeLeast'] as const;

/** Pairs households by place; undefined without pairs. `ways` and `label` as in `componentDifference`. */
export function householdDifference(
  households: readonly HouseholdResult[],
  baseline: readonly HouseholdResult[],
  { ways, seed, label }: { ways: ReadonlyMap<string, DatasetUnits>; seed: number; label: string },
) {
  const names = knownOf(DIFFERENCES, [...households, ...baseline]);
  const valuesOf = (row: HouseholdResult) => Object.fromEntries(names.map((name) => [name, row[name]!]));
  return pairedMeans(households, baseline, {
    ways,
    keyOf: ({ dataset, trace, startSeconds }) => JSON.stringify([dataset, trace, startSeconds]),
    valuesOf: differences((row: HouseholdResult) => valuesOf(row) as Record<(typeof DIFFERENCES)[number], number>),
    seed: seedOf(JSON.stringify(['households', seed, label])),
  });
}

const MEANS = [
  ...(['perceived', 'perceivedLeast', 'quality', 'stallSeconds', 'qoeSum', 'qoeLeast', 'qoeUnfairness'] as const),
  ...(['bitrateUnfairness', 'instability', 'linkUtilisation', 'trafficBps'] as const),
];

/** The figures that all rows have. */
function knownOf<Name extends keyof HouseholdResult>(names: readonly Name[], rows: readonly HouseholdResult[]): Name[] {
  return names.filter((name) => rows.every((row) => row[name] !== undefined));
}

export interface HouseholdSummary extends Partial<Record<(typeof MEANS)[number], number>> {
  /** The algorithm of all players for which the household names none. */
  algorithm: string;
  /** The players that the figures count: all, or, if the household names algorithms, those with `algorithm`, or others. */
  players: 'all' | 'own' | 'neighbours';
  households: number;
  qoeP5: number;
  meanBitrateBps: number;
  stallSecondsWorst5pct: number;
  /** Difference from the same players of the baseline's households; undefined for the baseline and without pairs. */
  difference: Partial<ReturnType<typeof householdDifference>>;
}

export function householdSummary(
  { sessions, scenario, tool: { baseline, seed, household } }: Pick<Results, 'sessions' | 'scenario' | 'tool'>,
  dataset: string = ALL_DATASETS,
): HouseholdSummary[] {
  const ways = unitsByDataset(sessions);
  const all = sessions.filter((one) => one.household && (dataset === ALL_DATASETS || one.dataset === dataset));
  const bySeat = groupBy(all, ({ household: seat }) =>
    household?.players[seat!.player]?.algorithm === undefined ? 'own' : 'neighbours',
  );
  const parts = [['all', all] as const, ...(bySeat.size > 1 ? bySeat : [])];
  return parts.flatMap(([players, members]) => {
    const byAlgorithm = groupBy(members, (one) => one.household!.algorithm);
    const others = householdsOf(byAlgorithm.get(baseline) ?? [], scenario);
    return [...byAlgorithm].map(([algorithm, played]) => {
      const rows = householdsOf(played, scenario);
      const stalls = Float64Array.from(played, ({ stallSeconds }) => stallSeconds).sort();
      const options = { ways, seed, label: dataset };
      return {
        ...{ algorithm, players, households: rows.length },
        ...meansOf(rows as Required<HouseholdResult>[], knownOf(MEANS, rows)),
        qoeP5: quantile(Float64Array.from(played, qoeOf).sort(), 0.05),
        meanBitrateBps: mean(played.map((one) => one.meanBitrateBps)),
        stallSecondsWorst5pct: tailMean(stalls),
        difference: algorithm === baseline ? undefined : householdDifference(rows, others, options),
      };
    });
  });
}

/** QoE-linear, or LoL+'s QoE for a live session. */
function qoeOf({ live, qoe }: SessionResult): number {
  return live?.qoe ?? qoe.linear;
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}
