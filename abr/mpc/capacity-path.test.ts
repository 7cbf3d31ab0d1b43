import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forAll } from '../property.fixture.ts';
import { anyNumber, runningSums } from '../random-states.fixture.ts';
import { ConstantPath, PiecewisePath, type PiecewisePathOptions, ShiftedPath } from './capacity-path.ts';

const seconds = anyNumber(0, 60);
const sizeBits = anyNumber(1, 200).map((megabits) => megabits * 1e6);

/** Steps of integer and fractional length, also with rate 0. */
const anySteps: fc.Arbitrary<PiecewisePathOptions> = fc
  .array(fc.tuple(fc.oneof(fc.constant(1), anyNumber(0.1, 20)), fc.oneof(fc.constant(0), anyNumber(0.1, 50))), {
    minLength: 1,
    maxLength: 60,
  })
  .map((steps) => {
    const stepEndsSeconds = runningSums(steps.map(([length]) => length));
    return { stepEndsSeconds, ratesBps: steps.map(([, mbps]) => mbps * 1e6) };
  });

test('ConstantPath delivers rate * time, and bits flow from the first byte on', () => {
  const path = new ConstantPath(4e6, 0.1);
  expect(path.cumulativeBits(2)).toBe(8e6);
  expect(path.downloadSeconds(7, 2e6)).toBeCloseTo(0.6, 12);
  const late = new PiecewisePath({ stepEndsSeconds: [1, 2], ratesBps: [0, 1e6], latencySeconds: 1.5 });
  expect(late.downloadSeconds(0, 0.5e6)).toBeCloseTo(2, 12);
});

test("the receiver's time for a response comes after the last bit and takes nothing from the link", () => {
  const response = { seconds: 0.01, secondsPerBit: 1e-9 };
  forAll([anySteps, seconds, sizeBits, seconds], { seed: 5, numRuns: 200 }, (steps, start, bits, origin) => {
    const options = { ...steps, latencySeconds: 0.05 };
    const plain = new PiecewisePath(options).from(origin);
    const path = new PiecewisePath({ ...options, response }).from(origin);
    const transferSeconds = plain.downloadSeconds(start, bits);
    expect(path.downloadSeconds(start, bits)).toBe(transferSeconds + (0.01 + 1e-9 * bits));
    expect(path.transferSeconds(start, bits)).toBe(transferSeconds);
    expect(path.cumulativeBits(start)).toBe(plain.cumulativeBits(start));
  });
});

test('cumulativeBits is the sum of the steps, again and again', () => {
  forAll([anySteps, seconds], { numRuns: 1000, seed: 2 }, ({ stepEndsSeconds, ratesBps }, at) => {
    const lengths = Array.from(stepEndsSeconds, (end, i) => end - (stepEndsSeconds[i - 1] ?? 0));
    let passed = 0;
    for (let i = 0, left = at; left > 0; left -= lengths[i]!, i = (i + 1) % lengths.length) {
      passed += ratesBps[i]! * Math.min(left, lengths[i]!);
    }
    const found = new PiecewisePath({ stepEndsSeconds, ratesBps }).cumulativeBits(at);
    expect(found / (passed || 1)).toBeCloseTo(passed > 0 ? 1 : 0, 9);
  });
});

test('downloadSeconds is the inverse of cumulativeBits, and the least', () => {
  forAll([anySteps, seconds, sizeBits], { numRuns: 1000, seed: 1 }, (steps, at, bits) => {
    const path = new PiecewisePath(steps);
    const end = at + path.downloadSeconds(at, bits);
    if (end === Number.POSITIVE_INFINITY) return;
    const arrived = path.cumulativeBits(end) - path.cumulativeBits(at);
    expect(Math.abs(arrived - bits)).toBeLessThan(1e-9 * path.cumulativeBits(end) + 1e-3);
    expect(path.cumulativeBits(end - 1e-4) - path.cumulativeBits(at)).toBeLessThan(bits - 1e-3);
  });
});

test('a path from a later origin is the same link, and origins add up', () => {
  forAll([anySteps, seconds, seconds, sizeBits], { numRuns: 300, seed: 5 }, (steps, origin, at, bits) => {
    const path = new PiecewisePath({ ...steps, latencySeconds: 0.04 });
    for (const seen of [path.from(origin), path.from(origin, 1).from(0, 0.04), new ShiftedPath(path, origin)]) {
      expect(seen.cumulativeBits(at)).toBe(path.cumulativeBits(origin + at) - path.cumulativeBits(origin));
      expect(seen.downloadSeconds(at, bits)).toBe(path.downloadSeconds(origin + at, bits));
    }
    const again = path.from(1).from(origin);
    expect(again.cumulativeBits(at)).toBe(path.from(1 + origin).cumulativeBits(at));
  });
});
