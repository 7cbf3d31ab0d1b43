import { expect, test } from '@jest/globals';
import { splitAlgorithm } from './forecasters.ts';
import { importOwnAlgorithms, isOwnAlgorithm } from './own-algorithm.ts';

const loaded = async (source: string) => (await importOwnAlgorithms([{ name: './mine.ts', source }])).get('./mine.ts')!;

const LOADS = 'a module that loads, got Error:';
const EXPORT = 'an export createController({ seed }), got exports:';

test('a module of the user creates a controller per session', async () => {
  const create = await loaded(
    'export const createController = ({ seed }) => ({ name: "mine", decide: () => ({ reason: String(seed) }) });',
  );
  const [one, other] = [create({ seed: 3 }), create({ seed: 4 })];
  expect(one.decide(undefined as never).reason).toBe('3');
  expect(other.decide(undefined as never).reason).toBe('4');
});

test.each([
  ['a module that throws', 'throw new Error("at once")', `${LOADS} at once at `],
  ['one that ends the process', 'process.exit(0)\n//# sourceURL=x?bundled', `${LOADS} process.exit(0) in an`],
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

test('a name with a slash or an ending of scripts is a file', () => {
  const names = ['./mine', 'mine.ts', 'mine.js', 'a/mine.mjs', 'mpc-d', 'mpc-l:risk-0.5'];
  expect(names.map(isOwnAlgorithm)).toEqual([true, true, true, true, false, false]);
});

test.each([
  ['./@me/mine.ts@built-in', { controller: './@me/mine.ts', forecaster: 'built-in' }],
  ['./@me/mine.ts', { controller: './@me/mine.ts' }],
  ['./@me/mine.ts:lolp-catch-up', { controller: './@me/mine.ts', catchUp: 'lolp' }],
  ['./mine.ts@onnx:a.ts', { controller: './mine.ts', forecaster: 'onnx:a.ts' }],
  ['mpc-l@onnx', { controller: 'mpc-l', forecaster: 'onnx' }],
  ['mpc-l@onnx:./me@home:2/a.onnx@hls', { controller: 'mpc-l', forecaster: 'onnx:./me@home:2/a.onnx', player: 'hls' }],
  ['mpc-l:no-forecast', { controller: 'mpc-l:no-forecast' }],
  ['mpc-l:risk-1', { controller: 'mpc-l:risk-1', forecaster: 'built-in' }],
  ['mpc-l:no-handover', { controller: 'mpc-l:no-handover', forecaster: 'built-in:no-handover' }],
])('the parts of %s', (name, parts) => {
  expect(splitAlgorithm(name, '')).toEqual(parts);
});

test('an ONNX forecaster needs a file', () => {
  const message = /mpc-l@service, or @onnx:<file>, got "mpc-l@onnx:"/;
  expect(() => splitAlgorithm('mpc-l@onnx:', '--algorithms')).toThrow(message);
});
