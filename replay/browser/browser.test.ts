import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { nameInPlayer } from '../algorithms.ts';
import type { PlannedSession } from '../evaluation/plan/plan.ts';
import { testSession, testTrace } from '../evaluation/test-sessions.fixture.ts';
import { temporaryFolder } from '../folder.fixture.ts';
import { HOUSEHOLDS } from '../households.ts';
import type { RequestLogEntry } from '../origin/index.ts';
import { resolveScenario } from '../scenario-file.ts';
import { liveSessionSeconds, SCENARIOS } from '../scenarios.ts';
import type { Trace } from '../trace.ts';
import { browserAlgorithm } from './algorithms.ts';
import { Contexts } from './contexts.ts';
import { BrowserNotFoundError, findBrowser } from './find-browser.ts';
import type { PlayedRecord } from './record/session-record.ts';
import { inHousehold, seatsOf } from './seats.ts';
import { inTurns } from './turns.ts';

test.each([
  ['dynamic', { player: 'dash', ownOf: 'dash', catchUp: 'default' }],
  ['mpc-d', { player: 'dash', ownOf: undefined, controller: 'mpc-d', forecaster: undefined, objective: 'linear' }],
  ['mpc-o', { player: 'dash', controller: 'mpc-o', forecaster: 'oracle', objective: 'perceived', oracleForm: 'path' }],
  ['mpc-o:linear', { controller: 'mpc-o:linear', forecaster: 'oracle', objective: 'linear' }],
  ['mpc-l@oracle', { player: 'dash', controller: 'mpc-l', forecaster: 'oracle', oracleForm: 'quantiles' }],
  ['mpc-l:no-rate', { player: 'dash', controller: 'mpc-l:no-rate', forecaster: 'built-in' }],
  ['lolp', { player: 'dash', rules: { loLPRule: true, bolaRule: false }, catchUp: 'lolp' }],
  ['l2a:lolp-catch-up', { player: 'dash', rules: { l2ARule: true, throughputRule: false }, catchUp: 'lolp' }],
  ['mpc-l:lolp-catch-up@oracle', { controller: 'mpc-l', catchUp: 'lolp' }],
  ['mpc-l@hls', { player: 'hls', controller: 'mpc-l', forecaster: 'built-in' }],
  ['mpc-l@oracle@shaka', { player: 'shaka', forecaster: 'oracle' }],
  ['./my@own.ts@hls', { player: 'hls', controller: './my@own.ts' }],
  ['shaka@shaka', { player: 'shaka', ownOf: 'shaka', catchUp: undefined }],
  ['mpc-l:saves-0.25', { objective: 'perceived', pricePerMbps: 0.25 }],
])('%s names controller, forecaster, player and its own rules', (name, expected) => {
  expect(browserAlgorithm(name)).toMatchObject(expected);
});

test.each<[string, string | RegExp, string?]>([
  ['lolp@oracle', '--algorithms: expected lolp alone: it plans without forecasts, got "lolp@oracle"'],
  ['hls', '--algorithms: expected --player hls for hls, got "hls"'],
  ['shaka@hls', /--player shaka for shaka/],
  ['dynamic@hls', /--player dash for dynamic, got "dynamic@hls"/],
  ['mpc-d:lolp-catch-up@shaka', /--player dash for mpc-d with a catch-up/],
  ['hls@oracle@hls', 'expected hls alone'],
  ['mpc-d@moon', /--baseline: expected one of mpc-d@oracle.*got "mpc-d@moon"/, '--baseline'],
  ['mpc-d@oracle', '--algorithms: expected mpc-d alone: it plans without forecasts, got "mpc-d@oracle"'],
  ['mpc-l:no-forecast@service', 'expected mpc-l:no-forecast alone'],
  ['mpc-o:linear@built-in', 'expected mpc-o:linear with @oracle or nothing'],
  ['mpc-l:no-handover@shipped', 'expected mpc-l:no-handover with @built-in:no-handover or nothing'],
  ['mpc-l:page-load', 'expected mpc-l, because this ablation is gone since 0.4.0'],
  ['mpc-l:no-sizes', /--algorithms: expected one of .*mpc-l:no-handover.*got "mpc-l:no-sizes"/],
  ['unknown', /--algorithms: expected one of .*mpc-d.*dynamic.*got "unknown"/],
])('%s is refused', (name, message, flag = '--algorithms') => {
  expect(() => browserAlgorithm(name, flag)).toThrow(message);
});

test('only players other than dash.js are in the names of results', () => {
  const names = ['mpc-l', 'mpc-l@dash', 'mpc-l@oracle', 'hls@hls'];
  expect(names.map((name) => nameInPlayer(name, 'dash'))).toEqual(['mpc-l', 'mpc-l', 'mpc-l@oracle', 'hls@hls']);
  const inShaka = ['mpc-l@shaka', 'mpc-l', 'mpc-l@oracle@shaka', 'hls@hls'];
  expect(names.map((name) => nameInPlayer(name, 'shaka'))).toEqual(inShaka);
});

const at = temporaryFolder('file');

test('prefers CHROME_PATH and passes the environment on', async () => {
  const found = await findBrowser({ env: { CHROME_PATH: process.execPath, HELLO: 'there' } });
  expect([found.source, found.executablePath]).toEqual(['CHROME_PATH', process.execPath]);
  expect(found.env).toEqual({ CHROME_PATH: process.execPath, HELLO: 'there' });
  expect(found.args).toContain('--disable-background-networking');
});

test('throws for a CHROME_PATH that is not executable', async () => {
  const path = at('not-executable');
  writeFileSync(path, '', { mode: 0o644 });
  await expect(findBrowser({ env: { CHROME_PATH: path } })).rejects.toThrow(BrowserNotFoundError);
  await expect(findBrowser({ env: { CHROME_PATH: at('nowhere') } })).rejects.toThrow(/CHROME_PATH.*nowhere/);
});

const scenario = resolveScenario(SCENARIOS['hd-16']!);
const place = { trace: testTrace('t', 45), startSeconds: 30, segmentCount: 48 };
const alone: PlannedSession = { ...place, algorithm: 'mpc-l', seed: 2 ** 32 - 1 };
const [mixed, late] = ['mixed', 'late-joiner'].map((name) => HOUSEHOLDS[name]!) as [never, never];

test('a session alone has one seat, as planned', () => {
  expect(seatsOf(alone, scenario)).toEqual([{ planned: alone, scenario, joinSeconds: 0 }]);
});

test('players have seats with their algorithms, seeds and what is left to play', () => {
  const seats = seatsOf({ ...alone, household: mixed }, scenario);
  const found = seats.map(({ planned: p, joinSeconds: at }) => `${p.algorithm} ${p.seed} ${p.segmentCount} at ${at}`);
  const seeds = [`mpc-l ${2 ** 32 - 1} 48 at 0`, 'mpc-l 0 47 at 5.3', 'dynamic 1 46 at 9.1', 'dynamic 2 45 at 14.7'];
  expect(found).toEqual(seeds);
  expect(seats.every(({ planned }) => planned.startSeconds === 30)).toBe(true);
});

test('live, all players end with the one encoder', () => {
  const live = resolveScenario(SCENARIOS['live-hd-1']!);
  const planned = { ...alone, segmentCount: live.segmentCount, household: late };
  const ends = seatsOf(planned, live).map(({ planned: { segmentCount }, scenario: own, joinSeconds }) => {
    // Before the join the encoder captured its media before second 0, and the media since then.
    expect(own.live!.timeShiftSeconds).toBeCloseTo(live.live!.timeShiftSeconds + joinSeconds, 9);
    return joinSeconds + liveSessionSeconds({ ...own, live: own.live!, segmentCount });
  });
  for (const end of ends) expect(end).toBeCloseTo(ends[0]!, 9);
});

const seats = seatsOf({ ...alone, household: mixed }, scenario);
const played = (rejected?: string): PlayedRecord[] =>
  seats.map(({ planned, joinSeconds }, player) => {
    const log = (kind: 'init' | 'segment', requestedAtSeconds: number) =>
      ({ kind, requestedAtSeconds }) as RequestLogEntry;
    const result = testSession({ algorithm: planned.algorithm, startSeconds: 30 });
    return {
      ...({ planned, attempt: 1, result } as PlayedRecord),
      originLog: [log('init', joinSeconds), log('segment', joinSeconds + 0.12345678), log('segment', 99)],
      ...(player === 2 && rejected !== undefined && { rejected }),
    };
  });
const seated = (sessions: PlayedRecord[]) =>
  inHousehold(sessions, { household: mixed, given: 'mpc-l', seats, linkUtilisation: 0.5 });

test('a played household has rows with its seats, which join at their first request for a segment', () => {
  const records = seated(played());
  expect(records.map(({ result }) => result.household)).toEqual(
    [0.123457, 5.423457, 9.223457, 14.823457].map((joinSeconds, player) => {
      return { name: 'mixed', algorithm: 'mpc-l', player, joinSeconds, linkUtilisation: 0.5 };
    }),
  );
  expect(records.some((one) => 'rejected' in one)).toBe(false);
  // The last player's download ends 0.8 s after the trace.
  expect(records.map(({ result }) => result.pastTraceSeconds ?? 0)).toEqual([0, 0, 0, 0.823457]);
});

test('a played household is rejected as one', () => {
  expect(seated(played('too late')).map(({ rejected }) => rejected)).toEqual(Array(4).fill('player 2: too late'));
});

const traces = ['a', 'b'].map((name) => ({ name }) as Trace);

test('each start begins with the next algorithm, and all sessions stay', () => {
  const sessions = traces.flatMap((trace) =>
    [0, 61].flatMap((startSeconds) => ['x', 'y', 'z'].map((algorithm) => ({ trace, startSeconds, algorithm }))),
  );
  const order = inTurns(sessions).map(
    ({ trace, startSeconds, algorithm }) => `${trace.name}${startSeconds}${algorithm}`,
  );
  expect(order).toEqual(['a0x', 'a0y', 'a0z', 'a61y', 'a61z', 'a61x', 'b0z', 'b0x', 'b0y', 'b61x', 'b61y', 'b61z']);
  expect(inTurns([])).toEqual([]);
});

test('fewer sessions play at a time while downloads come late, and more again afterwards', () => {
  const playedBy = (contexts: Contexts, ...rejected: number[]) => {
    for (const late of rejected) contexts.played(contexts.count, late);
    return contexts.counts;
  };
  expect(playedBy(new Contexts(8, 1, false), 0, 8, 2, 1, 0, 1)).toEqual([8, 4, 2, 1, 2, 1]);
  expect(playedBy(new Contexts(8, 4, false), 1, 5, 4)).toEqual([8, 7, 4]);
  expect(playedBy(new Contexts(4, 1, false), 1, ...Array(12).fill(0))).toEqual([4, 3, 4]);
  expect(playedBy(new Contexts(4, 1, true), 4, 4, 0)).toEqual([4]);
  // Once the host has carried eight, it recovers quickly from a busy while.
  expect(playedBy(new Contexts(8, 1, false), 0, 8, 4, 2, 0, 0, 0, 0)).toEqual([8, 4, 2, 1, 2, 4, 8]);
});

test('a host that plays not even one session on time is told from one that was busy', () => {
  const isHopeless = (batches: [sessions: number, rejected: number][], isFixed = false) => {
    const contexts = new Contexts(2, 1, isFixed);
    for (const [sessions, rejected] of batches) contexts.played(sessions, rejected);
    return contexts.isHopeless;
  };
  const alone = Array(3).fill([1, 1]);
  expect(isHopeless([[2, 2], ...alone])).toBe(true);
  expect(isHopeless([[2, 2], ...alone.slice(1)])).toBe(false);
  expect(isHopeless([[2, 1], ...alone])).toBe(false);
  expect(isHopeless([[2, 2], ...alone], true)).toBe(false);
});
