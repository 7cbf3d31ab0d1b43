/** States how to reproduce the results (program, machine, seeds, command, scenario), and what they leave out. */

import { type BenchNotes, benchNotesOf } from '../../../replay/browser/bench-notes.ts';
import { groupBy } from '../../../replay/evaluation/group-by.ts';
import { placeKey } from '../../../replay/evaluation/plan/plan.ts';
import type { Block } from '../document.ts';
import { count, fixed, flatFields } from '../format.ts';
import { byAlgorithm, type Run, runTitle, sessionsOf } from '../runs.ts';

/** Lists the fields of `tool` and `scenario` in results.json. A value that several files share is listed once. */
export function provenanceBlocks(run: Run): Block[] {
  const { results, tools, files, datasets } = run;
  const { segmentSizesBits: _, qualities: __, ...scenario } = results.scenario;
  const traces = datasets.map((dataset) => {
    const own = sessionsOf(results, dataset);
    const [names, groups] = [new Set(own.map(({ trace }) => trace)), new Set(own.map(({ group }) => group))];
    return `${dataset}: ${count(names.size, 'trace')} in ${count(groups.size, 'recording group')}`;
  });
  const fields = tools.map(({ leftOut: _, ...tool }) => new Map(Object.entries(flatFields(tool, 'tool.'))));
  const names = [...new Set(fields.flatMap((of) => [...of.keys()]))];
  const toolRows = names.map((name) => [name, [...new Set(fields.map((of) => text(of.get(name))))].join('; ')]);
  const scenarioRows = Object.entries(flatFields(scenario, 'scenario.')).map(([name, value]) => [name, text(value)]);
  const rows = [['files', files.join(', ')], ['traces', traces.join('; ')], ...toolRows, ...scenarioRows];
  return [
    {
      kind: 'table',
      caption: `${runTitle(run)}: how it was made.`,
      names: ['field', 'value'],
      rows,
      endsInText: true,
      isFolded: true,
    },
  ];
}

function text(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value ?? 'unknown');
}

/** Lists what the figures lack: rejected runs, sessions that ended early, places without a pair. */
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

/** Counts rejections by algorithm. If their numbers differ, the accepted sessions are a biased selection. */
function rejectedItems(notes: readonly BenchNotes[]): string[] {
  if (notes.some(({ kernel }) => kernel)) {
    return ['The kernel tier rejects no run, because nothing prescribes when a download ends.'];
  }
  const runs = notes.reduce((sum, { rejectedRuns }) => sum + rejectedRuns, 0);
  if (runs === 0) return ['No run was rejected.'];
  const rejections = notes.flatMap(({ parts }) => parts.flatMap((part) => part.rejections));
  const groups = [...groupBy(rejections, ({ algorithm }) => algorithm)];
  const byName = groups.map(([algorithm, own]) => `\`${algorithm}\` ${own.length}`);
  return [
    `${count(runs, 'run')} rejected and repeated, because too many of a run's downloads ended later than the trace ` +
      `prescribes (by more than 3 % and 50 ms): the machine was too busy to measure. By algorithm: ${byName.join(', ')}. ` +
      'If these differ much, the accepted sessions are a biased selection.',
  ];
}
