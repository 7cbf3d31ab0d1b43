import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { EventParser } from './event-parser.ts';

const TEXT =
  ': comment\n\nid: a.1\nevent: forecast\ndata: {"x":1}\n\n: \n\nevent: hello\ndata:{}\n\nid: a.2\n\ndata: last\n\n';
const EVENTS = [
  { type: 'forecast', data: '{"x":1}' },
  { type: 'hello', data: '{}' },
  { type: 'message', data: 'last' },
];

test('finds events for any pieces of the stream', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: TEXT.length - 1 })), (cuts) => {
      const parser = new EventParser();
      const places = [0, ...[...new Set(cuts)].sort((a, b) => a - b), TEXT.length];
      const events = places.slice(1).flatMap((end, i) => parser.push(TEXT.slice(places[i], end)));
      expect(events).toEqual(EVENTS);
    }),
    { seed: 1, numRuns: 100 },
  );
});

test('accepts both kinds of line ends, and no event without an end', () => {
  expect(new EventParser().push('id: 1\r\ndata: x\r\n\r\n')).toEqual([{ type: 'message', data: 'x' }]);
  const parser = new EventParser();
  expect(() => {
    for (let i = 0; i < 20; i++) parser.push('data: '.padEnd(100_000, 'x'));
  }).toThrow(RangeError);
});
