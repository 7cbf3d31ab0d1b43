/** Merges several results of one benchmark: shards, or separately run algorithms. */

import { describeValue, InputError } from '../../../abr/errors.ts';
import { benchNotesOf } from '../../browser/bench-notes.ts';
import { placeOf } from '../../formats/place.ts';
import type { Results, SessionResult, ToolInfo } from '../../results.ts';
import { placeKey, sessionKey } from '../plan/plan.ts';
import { assembleResults } from './assemble-results.ts';
import { sameJson } from './same-json.ts';

export interface ResultsFile {
  file: string;
  results: Results;
}

/**
 * Returns all sessions with a new summary. All shards of a run give, byte for byte, the results of the whole run.
 * Identical duplicates of a session count once. Lists in `tool` are joined, other differences of `tool` are listed in
 * `tool.differing`.
 * @throws {InputError} if scenario, seed, command, baseline or household differ, if two results of a session differ, or
 * if sessions of one trace and start have different seeds, groups or scales.
 */
export function mergeResults(files: readonly ResultsFile[]): Results {
  const [first] = files;
  if (first === undefined) throw new InputError('results', 'at least one results file', undefined, 'none');
  const { scenario, tool } = first.results;
  for (const { file, results } of files) {
    const expected = (value: unknown) => `that of ${first.file} (${describeValue(value)})`;
    if (!sameJson(results.scenario, scenario)) {
      const got = firstDifference(results.scenario, scenario);
      throw new InputError(placeOf({ file, field: 'scenario' }), expected(scenario.name), undefined, got);
    }
    for (const key of ['command', 'seed', 'baseline', 'household'] as const) {
      if (sameJson(results.tool[key], tool[key])) continue;
      throw new InputError(placeOf({ file, field: `tool.${key}` }), expected(tool[key]), results.tool[key]);
    }
  }
  const sessions = distinctSessions(files);
  return assembleResults({
    ...{ tool: commonTool(files.map(({ results }) => results.tool)), scenario, sessions },
    algorithms: [...new Set(files.flatMap(({ results }) => results.sessions.map(({ algorithm }) => algorithm)))],
  });
}

function distinctSessions(files: readonly ResultsFile[]): SessionResult[] {
  const all = files.flatMap(({ file, results }) =>
    results.sessions.map((session, index) => {
      return { file, session, index, isUnscaled: results.tool.unscaledDatasets?.includes(session.dataset) === true };
    }),
  );
  const byKey = new Map<string, (typeof all)[number]>();
  const byPlace = new Map<string, (typeof all)[number]>();
  for (const one of all) {
    const { file, session, index } = one;
    const key = sessionKey(session);
    const same = byKey.get(key);
    const field = `sessions[${index}]`;
    if (same !== undefined) {
      if (sameJson(same.session, session)) continue;
      const got = `another one: ${firstDifference(session, same.session)}`;
      throw new InputError(placeOf({ file, field }), `the result of ${same.file} for ${key}`, undefined, got);
    }
    byKey.set(key, one);
    const place = placeKey(session);
    const paired = byPlace.get(place) ?? one;
    byPlace.set(place, paired);
    if (one.isUnscaled !== paired.isUnscaled) {
      const expected = `a link scaled as in ${paired.file} (--scale)`;
      throw new InputError(placeOf({ file, field }), expected, undefined, 'another scale');
    }
    for (const name of ['seed', 'group'] as const) {
      if (paired.session[name] === session[name]) continue;
      const expected = `${describeValue(paired.session[name])}, as for ${paired.session.algorithm} in ${paired.file}`;
      throw new InputError(placeOf({ file, field: `${field}.${name}` }), expected, session[name]);
    }
  }
  return [...byKey.values()].map(({ session }) => session);
}

function commonTool(tools: readonly ToolInfo[]): ToolInfo {
  const { shard: _shard, work: _work, ...merged } = tools[0]!;
  const joined = {
    unscaledDatasets: distinct(tools.flatMap((tool) => tool.unscaledDatasets ?? [])),
    leftOut: distinct(tools.flatMap((tool) => tool.leftOut ?? [])),
  };
  const differing: Record<string, unknown[]> = {};
  for (const key of new Set(tools.flatMap((tool) => Object.keys(tool)))) {
    const values = distinct(tools.map((tool) => tool[key] ?? null));
    if (!['shard', 'work', ...Object.keys(joined)].includes(key) && values.length > 1) differing[key] = values;
  }
  const bench = benchNotesOf(merged);
  const parts = distinct(tools.flatMap((tool) => benchNotesOf(tool)?.parts ?? []));
  const rejectedRuns = parts.reduce((sum, { rejections }) => sum + rejections.length, 0);
  return {
    ...(merged as ToolInfo),
    ...Object.fromEntries(Object.entries(joined).filter(([, of]) => of.length > 0)),
    ...(bench && { bench: { ...bench, rejectedRuns, parts } }),
    ...(Object.keys(differing).length > 0 && { differing }),
  };
}

/** The values without repetitions, compared as JSON. */
function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function firstDifference(value: object, other: object): string {
  const [left, right] = [value as Record<string, unknown>, other as Record<string, unknown>];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!sameJson(left[key], right[key])) return `${key} ${describeValue(left[key])}`;
  }
  return 'the same';
}
