/** Makes the whole report as a document: a chapter per run, and the provenance. */

import type { ResolvedScenario, SessionResult } from '../../replay/results.ts';
import { liveSessionSeconds } from '../../replay/scenarios.ts';
import type { Block, ReportDocument, Section } from './document.ts';
import { count } from './format.ts';
import { html } from './html.ts';
import { markdown } from './markdown.ts';
import { type Run, runTitle } from './runs.ts';
import { openingBlocks } from './sections/picture.ts';
import { leftOutBlocks, provenanceBlocks } from './sections/provenance.ts';
import { householdBlocks, summaryBlocks } from './sections/summary.ts';
import { sessionsCsv } from './sessions-csv.ts';

const METHOD =
  'Every algorithm played the same traces from the same starts with the same seeds. QoE is in Mbit/s of ' +
  'undisturbed media: the mean bitrate, less the cost of stalls and startup (`mu` per second) and of bitrate ' +
  'changes (`lambda` per Mbit/s), per 4 s of media. Differences are between sessions of the same trace and ' +
  'start; their 95 % intervals come from 4,000 resamples of whole recording groups (of recordings, where a ' +
  'data set has fewer than 8 groups), stretched for the small number of groups.';
const LIVE_QOE =
  " The QoE of live sessions is LoL+'s: the media's bits, less the top bitrate per second of stall, changes of bitrate, " +
  'and per segment latency (0.05 of the lowest bitrate per second up to 1.1 s, else 0.1 of the top one) and |1 − rate| ' +
  'of the lowest bitrate, per 4 s of media.';

/** The files of the report, in pieces that are made when they are written. This module imports the plotting library. */
export function reportFiles(runs: readonly Run[], title?: string): Record<string, Iterable<string>> {
  const document = reportDocument(runs, title);
  return { 'sessions.csv': sessionsCsv(runs), 'report.md': markdown(document), 'index.html': html(document) };
}

function reportDocument(runs: readonly Run[], title?: string): ReportDocument {
  const section = (id: string, heading: string, blocks: Block[], level: Section['level'] = 3): Section => ({
    ...{ id, title: heading, level, blocks },
  });
  const chapters = runs.flatMap((run, i) => {
    const id = `run-${i + 1}`;
    return [
      section(id, runTitle(run), [{ kind: 'text', text: overview(run) }], 2),
      section(`${id}-summary`, `Against ${run.baseline}`, summaryBlocks(run)),
      section(`${id}-households`, 'Households', householdBlocks(run)),
      section(`${id}-left-out`, 'What was rejected or left out', leftOutBlocks(run)),
    ];
  });
  const text = METHOD + (runs.some(({ scenario }) => scenario.live) ? LIVE_QOE : '');
  const made = section('made', 'How it was made', [{ kind: 'text', text }, ...runs.flatMap(provenanceBlocks)], 2);
  return {
    title: title ?? `Benchmark: ${[...new Set(runs.map(({ scenarioLabel }) => scenarioLabel))].join(', ')}`,
    opening: { id: 'opening', title: 'Outcome', level: 2, blocks: openingBlocks(runs) },
    sections: [...chapters, made].filter(({ blocks }) => blocks.length > 0),
  };
}

function overview({ results, algorithms, datasets, scenario, baseline }: Run): string {
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

/** The number of segments of a session. On short recordings, sessions have fewer segments than the scenario. */
function segmentsOf(sessions: readonly SessionResult[], { segmentCount }: ResolvedScenario): string {
  const whole = sessions.filter(({ endedBy }) => endedBy === 'end');
  const fewest = whole.reduce((least, { segments }) => Math.min(least, segments.length), segmentCount);
  return `${fewest < segmentCount ? `${fewest} to ` : ''}${count(segmentCount, 'segment')}`;
}
