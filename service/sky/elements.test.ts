import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll } from '../../abr/property.fixture.ts';
import { elementLines, shellText } from './constellation.fixture.ts';
import { parseElements } from './elements.ts';

/** The elements of the ISS that many textbooks have as their example. */
const ISS = `ISS (ZARYA)
1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537
`;

test('elements are parsed with names and epochs', () => {
  const { elements, newestMs } = parseElements(ISS, 'iss.tle');
  expect(elements).toMatchObject([{ name: 'ISS (ZARYA)' }]);
  // The epoch is the middle of day 264 of 2008.
  expect(new Date(newestMs).toISOString()).toBe('2008-09-20T12:25:40.104Z');
});

test('elements do not need names, and the newest of a satellite is used', () => {
  const [old, fresh] = [1, 2].map((day) => elementLines(12345, Date.UTC(2026, 0, day)));
  const { elements } = parseElements([...fresh!, ...old!].join('\r\n'), 'x');
  expect(elements).toMatchObject([{ name: 'NORAD 12345', epochMs: Date.UTC(2026, 0, 2) }]);
});

test('invalid lines are skipped', () => {
  const text = shellText({ planes: 3, perPlane: 2, epochMs: Date.UTC(2026, 0, 1) });
  const lines = text.trimEnd().split('\n');
  // The text has a changed number, a lost line and lines of HTML.
  lines[1] = lines[1]!.replace('50000', '50009');
  lines.splice(5, 1, '<html>', '1 tea', '2 tea');
  const { elements } = parseElements(lines.join('\n'), 'x');
  expect(elements.map(({ name }) => name)).toEqual(['FAKE-50002', 'FAKE-50003', 'FAKE-50004', 'FAKE-50005']);
});

test('a text without elements is rejected', () => {
  expect(() => parseElements('', 'x')).toThrow('got "none in 0 lines"');
  // The time grows with the length, not with its square.
  expect(() => parseElements(' '.repeat(1e6), 'x')).toThrow('got "none in 1 lines"');
});

test('the parser throws only InputErrors', () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom(...ISS.split('\n')), fc.constant('\n'));
  forAll([fc.array(piece, { maxLength: 30 })], { seed: 1, numRuns: 300 }, (pieces) => {
    try {
      for (const { epochMs } of parseElements(pieces.join('\n'), 'x').elements) expect(epochMs).not.toBeNaN();
    } catch (error) {
      expect((error as Error).name).toBe('InputError');
    }
  });
});
