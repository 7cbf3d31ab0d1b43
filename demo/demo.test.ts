import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll, whole } from '../abr/property.fixture.ts';
import { PLAYERS } from '../replay/algorithms.ts';
import { synthesizeShippedTraces } from '../replay/link-model/shipped-traces.ts';
import { SCENARIOS } from '../replay/scenarios.ts';
import { serving } from '../replay/serving.fixture.ts';
import { inOrder, meanOf, playStarts, typicalStart } from '../replay/simulator/link-starts.ts';
import {
  defaultChoice,
  firstChoice,
  formatChoice,
  latestStart,
  MAX_PLAYERS,
  parseChoice,
  sceneOf,
} from './choice/choice.ts';
import { competitor, competitors, inOtherPlayer } from './choice/competitors.ts';
import { SCENES } from './choice/scenes.ts';
import { bitrate, bytes, clock, decimal, megabits, seconds } from './format.ts';
import { OriginClient } from './origin/origin-client.ts';

const catalogue = {
  traces: [
    { name: 'first', durationSeconds: 300 },
    { name: 'a b&c#1', durationSeconds: 61.5 },
  ],
};

test('reads what formatChoice wrote', () => {
  const names = PLAYERS.flatMap((player) => competitors(player).map(({ name }) => name));
  const anyChoice = fc.record({
    players: fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: MAX_PLAYERS }),
    trace: fc.constantFrom(...catalogue.traces.map(({ name }) => name)),
    scenario: fc.constantFrom(...Object.keys(SCENARIOS)),
    startSeconds: whole(0, 61),
    isShared: fc.boolean(),
  });
  forAll([anyChoice], { seed: 1, numRuns: 300 }, (choice) => {
    expect(parseChoice(formatChoice(choice), catalogue)).toEqual({ choice, problems: [] });
  });
});

test('an empty query gives the default; valid values stay beside invalid ones', () => {
  expect(parseChoice('', catalogue)).toEqual({ choice: defaultChoice(catalogue), problems: [] });
  expect(defaultChoice(catalogue)).toMatchObject({ trace: 'first', scenario: 'hd-16', startSeconds: 0 });
  expect(parseChoice('?trace=first', catalogue).choice.startSeconds).toBe(0);
  const { choice } = parseChoice('?players=mpc-q,bola,mpc-l@oracle&start=12', catalogue);
  expect(choice).toMatchObject({ players: ['bola', 'mpc-l@oracle'], startSeconds: 12 });
});

test.each([
  ['?players=mpc-q', 'player “mpc-q”'],
  ['?players=mpc-d@nobody', 'player “mpc-d@nobody”'],
  ['?players=./mine.ts', 'player “./mine.ts”'],
  ['?players=dynamic@hls', 'player “dynamic@hls”; expected mpc-l, '],
  ['?players=hls', 'player “hls”'],
  ['?players=hls@shaka', 'player “hls@shaka”'],
  ['?trace=x', 'trace “x”; expected first, a b&c#1'],
  ['?scenario=toString', 'scenario “toString”'],
  ['?start=300', 'start “300”; expected 0 to 299 s'],
  ['?start=', 'start “”'],
  ['?link=both', 'link “both”; expected own, shared'],
  ['?start=NaN', 'start “NaN”'],
  ['?players=mpc-l@onnx:mine.onnx', 'player “mpc-l@onnx:mine.onnx”'],
  ['?players=mpc-d@oracle', 'player “mpc-d@oracle”'],
  ['?players=mpc-l:linear@service', 'player “mpc-l:linear@service”'],
  ['?players=mpc-d,mpc-d,mpc-d,mpc-d,mpc-d', '5 players; 4 fit'],
])('%s is reported and replaced by its default', (query, problem) => {
  const { choice, problems } = parseChoice(query, catalogue);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(problem);
  expect(choice.players.length).toBeLessThanOrEqual(MAX_PLAYERS);
  expect({ ...choice, players: defaultChoice(catalogue).players }).toEqual(defaultChoice(catalogue));
});

test('names the player of each lane as the benchmark does', () => {
  const { choice, problems } = parseChoice('?players=mpc-l@dash,mpc-l@hls,shaka@shaka,mpc-l@oracle@hls', catalogue);
  expect(choice.players).toEqual(['mpc-l', 'mpc-l@hls', 'shaka@shaka', 'mpc-l@oracle@hls']);
  expect(problems).toEqual([]);
  const titles = ['leo-abr', 'leo-abr in hls.js', 'Shaka alone', 'leo-abr @ oracle in hls.js'];
  expect(choice.players.map((name) => competitor(name).title)).toEqual(titles);
});

test('a lane that changes its player keeps an algorithm that plays there, else gets the player’s own', () => {
  expect(inOtherPlayer('mpc-l', 'hls')).toBe('mpc-l@hls');
  expect(inOtherPlayer('mpc-l@hls', 'shaka')).toBe('mpc-l@shaka');
  expect(inOtherPlayer('mpc-l@hls', 'dash')).toBe('mpc-l');
  expect(inOtherPlayer('lolp', 'hls')).toBe('hls@hls');
  expect(inOtherPlayer('hls@hls', 'shaka')).toBe('shaka@shaka');
  expect(inOtherPlayer('shaka@shaka', 'dash')).toBe('dynamic');
  const listed = competitors('hls').map(({ name }) => name);
  expect(listed).toContain('hls@hls');
  expect(listed).not.toContain('dynamic@hls');
  expect(competitors('dash').map(({ name }) => name)).not.toContain('hls');
});

test('latestStart is the last whole second inside the trace', () => {
  expect(['first', 'a b&c#1', 'nowhere'].map((trace) => latestStart(catalogue, trace))).toEqual([299, 61, 0]);
});

const traces = synthesizeShippedTraces();

test.each(SCENES)('$title: the start is in the middle of all, and the means are those of all starts', (scene) => {
  const trace = traces.find(({ name }) => name === scene.trace)!;
  const pairs = playStarts(trace, SCENARIOS[scene.scenario]!, scene.rival, scene.isShared);
  const ordered = inOrder(pairs, scene.by);
  const rank = ordered.findIndex(({ startSeconds }) => startSeconds === scene.startSeconds);
  // A change of the plan's constants moves the median to a start beside it.
  expect(Math.abs(rank - ordered.indexOf(typicalStart(pairs, scene.by)))).toBeLessThanOrEqual(2);
  const { rival, own } = ordered[rank]!;
  expect(own.stallSeconds).toBe(0);
  if (scene.by === 'stalls') expect(rival.stallSeconds).toBeGreaterThan(1);
  // It looks as good, for much less data, or on a link that others leave in part.
  expect(Math.abs(own.quality - rival.quality)).toBeLessThan(2);
  expect(own.gigabytesPerHour).toBeLessThan((scene.isShared ? 1.2 : 0.75) * rival.gigabytesPerHour);
  // The means are rounded, and a change of the plan's constants moves them a little.
  for (const who of ['rival', 'own', 'rivalsAlone'] as const) {
    const { [who]: typical } = scene.typical;
    if (typical === undefined) continue;
    const mean = meanOf(pairs.map((pair) => pair[who]!));
    expect(Math.abs(mean.stallSeconds - typical.stallSeconds)).toBeLessThan(0.1);
    expect(Math.abs(mean.quality - typical.quality)).toBeLessThan(1);
    expect(Math.abs(mean.gigabytesPerHour - typical.gigabytesPerHour)).toBeLessThan(0.2);
  }
  expect(scene.typical.starts).toBe(pairs.length);
});

test('an empty address opens the first scene, with whatever else the origin offers', () => {
  const listed = traces.map(({ name, durationSeconds }) => ({ name, durationSeconds }));
  const choice = firstChoice({ traces: listed });
  expect(sceneOf(choice)).toBe(SCENES[0]);
  expect(sceneOf({ ...choice, startSeconds: choice.startSeconds + 1 })).toBeUndefined();
  expect(firstChoice({ traces: listed.slice(0, 1) }).trace).toBe(listed[0]!.name);
});

test('throughputs have about two digits, and bitrates of a ladder have all', () => {
  const measured = [0, 3e5, 7.5e5, 1e6, 1.2e6, 2.85e6, 30e6, 119.6e6].map(megabits);
  expect(measured).toEqual(['0', '0.3', '0.75', '1', '1.2', '2.9', '30', '120']);
  expect([3e5, 1.85e6, 2.5e6, 120e6].map(bitrate)).toEqual(['0.3', '1.85', '2.5', '120']);
});

test('data have about two digits', () => {
  const data = [0, 4e6, 79e6, 304e6, 7992e6, 7999e6, 9.6e9, 96e9].map(bytes).map((text) => text.replace('\u00a0', ' '));
  expect(data).toEqual(['0.0 MB', '0.5 MB', '9.9 MB', '38 MB', '999 MB', '1.0 GB', '1.2 GB', '12 GB']);
});

test('times and numbers', () => {
  expect([0, 65.9, 600, -1].map(clock)).toEqual(['0:00', '1:05', '10:00', '0:00']);
  expect(seconds(2.345)).toBe('2.3\u00a0s');
  expect([1.25, -3.14, -0.01].map((value) => decimal(value))).toEqual(['1.3', '−3.1', '0.0']);
});

/** A client of an origin that refuses requests by `isRefused`. */
async function clientOf(isRefused: (path: string, created: number) => boolean) {
  let created = 0;
  const { url } = await serving(({ method, url = '' }, response) => {
    const isWrong = isRefused(url, created);
    const id = String(method === 'POST' ? created++ : 0);
    response.writeHead(isWrong ? 400 : 200).end(JSON.stringify(isWrong ? { error: 'too many' } : { id }));
  });
  return new OriginClient(url);
}

const SPEC = { trace: 'a', scenario: 'hd-16', startSeconds: 0 };

test.each([
  ['the origin refuses one', (path: string, created: number) => path === '/session' && created === 1],
  ['it refuses the link of one', (path: string) => path === '/session/1/link'],
])('has the reason if %s', async (_, isRefused) => {
  const client = await clientOf(isRefused);
  await expect(client.createSessions(SPEC, 3, false)).rejects.toThrow('too many');
});
