import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pixelOf } from './obstruction-map.fixture.ts';
import { angleBetween, directionOf, type MapGeometry } from './obstruction-map.ts';

const MAP: MapGeometry = { rows: 123, columns: 123, maxThetaDegrees: 80 };

test('the centre is the zenith, and north is up', () => {
  expect(directionOf(MAP, { row: 61, column: 61 })).toMatchObject({ elevationDegrees: 90 });
  const north = directionOf(MAP, { row: 31, column: 61 })!;
  expect(north.azimuthDegrees).toBe(0);
  expect(north.elevationDegrees).toBeCloseTo(90 - (30 / 61.5) * 80);
  expect(directionOf(MAP, { row: 61, column: 91 })!.azimuthDegrees).toBe(90);
  expect(directionOf(MAP, { row: 61, column: 31 })!.azimuthDegrees).toBe(270);
  expect(directionOf(MAP, { row: 0, column: 0 })).toBeUndefined();
});

test('`pixelOf` is the inverse of `directionOf`', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 78, noNaN: true }),
      fc.double({ min: 0, max: 360, noNaN: true }),
      (theta, azimuthDegrees) => {
        const direction = { azimuthDegrees, elevationDegrees: 90 - theta };
        expect(angleBetween(direction, directionOf(MAP, pixelOf(MAP, direction)!)!)).toBeLessThan(0.01);
      },
    ),
    { seed: 5, numRuns: 200 },
  );
});
