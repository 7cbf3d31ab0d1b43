import { expect, test } from '@jest/globals';
import { box, boxesIn, findBox, fullBox, u32, u64 } from './boxes.ts';

const file = box('moov', box('trak', fullBox('tkhd', 1, 7, u64(2 ** 40), u32(9))), box('free'));

test('written boxes are found by their path', () => {
  const { start, end } = findBox(file, 'moov/trak/tkhd');
  const view = new DataView(file.buffer);
  expect([view.getUint32(start), view.getUint32(start + 12)]).toEqual([0x01000007, 9]);
  expect(view.getBigUint64(start + 4)).toBe(2n ** 40n);
  expect(end - start).toBe(16);
  const moov = findBox(file, 'moov');
  expect(boxesIn(file, moov.start, moov.end).map(({ type }) => type)).toEqual(['trak', 'free']);
});

test('the error names a box that is missing or exceeds the end', () => {
  expect(() => findBox(file, 'moov/mvex')).toThrow(/"mvex" of moov\/mvex/);
  expect(() => boxesIn(file.subarray(0, 20))).toThrow(/"moov" at byte 0/);
  expect(() => boxesIn(file.subarray(0, 4))).toThrow(/4 bytes left/);
});
