import { describe, expect, test } from '@jest/globals';
import { splitAlgorithm } from './forecasters.ts';
import { importOwnAlgorithms, isOwnAlgorithm } from './own-algorithm.ts';

const loaded = async (source: string) => (await importOwnAlgorithms([{ name: './mine.ts', source }])).get('./mine.ts')!;

const EXPORT = 'an export createController({ seed }), got exports:';

describe('importOwnAlgorithms', () => {
  test('creates a controller per session', async () => {
    const create = await loaded(
      'export const createController = ({ seed }) => ({ name: "mine", decide: () => ({ reason: String(seed) }) });',
    );
    const [one, other] = [create({ seed: 3 }), create({ seed: 4 })];
    expect(one.decide(undefined as never).reason).toBe('3');
    expect(other.decide(undefined as never).reason).toBe('4');
  });

  test.each([
    ['a module that throws', 'throw new Error("at once")', 'a module that loads, got Error: at once at '],
    ['no export', '', `${EXPORT} nothing`],
    ['another export', 'export default {}', `${EXPORT} default`],
    ['no function', 'export const createController = {}', `${EXPORT} createController`],
  ])('refuses %s', async (_, source, message) => {
    await expect(loaded(source)).rejects.toThrow(`./mine.ts: expected ${message}`);
  });

  test.each([
    ['throws', '{ throw new TypeError("no") }', 'TypeError: no at '],
    ['returns nothing', '{}', 'undefined'],
    ['returns a controller without decide', '{ return { name: "x", decid() {} } }', '{ name, decid }'],
    ['returns one without a name', '{ return { decide() {} } }', '{ decide }'],
  ])('refuses a createController that %s', async (_, body, message) => {
    const create = await loaded(`export function createController() ${body}`);
    expect(() => create({ seed: 1 })).toThrow(
      `./mine.ts: expected createController to return { name, decide(state, forecast) }, got ${message}`,
    );
  });
});

test('a name with a slash or an ending of scripts is a file; its forecaster follows the last @', () => {
  expect(['./mine', 'mine.ts', 'mine.js', 'a/mine.mjs', 'mpc-d', 'mpc-l:risk-0.5'].map(isOwnAlgorithm)).toEqual([
    ...[true, true, true, true, false, false],
  ]);
  expect(splitAlgorithm('./@me/mine.ts@built-in', '')).toEqual({ controller: './@me/mine.ts', forecaster: 'built-in' });
  expect(splitAlgorithm('./@me/mine.ts', '')).toEqual({ controller: './@me/mine.ts', forecaster: undefined });
});

test('an ONNX file may have any path', () => {
  const parts = { controller: 'mpc-l', forecaster: 'onnx:./models/me@home:2/mine.onnx', player: 'hls' };
  expect(splitAlgorithm('mpc-l@onnx:./models/me@home:2/mine.onnx@hls', '')).toEqual(parts);
  expect(splitAlgorithm('./mine.ts@onnx:a.ts', '')).toEqual({ controller: './mine.ts', forecaster: 'onnx:a.ts' });
  expect(splitAlgorithm('mpc-l@onnx', '')).toEqual({ controller: 'mpc-l', forecaster: 'onnx' });
  const message = /mpc-l@service, or @onnx:<file>, got "mpc-l@onnx:"/;
  expect(() => splitAlgorithm('mpc-l@onnx:', '--algorithms')).toThrow(message);
});

test('the ending of the controller names the catch-up', () => {
  expect(splitAlgorithm('mpc-d', '').catchUp).toBeUndefined();
  expect(splitAlgorithm('mpc-l:no-handover:lolp-catch-up@oracle', '')).toEqual({
    ...{ controller: 'mpc-l:no-handover', forecaster: 'oracle', catchUp: 'lolp' },
  });
  for (const part of ['no-handover', 'page-load']) {
    expect(splitAlgorithm(`mpc-l:${part}`, '').forecaster).toBe(`built-in:${part}`);
  }
  expect(splitAlgorithm('mpc-l:no-forecast', '').forecaster).toBeUndefined();
  expect(splitAlgorithm('mpc-l:risk-1', '').forecaster).toBe('built-in');
  expect(splitAlgorithm('./@me/mine.ts:lolp-catch-up', '')).toEqual({ controller: './@me/mine.ts', catchUp: 'lolp' });
});
