/** Reads a trace that the viewer opened or dropped on the page. */

import { neededOfTraces, sessionStarts } from '../../replay/evaluation/plan/starts.ts';
import { type Scenario, scaleText } from '../../replay/scenarios.ts';
import { wrapSeconds } from '../../replay/trace.ts';
import { clock } from '../format.ts';
import type { TraceListing, TraceUpload } from '../origin/origin-client.ts';
import { sessionSecondsOf } from '../run/run.ts';
import type { DemoChoice } from './choice.ts';

/** Reads a trace, and its sidecar if the files have it. The origin checks both. */
export async function readOwnTrace(files: readonly File[]): Promise<TraceUpload> {
  const sidecarFile = files.find(({ name }) => name.endsWith('.json'));
  const [file, ...others] = files.filter((one) => one !== sidecarFile);
  if (file === undefined || others.length > 0) {
    throw new Error(`expected one trace and at most one sidecar (.json), got ${files.length} files`);
  }
  const text = await file.text();
  const sidecar = await sidecarFile?.text();
  return { file: file.name, text, ...(sidecar !== undefined && { sidecar }) };
}

/** Returns why the trace cannot be played in the scenario; undefined if it can. */
export function tooShort({ name, durationSeconds }: TraceListing, scenario: Scenario): string | undefined {
  if (sessionStarts({ durationSeconds }, scenario, { atSeconds: [0] }).length > 0) return undefined;
  return `${name}: expected ${neededOfTraces(scenario)}, got ${durationSeconds} s`;
}

/** Says how the scenario changes the link's rates, when the link repeats, and whether all players share it. */
export function linkNote(trace: TraceListing, scenario: Scenario, { startSeconds, isShared }: DemoChoice): string {
  const scale = trace.keepsRates ? '' : scaleText(scenario);
  const repeatsAt = wrapSeconds(trace);
  const repeats = startSeconds + sessionSecondsOf(scenario) > repeatsAt;
  return [
    scale ? `In ${scenario.name}, ${scale}.` : 'The link plays as recorded.',
    `Headers take ${Math.round(100 * (1 - scenario.payloadShare))} % of its rate.`,
    repeats ? `After ${clock(repeatsAt)} it begins again.` : '',
    isShared ? 'All players share it.' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Returns a note about an uploaded trace for the viewer; undefined if nothing is special. */
export function notesOn(file: string, parts: readonly TraceListing[]): string | undefined {
  const names = parts.map(({ name }) => name).join(', ');
  const notes = [
    ...(parts.length > 1 ? [`It has gaps and is replayed in ${parts.length} parts: ${names}.`] : []),
    ...(parts[0]!.hasClock ? [] : ['It has no clock (epoch_phase_s in a sidecar), so no handovers are drawn.']),
  ];
  return notes.length === 0 ? undefined : `${file}: ${notes.join(' ')}`;
}
