import { describe, expect, test } from '@jest/globals';
import { parseHousehold } from '../../households.ts';
import { testResults, testScenario, testSession, testTrace } from '../test-sessions.fixture.ts';
import { orderSessions, parseShard, planBenchmark, resumePlan, sessionKey } from './plan.ts';
import { parseStarts } from './starts.ts';

const scenario = testScenario();
const options = {
  traces: [testTrace('b', 400), testTrace('a', 300), testTrace('c', 60, 'another')],
  scenario,
  starts: parseStarts('every:61'),
  algorithms: ['mpc-o', 'mpc-d'],
  seed: 1,
};
const text = (plan: ReturnType<typeof planBenchmark>) =>
  plan.sessions.map((s) => `${s.trace.metadata.dataset}/${s.trace.name}@${s.startSeconds} ${s.algorithm}`);

describe('planBenchmark', () => {
  test('sorts by data set, trace and start, with algorithms in the given order', () => {
    const plan = planBenchmark(options);
    const places = ['another/c@0', 'set/a@0', 'set/a@61', 'set/b@0', 'set/b@61', 'set/b@122'];
    expect(text(plan)).toEqual(places.flatMap((at) => [`${at} mpc-o`, `${at} mpc-d`]));
    expect(planBenchmark({ ...options, traces: [...options.traces].reverse() })).toEqual(plan);
  });

  test('gives all algorithms of a start the same seed, different from other starts and benchmarks', () => {
    const { sessions } = planBenchmark(options);
    const seeds = new Set(sessions.map((session) => session.seed));
    expect(seeds.size).toBe(sessions.length / 2);
    expect(planBenchmark({ ...options, seed: 2 }).sessions[0]!.seed).not.toBe(sessions[0]!.seed);
  });

  test('shards are disjoint and complete, with all algorithms of a start in the same shard', () => {
    const parts = [1, 2, 3, 4].map((index) => text(planBenchmark({ ...options, shard: { index, count: 4 } })));
    expect(parts.flat().sort()).toEqual(text(planBenchmark(options)).sort());
    expect(parts.map((part) => part.length)).toEqual([4, 4, 2, 2]);
  });

  test('reports traces and starts without room', () => {
    const traces = [testTrace('a', 240), testTrace('b', 300), testTrace('c', 47)];
    const { leftOut } = planBenchmark({ ...options, starts: parseStarts('at:0,61'), traces });
    expect(leftOut.map(({ trace, startSeconds, reason }) => [trace, startSeconds, reason])).toEqual([
      ['a', 61, 'no room for a session in 240 s'],
      ['c', 0, 'no room for a session in 47 s'],
      ['c', 61, 'no room for a session in 47 s'],
    ]);
  });

  test.each([
    // The joiner at 30 s has 24 s and 52 s of media, live 30 s and 60 s.
    ['uhd-8', 60, 90],
    ['live-hd-1', 60, 90],
  ])('%s: no player of a household has less than 40 s of media, unless it joins a whole one so late', (name, a, b) => {
    const household = parseHousehold('{"players": [{}, {"joinSeconds": 30}]}', 'late.json');
    const of = (joined: typeof household) => {
      const { sessions, leftOut } = planBenchmark({
        ...options,
        scenario: testScenario(name),
        household: joined,
        traces: [testTrace('a', a), testTrace('b', b), testTrace('c', 300)],
      });
      return [[...new Set(sessions.map(({ trace }) => trace.name))], leftOut.map(({ trace }) => trace)];
    };
    expect(of(household)).toEqual([['b', 'c'], ['a']]);
    const late = parseHousehold('{"players": [{}, {"joinSeconds": 160}]}', 'late.json');
    expect(of(late)).toEqual([['c'], ['a', 'b']]);
  });

  test('refuses traces of the same name, repeated algorithms and a benchmark without sessions', () => {
    expect(() => planBenchmark({ ...options, traces: [testTrace('a', 300), testTrace('a', 300)] })).toThrow(
      'name: expected a unique name per trace of data set "set", got "a" again',
    );
    expect(() => planBenchmark({ ...options, algorithms: ['mpc-d', 'mpc-d'] })).toThrow(/each once/);
    expect(() => planBenchmark({ ...options, traces: [testTrace('a', 8)] })).toThrow(
      'traces: expected a trace of 48 s or more (232 s after the start for a whole session of uhd-8), ' +
        'got 1 too short: "a" of 8 s',
    );
  });
});

describe('resumePlan', () => {
  const planned = planBenchmark(options).sessions;
  const played = planned.map(({ trace, startSeconds, algorithm, seed }) =>
    testSession({ dataset: trace.metadata.dataset, trace: trace.name, startSeconds, algorithm, seed }),
  );

  test('splits into done and remaining sessions', () => {
    const earlier = { file: 'r.json', results: testResults(played.slice(0, 5)) };
    const { done, remains } = resumePlan(planned, earlier, scenario);
    expect(done.map(sessionKey)).toEqual(played.slice(0, 5).map(sessionKey));
    expect(remains).toEqual(planned.slice(5));
  });

  test('refuses results of another scenario, seed or command', () => {
    const resume = (results: ReturnType<typeof testResults>) => () =>
      resumePlan(planned, { file: 'r.json', results }, scenario);
    const results = testResults(played);
    expect(resume({ ...results, scenario: { ...scenario, bufferCapSeconds: 9 } })).toThrow(/^r.json: scenario: /);
    expect(resume(testResults([{ ...played[0]!, seed: 1 }]))).toThrow(/^r.json: sessions\[0\].seed: expected \d+/);
    expect(resume(testResults([{ ...played[0]!, algorithm: 'bola' }]))).toThrow(/only sessions of this command/);
  });
});

test('orderSessions sorts algorithms into the given order', () => {
  const sessions = ['bola', 'mpc-d', 'mpc-o'].map((algorithm) => testSession({ algorithm }));
  expect(orderSessions(sessions, ['mpc-o', 'mpc-d']).map((s) => s.algorithm)).toEqual(['mpc-o', 'mpc-d', 'bola']);
});

test.each(['', '1', '0/4', '5/4', '1/4/2', 'a/b', '-1/4', '1.5/4'])('parseShard refuses %j', (shard) => {
  expect(() => parseShard(shard)).toThrow(/^--shard: expected i\/n/);
});
