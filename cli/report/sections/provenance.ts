/** Provenance of the results (program, machine, seeds, command, scenario) for others to reproduce, and what they lack. */

import { type BenchNotes, type BenchPart, benchNotesOf, playersOf } from '../../../replay/browser/bench-notes.ts';
import { groupBy } from '../../../replay/evaluation/group-by.ts';
import { placeKey } from '../../../replay/evaluation/plan.ts';
import type { ResolvedScenario, ToolInfo } from '../../../replay/results.ts';
import { SCENARIOS } from '../../../replay/scenarios.ts';
import { type Block, tableOf } from '../document.ts';
import { count, fixed, percent } from '../format.ts';
import { byAlgorithm, type Run, sessionsOf } from '../runs.ts';

export function provenanceBlocks(run: Run): Block[] {
  const { results, algorithms, tools, files } = run;
  const distinct = (of: (tool: ToolInfo) => unknown) =>
    [...new Set(tools.map((tool) => String(of(tool) ?? 'unknown')))].join(', ');
  const rows: [what: string, value: string][] = [
    ['command', commandOf(run)],
    ['files', files.join(', ')],
    ['program', distinct(({ name, version }) => `${name} ${version}`)],
    ['commit', distinct(({ commit }) => commit)],
    ['seed', distinct(({ seed }) => seed)],
    ['sessions', `${count(results.sessions.length, 'session')} of ${count(algorithms.length, 'algorithm')}`],
    ['traces', tracesText(run)],
    ...scenarioRows(run.scenario),
    ...tools.flatMap((tool, i): [string, string][] => {
      const notes = benchNotesOf(tool);
      return notes === undefined ? [] : [[files[i]!, benchText(notes)]];
    }),
  ];
  const caption = `${run.scenarioLabel}, ${run.tier}: how it was made.`;
  const columns = [
    { title: 'what', of: ([what]: [string, string]) => what },
    { title: 'value', of: ([, value]: [string, string]) => value },
  ];
  return [{ ...tableOf(caption, columns, rows), endsInText: true }];
}

/** The command, as far as results record it; they do not record the folders of the traces. */
function commandOf({ results, scenario, algorithms, tools }: Run): string {
  const { command, seed, baseline, starts, foldModels } = results.tool;
  const named = SCENARIOS[scenario.name];
  const target = scenario.live?.targetLatencySeconds;
  const { tier, kernel } = benchNotesOf(tools[0]!) ?? {};
  const flags = [
    '--traces <the traces below>',
    `--algorithms ${algorithms.join(',')} --scenario ${scenario.name}`,
    scenario.segmentCount < (named?.segmentCount ?? 0) && `--segments ${scenario.segmentCount}`,
    typeof starts === 'string' && `--starts ${starts}`,
    named?.live && target !== named.live.targetLatencySeconds && `--target-latency ${target}`,
    `--baseline ${baseline} --seed ${seed}`,
    typeof foldModels === 'string' && `--fold-models ${foldModels}`,
    kernel && `--tier ${tier} --congestion ${kernel.congestionControl}`,
    kernel?.impairment.loss === 0 && '--impairment none',
  ];
  return `\`leo-abr ${command} ${flags.filter(Boolean).join(' ')}\``;
}

function tracesText({ results, datasets }: Run): string {
  const texts = datasets.map((dataset) => {
    const own = sessionsOf(results, dataset);
    const [traces, groups] = [new Set(own.map(({ trace }) => trace)), new Set(own.map(({ group }) => group))];
    return `${dataset}: ${count(traces.size, 'trace')} in ${count(groups.size, 'recording group')}`;
  });
  return texts.join('; ');
}

function scenarioRows(scenario: ResolvedScenario): [string, string][] {
  const { ladderBps, segmentSeconds, segmentCount, bufferCapSeconds, rttSeconds, mu, lambda, live } = scenario;
  const scale =
    'factor' in scenario.traceScale
      ? `× ${scenario.traceScale.factor}`
      : `to a mean of ${scenario.traceScale.meanBps / 1e6} Mbit/s`;
  const rates = live?.playbackRates;
  return [
    ['ladder', `${ladderBps.map((bps) => bps / 1e6).join(', ')} Mbit/s`],
    ['media', `${segmentCount} segments of ${segmentSeconds} s, buffer cap ${bufferCapSeconds} s`],
    ['link', `traces ${scale} × ${scenario.payloadShare} payload, ${1000 * rttSeconds} ms per request`],
    ...(live
      ? [
          [
            'live',
            `target latency ${live.targetLatencySeconds} s, chunks of ${live.chunkSeconds} s, encoder latency ` +
              `${live.encoderLatencySeconds} s, join ${live.timeShiftSeconds} s into the stream` +
              (rates ? `, playback rates ${rates.min} to ${rates.max}` : ''),
          ] as [string, string],
        ]
      : []),
    ['QoE', `q = Mbit/s, μ = ${mu}, λ = ${lambda}, per 4 s of media`],
  ];
}

/** The browser, and for each call of the command the machine and its load. */
function benchText(notes: BenchNotes): string {
  const { parts, contexts, lateShare } = notes;
  const head =
    `${playersOf(notes) ?? 'a player of an unknown version'}, ${contexts} sessions at the same time, rejected with more ` +
    `than ${percent(lateShare, 0)} of late downloads.`;
  return [head, ...parts.map(partText)].join(' ');
}

function partText({ startedAt, endedAt, sessions, environment, load }: BenchPart): string {
  const { browser, browserSource, node, system, processor, cores, memoryBytes } = environment;
  const [from, to] = [startedAt, endedAt].map((iso) => iso.slice(0, 19).replace('T', ' '));
  return (
    `${from} to ${to} UTC: ${count(sessions, 'session')}; browser ${browser} (${browserSource}), Node ${node}, ${system}, ` +
    `${processor}, ${cores} cores, ${fixed(memoryBytes / 2 ** 30, 0)} GiB, load at most ${fixed(load.highest, 2)}.`
  );
}

/** What the figures lack: rejected runs, sessions that ended early, places without a pair. */
export function leftOutBlocks({ results, tools, files, isSimulated }: Run): Block[] {
  const partial = tools.flatMap(({ complete }, i) =>
    complete === false ? [`\`${files[i]}\` holds partial results: sessions are missing.`] : [],
  );
  const leftOut = new Set(
    tools.flatMap((tool) => tool.leftOut ?? []).map((one) => `${one.trace} at ${one.startSeconds} s (${one.reason})`),
  );
  const places = new Set(results.sessions.map(placeKey));
  const byName = [...byAlgorithm(results.sessions)].flatMap(([algorithm, sessions]) => {
    const past = sessions.flatMap(({ pastTraceSeconds }) => pastTraceSeconds ?? []);
    const cut = sessions.filter(({ endedBy }) => endedBy === 'cutoff').length;
    const faults = sessions.filter(({ endedBy }) => endedBy === 'fault');
    const missing = places.size - new Set(sessions.map(placeKey)).size;
    const items = [
      past.length > 0 &&
        `${count(past.length, 'session')} ran past the end of the recording, which then began again, by up to ` +
          `${fixed(Math.max(...past), 1)} s.`,
      cut > 0 && `${count(cut, 'session')} cut off after 600 s of waiting; they count with the QoE until then.`,
      faults.length > 0 &&
        `${count(faults.length, 'session')} ended by a fault; the first: ${faults[0]!.fault ?? 'unknown'}.`,
      missing > 0 && `no session at ${missing} of ${places.size} places; pairs come from the others.`,
    ];
    return items.filter((item) => item !== false).map((item) => `\`${algorithm}\`: ${item}`);
  });
  const items = [
    ...partial,
    ...(leftOut.size > 0 ? [`${count(leftOut.size, 'start')} left out: ${[...leftOut].join(', ')}.`] : []),
    ...byName,
    ...(isSimulated ? [] : rejectedItems(tools.flatMap((tool) => benchNotesOf(tool) ?? []))),
  ];
  if (items.length === 0) items.push('Nothing: every planned session is in the figures and played to its end.');
  return [{ kind: 'list', items }];
}

/** Rejections by algorithm: if their numbers differ, the accepted sessions are a biased selection. */
function rejectedItems(notes: readonly BenchNotes[]): string[] {
  if (notes.some(({ kernel }) => kernel)) {
    return ['The kernel tier rejects no run, because nothing prescribes when a download ends.'];
  }
  const runs = notes.reduce((sum, { rejectedRuns }) => sum + rejectedRuns, 0);
  if (runs === 0) return ['No run was rejected.'];
  const rejections = notes.flatMap(({ parts }) => parts.flatMap((part) => part.rejections));
  const byName = Array.from(
    groupBy(rejections, ({ algorithm }) => algorithm),
    ([algorithm, own]) => `\`${algorithm}\` ${own.length}`,
  );
  return [
    `${count(runs, 'run')} rejected and repeated, because too many of a run's downloads ended later than the trace ` +
      `prescribes (by more than 3 % and 50 ms): the machine was too busy to measure. By algorithm: ${byName.join(', ')}. ` +
      'If these differ much, the accepted sessions are a biased selection.',
  ];
}
