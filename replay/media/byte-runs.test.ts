import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll } from '../../abr/property.fixture.ts';
import { type ByteRun, ByteRuns, READ_BYTES } from './byte-runs.ts';

const runArbitrary: fc.Arbitrary<ByteRun> = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc.record({ fill: fc.constantFrom(0, 0xff), count: fc.nat(30) }),
);
const plain = (runs: readonly ByteRun[]): number[] =>
  runs.flatMap((run) => (run instanceof Uint8Array ? [...run] : Array<number>(run.count).fill(run.fill)));

test('any range equals that of the plain bytes', () => {
  const anyRuns = fc.array(runArbitrary, { maxLength: 8 });
  forAll([anyRuns, fc.nat(120), fc.nat(120)], { seed: 1, numRuns: 500 }, (runs, start, end) => {
    const bytes = plain(runs);
    const joined = ByteRuns.concat(runs.map((run) => new ByteRuns([run])));
    const read = [...joined.read(start, end)].flatMap((piece) => [...piece]);
    expect(read).toEqual(bytes.slice(start, Math.max(start, end)));
    expect([...joined.toBytes()]).toEqual(bytes);
  });
});

test('a long run is read in small pieces of one shared block', () => {
  const runs = new ByteRuns([{ fill: 0, count: 3 * READ_BYTES + 5 }]);
  const pieces = [...runs.read()];
  expect(pieces.map(({ length }) => length)).toEqual([READ_BYTES, READ_BYTES, READ_BYTES, 5]);
  expect(pieces[0]!.buffer).toBe(pieces[3]!.buffer);
});
