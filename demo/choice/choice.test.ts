import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll, whole } from '../../abr/property.fixture.ts';
import { PLAYERS } from '../../replay/forecasters.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { defaultChoice, formatChoice, latestStart, MAX_PLAYERS, parseChoice } from './choice.ts';
import { competitor, competitors, inOtherPlayer } from './competitors.ts';

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
