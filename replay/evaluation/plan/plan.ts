/** Plans a benchmark: every (trace, start, algorithm) with its seed in a fixed order, shards, and resuming. */

import { check, describeValue, InputError } from '../../../abr/errors.ts';
import { seedOf } from '../../../abr/statistics/random.ts';
import { placeOf } from '../../formats/place.ts';
import { type Household, segmentsOfPlayer } from '../../households.ts';
import {
  ALL_DATASETS,
  type LeftOutStart,
  type ResolvedScenario,
  type Results,
  type SessionResult,
} from '../../results.ts';
import type { Scenario } from '../../scenarios.ts';
import type { Trace } from '../../trace.ts';
import { sameJson } from '../documents/same-json.ts';
import { groupBy } from '../group-by.ts';
import { leastSegments, neededOfTraces, type SessionStart, type StartsRule, sessionStarts } from './starts.ts';

export interface PlannedSession extends SessionStart {
  trace: Trace;
  algorithm: string;
  /** Equal for all algorithms on one (trace, start). */
  seed: number;
  /** The household that plays instead of a single session; `algorithm` is the given algorithm. */
  household?: Household;
}

interface Shard {
  index: number;
  count: number;
}

interface BenchmarkOptions {
  traces: readonly Trace[];
  scenario: Scenario;
  starts: StartsRule;
  algorithms: readonly string[];
  seed: number;
  shard?: Shard;
  household?: Household;
}

export interface BenchmarkPlan {
  /** Ordered by data set, trace and start, then as the algorithms were given. */
  sessions: PlannedSession[];
  leftOut: LeftOutStart[];
}

const MOST_SHARDS = 10_000;

/** Parses `i/n`, 1 <= i <= n. */
export function parseShard(text: string, field = '--shard'): Shard {
  const [index = 0, count = 0] = /^(\d+)\/(\d+)$/.exec(text)?.slice(1).map(Number) ?? [];
  const isShard = index >= 1 && index <= count && count <= MOST_SHARDS;
  check(isShard, field, `i/n with 1 <= i <= n <= ${MOST_SHARDS}`, text);
  return { index, count };
}

/** All sessions in order. Shards take turns by (trace, start), so that all algorithms share a start. */
export function planBenchmark(options: BenchmarkOptions): BenchmarkPlan {
  const { scenario, starts, algorithms, seed, shard, household } = options;
  const isDistinct = algorithms.length > 0 && new Set(algorithms).size === algorithms.length;
  check(isDistinct, 'algorithms', 'at least one algorithm, each once', algorithms.join(','));
  const traces = [...options.traces].sort(
    (a, b) => compareText(a.metadata.dataset, b.metadata.dataset) || compareText(a.name, b.name),
  );
  rejectNamesakes(traces);

  const plan: BenchmarkPlan = { sessions: [], leftOut: [] };
  let turn = 0;
  for (const trace of traces) {
    const fitting = sessionStarts(trace, scenario, starts).filter(
      ({ segmentCount }) => household === undefined || hasRoom(household, segmentCount, scenario),
    );
    plan.leftOut.push(...startsLeftOut(trace, starts, fitting));
    for (const start of fitting) {
      const isMine = shard === undefined || turn % shard.count === shard.index - 1;
      turn++;
      if (!isMine) continue;
      const sessionSeed = seedOf(JSON.stringify([seed, trace.metadata.dataset, trace.name, start.startSeconds]));
      for (const algorithm of algorithms) {
        plan.sessions.push({ trace, ...start, algorithm, seed: sessionSeed, ...(household && { household }) });
      }
    }
  }
  if (turn === 0) {
    const [first] = traces;
    const got = first && `${traces.length} too short: ${describeValue(first.name)} of ${first.durationSeconds} s ...`;
    throw new InputError('traces', neededOfTraces(scenario), undefined, got ?? 'none');
  }
  return plan;
}

type SessionPlace = Pick<SessionResult, 'dataset' | 'trace' | 'startSeconds' | 'household'>;
type SessionKeys = SessionPlace & Pick<SessionResult, 'algorithm'>;

export function sessionKey(session: SessionKeys): string {
  const { household } = session;
  return JSON.stringify([...lineOf(session, household?.name), ...(household ? [household.player] : [])]);
}

/** `sessionKey` without the algorithm: sessions of a place are paired, in a household by player. */
export function placeKey({ dataset, trace, startSeconds, household }: SessionPlace): string {
  const seat = household === undefined ? [] : [household.name, household.player];
  return JSON.stringify([dataset, trace, startSeconds, ...seat]);
}

function lineOf(
  { dataset, trace, startSeconds, algorithm, household }: SessionKeys,
  name: string | undefined,
): unknown[] {
  return [dataset, trace, startSeconds, household?.algorithm ?? algorithm, ...(name === undefined ? [] : [name])];
}

/** Splits a plan into sessions that earlier, partial results have, and the rest. */
export function resumePlan(
  planned: readonly PlannedSession[],
  earlier: { file: string; results: Results },
  scenario: ResolvedScenario,
): { done: SessionResult[]; remains: PlannedSession[] } {
  const { file, results } = earlier;
  const wrong = (field: string, expected: string, received: unknown, got?: string) =>
    new InputError(placeOf({ file, field }), expected, received, got);
  if (!sameJson(results.scenario, scenario)) {
    const expected = `the scenario of this command (${scenario.name}) with the same values`;
    throw wrong('scenario', expected, undefined, `${describeValue(results.scenario.name)} with other values`);
  }
  // If a node that was given up for dead still writes, partial results may hold a session twice.
  const distinct = new Map(results.sessions.map((session, index) => [sessionKey(session), { session, index }]));
  const byKey = groupBy(distinct.values(), ({ session }) => JSON.stringify(lineOf(session, session.household?.name)));
  const done: SessionResult[] = [];
  const remains: PlannedSession[] = [];
  for (const session of planned) {
    const { trace, startSeconds, algorithm, household, seed } = session;
    const place = { dataset: trace.metadata.dataset, trace: trace.name, startSeconds, algorithm };
    const key = JSON.stringify(lineOf(place, household?.name));
    const found = byKey.get(key) ?? [];
    byKey.delete(key);
    if (found.length < (household?.players.length ?? 1)) {
      remains.push(session);
      continue;
    }
    const [{ session: first, index }] = found as [(typeof found)[0]];
    if (first.seed !== seed) throw wrong(`sessions[${index}].seed`, `${seed}, as --seed gives`, first.seed);
    done.push(...found.map((one) => one.session));
  }
  for (const [key, [found]] of byKey) {
    throw wrong(`sessions[${found!.index}]`, 'only sessions of this command', undefined, key);
  }
  return { done, remains };
}

/** Sorts sessions into a plan's order: algorithms in the given order, then others in order of appearance. */
export function orderSessions<T extends SessionResult>(
  sessions: readonly T[],
  algorithms: readonly string[] = [],
): T[] {
  const rank = new Map(algorithms.map((algorithm, index) => [algorithm, index]));
  const given = ({ household, algorithm }: T) => household?.algorithm ?? algorithm;
  for (const session of sessions) if (!rank.has(given(session))) rank.set(given(session), rank.size);
  return [...sessions].sort(
    (a, b) =>
      compareText(a.dataset, b.dataset) ||
      compareText(a.trace, b.trace) ||
      a.startSeconds - b.startSeconds ||
      rank.get(given(a))! - rank.get(given(b))! ||
      (a.household?.player ?? 0) - (b.household?.player ?? 0),
  );
}

/** By UTF-16 code units, so that the order does not depend on the locale. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function rejectNamesakes(sorted: readonly Trace[]): void {
  const all = sorted.find(({ metadata }) => metadata.dataset === ALL_DATASETS);
  if (all && sorted.some(({ metadata }) => metadata.dataset !== ALL_DATASETS)) {
    const expected = `another name than "${ALL_DATASETS}", which means all data sets`;
    throw new InputError(placeOf({ file: all.file, field: 'dataset' }), expected, ALL_DATASETS);
  }
  for (const [i, { name, file, metadata }] of sorted.entries()) {
    const before = sorted[i - 1];
    if (before?.name !== name || before.metadata.dataset !== metadata.dataset) continue;
    const expected = `a unique name per trace of data set ${describeValue(metadata.dataset)}`;
    const got = `${describeValue(name)} again${before.file === undefined ? '' : `, as in ${before.file}`}`;
    throw new InputError(placeOf({ file, field: 'name' }), expected, undefined, got);
  }
}

/** No player has a shorter session than the household and `leastSegments` allow. */
function hasRoom({ players }: Household, segmentCount: number, scenario: Scenario): boolean {
  const least = leastSegments(scenario);
  return players.every((player) => {
    const segments = segmentsOfPlayer(player, { segmentCount, scenario });
    const whole = segmentsOfPlayer(player, { segmentCount: scenario.segmentCount, scenario });
    return segments > 0 && segments >= Math.min(least, whole);
  });
}

function startsLeftOut(trace: Trace, rule: StartsRule, fitting: readonly SessionStart[]): LeftOutStart[] {
  const wanted = 'atSeconds' in rule ? rule.atSeconds : [0];
  const { name, durationSeconds, metadata } = trace;
  const reason = `no room for a session in ${durationSeconds} s`;
  return wanted
    .filter((startSeconds) => !fitting.some((start) => start.startSeconds === startSeconds))
    .map((startSeconds) => ({ dataset: metadata.dataset, trace: name, startSeconds, reason }));
}
