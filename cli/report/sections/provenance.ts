/** Provenance of the results: program, machine, seeds, command and scenario, so that others can reproduce them. */

import { type BenchNotes, type BenchPart, benchNotesOf, playersOf } from '../../../replay/browser/bench-notes.ts';
import { TOLERATED_LATE_SHARE } from '../../../replay/browser/lateness.ts';
import type { ResolvedScenario, ToolInfo } from '../../../replay/results.ts';
import { type LiveStream, SCENARIOS } from '../../../replay/scenarios.ts';
import type { Block, Table } from '../document.ts';
import { count, fixed, percent } from '../format.ts';
import type { Run } from '../runs.ts';

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
    const { parts } = notes;
    if (parts.length > 0) {
      blocks.push(partsTable(parts, { file: run.files[i]!, contexts: notes.contexts, notes }));
      const calibrations = calibrationTable(parts);
      if (calibrations !== undefined) blocks.push(calibrations);
    } else {
      const { userAgent = 'an unknown browser', contexts } = notes;
      const players = playersOf(notes) ?? 'a player of an unknown version';
      const text =
        `\`${run.files[i]}\`: ${userAgent}, ${players}, ${contexts} sessions at the same time. ` +
        'The file has no further notes on its making.';
      blocks.push({ kind: 'text', text });
    }
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
  const machineOf = ({ system, processor, cores, memoryBytes }: BenchPart['environment']) =>
    `${system}; ${processor}, ${cores} cores, ${fixed(memoryBytes / 2 ** 30, 0)} GiB`;
  const loads = (values: readonly number[]) => values.map((value) => fixed(value, 2)).join(' ');
  return {
    kind: 'table',
    caption:
      `${file}: each call of the command, ${contexts} sessions at the same time; rejected were those with more than ` +
      `${fixed(100 * (notes.lateShare ?? TOLERATED_LATE_SHARE), 0)} % of late downloads. ` +
      'Load: runnable threads, mean of 1, 5 and 15 minutes.',
    names: [
      'started (UTC)',
      'ended',
      'sessions',
      'load before',
      'after',
      'highest',
      'browser',
      'player',
      'Node',
      'system',
    ],
    rows: parts.map(({ startedAt, endedAt, sessions, load, environment }) => [
      startedAt.slice(0, 19).replace('T', ' '),
      endedAt.slice(0, 19).replace('T', ' '),
      String(sessions),
      loads(load.before),
      loads(load.after),
      fixed(load.highest, 2),
      `${environment.browser} (${environment.browserSource})`,
      playersOf(notes) ?? '–',
      environment.node,
      machineOf(environment),
    ]),
  };
}

function calibrationTable(parts: readonly BenchPart[]): Table | undefined {
  const rows = parts.flatMap(({ startedAt, calibration }) =>
    (['before', 'after'] as const).flatMap((when) =>
      (calibration[when] ?? []).map((row) => [
        `${when} the sessions of ${startedAt.slice(0, 19).replace('T', ' ')}`,
        row.trace,
        String(row.downloads),
        fixed(row.goodputShare, 4),
        percent(row.errorMedian, 2),
        percent(row.errorP95, 2),
      ]),
    ),
  );
  if (rows.length === 0) return undefined;
  return {
    kind: 'table',
    caption:
      'Accuracy of the origin on known traces in this browser: received bits over the bits that the link carries, ' +
      'and the error of download times.',
    names: ['when', 'trace'],
    numbers: ['downloads', 'goodput / trace', 'error, median', 'error, p95'],
    rows,
  };
}
