/** Groups results files into the runs of a report: files of one scenario and tier are one run. */

import { basename } from 'node:path';
import { benchNotesOf } from '../../replay/browser/bench-notes.ts';
import { mergeResults, type ResultsFile } from '../../replay/evaluation/documents/merge.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import { ALL_DATASETS, type Results, type SessionResult, type ToolInfo } from '../../replay/results.ts';
import { qoeDigits } from './figures.ts';

export type Run = ReturnType<typeof runsOf>[number];

/** Merges files of one scenario and tier. Runs are in the order of their first files. */
export function runsOf(files: readonly ResultsFile[]) {
  const groups: ResultsFile[][] = [];
  for (const one of files) {
    const { tool, scenario } = one.results;
    const isSame = ({ results }: ResultsFile) =>
      tierOf(results.tool) === tierOf(tool) && sameJson(results.scenario, scenario);
    const group = groups.find(([first]) => isSame(first!));
    if (group === undefined) groups.push([one]);
    else group.push(one);
  }
  return groups.map((members) => {
    const [first] = members as [ResultsFile];
    // One file, too: if sessions were removed by hand, its summary does not describe the rest.
    const results = mergeResults(members);
    const { scenario, tool, sessions } = results;
    const tier = tierOf(first.results.tool);
    const scenarios = groups.map(([one]) => one!.results.scenario);
    const isNamesake = scenarios.some((other) => other.name === scenario.name && !sameJson(other, scenario));
    return {
      ...{ tier, scenario, results, baseline: tool.baseline, digits: qoeDigits(scenario) },
      isSimulated: tool.command === 'simulate',
      // If two different scenarios have the same name, the file distinguishes them.
      scenarioLabel: isNamesake ? `${scenario.name} (${basename(first.file)})` : scenario.name,
      files: displayNames(members.map(({ file }) => file)),
      tools: members.map((member) => member.results.tool),
      algorithms: [...new Set(sessions.map(({ algorithm }) => algorithm))],
      datasets: [...new Set(sessions.map(({ dataset }) => dataset))],
    };
  });
}

export const runTitle = ({ scenarioLabel, tier }: Run) => `${scenarioLabel}, ${tier}`;

/** File names without folders, because a report may be shared. If names are equal, the folders distinguish them. */
function displayNames(files: readonly string[]): string[] {
  const names = files.map((file) => basename(file));
  return new Set(names).size === names.length ? names : [...files];
}

/** `simulator` or `browser`, followed by a household's name or by a tier that is not the default. */
function tierOf(tool: ToolInfo): string {
  const household = tool.household === undefined ? '' : `, household ${tool.household.name}`;
  if (tool.command === 'simulate') return `simulator${household}`;
  const notes = benchNotesOf(tool);
  if (notes === undefined || notes.tier === 'origin') return `browser${household}`;
  return `browser, ${notes.tier}${notes.kernel === undefined ? '' : ` with ${notes.kernel.congestionControl}`}`;
}

export function sessionsOf({ sessions }: Results, dataset: string): SessionResult[] {
  return dataset === ALL_DATASETS ? sessions : sessions.filter((session) => session.dataset === dataset);
}

export function byAlgorithm(sessions: readonly SessionResult[]): Map<string, SessionResult[]> {
  return groupBy(sessions, ({ algorithm }) => algorithm);
}
