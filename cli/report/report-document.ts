/** The whole report as a document: a chapter per run, the comparison of tiers, and the provenance. */

import { ALL_DATASETS, type ResolvedScenario, type SessionResult } from '../../replay/results.ts';
import { liveSessionSeconds } from '../../replay/scenarios.ts';
import type { Trace } from '../../replay/trace.ts';
import { type Block, cellText, type ReportDocument, type Section } from './document.ts';
import { count, estimateCell, turned } from './format.ts';
import { html } from './html.ts';
import { markdown } from './markdown.ts';
import type { Run } from './runs.ts';
import { comparisonBlocks, householdBlocks, tierBlocks } from './sections/comparison.ts';
import { frontBlocks, liveHeadline, liveSummaryBlocks } from './sections/live.ts';
import { openingBlocks } from './sections/picture.ts';
import { leftOutBlocks, provenanceBlocks } from './sections/provenance.ts';
import { differencesFrom, largeScopes, type Scope, scopeGroupsOf } from './sections/scopes.ts';
import { sessionBlocks } from './sections/sessions.ts';
import { seriesStyles } from './series-style.ts';
import { sessionsCsv } from './sessions-csv.ts';

export interface ReportOptions {
  /** Default: the names of the scenarios. */
  title?: string;
  /** Replayed traces, whose capacity the time series show. Default: none. */
  traces?: readonly Trace[];
}

const LIVE_QOE =
  " The QoE of live sessions is LoL+'s: the media's bits, less the top bitrate per second of stall, changes of bitrate, " +
  'and per segment latency (0.05 of the lowest bitrate per second up to 1.1 s, else 0.1 of the top one) and |1 − rate| ' +
  'of the lowest bitrate, per 4 s of media.';

/** The files of a report, each in pieces that are made when they are written. Imports the plotting library. */
export function reportFiles(runs: readonly Run[], options: ReportOptions): Record<string, Iterable<string>> {
  const document = reportDocument(runs, options);
  return { 'sessions.csv': sessionsCsv(runs), 'report.md': markdown(document), 'index.html': html(document) };
}

/** Builds all sections; figures are drawn later, when they are written. */
function reportDocument(runs: readonly Run[], { title, traces = [] }: ReportOptions = {}): ReportDocument {
  const styles = seriesStyles([...new Set(runs.flatMap(({ algorithms }) => algorithms))]);
  const traceOf = new Map(traces.map((trace) => [JSON.stringify([trace.metadata.dataset, trace.name]), trace]));
  const sections: Section[] = [];
  const addSection = (id: string, heading: string, blocks: Block[], level: Section['level'] = 2) => {
    if (blocks.length > 0) sections.push({ id, title: heading, level, blocks });
  };
  for (const [i, run] of runs.entries()) {
    const add = (id: string, heading: string, blocks: Block[]) => addSection(`run-${i + 1}-${id}`, heading, blocks, 3);
    const groups = scopeGroupsOf(run);
    const items = headlines(run);
    addSection(`run-${i + 1}`, runTitle(run), [
      { kind: 'text', text: overview(run) },
      ...(items.length > 0 ? [{ kind: 'list' as const, items }] : []),
    ]);
    if (run.results.sessions.length === 0) continue;
    const isLive = run.scenario.live !== undefined;
    for (const [g, group] of groups.entries()) {
      const blocks = isLive ? liveSummaryBlocks(run, group) : comparisonBlocks(run, group);
      add(`summary-${g + 1}`, `Against ${run.baseline}: ${group.title}`, blocks);
    }
    add('households', 'Households', householdBlocks(run, groups));
    // The figures assume a buffer that fills by whole segments.
    if (!isLive) add('sessions', 'Best, median and worst sessions', sessionBlocks(run, traceOf, styles));
    add('left-out', 'What was rejected or left out', leftOutBlocks(run));
  }
  const front = frontBlocks(runs, styles);
  addSection('front', 'Stalls against latency', front);
  addSection('tiers', 'Simulator against browser', tierBlocks(runs));
  addSection('made', 'How it was made', [
    {
      kind: 'text',
      text:
        'Every algorithm played the same traces from the same starts with the same seeds. QoE is in Mbit/s of ' +
        'undisturbed media: the mean bitrate, less the cost of stalls and startup (`mu` per second) and of bitrate ' +
        'changes (`lambda` per Mbit/s), per 4 s of media. Differences are between sessions of the same trace and ' +
        'start; their 95 % intervals come from 4,000 resamples of whole recording groups (of recordings, where a ' +
        'data set has fewer than 8 groups), stretched for the small number of groups.' +
        (front.length === 0 ? '' : LIVE_QOE),
    },
    ...runs.flatMap(provenanceBlocks),
  ]);
  return {
    title: title ?? `Benchmark: ${[...new Set(runs.map(({ scenarioLabel }) => scenarioLabel))].join(', ')}`,
    abstract: [],
    opening: {
      id: 'opening',
      title: 'QoE by algorithm',
      level: 2,
      blocks: openingBlocks(runs, { styles, runTitle }),
    },
    sections,
  };
}

function runTitle({ scenarioLabel, tier }: Run): string {
  return `${scenarioLabel}, ${tier}`;
}

function overview({ results, algorithms, datasets, scenario, baseline }: Run): string {
  if (results.sessions.length === 0) return 'The results hold no session.';
  const { ladderBps, segmentSeconds, bufferCapSeconds, live } = scenario;
  const names = algorithms.map((name) => `\`${name}\``).join(', ');
  return (
    `${count(results.sessions.length, 'session')} of ${count(algorithms.length, 'algorithm')} (${names}) on ` +
    `${count(datasets.length, 'data set')}. Ladder ${ladderBps[0]! / 1e6} to ${ladderBps.at(-1)! / 1e6} Mbit/s, ` +
    (live === undefined
      ? `${segmentsOf(results.sessions, scenario)} of ${segmentSeconds} s, buffer of ${bufferCapSeconds} s. `
      : `live with a target latency of ${live.targetLatencySeconds} s: up to ` +
        `${liveSessionSeconds({ ...scenario, live })} s from the join, chunks of ${live.chunkSeconds} s. `) +
    `Compared with \`${baseline}\`.`
  );
}

/** Number of segments of a session; short recordings have fewer than the scenario. */
function segmentsOf(sessions: readonly SessionResult[], { segmentCount }: ResolvedScenario): string {
  const played = sessions.filter(({ endedBy }) => endedBy === 'end').map(({ segments }) => segments.length);
  const fewest = played.reduce((least, length) => Math.min(least, length), segmentCount);
  if (fewest === segmentCount) return count(segmentCount, 'segment');
  return `up to ${count(segmentCount, 'segment')} (as many as a recording holds, at least ${fewest})`;
}

/** The algorithm of the headline: `mpc-l`, else the first that is neither baseline nor oracle. */
function challengerOf({ algorithms, baseline }: Run): string | undefined {
  if (algorithms.includes('mpc-l') && baseline !== 'mpc-l') return 'mpc-l';
  return algorithms.find((name) => name !== baseline && name !== 'mpc-o' && !name.endsWith('@oracle'));
}

/** A sentence per data set with more than one recording, in the same form for a gain and a loss. */
function headlines(run: Run): string[] {
  const challenger = challengerOf(run);
  if (challenger === undefined) return [];
  return largeScopes(scopeGroupsOf(run))
    .filter(({ dataset }, _, all) => dataset !== ALL_DATASETS || all.length === 1)
    .flatMap((scope) => headline(run, scope, challenger) ?? []);
}

function headline(run: Run, scope: Scope, challenger: string): string | undefined {
  const { baseline, digits, scenario } = run;
  if (scenario.live) {
    const text = liveHeadline(run, scope, challenger);
    return text && `${scope.title}: \`${challenger}\` against \`${baseline}\`: ${text}`;
  }
  const difference = differencesFrom(run, scope, [challenger]).get(challenger);
  if (difference === undefined) return undefined;
  const { qoe, quality, stalls } = difference;
  const verdict =
    qoe.ci95 === null
      ? 'one recording gives no interval'
      : qoe.ci95[0] > 0
        ? 'better, at 95 %'
        : qoe.ci95[1] < 0
          ? 'worse, at 95 %'
          : 'the interval includes no difference';
  const [total, fromBitrate, fromStalls] = [qoe, quality, turned(stalls)].map((estimate) =>
    cellText(estimateCell(estimate, { digits })),
  );
  return (
    `${scope.title}: \`${challenger}\` against \`${baseline}\` over ` +
    `${count(difference.pairs, 'pair')}: QoE ${total}, of which bitrate ${fromBitrate} and stalls ${fromStalls}: ` +
    `${verdict}.`
  );
}
