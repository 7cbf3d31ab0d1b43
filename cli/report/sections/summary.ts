/** Shows each algorithm's means and its paired differences from the baseline, and households. */

import { householdSummary } from '../../../replay/evaluation/figures/household-figures.ts';
import { type ComponentDifference, componentDifference } from '../../../replay/evaluation/figures/qoe-components.ts';
import { largeDatasets } from '../../../replay/evaluation/figures/verdicts.ts';
import { unitsByDataset } from '../../../replay/evaluation/statistics/resampling-units.ts';
import { ORACLE_NAME } from '../../../replay/forecasters.ts';
import { ALL_DATASETS, type Estimate } from '../../../replay/results.ts';
import { type Block, tableOf } from '../document.ts';
import * as figures from '../figures.ts';
import { cellText, count, estimateCell, scaled } from '../format.ts';
import { byAlgorithm, type Run, sessionsOf } from '../runs.ts';
import { intervalsText } from '../summary-table.ts';

const MEANS = {
  live:
    'Means over sessions. QoE is LoL+’s, in Mbit/s per 4 s of media; latency counts from the capture of a picture, and ' +
    '95 % of the time it is at most "p95"; "off rate 1" is the share of the time that playback is at least 1 % faster or ' +
    'slower than normal; jumps are seeks to the live edge.',
  onDemand:
    'Means over sessions. Stalls exclude startup; "worst 5 %" is the mean of the worst sessions, "over 10 s" the share of ' +
    'sessions with stalls of more than 10 s. "First 30 s" and "first 60 s" are the QoE of that media; "watch-weighted" ' +
    'counts each segment by the viewers who still watch it, half of them after a minute ("by 30 s", "by 600 s": after ' +
    'that time); "ramp" is the time until 80 % of the later bitrate play.',
};
const DIFFERENCES = {
  live: 'Better is above 0 for QoE and bitrate, below 0 for the others.',
  onDemand:
    'The parts of QoE add up to its difference, in Mbit/s of undisturbed media, above 0 where the algorithm is better; ' +
    '"worst 5 %" is in seconds of stalls, "over 10 s" in percentage points of the sessions, below 0 where it is better.',
};

const LINKS =
  'The same sessions, with slow links apart from the others: on a slow link every algorithm stalls, and the mean over all ' +
  'links says more about the stalls than about the choices.';

export function summaryBlocks(run: Run): Block[] {
  const { scenario, results } = run;
  const { means, differences } = figures.summaryFigures(scenario);
  const rows = figures.shownRows(results.summary);
  const names = figures.rowNames(rows);
  const kind = scenario.live ? 'live' : 'onDemand';
  const compared = rows
    .filter(({ vsBaseline }) => vsBaseline)
    .map((row) => ({ ...row, components: scenario.live ? undefined : componentsOf(run, row) }));
  const caption = `Pairs of sessions of the same trace and start. ${DIFFERENCES[kind]} Bold intervals exclude 0. ${intervalsText(results.summary)}`;
  const parts = scenario.live ? [] : figures.componentFigures(scenario);
  const [first, ...others] = differences;
  const links = figures.linksText(results);
  const blocks: Block[] = [tableOf(`${MEANS[kind]}${links && ` ${links}`}`, [...names, ...means], rows)];
  if (compared.length > 0) blocks.push(tableOf(caption, [...names, first!, ...parts, ...others], compared));
  const byLink = figures.linkRows(results);
  if (byLink.length > 0) blocks.push(tableOf(LINKS, [...figures.rowNames(byLink), ...means, ...differences], byLink));
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

/** One sentence per data set with more than one recording. Gains and losses have the same form. */
export function headlines(run: Run): string[] {
  const { algorithms, baseline, results, digits } = run;
  const isChallenger = (name: string) => name !== baseline && !ORACLE_NAME.test(name) && !name.endsWith('@oracle');
  const challenger = ['mpc-l', ...algorithms].find((name) => algorithms.includes(name) && isChallenger(name));
  const text = (estimate: Estimate) => cellText(estimateCell(estimate, { digits }));
  return largeDatasets(results.summary).flatMap((dataset) => {
    const versus = results.summary.find((row) => row.dataset === dataset && row.algorithm === challenger)?.vsBaseline;
    if (!versus) return [];
    const place = dataset === ALL_DATASETS ? 'all data sets' : dataset;
    const start = `${place}: \`${challenger}\` against \`${baseline}\` over ${count(versus.pairs, 'pair')}: `;
    if (versus.live) {
      const { stallsPerMinuteDiff, latencySecondsDiff, bitrateBpsDiff, qoeDiff } = versus.live;
      return (
        `${start}stalls per minute ${text(stallsPerMinuteDiff)}, mean latency ${text(latencySecondsDiff)} s, bitrate ` +
        `${text(scaled(bitrateBpsDiff, 1e-6))} Mbit/s, QoE ${text(qoeDiff)}.`
      );
    }
    const { qoe, quality, stalls } = componentsOf(run, { dataset, algorithm: challenger! })!;
    const parts = `of which bitrate ${text(quality)} and stalls ${text(scaled(stalls, -1))}`;
    const { perceivedDiff } = versus;
    const lead = perceivedDiff ? `perceived QoE ${text(perceivedDiff)} of 100; QoE-linear ` : 'QoE ';
    return `${start}${lead}${text(qoe)}, ${parts}: ${verdictOf(perceivedDiff ?? qoe)}.`;
  });
}

function verdictOf({ ci95 }: Estimate): string {
  if (ci95 === null) return 'one recording gives no interval';
  if (ci95[0] > 0) return 'better, at 95 %';
  return ci95[1] < 0 ? 'worse, at 95 %' : 'the interval includes no difference';
}

/** Means of each algorithm's households, and differences from the baseline's. Empty without households. */
export function householdBlocks({ results, digits, baseline, datasets }: Run): Block[] {
  if (results.households === undefined) return [];
  const rows = [...datasets, ...(datasets.length > 1 ? [ALL_DATASETS] : [])].flatMap((dataset) =>
    householdSummary(results, dataset).map((row) => ({ dataset, ...row })),
  );
  const caption =
    'Means over households; "p5" is the 5th percentile of QoE over all their players, stalls are per player, with the ' +
    'mean of the worst 5 %. Unfairness is sqrt(1 − Jain’s index); instability is FESTIVE’s; utilisation is the share of ' +
    `the link’s bits that arrived. Differences are from the households of ${baseline} on the same places.`;
  return [tableOf(caption, [...figures.rowNames(rows), ...figures.householdFigures(digits)], rows)];
}
