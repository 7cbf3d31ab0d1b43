/** Groups results files into the runs of a report: files of one scenario and tier are one run. */

import { basename } from 'node:path';
import { benchNotesOf } from '../../replay/browser/bench-notes.ts';
import { mergeResults, type ResultsFile } from '../../replay/evaluation/documents/merge.ts';
import { sameJson } from '../../replay/evaluation/documents/same-json.ts';
import { groupBy } from '../../replay/evaluation/group-by.ts';
import {
  ALL_DATASETS,
  type ResolvedScenario,
  type Results,
  type SessionResult,
  type ToolInfo,
} from '../../replay/results.ts';
import { qoeDigits } from './figures.ts';

export interface Run {
  /** `simulator`, `simulator, household <name>`, `browser`, or `browser, <tier>` for a tier that is not the default. */
  tier: string;
  isSimulated: boolean;
  /** The scenario's name; followed by the file where two different scenarios have the same name. */
  scenarioLabel: string;
  scenario: ResolvedScenario;
  /** Names as readers see them. */
  files: string[];
  tools: ToolInfo[];
  results: Results;
  algorithms: string[];
  datasets: string[];
  baseline: string;
  digits: number;
}

/** In order of their first file; runs of one scenario and tier are merged. */
export function runsOf(files: readonly ResultsFile[]): Run[] {
  const groups: { files: ResultsFile[]; tier: string }[] = [];
  for (const one of files) {
    const { tool, scenario } = one.results;
    const tier = tierOf(tool);
    const group = groups.find((other) => other.tier === tier && sameJson(other.files[0]!.results.scenario, scenario));
    if (group === undefined) groups.push({ files: [one], tier });
    else group.files.push(one);
  }
  const scenarios = groups.map(({ files: [first] }) => first!.results.scenario);
  return groups.map(({ files: members, tier }) => {
    const [first] = members as [ResultsFile];
    const results = members.length === 1 ? first.results : mergeResults(members);
    const { scenario, tool, sessions } = results;
    const isNamesake = scenarios.some((other) => other.name === scenario.name && !sameJson(other, scenario));
    return {
      ...{ tier, scenario, results, baseline: tool.baseline, digits: qoeDigits(scenario) },
      isSimulated: tool.command === 'simulate',
      scenarioLabel: isNamesake ? `${scenario.name} (${basename(first.file)})` : scenario.name,
      files: displayNames(members.map(({ file }) => file)),
      tools: members.map((member) => member.results.tool),
      algorithms: [...new Set(sessions.map(({ algorithm }) => algorithm))],
      datasets: [...new Set(sessions.map(({ dataset }) => dataset))],
    };
  });
}

/** File names without folders, which a shared report should not show; with them where names are equal. */
function displayNames(files: readonly string[]): string[] {
  const names = files.map((file) => basename(file));
  return new Set(names).size === names.length ? names : [...files];
}

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
