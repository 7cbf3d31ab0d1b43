import { expect, test } from '@jest/globals';
import { browserAlgorithm, nameInPlayer } from './algorithms.ts';

test('names controllers, their forecasters and dash.js itself', () => {
  expect(browserAlgorithm('dynamic')).toEqual({ player: 'dash', catchUp: 'default' });
  expect(browserAlgorithm('mpc-d')).toEqual({ player: 'dash', controller: 'mpc-d' });
  expect(browserAlgorithm('mpc-o')).toEqual({ player: 'dash', controller: 'mpc-o', forecaster: 'oracle' });
  expect(browserAlgorithm('mpc-d@oracle')).toEqual({ player: 'dash', controller: 'mpc-d', forecaster: 'oracle' });
  expect(browserAlgorithm('mpc-l:no-rate')).toEqual({
    player: 'dash',
    controller: 'mpc-l:no-rate',
    forecaster: 'built-in',
  });
});

test("names dash.js's rules for low latency and catch-ups", () => {
  expect(browserAlgorithm('lolp')).toEqual({
    player: 'dash',
    rules: expect.objectContaining({ loLPRule: true, bolaRule: false }),
    catchUp: 'lolp',
  });
  expect(browserAlgorithm('l2a:lolp-catch-up')).toEqual({
    player: 'dash',
    rules: expect.objectContaining({ l2ARule: true, throughputRule: false }),
    catchUp: 'lolp',
  });
  expect(browserAlgorithm('mpc-d:lolp-catch-up@oracle')).toMatchObject({ controller: 'mpc-d', catchUp: 'lolp' });
  expect(() => browserAlgorithm('lolp@oracle')).toThrow(/--algorithms: expected one of .*lolp.*got "lolp@oracle"/);
});

test('names the player and its own ABR', () => {
  expect(browserAlgorithm('mpc-l@hls')).toEqual({ player: 'hls', controller: 'mpc-l', forecaster: 'built-in' });
  expect(browserAlgorithm('mpc-d@oracle@shaka')).toMatchObject({ player: 'shaka', forecaster: 'oracle' });
  expect(browserAlgorithm('./my@own.ts@hls')).toEqual({ player: 'hls', controller: './my@own.ts' });
  expect(browserAlgorithm('shaka@shaka')).toEqual({ player: 'shaka' });
  expect(() => browserAlgorithm('hls')).toThrow('--algorithms: expected --player hls for hls, got "hls"');
  expect(() => browserAlgorithm('shaka@hls')).toThrow(/--player shaka for shaka/);
  expect(() => browserAlgorithm('dynamic@hls')).toThrow(/--player dash for dynamic, got "dynamic@hls"/);
  expect(() => browserAlgorithm('mpc-d:lolp-catch-up@shaka')).toThrow(/--player dash for mpc-d with a catch-up/);
  expect(() => browserAlgorithm('hls@oracle@hls')).toThrow(/expected one of/);
});

test('only players other than dash.js are in the names of results', () => {
  const names = ['mpc-l', 'mpc-l@dash', 'mpc-l@oracle', 'hls@hls'];
  expect(names.map((name) => nameInPlayer(name, 'dash'))).toEqual(['mpc-l', 'mpc-l', 'mpc-l@oracle', 'hls@hls']);
  expect(names.map((name) => nameInPlayer(name, 'shaka'))).toEqual([
    'mpc-l@shaka',
    'mpc-l',
    'mpc-l@oracle@shaka',
    'hls@hls',
  ]);
});

test('the error for an unknown name lists the known ones', () => {
  expect(() => browserAlgorithm('unknown')).toThrow(/--algorithms: expected one of .*mpc-d.*dynamic.*got "unknown"/);
  expect(() => browserAlgorithm('mpc-d@moon', '--baseline')).toThrow(
    /--baseline: expected one of mpc-d@oracle.*got "mpc-d@moon"/,
  );
});
