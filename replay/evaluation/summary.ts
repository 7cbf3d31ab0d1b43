/** The summary of a benchmark: a row per data set and algorithm, and for several data sets also rows over all. */

import { quantile } from '../../abr/statistics/distributions.ts';
import { seedOf } from '../../abr/statistics/random.ts';
import { remembered } from '../remembered.ts';
import {
  ALL_DATASETS,
  type BaselineComparison,
  type FirstMinute,
  type LinkRow,
  type SessionResult,
  type SummaryRow,
} from '../results.ts';
import type { Scenario } from '../scenarios.ts';
import { qualitiesOf, type RatedScenario } from '../segment-qualities.ts';
import { compareWithBaseline, deliveredBits, freezesPerMinute, isSevere } from './comparison.ts';
import { firstMinute } from './figures/first-minute.ts';
import { groupBy } from './group-by.ts';
import { mean, meansOf, tailMean } from './statistics/quantiles.ts';
import { type DatasetUnits, resamplingUnits, unitsByDataset } from './statistics/resampling-units.ts';

interface SummaryOptions {
  scenario: Pick<Scenario, 'ladderBps' | 'segmentSeconds' | 'segmentCount' | 'mu' | 'lambda'> & RatedScenario;
  /** Without sessions of the baseline all `vsBaseline` are null. */
  baseline: string;
  seed?: number;
  resamples?: number;
}

/** `ways`: of all sessions, if these are some of them. */
export function summarise(
  sessions: readonly SessionResult[],
  options: SummaryOptions,
  ways = unitsByDataset(sessions),
): SummaryRow[] {
  const datasets = groupBy(sessions, (session) => session.dataset);
  const starts = new Map<SessionResult, FirstMinute>();
  const startOf = (session: SessionResult) => remembered(starts, session, () => firstMinute(session, options.scenario));
  const rows: SummaryRow[] = [];
  for (const [dataset, members] of datasets) rows.push(...rowsOf(dataset, members, ways, { ...options, startOf }));
  if (datasets.size > 1) rows.push(...rowsOf(ALL_DATASETS, sessions, ways, { ...options, startOf }));
  return rows;
}

/** Keeps links below the lowest bitrate apart, because their stalls outweigh all else; empty without slow links. */
export function summariseByLink(sessions: readonly SessionResult[], options: SummaryOptions): LinkRow[] {
  const groups = groupBy(sessions, ({ slowLinkBps }) => (slowLinkBps === undefined ? 'other' : 'slow'));
  if (!groups.has('slow')) return [];
  const ways = unitsByDataset(sessions);
  return (['slow', 'other'] as const).flatMap((links) =>
    summarise(groups.get(links) ?? [], options, ways).map((row) => ({ links, ...row })),
  );
}

function rowsOf(
  dataset: string,
  sessions: readonly SessionResult[],
  ways: ReadonlyMap<string, DatasetUnits>,
  options: SummaryOptions & { startOf: (session: SessionResult) => FirstMinute },
): SummaryRow[] {
  const sessionsByAlgorithm = groupBy(sessions, (session) => session.algorithm);
  const comparisons = compareWithBaseline({
    sessionsByAlgorithm,
    baseline: options.baseline,
    ...resamplingUnits(sessions, ways),
    startOf: options.startOf,
    topQoe: (options.scenario.ladderBps.at(-1) ?? Number.NaN) / 1e6,
    seed: seedOf(JSON.stringify(['bootstrap', options.seed ?? 0, dataset])),
    ...(options.resamples !== undefined && { resamples: options.resamples }),
  });
  return [...sessionsByAlgorithm].map(([algorithm, members]) => {
    const starts = members.filter(({ live }) => live === undefined).map(options.startOf);
    const rated = members.map(({ segments }) => qualitiesOf(segments, options.scenario));
    const qualities = rated.filter(({ length }) => length > 0);
    const mediaSeconds = options.scenario.segmentSeconds * sum(members.map(({ segments }) => segments.length));
    const switchShares = members.map(({ switches, segments }) => switches / Math.max(1, segments.length));
    return {
      ...rowOf(dataset, algorithm, members, starts, comparisons.get(algorithm) ?? null),
      ...(mediaSeconds > 0 && { deliveredBps: sum(members.map(deliveredBits)) / mediaSeconds }),
      freezeCountMean: mean(members.map(({ freezeCount }) => freezeCount)),
      shortFreezeCountMean: mean(members.map(({ shortFreezeCount }) => shortFreezeCount)),
      ...(qualities.length > 0 && {
        qualityMean: mean(qualities.map((of) => mean(of))),
        below50Share: mean(qualities.map((of) => of.filter((quality) => quality < 50).length / of.length)),
      }),
      switchesPerMinute: (60 / options.scenario.segmentSeconds) * mean(switchShares),
    };
  });
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const LIVE_MEANS = [
  ...(['qoe', 'latencySecondsMean', 'latencySecondsP95', 'stallSecondsPerMinute', 'stallsPerMinute'] as const),
  ...(['offRateShare', 'rateDeviationMean'] as const),
];

function rowOf(
  dataset: string,
  algorithm: string,
  sessions: readonly SessionResult[],
  starts: readonly FirstMinute[],
  vsBaseline: BaselineComparison | null,
) {
  const qoes = Float64Array.from(sessions, (session) => session.qoe.linear).sort();
  const stalls = Float64Array.from(sessions, (session) => session.stallSeconds).sort();
  const pastTrace = sessions.filter(({ pastTraceSeconds }) => pastTraceSeconds !== undefined).length;
  const handovers = sessions.filter(({ handoversAtSeconds }) => handoversAtSeconds !== undefined).length;
  const live = sessions.flatMap((session) => session.live ?? []);
  const liveMean = (of: (session: SessionResult) => number) => mean(sessions.filter((one) => one.live).map(of));
  const wastedBits = sum(sessions.map((session) => session.wastedBits));
  return {
    dataset,
    algorithm,
    sessions: sessions.length,
    cutoffs: sessions.filter((session) => session.endedBy === 'cutoff').length,
    faults: sessions.filter((session) => session.endedBy === 'fault').length,
    ...(pastTrace > 0 && { pastTrace }),
    qoeMean: mean(qoes),
    qoeMedian: quantile(qoes, 0.5),
    qoeP5: quantile(qoes, 0.05),
    qoeP95: quantile(qoes, 0.95),
    qoePerceivedMean: mean(sessions.map(({ qoe }) => qoe.perceived)),
    stallSecondsMean: mean(stalls),
    stallSecondsWorst5pct: tailMean(stalls),
    severeShare: sessions.filter(isSevere).length / sessions.length,
    startupSecondsMean: mean(sessions.map((session) => session.startupSeconds)),
    meanBitrateBps: mean(sessions.map((session) => session.meanBitrateBps)),
    wastedShare: wastedBits > 0 ? wastedBits / sum(sessions.map(deliveredBits)) : 0,
    ...(handovers > 0 && { handoverShare: handovers / sessions.length }),
    ...(starts.length > 0 && { firstMinute: meansOf(starts, Object.keys(starts[0]!) as (keyof FirstMinute)[]) }),
    ...(live.length > 0 && {
      live: {
        ...meansOf(live, LIVE_MEANS),
        jumpsPerMinute: mean(live.map(({ jumps, watchedSeconds }) => (60 * jumps) / watchedSeconds)),
        freezesPerMinute: liveMean(freezesPerMinute),
        shortFreezesPerMinute: liveMean((one) => freezesPerMinute({ ...one, freezeCount: one.shortFreezeCount })),
      },
    }),
    vsBaseline,
  };
}
