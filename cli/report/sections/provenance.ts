/** Provenance of the results (program, machine, seeds, command, scenario) for others to reproduce, and what they lack. */

import {
  type BenchNotes,
  type BenchPart,
  benchNotesOf,
  playersOf,
  type Rejection,
} from '../../../replay/browser/bench-notes.ts';
import { groupBy } from '../../../replay/evaluation/group-by.ts';
import { placeKey } from '../../../replay/evaluation/plan.ts';
import type { ResolvedScenario, ToolInfo } from '../../../replay/results.ts';
import { type LiveStream, SCENARIOS } from '../../../replay/scenarios.ts';
import { ALGORITHM, type Block, type Column, type Table, tableOf } from '../document.ts';
import { count, fixed, percent } from '../format.ts';
import { byAlgorithm, type Run } from '../runs.ts';

export function provenanceBlocks(run: Run): Block[] {
  const { results, scenario } = run;
  const blocks: Block[] = [
    {
      kind: 'table',
      caption: `${run.scenarioLabel}, ${run.tier}: how it was made.`,
      names: ['what', 'value'],
      endsInText: true,
      rows: [
        ['command', commandOf(run)],
        ['files', run.files.join(', ')],
        ...toolRows(run.tools),
        ['sessions', `${count(results.sessions.length, 'session')} of ${count(run.algorithms.length, 'algorithm')}`],
        ['traces', tracesText(run)],
        ...scenarioRows(scenario),
      ],
    },
  ];
  for (const [i, tool] of run.tools.entries()) {
    const notes = benchNotesOf(tool);
    if (notes === undefined) continue;
    blocks.push(partsTable(notes.parts, { file: run.files[i]!, contexts: notes.contexts, notes }));
  }
  return blocks;
}

/** The command, as far as results record it; they do not record the folders of the traces. */
function commandOf({ results, scenario, algorithms, tools }: Run): string {
  const { command, seed, baseline, starts, foldModels } = results.tool;
  const named = SCENARIOS[scenario.name];
  const { tier, kernel } = (tools[0] && benchNotesOf(tools[0])) ?? {};
  const flags = [
    '--traces <the traces below>',
    `--algorithms ${algorithms.join(',')}`,
    `--scenario ${scenario.name}`,
    ...(scenario.segmentCount < (named?.segmentCount ?? 0) ? [`--segments ${scenario.segmentCount}`] : []),
    ...(typeof starts === 'string' ? [`--starts ${starts}`] : []),
    ...(named?.live && scenario.live && scenario.live.targetLatencySeconds !== named.live.targetLatencySeconds
      ? [`--target-latency ${scenario.live.targetLatencySeconds}`]
      : []),
    `--baseline ${baseline}`,
    `--seed ${seed}`,
    ...(typeof foldModels === 'string' ? [`--fold-models ${foldModels}`] : []),
    ...(kernel === undefined ? [] : [`--tier ${tier} --congestion ${kernel.congestionControl}`]),
    ...(kernel !== undefined && kernel.impairment.loss === 0 ? ['--impairment none'] : []),
  ];
  return `\`leo-abr ${command} ${flags.join(' ')}\``;
}

function toolRows(tools: readonly ToolInfo[]): string[][] {
  const distinct = (of: (tool: ToolInfo) => unknown) =>
    [...new Set(tools.map((tool) => String(of(tool) ?? 'unknown')))].join(', ');
  return [
    ['program', distinct(({ name, version }) => `${name} ${version}`)],
    ['commit', distinct(({ commit }) => commit)],
    ['seed', distinct(({ seed }) => seed)],
  ];
}

function tracesText({ results, datasets }: Run): string {
  return datasets
    .map((dataset) => {
      const own = results.sessions.filter((session) => session.dataset === dataset);
      const traces = new Set(own.map(({ trace }) => trace)).size;
      const groups = new Set(own.map(({ group }) => group)).size;
      return `${dataset}: ${count(traces, 'trace')} in ${count(groups, 'recording group')}`;
    })
    .join('; ');
}

function scenarioRows(scenario: ResolvedScenario): string[][] {
  const { ladderBps, segmentSeconds, segmentCount, bufferCapSeconds, rttSeconds, mu, lambda, live } = scenario;
  const scale =
    'factor' in scenario.traceScale
      ? `× ${scenario.traceScale.factor}`
      : `to a mean of ${scenario.traceScale.meanBps / 1e6} Mbit/s`;
  return [
    ['ladder', `${ladderBps.map((bps) => bps / 1e6).join(', ')} Mbit/s`],
    ['media', `${segmentCount} segments of ${segmentSeconds} s, buffer cap ${bufferCapSeconds} s`],
    ['link', `traces ${scale} × ${scenario.payloadShare} payload, ${1000 * rttSeconds} ms per request`],
    ...liveRows(live),
    ['QoE', `q = Mbit/s, μ = ${mu}, λ = ${lambda}, per 4 s of media`],
  ];
}

function liveRows(live: LiveStream | undefined): string[][] {
  if (live === undefined) return [];
  const { chunkSeconds, encoderLatencySeconds, targetLatencySeconds, timeShiftSeconds, playbackRates } = live;
  const rates = playbackRates ? `, playback rates ${playbackRates.min} to ${playbackRates.max}` : '';
  return [
    [
      'live',
      `target latency ${targetLatencySeconds} s, chunks of ${chunkSeconds} s, encoder latency ` +
        `${encoderLatencySeconds} s, join ${timeShiftSeconds} s into the stream${rates}`,
    ],
  ];
}

function partsTable(
  parts: readonly BenchPart[],
  { file, contexts, notes }: { file: string; contexts: number; notes: BenchNotes },
): Table {
  const loads = (values: readonly number[]) => values.map((value) => fixed(value, 2)).join(' ');
  const names: Column<BenchPart>[] = [
    ['started (UTC)', ({ startedAt }) => clockOf(startedAt)],
    ['ended', ({ endedAt }) => clockOf(endedAt)],
    ['sessions', ({ sessions }) => String(sessions)],
    ['load before', ({ load }) => loads(load.before)],
    ['after', ({ load }) => loads(load.after)],
    ['highest', ({ load }) => fixed(load.highest, 2)],
    ['browser', ({ environment: { browser, browserSource } }) => `${browser} (${browserSource})`],
    ['player', () => playersOf(notes) ?? '–'],
    ['Node', ({ environment }) => environment.node],
    [
      'system',
      ({ environment: { system, processor, cores, memoryBytes } }) =>
        `${system}; ${processor}, ${cores} cores, ${fixed(memoryBytes / 2 ** 30, 0)} GiB`,
    ],
  ];
  const caption =
    `${file}: each call of the command, ${contexts} sessions at the same time; rejected were those with more than ` +
    `${fixed(100 * notes.lateShare, 0)} % of late downloads. ` +
    'Load: runnable threads, mean of 1, 5 and 15 minutes.';
  return tableOf(caption, { names, numbers: [] }, parts);
}

function clockOf(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}

/** What the figures lack: rejected runs, sessions that ended early, places without a pair. */
export function leftOutBlocks(run: Run): Block[] {
  const { results, tools, files } = run;
  const items: string[] = [];
  for (const [i, { complete }] of tools.entries()) {
    if (complete === false) items.push(`\`${files[i]}\` holds partial results: sessions are missing.`);
  }
  if (results.tool['complete'] === false && items.length === 0) items.push('The results are not complete.');

  const leftOut = new Set(
    tools.flatMap((tool) => tool.leftOut ?? []).map((one) => `${one.trace} at ${one.startSeconds} s (${one.reason})`),
  );
  if (leftOut.size > 0) items.push(`${count(leftOut.size, 'start')} left out: ${[...leftOut].join(', ')}.`);
  for (const [algorithm, sessions] of byAlgorithm(results.sessions)) {
    const past = sessions.flatMap(({ pastTraceSeconds }) => pastTraceSeconds ?? []);
    if (past.length === 0) continue;
    items.push(
      `\`${algorithm}\`: ${count(past.length, 'session')} ran past the end of the recording, which then began again, ` +
        `by up to ${fixed(Math.max(...past), 1)} s.`,
    );
  }

  const early = results.sessions.filter(({ endedBy }) => endedBy !== 'end');
  for (const [algorithm, sessions] of byAlgorithm(early)) {
    const faults = sessions.filter(({ endedBy }) => endedBy === 'fault');
    const cut = sessions.length - faults.length;
    if (cut > 0) {
      const sessionsCut = `${count(cut, 'session')} cut off after 600 s of waiting`;
      items.push(`\`${algorithm}\`: ${sessionsCut}; they count with the QoE until then.`);
    }
    if (faults.length > 0) {
      const first = faults[0]!.fault ?? 'unknown';
      items.push(`\`${algorithm}\`: ${count(faults.length, 'session')} ended by a fault; the first: ${first}.`);
    }
  }

  const places = new Set(results.sessions.map(placeKey));
  for (const [algorithm, sessions] of byAlgorithm(results.sessions)) {
    const missing = places.size - new Set(sessions.map(placeKey)).size;
    if (missing > 0)
      items.push(`\`${algorithm}\`: no session at ${missing} of ${places.size} places; pairs come from the others.`);
  }

  const notes = tools.flatMap((tool) => benchNotesOf(tool) ?? []);
  const rejections = notes.flatMap(({ parts }) => parts.flatMap((part) => part.rejections ?? []));
  const rejectedRuns = notes.reduce((sum, { rejectedRuns: runs }) => sum + runs, 0);
  const blocks: Block[] = [];
  if (!run.isSimulated) {
    items.push(
      notes.some(({ kernel }) => kernel !== undefined)
        ? 'The kernel tier rejects no run, because nothing prescribes when a download ends.'
        : rejectedRuns === 0
          ? 'No run was rejected.'
          : `${count(rejectedRuns, 'run')} rejected and repeated, because more than 2 % of a run's downloads ended ` +
            'later than the trace prescribes (by more than 3 % and 50 ms): the machine was too busy to measure.',
    );
  }
  if (items.length === 0) items.push('Nothing: every planned session is in the figures and played to its end.');
  blocks.push({ kind: 'list', items });
  if (rejections.length > 0) blocks.push(rejectionTable(run, rejections));
  return blocks;
}

/** Rejections by algorithm: if the shares differ, the accepted sessions are a biased selection. */
function rejectionTable({ results, algorithms }: Run, rejections: readonly Rejection[]): Table {
  const accepted = byAlgorithm(results.sessions);
  const rejected = groupBy(rejections, ({ algorithm }) => algorithm);
  const rows = [...new Set([...algorithms, ...rejected.keys()])].map((algorithm) => ({
    algorithm,
    played: accepted.get(algorithm)?.length ?? 0,
    own: rejected.get(algorithm) ?? [],
  }));
  const numbers: Column<(typeof rows)[number]>[] = [
    ['sessions', ({ played }) => String(played)],
    ['runs rejected', ({ own }) => String(own.length)],
    ['share of runs', ({ played, own }) => percent(own.length / Math.max(1, own.length + played), 1)],
    ['traces', ({ own }) => [...new Set(own.map(({ trace }) => trace))].slice(0, 4).join(', ') || '–'],
  ];
  const caption =
    'Runs rejected, by algorithm. If the shares differ much, the accepted sessions are a biased selection.';
  return tableOf(caption, { names: [ALGORITHM], numbers }, rows);
}
