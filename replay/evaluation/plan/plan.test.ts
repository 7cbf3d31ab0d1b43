import { expect, test } from '@jest/globals';
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

test('a plan sorts by data set, trace and start, with algorithms in the given order', () => {
  const plan = planBenchmark(options);
  const places = ['another/c@0', 'set/a@0', 'set/a@61', 'set/b@0', 'set/b@61', 'set/b@122'];
  expect(text(plan)).toEqual(places.flatMap((at) => [`${at} mpc-o`, `${at} mpc-d`]));
  expect(planBenchmark({ ...options, traces: [...options.traces].reverse() })).toEqual(plan);
});

test('a plan gives all algorithms of a start the same seed, different from other starts and benchmarks', () => {
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

test('a plan reports traces and starts without room', () => {
  const traces = [testTrace('a', 240), testTrace('b', 300), testTrace('c', 47)];
  const { leftOut } = planBenchmark({ ...options, starts: parseStarts('at:0,61'), traces });
  const why = 'no room for a session in';
  expect(leftOut.map(({ trace, startSeconds, reason }) => `${trace}@${startSeconds}: ${reason}`)).toEqual([
    ...[`a@61: ${why} 240 s`, `c@0: ${why} 47 s`, `c@61: ${why} 47 s`],
  ]);
});

test.each(['uhd-8', 'live-hd-1'])('%s: no player of a household has under 40 s, unless it joins so late', (name) => {
  const traces = [testTrace('a', 60), testTrace('b', 90), testTrace('c', 300)];
  const playedWith = (joinSeconds: number) => {
    const household = parseHousehold(`{"players": [{}, {"joinSeconds": ${joinSeconds}}]}`, 'late.json');
    const { sessions, leftOut } = planBenchmark({ ...options, scenario: testScenario(name), household, traces });
    return [[...new Set(sessions.map(({ trace }) => trace.name))], leftOut.map(({ trace }) => trace)];
  };
  // The joiner has 24 s, 52 s and more of media, live 30 s, 60 s and more.
  expect(playedWith(30)).toEqual([['b', 'c'], ['a']]);
  expect(playedWith(160)).toEqual([['c'], ['a', 'b']]);
});

test('a plan refuses traces of the same name, repeated algorithms and a benchmark without sessions', () => {
  expect(() => planBenchmark({ ...options, traces: [testTrace('a', 300), testTrace('a', 300)] })).toThrow(
    'name: expected a unique name per trace of data set "set", got "a" again',
  );
  expect(() => planBenchmark({ ...options, algorithms: ['mpc-d', 'mpc-d'] })).toThrow(/each once/);
  expect(() => planBenchmark({ ...options, traces: [testTrace('a', 8)] })).toThrow(
    'traces: expected a trace of 48 s or more (232 s after the start for a whole session of uhd-8), ' +
      'got 1 too short: "a" of 8 s',
  );
});

const planned = planBenchmark(options).sessions;
const played = planned.map(({ trace, startSeconds, algorithm, seed }) =>
  testSession({ dataset: trace.metadata.dataset, trace: trace.name, startSeconds, algorithm, seed }),
);

test('a resumed plan splits into done and remaining sessions', () => {
  const earlier = { file: 'r.json', results: testResults(played.slice(0, 5)) };
  const { done, remains } = resumePlan(planned, earlier, scenario);
  expect(done.map(sessionKey)).toEqual(played.slice(0, 5).map(sessionKey));
  expect(remains).toEqual(planned.slice(5));
});

test('a resumed plan refuses results of another scenario, seed or command', () => {
  const resume = (results: ReturnType<typeof testResults>) => () =>
    resumePlan(planned, { file: 'r.json', results }, scenario);
  const results = testResults(played);
  expect(resume({ ...results, scenario: { ...scenario, bufferCapSeconds: 9 } })).toThrow(/^r.json: scenario: /);
  expect(resume(testResults([{ ...played[0]!, seed: 1 }]))).toThrow(/^r.json: sessions\[0\].seed: expected \d+/);
  expect(resume(testResults([{ ...played[0]!, algorithm: 'bola' }]))).toThrow(/only sessions of this command/);
});

test('orderSessions sorts algorithms into the given order', () => {
  const sessions = ['bola', 'mpc-d', 'mpc-o'].map((algorithm) => testSession({ algorithm }));
  expect(orderSessions(sessions, ['mpc-o', 'mpc-d']).map((s) => s.algorithm)).toEqual(['mpc-o', 'mpc-d', 'bola']);
});

test.each(['', '1', '0/4', '5/4', '1/4/2', 'a/b', '-1/4', '1.5/4'])('parseShard refuses %j', (shard) => {
  expect(() => parseShard(shard)).toThrow(/^--shard: expected i\/n/);
});
