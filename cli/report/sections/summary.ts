/** Shows each algorithm's means and its paired differences from the baseline, and households. */

import { householdSummary } from '../../../replay/evaluation/figures/household-figures.ts';
import { type ComponentDifference, componentDifference } from '../../../replay/evaluation/figures/qoe-components.ts';
import { unitsByDataset } from '../../../replay/evaluation/statistics/resampling-units.ts';
import { ALL_DATASETS } from '../../../replay/results.ts';
import { type Block, tableOf } from '../document.ts';
import * as figures from '../figures.ts';
import { byAlgorithm, type Run, sessionsOf } from '../runs.ts';
import { intervalsText } from '../summary-table.ts';

const DATA =
  '"GB / h" is the data sent per hour of video, abandoned downloads included; "data saved" is against the player’s own ' +
  'algorithm.';
const MEANS = {
  live:
    'Means over sessions. QoE is LoL+’s, in Mbit/s per 4 s of media; latency counts from the capture of a picture, and ' +
    '95 % of the time it is at most "p95"; "off rate 1" is the share of the time that playback is at least 1 % faster or ' +
    `slower than normal. ${DATA}`,
  onDemand: `Means over sessions. Stalls exclude startup; "worst 5 %" is the mean of the worst sessions. ${DATA}`,
};
/** More columns do not fit a page. */
const MOST_COLUMNS = 14;
const DIFFERENCES = {
  live: 'Better is above 0 for QoE and bitrate, below 0 for the others.',
  onDemand:
    'The parts of QoE add up to its difference, in Mbit/s of undisturbed media, above 0 where the algorithm is better; ' +
    '"worst 5 %" is in seconds of stalls, "data" in percent of the data sent, below 0 where it is better.',
};

const LINKS =
  'The same sessions, with slow links apart from the others: on a slow link every algorithm stalls, and the mean over all ' +
  'links says more about the stalls than about the choices.';

export function summaryBlocks(run: Run): Block[] {
  const { scenario, results } = run;
  const rows = figures.shownRows(results.summary);
  const { differences, ...all } = figures.summaryFigures(scenario);
  const means = figures.knownFigures(all.means, rows);
  const names = figures.rowNames(rows);
  const kind = scenario.live ? 'live' : 'onDemand';
  const compared = rows
    .filter(({ vsBaseline }) => vsBaseline)
    .map((row) => ({ ...row, components: scenario.live ? undefined : componentsOf(run, row) }));
  const caption = `Pairs of sessions of the same trace and start. ${DIFFERENCES[kind]} Bold intervals exclude 0. ${intervalsText(results.summary)}`;
  const parts = scenario.live ? [] : figures.componentFigures(scenario);
  const [first, ...more] = differences;
  const others = figures.mainFigures(more, MOST_COLUMNS - names.length - 1 - parts.length);
  const links = figures.linksText(results);
  const shown = figures.mainFigures(means, MOST_COLUMNS - names.length);
  const blocks: Block[] = [tableOf(`${MEANS[kind]}${links && ` ${links}`}`, [...names, ...shown], rows)];
  if (compared.length > 0) blocks.push(tableOf(caption, [...names, first!, ...parts, ...others], compared));
  const byLink = figures.linkRows(results);
  const brief = figures.briefFigures(scenario);
  if (byLink.length > 0) blocks.push(tableOf(LINKS, [...figures.rowNames(byLink), ...brief], byLink));
  return blocks;
}

/** The paired difference from the baseline with its parts, or undefined without pairs. */
function componentsOf(
  { results, scenario, baseline }: Run,
  { dataset, algorithm }: { dataset: string; algorithm: string },
): ComponentDifference | undefined {
  const groups = byAlgorithm(sessionsOf(results, dataset));
  const options = { scenario, ways: unitsByDataset(results.sessions), seed: results.tool.seed, label: dataset };
  return componentDifference(groups.get(algorithm) ?? [], groups.get(baseline) ?? [], options);
}

/** Means of each algorithm's households, and differences from the baseline's. Empty without households. */
export function householdBlocks({ results, digits, baseline, datasets }: Run): Block[] {
  if (results.households === undefined) return [];
  const rows = [...datasets, ...(datasets.length > 1 ? [ALL_DATASETS] : [])].flatMap((dataset) =>
    householdSummary(results, dataset).map((row) => ({ dataset, ...row })),
  );
  const { means, differences, more } = figures.householdFigures(digits);
  const isMixed = rows.some(({ players }) => players !== 'all');
  const names = [
    ...(isMixed ? [{ title: 'players', of: ({ players }: (typeof rows)[number]) => players }] : []),
    ...figures.rowNames(rows),
  ];
  const caption =
    `Means over the players${isMixed ? '; neighbours are those whose algorithm the household names' : ''}. Stalls have ` +
    `the mean of the worst 5 %. Differences are from the same players in the households of ${baseline} on the same places.`;
  const moreCaption =
    'More figures. QoE is in bitrates; "p5" is its 5th percentile over the players. Unfairness is sqrt(1 − Jain’s ' +
    'index); instability is FESTIVE’s; utilisation is the share of the link’s bits that arrived.';
  return [
    tableOf(caption, [...names, ...figures.knownFigures([...means, ...differences], rows)], rows),
    { ...tableOf(moreCaption, [...names, ...more], rows), isFolded: true },
  ];
}
