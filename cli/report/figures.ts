/** Describes the figures of a summary once for the terminal, the report and the tables of docs/ (`result-rows.ts`). */

import { splitPlayer } from '../../replay/algorithms.ts';
import type { HouseholdSummary } from '../../replay/evaluation/figures/household-figures.ts';
import type { ComponentDifference } from '../../replay/evaluation/figures/qoe-components.ts';
import { shownGapClosed } from '../../replay/evaluation/figures/verdicts.ts';
import {
  ALL_DATASETS,
  type BaselineComparison,
  type Estimate,
  type LinkRow,
  type ResolvedScenario,
  type Results,
  type SummaryRow,
} from '../../replay/results.ts';
import { scaleText } from '../../replay/scenarios.ts';
import type { Column } from './document.ts';
import { scaled } from './format.ts';

export type Figures<Row> = { means: Column<Row>[]; differences: Column<Row>[] };

/** A row of a summary with the figures that a report adds. */
export type ShownRow = SummaryRow & {
  gapClosed: Estimate | undefined;
  dataSavedShare: number | undefined;
  components?: ComponentDifference | undefined;
};

export function shownRows(summary: readonly SummaryRow[]): ShownRow[] {
  return summary.map((row) => ({
    ...{ ...row, gapClosed: shownGapClosed(row, summary), dataSavedShare: dataSavedShare(row, summary) },
  }));
}

/** The share of the bits of the player's own algorithm that this one does not need; below 0 if it needs more. */
function dataSavedShare({ dataset, algorithm, deliveredBps, live }: SummaryRow, summary: readonly SummaryRow[]) {
  const { player = 'dash' } = splitPlayer(algorithm);
  // At the live edge dash.js's Dynamic is its throughput rule, which the simulator plays.
  const names = player === 'dash' ? ['dynamic', ...(live ? ['throughput'] : [])] : [`${player}@${player}`];
  const own = names.flatMap(
    (name) => summary.find((row) => row.dataset === dataset && row.algorithm === name) ?? [],
  )[0];
  if (!own?.deliveredBps || deliveredBps === undefined || own.algorithm === algorithm) return undefined;
  return 1 - deliveredBps / own.deliveredBps;
}

type RowName = Pick<SummaryRow, 'dataset' | 'algorithm'> & Partial<Pick<LinkRow, 'links'>>;

function recordingsOf({ dataset, links }: RowName): string {
  const name = dataset === ALL_DATASETS ? 'all data sets' : dataset;
  return links === undefined ? name : `${name}, ${links} links`;
}

/** The rows of `byLink`. If `isBrief` and rows of all data sets exist, the rows of single data sets are left out. */
export function linkRows({ byLink = [] }: Pick<Results, 'byLink'>, isBrief = false): ShownRow[] {
  return (['slow', 'other'] as const).flatMap((links) => {
    const rows = byLink.filter((row) => row.links === links);
    const all = rows.filter(({ dataset }) => dataset === ALL_DATASETS);
    return shownRows(isBrief && all.length > 0 ? all : rows);
  });
}

/** Says how the scenario scales links and how many links are slow. Empty if it scales none and none is slow. */
export function linksText({ scenario, summary, byLink = [], tool }: Omit<Results, 'sessions' | 'schema'>): string {
  const kept = tool.unscaledDatasets ?? [];
  const isNone = summary.every(({ dataset }) => dataset === ALL_DATASETS || kept.includes(dataset));
  const others = kept.length > 0 ? `; as recorded: ${kept.join(', ')}` : '';
  const scale = scaleText(scenario) && (isNone ? 'the links play as recorded' : scaleText(scenario) + others);
  const [slow, all] = [byLink.filter(({ links }) => links === 'slow'), summary].map((rows) => {
    const total = rows.filter(({ dataset }) => dataset === ALL_DATASETS);
    return Math.max(...(total.length > 0 ? total : rows).map(({ sessions }) => sessions));
  });
  const slowText =
    `Slow links carry less than the lowest bitrate, ${scenario.ladderBps[0]! / 1e6} Mbit/s, in the mean over the ` +
    `session: ${slow} of ${all} sessions per algorithm.`;
  return [scale && `In ${scenario.name}, ${scale}.`, byLink.length > 0 && slowText].filter(Boolean).join(' ');
}

/** The columns that name a row: the data set if the rows have several, and the algorithm. */
export function rowNames<Row extends RowName>(rows: readonly Row[]): Column<Row>[] {
  const dataset = { title: 'recordings', of: recordingsOf };
  const isSeveral = rows.some((row) => recordingsOf(row) !== recordingsOf(rows[0]!));
  return [...(isSeveral ? [dataset] : []), { title: 'algorithm', of: ({ algorithm }) => algorithm }];
}

type Of<Row> = Column<Row>['of'];

const figure = <Row>(title: string, digits: number, of: Of<Row>): Column<Row> => ({ title, digits, of });

const difference = <Row>(title: string, digits: number, of: Of<Row>): Column<Row> => ({
  ...{ title: `${title}, difference`, digits, isDifference: true, of },
});

/** The difference from the baseline in delivered bits, in percent. */
export function dataDifference(versus: BaselineComparison | null): Estimate | undefined {
  const percent = (ratio: number) => 100 * (ratio - 1);
  const { value, ci95 } = versus?.deliveredRatio ?? {};
  if (value === undefined) return undefined;
  return { value: percent(value), ci95: ci95 ? [percent(ci95[0]), percent(ci95[1])] : null };
}

/** What an operator pays for; docs/benchmark.md has the meanings. */
const DATA: Figures<ShownRow> = {
  means: [
    figure('GB / h', 2, ({ deliveredBps }) => deliveredBps && (deliveredBps * 3600) / 8e9),
    figure('data saved, %', 0, ({ dataSavedShare: share }) => share && 100 * share),
  ],
  differences: [difference('data, %', 1, ({ vsBaseline }) => dataDifference(vsBaseline))],
};

/** If the top of the ladder is at least 10 Mbit/s, a QoE is shown in hundredths of Mbit/s, else in thousandths. */
export function qoeDigits({ ladderBps }: Pick<ResolvedScenario, 'ladderBps'>): number {
  return ladderBps.at(-1)! >= 10e6 ? 2 : 3;
}

export function summaryFigures(scenario: Pick<ResolvedScenario, 'ladderBps' | 'live'>): Figures<ShownRow> {
  return scenario.live ? LIVE : onDemand(qoeDigits(scenario));
}

function onDemand(digits: number): Figures<ShownRow> {
  return {
    means: [
      figure('sessions', 0, ({ sessions }) => sessions),
      figure('perceived', 1, ({ qoePerceivedMean }) => qoePerceivedMean),
      figure('quality', 1, ({ qualityMean }) => qualityMean),
      figure('below 50, %', 1, ({ below50Share }) => below50Share && 100 * below50Share),
      figure('perceived, first 60 s', 1, ({ firstMinute }) => firstMinute?.perceivedFirst60Seconds),
      figure('QoE', digits, ({ qoeMean }) => qoeMean),
      figure('ramp, s', 1, ({ firstMinute }) => firstMinute?.rampSeconds),
      figure('Mbit/s', digits, ({ meanBitrateBps }) => meanBitrateBps / 1e6),
      ...DATA.means,
      figure('stalls', 2, ({ freezeCountMean }) => freezeCountMean),
      figure('stalls, s', 2, ({ stallSecondsMean }) => stallSecondsMean),
      figure('worst 5 %, s', 1, ({ stallSecondsWorst5pct }) => stallSecondsWorst5pct),
      figure('startup, s', 2, ({ startupSecondsMean }) => startupSecondsMean),
      figure('switches / min', 1, ({ switchesPerMinute }) => switchesPerMinute),
      figure('15 s rhythm, %', 1, ({ handoverShare }) => 100 * (handoverShare ?? 0)),
    ],
    differences: [
      // The first column is the sum of the components.
      difference('QoE', digits, ({ vsBaseline }) => vsBaseline?.qoeDiff),
      difference('perceived', 1, ({ vsBaseline }) => vsBaseline?.perceivedDiff),
      difference('perceived, first 60 s', 1, ({ vsBaseline }) => vsBaseline?.firstMinute?.perceivedFirst60Seconds),
      difference('worst 5 %', 1, ({ vsBaseline }) => vsBaseline?.worst5pctDiff),
      ...DATA.differences,
      figure('QoE ratio', 2, ({ vsBaseline }) => vsBaseline?.qoeMeanRatio),
      figure('gap closed', 2, ({ gapClosed }) => gapClosed),
    ],
  };
}

/** The columns that have a value in one of the rows. */
export function knownFigures<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Column<Row>[] {
  return columns.filter(({ of }) => rows.some((row) => (of(row) ?? null) !== null));
}

/** The columns that a terminal or a small table shows; with the two names at most nine. */
const BRIEF = [
  ...['sessions', 'perceived', 'QoE', 'Mbit/s', 'GB / h', 'stalls, s', 'stall s / min', 'latency, s', 'startup, s'],
  ...['perceived, difference', 'QoE, difference'],
];
const MOST_BRIEF = 7;

export function briefFigures(scenario: Pick<ResolvedScenario, 'ladderBps' | 'live'>): Column<ShownRow>[] {
  const { means, differences } = summaryFigures(scenario);
  const isDemand = !scenario.live;
  const all = [...means, ...differences].filter(
    ({ title }) => BRIEF.includes(title) && !(isDemand && /^QoE/.test(title)),
  );
  return all.slice(0, MOST_BRIEF);
}

/** Figures that a table shows only if it has room for them, the least first. */
const MINOR = [
  ...[
    '15 s rhythm, %',
    'below 0.1 s / min',
    'ramp, s',
    'perceived, first 60 s',
    'switches / min',
    'stalls',
    'below 50, %',
  ],
];

/** The most important figures, at most `most`. */
export function mainFigures(means: readonly Column<ShownRow>[], most: number): Column<ShownRow>[] {
  const rank = ({ title }: Column<ShownRow>) => MINOR.indexOf(title);
  const shown = [...means].sort((a, b) => +(rank(a) >= 0) - +(rank(b) >= 0) || rank(b) - rank(a)).slice(0, most);
  return means.filter((column) => shown.includes(column));
}

/** The parts of the QoE's difference. A part is above 0 if the algorithm is better in it. */
export function componentFigures(scenario: Pick<ResolvedScenario, 'ladderBps'>): Column<ShownRow>[] {
  const parts = { quality: 'from bitrate', stalls: 'from stalls', startup: 'from startup', switches: 'from switches' };
  return Object.entries(parts).map(([part, title]) => ({
    ...{ title, digits: qoeDigits(scenario), isDifference: true },
    of: ({ components }) => components && scaled(components[part as keyof typeof parts], part === 'quality' ? 1 : -1),
  }));
}

const LIVE: Figures<ShownRow> = {
  means: [
    figure('sessions', 0, ({ sessions }) => sessions),
    figure('perceived', 1, ({ qoePerceivedMean }) => qoePerceivedMean),
    figure('quality', 1, ({ qualityMean }) => qualityMean),
    figure('QoE', 2, ({ live }) => live?.qoe),
    figure('Mbit/s', 2, ({ meanBitrateBps }) => meanBitrateBps / 1e6),
    ...DATA.means,
    figure('stalls / min', 2, ({ live }) => live?.freezesPerMinute),
    figure('below 0.1 s / min', 2, ({ live }) => live?.shortFreezesPerMinute),
    figure('stall s / min', 2, ({ live }) => live?.stallSecondsPerMinute),
    figure('latency, s', 2, ({ live }) => live?.latencySecondsMean),
    figure('latency p95, s', 2, ({ live }) => live?.latencySecondsP95),
    figure('off rate 1, %', 1, ({ live }) => live && 100 * live.offRateShare),
  ],
  differences: [
    difference('perceived', 1, ({ vsBaseline }) => vsBaseline?.perceivedDiff),
    difference('QoE', 2, ({ vsBaseline }) => vsBaseline?.live?.qoeDiff),
    difference('Mbit/s', 2, ({ vsBaseline: versus }) => versus?.live && scaled(versus.live.bitrateBpsDiff, 1e-6)),
    ...DATA.differences,
    difference('stalls / min', 2, ({ vsBaseline }) => vsBaseline?.live?.freezesPerMinuteDiff),
    difference('stall s / min', 2, ({ vsBaseline }) => vsBaseline?.live?.stallSecondsPerMinuteDiff),
    difference('latency, s', 2, ({ vsBaseline }) => vsBaseline?.live?.latencySecondsDiff),
  ],
};

/** `more` has the figures of QoE in bitrates, and how the players share the link. */
export function householdFigures(digits: number): Record<'means' | 'differences' | 'more', Column<HouseholdSummary>[]> {
  return {
    means: [
      figure('perceived', 1, ({ perceived }) => perceived),
      figure('least perceived', 1, ({ perceivedLeast }) => perceivedLeast),
      figure('quality', 1, ({ quality }) => quality),
      figure('Mbit/s', digits, ({ meanBitrateBps }) => meanBitrateBps / 1e6),
      figure('stalls, s', 2, ({ stallSeconds }) => stallSeconds),
      figure('worst 5 %, s', 1, ({ stallSecondsWorst5pct }) => stallSecondsWorst5pct),
      figure('other traffic, Mbit/s', digits, ({ trafficBps }) => trafficBps && trafficBps / 1e6),
    ],
    differences: [
      difference('perceived', 1, (row) => row.difference?.perceived),
      difference('least perceived', 1, (row) => row.difference?.perceivedLeast),
      difference('quality', 1, (row) => row.difference?.quality),
      difference('stalls, s', 2, (row) => row.difference?.stallSeconds),
    ],
    more: [
      figure('households', 0, ({ households }) => households),
      figure('QoE, sum', digits, ({ qoeSum }) => qoeSum),
      figure('least', digits, ({ qoeLeast }) => qoeLeast),
      figure('p5', digits - 1, ({ qoeP5 }) => qoeP5),
      figure('unfairness, QoE', 3, ({ qoeUnfairness }) => qoeUnfairness),
      figure('bitrate', 3, ({ bitrateUnfairness }) => bitrateUnfairness),
      figure('instability', 3, ({ instability }) => instability),
      figure('utilisation, %', 1, ({ linkUtilisation = Number.NaN }) => 100 * linkUtilisation),
      difference('sum', digits, (row) => row.difference?.qoeSum),
      difference('least', digits, (row) => row.difference?.qoeLeast),
    ],
  };
}
