import { expect, test } from '@jest/globals';
import type { Results, SessionResult } from '../../results.ts';
import { testLiveMetrics, testResults, testSession } from '../test-sessions.fixture.ts';
import { resultsJson } from './assemble-results.ts';
import { mergeResults } from './merge.ts';
import { parseResults } from './parse-results.ts';

const algorithms = ['mpc-o', 'mpc-d', 'bola'];
const sessions = Array.from({ length: 12 }, (_, place) =>
  algorithms.map((algorithm, a) =>
    testSession({
      ...{ algorithm, dataset: place < 6 ? 'one' : 'two', trace: `t${place >> 1}`, startSeconds: (place & 1) * 61 },
      ...{ seed: place, qoeLinear: 20 + Math.sin(place + a) * 9, stallSeconds: a * Math.abs(Math.cos(place)) },
    }),
  ),
).flat();
const shard = (index: number, count: number, all: SessionResult[] = sessions): Results => {
  const own = all.filter((_, i) => Math.floor(i / algorithms.length) % count === index - 1);
  return testResults(own, { shard: `${index}/${count}` });
};
const named = (...all: Results[]) => all.map((results, i) => ({ file: `${i + 1}.json`, results }));

test('merges algorithms that were run separately, with their comparison', () => {
  const of = (algorithm: string) => testResults(sessions.filter((session) => session.algorithm === algorithm));
  const merged = mergeResults(named(of('mpc-o'), of('mpc-d'), of('bola')));
  expect(resultsJson(merged)).toBe(resultsJson(testResults(sessions)));
});

test('identical duplicates of a session count once, different ones are refused', () => {
  const results = testResults(sessions);
  expect(resultsJson(mergeResults(named(results, shard(2, 3))))).toBe(resultsJson(results));
  const changed = shard(1, 12, [{ ...sessions[0]!, stallSeconds: 3 }, ...sessions.slice(1)]);
  expect(() => mergeResults(named(results, changed))).toThrow(
    /^2.json: sessions\[0\]: expected the result of 1.json for .*, got another one: stallSeconds 3$/,
  );
});

test('a merge refuses another scenario, seed, command or baseline', () => {
  const first = shard(1, 2);
  const second = shard(2, 2);
  const refused = (results: Results, message: string | RegExp) =>
    expect(() => mergeResults(named(first, results))).toThrow(message);
  const other = { ...second, scenario: { ...second.scenario, rttSeconds: 0.1 } };
  refused(other, '2.json: scenario: expected that of 1.json ("uhd-8"), got rttSeconds 0.1');
  for (const tool of [{ seed: 2 }, { command: 'bench' }, { baseline: 'bola' }]) {
    refused({ ...second, tool: { ...second.tool, ...tool } }, /^2.json: tool\./);
  }
  const session = { ...sessions[0]!, algorithm: 'throughput', seed: 99 };
  refused(testResults([session]), '2.json: sessions[0].seed: expected 0, as for mpc-o in 1.json, got 99');
});

test('a merge lists other differences of tool', () => {
  const second = shard(2, 2);
  const merged = mergeResults(named(shard(1, 2), { ...second, tool: { ...second.tool, commit: 'abc' } }));
  expect(merged.tool).toMatchObject({ differing: { commit: [null, 'abc'] } });
  expect(merged.tool.shard).toBeUndefined();
});

const json = resultsJson(testResults(sessions.slice(0, 3)));

test('parses written results, and names the line of broken JSON', () => {
  expect(resultsJson(parseResults(json, 'r.json'))).toBe(json);
  expect(() => parseResults('', 'r.json')).toThrow('r.json:1: expected results JSON, got an empty file');
  expect(() => parseResults('x,y\n1,2', 'r.json')).toThrow('r.json:1: expected results JSON, got invalid JSON');
  expect(() => parseResults(json.slice(0, -200), 'r.json')).toThrow(/^r.json:\d+: expected results JSON, got in/);
});

test.each([
  ['"schema":1', '"schema":3', /r.json: schema: expected 1 or 2.*got 3/],
  ['"seed":1', '"seed":"1"', /r.json: tool.seed: expected a number, got "1"/],
  ['"endedBy":"end"', '"endedBy":"over"', /sessions\[0\].endedBy: expected 'end', 'cutoff' or 'fault', got "over"/],
  ['"stallSeconds":0', '"stallSeconds":-1', /segments\[0\].stallSeconds: expected a number >= 0, got -1/],
  ['"bitrateBps":3000000', '"bitrateBps":4', /sessions\[0\].segments\[0\].bitrateBps: expected one of the ladder/],
  ['"perceived":', '"perceived":null,"p":', /sessions\[0\].qoe.perceived: expected a number, got null/],
  ['"hd":null', '"hd":"x"', /sessions\[0\].qoe.hd: expected a number, got "x"/],
  ['"ladderBps":[3000000,', '"ladderBps":[9000000,', /scenario.ladderBps\[1\]: expected a number above 9000000/],
  ['"trace":"t0",', '', /sessions\[0\].trace: expected a string, got undefined/],
])('%s -> %s is refused by field', (from, to, message) => {
  expect(json).toContain(from);
  expect(() => parseResults(json.replace(from, to), 'r.json')).toThrow(message);
});

test('older results have no perceived QoE, and are read as they are', () => {
  const older = json
    .replace(/,"perceived":[^}]*/g, '')
    .replace(/"(qoePerceivedMean|perceivedFirst60Seconds)":[^,{]*,/g, '')
    .replace(/"(perceivedDiff|perceivedFirst60Seconds)":\{[^}]*\},/g, '');
  expect(older).not.toContain('erceived');
  expect(resultsJson(parseResults(older, 'r.json'))).toBe(older);
});

test('live sessions need all their metrics, others have none', () => {
  const live = resultsJson(testResults([testSession({ live: testLiveMetrics() })]));
  const refused = (text: string, message: RegExp) => expect(() => parseResults(text, 'r.json')).toThrow(message);
  expect(resultsJson(parseResults(live, 'r.json'))).toBe(live);
  refused(live.replace('"watchedSeconds":120,', ''), /sessions\[0\].live.watchedSeconds: expected a number > 0/);
  refused(live.replace(/,"live":\{"qoe"[^}]*\}/, ''), /sessions\[0\].live: expected the metrics of a live scenario/);
  const metrics = JSON.stringify(testLiveMetrics());
  refused(json.replace('"wastedBits":0', `"wastedBits":0,"live":${metrics}`), /live: expected none .* on demand/);
});
