/** Makes traces and sidecars from a source's file, as its recipe says. */

import { InputError } from '../../abr/errors.ts';
import { HANDOVER_SECOND } from '../../abr/forecast.ts';
import { formatSidecar } from '../formats/sidecar.ts';
import { formatSamplesCsv } from '../formats/trace-csv.ts';
import { handoverPhaseOf, type TraceMetadata } from '../trace.ts';
import type { Recipe, RecipeSource } from './recipes.ts';
import type { Recording } from './recording.ts';
import { deepestPhaseSeconds } from './sub-second.ts';

/** A path that leaves the data set's folder does not belong to it. */
export function isFileOf(source: RecipeSource, path: string): boolean {
  return typeof source.path === 'string' ? source.path === path : source.path.test(path) && !/(^|\/)\.\.\//.test(path);
}

export function recordingsIn(recipe: Recipe, source: RecipeSource, path: string, bytes: Uint8Array): Recording[] {
  const file = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
  const { name = file } = source;
  const recordings = recipe.convert({
    path,
    name: typeof source.path === 'string' ? name : path.replace(source.path, name),
    bytes,
  });
  const empty = recordings.find(({ samples }) => samples.timesSeconds.length === 0);
  if (empty !== undefined) throw new InputError(path, 'samples', undefined, 'none');
  return recordings;
}

export function filesOf(recipe: Recipe, source: RecipeSource, path: string, recording: Recording): [string, string][] {
  return [
    [`${recording.name}.json`, formatSidecar(metadataOf(recipe, source, path, recording))],
    [`${recording.name}.csv`, formatSamplesCsv(recording.samples)],
  ];
}

function metadataOf(recipe: Recipe, source: RecipeSource, path: string, recording: Recording): TraceMetadata {
  const { name, samples, startUtcMs, epochPhaseSeconds } = recording;
  const { dataset = recipe.name, location, ...other } = { ...recipe.sidecar, ...source.sidecar };
  const { group = name, groupFrom, handoverSecond } = recipe;
  const phaseSeconds = startUtcMs === undefined ? epochPhaseSeconds : (startUtcMs % 60_000) / 1000;
  const handoverPhaseSeconds =
    handoverSecond === 'deepest'
      ? deepestPhaseSeconds(recording)
      : handoverSecond !== undefined && phaseSeconds !== undefined
        ? handoverPhaseOf(phaseSeconds + HANDOVER_SECOND - handoverSecond)
        : undefined;
  const { repository, commit } = source;
  return {
    dataset: String(dataset),
    recordingGroup: groupFrom === undefined ? group : name.replace(groupFrom, group),
    ...(location !== undefined && { location: String(location) }),
    licence: recipe.licence,
    ...(startUtcMs !== undefined && { startUtcMs }),
    ...(phaseSeconds !== undefined && { epochPhaseSeconds: phaseSeconds }),
    ...(handoverPhaseSeconds !== undefined && { handoverPhaseSeconds }),
    other: {
      direction: 'downlink',
      ...other,
      ...recording.other,
      samples: samples.timesSeconds.length,
      source: { repo: repository, commit, path },
      ...(recipe.cite && { cite: recipe.cite }),
    },
  };
}
