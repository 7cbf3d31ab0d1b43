/** Merges several results of one benchmark: shards, or algorithms that were run separately. */

import { describeValue, InputError } from '../../abr/errors.ts';
import { placeOf } from '../formats/place.ts';
import type { Results, SessionResult, ToolInfo } from '../results.ts';
import { assembleResults } from './assemble-results.ts';
import { placeKey, sessionKey } from './plan.ts';
import { sameJson } from './same-json.ts';

export interface ResultsFile {
  file: string;
  results: Results;
}

/**
 * All sessions with a new summary. All shards of a run give, byte for byte, the results of the unsharded run. Identical
 * duplicates of a session count once. Other differences of `tool` are listed in `tool.differing`.
 * @throws {InputError} if scenario, seed, command, baseline or household differ, if two results of a session differ, or if
 * sessions of one trace and start have different seeds or groups.
 */
export function mergeResults(files: readonly ResultsFile[]): Results {
  const [first] = files;
  if (first === undefined) throw new InputError('results', 'at least one results file', undefined, 'none');
  const { scenario } = first.results;
  for (const { file, results } of files) {
    if (!sameJson(results.scenario, scenario)) {
      throw new InputError(
        placeOf({ file, field: 'scenario' }),
        `that of ${first.file} (${describeValue(scenario.name)})`,
        undefined,
        firstDifference(results.scenario, scenario),
      );
    }
    for (const key of ['command', 'seed', 'baseline', 'household'] as const) {
      if (sameJson(results.tool[key], first.results.tool[key])) continue;
      throw new InputError(
        placeOf({ file, field: `tool.${key}` }),
        `that of ${first.file} (${describeValue(first.results.tool[key])})`,
        results.tool[key],
      );
    }
  }
  return assembleResults({
    tool: commonTool(files.map(({ results }) => results.tool)),
    scenario,
    sessions: distinctSessions(files),
    algorithms: algorithmsOf(files),
  });
}

function distinctSessions(files: readonly ResultsFile[]): SessionResult[] {
  const byKey = new Map<string, { session: SessionResult; file: string }>();
  const byPlace = new Map<string, { session: SessionResult; file: string }>();
  for (const { file, results } of files) {
    for (const [index, session] of results.sessions.entries()) {
      const key = sessionKey(session);
      const same = byKey.get(key);
      if (same !== undefined) {
        if (sameJson(same.session, session)) continue;
        throw new InputError(
          placeOf({ file, field: `sessions[${index}]` }),
          `the result of ${same.file} for ${key}`,
          undefined,
          `another one: ${firstDifference(session, same.session)}`,
        );
      }
      byKey.set(key, { session, file });
      const place = placeKey(session);
      const paired = byPlace.get(place);
      if (paired === undefined) byPlace.set(place, { session, file });
      for (const field of ['seed', 'group'] as const) {
        if (paired === undefined || paired.session[field] === session[field]) continue;
        throw new InputError(
          placeOf({ file, field: `sessions[${index}].${field}` }),
          `${describeValue(paired.session[field])}, as for ${paired.session.algorithm} in ${paired.file}`,
          session[field],
        );
      }
    }
  }
  return [...byKey.values()].map(({ session }) => session);
}

/** The algorithms in order of appearance. */
function algorithmsOf(files: readonly ResultsFile[]): string[] {
  return [...new Set(files.flatMap(({ results }) => results.sessions.map((session) => session.algorithm)))];
}

function commonTool(tools: readonly ToolInfo[]): ToolInfo {
  const { shard: _shard, work: _work, ...merged } = tools[0]!;
  const keys = new Set(tools.flatMap((tool) => Object.keys(tool)));
  const differing: Record<string, unknown[]> = {};
  for (const key of keys) {
    if (key === 'shard' || key === 'work' || tools.every((tool) => sameJson(tool[key], tools[0]![key]))) continue;
    const values: unknown[] = [];
    for (const tool of tools) {
      const value = tool[key] ?? null;
      if (!values.some((known) => sameJson(known, value))) values.push(value);
    }
    differing[key] = values;
  }
  return Object.keys(differing).length > 0 ? { ...(merged as ToolInfo), differing } : (merged as ToolInfo);
}

/** The first different field of two objects, with the first one's value. */
function firstDifference(value: object, other: object): string {
  const [left, right] = [value as Record<string, unknown>, other as Record<string, unknown>];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!sameJson(left[key], right[key])) return `${key} ${describeValue(left[key])}`;
  }
  return 'the same';
}
