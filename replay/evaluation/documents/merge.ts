/** Merges several results of one benchmark: shards, or separately run algorithms. */

import { describeValue, InputError } from '../../../abr/errors.ts';
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
 * Identical duplicates of a session count once. Other differences of `tool` are listed in `tool.differing`.
 * @throws {InputError} if scenario, seed, command, baseline or household differ, if two results of a session differ, or
 * if sessions of one trace and start have different seeds or groups.
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
    results.sessions.map((session, index) => ({ file, session, index })),
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
  const differing: Record<string, unknown[]> = {};
  for (const key of new Set(tools.flatMap((tool) => Object.keys(tool)))) {
    const values = tools
      .map((tool) => tool[key] ?? null)
      .filter((value, i, all) => all.findIndex((other) => sameJson(other, value)) === i);
    if (key !== 'shard' && key !== 'work' && values.length > 1) differing[key] = values;
  }
  return { ...(merged as ToolInfo), ...(Object.keys(differing).length > 0 && { differing }) };
}

function firstDifference(value: object, other: object): string {
  const [left, right] = [value as Record<string, unknown>, other as Record<string, unknown>];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!sameJson(left[key], right[key])) return `${key} ${describeValue(left[key])}`;
  }
  return 'the same';
}
