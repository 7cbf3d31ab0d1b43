import { expect, test } from '@jest/globals';
import { browserAlgorithm, nameInPlayer } from './algorithms.ts';

const some = (fields: object) => expect.objectContaining(fields);

test.each([
  ['dynamic', { player: 'dash', catchUp: 'default' }],
  ['mpc-d', { player: 'dash', controller: 'mpc-d' }],
  ['mpc-o', { player: 'dash', controller: 'mpc-o', forecaster: 'oracle' }],
  ['mpc-o:linear', some({ controller: 'mpc-o:linear', forecaster: 'oracle' })],
  ['mpc-l@oracle', { player: 'dash', controller: 'mpc-l', forecaster: 'oracle' }],
  ['mpc-l:no-rate', { player: 'dash', controller: 'mpc-l:no-rate', forecaster: 'built-in' }],
  ['lolp', { player: 'dash', rules: some({ loLPRule: true, bolaRule: false }), catchUp: 'lolp' }],
  ['l2a:lolp-catch-up', { player: 'dash', rules: some({ l2ARule: true, throughputRule: false }), catchUp: 'lolp' }],
  ['mpc-l:lolp-catch-up@oracle', some({ controller: 'mpc-l', catchUp: 'lolp' })],
  ['mpc-l@hls', { player: 'hls', controller: 'mpc-l', forecaster: 'built-in' }],
  ['mpc-l@oracle@shaka', some({ player: 'shaka', forecaster: 'oracle' })],
  ['./my@own.ts@hls', { player: 'hls', controller: './my@own.ts' }],
  ['shaka@shaka', { player: 'shaka' }],
])('%s names controller, forecaster, player and its own rules', (name, expected) => {
  expect(browserAlgorithm(name)).toEqual(expected);
});

test.each<[string, string | RegExp, string?]>([
  ['lolp@oracle', /--algorithms: expected one of .*lolp.*got "lolp@oracle"/],
  ['hls', '--algorithms: expected --player hls for hls, got "hls"'],
  ['shaka@hls', /--player shaka for shaka/],
  ['dynamic@hls', /--player dash for dynamic, got "dynamic@hls"/],
  ['mpc-d:lolp-catch-up@shaka', /--player dash for mpc-d with a catch-up/],
  ['hls@oracle@hls', /expected one of/],
  ['mpc-d@moon', /--baseline: expected one of mpc-d@oracle.*got "mpc-d@moon"/, '--baseline'],
  ['mpc-d@oracle', '--algorithms: expected mpc-d alone: it plans without forecasts, got "mpc-d@oracle"'],
  ['mpc-l:no-forecast@service', 'expected mpc-l:no-forecast alone'],
  ['mpc-o:linear@built-in', 'expected mpc-o:linear with @oracle or nothing'],
  ['mpc-l:no-handover@shipped', 'expected mpc-l:no-handover with @built-in:no-handover or nothing'],
  ['mpc-l:page-load', 'expected mpc-l, because this ablation is gone since 0.3.0'],
  [
    'mpc-l:auto-target',
    '--algorithms: expected mpc-l, because this ablation is gone since 0.3.0, got "mpc-l:auto-target"',
  ],
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
