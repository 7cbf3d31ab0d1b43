/** Exports a run: its sessions as the benchmark's results JSON. */

import { assembleResults, resultsJson } from '../../replay/evaluation/documents/assemble-results.ts';
import { splitPlayer } from '../../replay/forecasters.ts';
import { resolveScenario } from '../../replay/scenario-file.ts';
import { roundedSession } from '../../replay/simulator/session-result.ts';
import { DEFAULT_RISK } from '../choice/choice.ts';
import { element } from '../dom.ts';
import { isTunable } from '../lane/plugin-options.ts';
import { type DemoRun, SEED } from './run.ts';
import { sessionResult } from './session-record.ts';

declare const __LEO_ABR_VERSION__: string;

export function saveResults(run: DemoRun): void {
  const { trace, scenario, startSeconds, players } = run;
  const sessions = players.map(({ record, algorithm }) => {
    const about = { trace: trace.name, dataset: trace.dataset, group: trace.recordingGroup, startSeconds, seed: SEED };
    return roundedSession(sessionResult(record, { ...about, algorithm: nameOf(algorithm, run), scenario }));
  });
  const algorithms = [...new Set(sessions.map(({ algorithm }) => algorithm))];
  const baseline = algorithms.includes('mpc-d') ? 'mpc-d' : algorithms[0]!;
  const tool = { name: 'leo-abr', version: __LEO_ABR_VERSION__, command: 'demo', commit: null, seed: SEED, baseline };
  const json = resultsJson(assembleResults({ tool, scenario: resolveScenario(scenario), sessions, algorithms }));
  download(new Blob([json], { type: 'application/json' }), `${fileName(run)}.json`);
}

/** The name in the results: not the benchmark's if the algorithm had another risk or a hint. */
function nameOf(algorithm: string, { risk, watchedSeconds }: DemoRun): string {
  if (!isTunable(algorithm)) return algorithm;
  const { name, player } = splitPlayer(algorithm);
  const inPlayer = player === undefined ? '' : `@${player}`;
  const [controller, source = ''] = name.split('@');
  const watched = watchedSeconds === 0 ? '' : `:watched-${watchedSeconds}`;
  return `${controller}${risk === DEFAULT_RISK ? '' : `:risk-${risk}`}${watched}${source && `@${source}`}${inPlayer}`;
}

function fileName({ trace, scenario, startSeconds }: DemoRun): string {
  return `leo-abr-${trace.name}-${startSeconds}-${scenario.name}`.replaceAll(/[^\w.-]/g, '_');
}

function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
