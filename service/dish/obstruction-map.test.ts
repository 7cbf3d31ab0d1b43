import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pixelOf } from './obstruction-map.fixture.ts';
import { type Attitude, angleBetween, directionOf, type MapGeometry } from './obstruction-map.ts';

const EARTH: MapGeometry = { rows: 123, columns: 123, maxThetaDegrees: 80, frame: 'earth' };
const TERMINAL: MapGeometry = { ...EARTH, frame: 'terminal' };

test('the centre is the zenith, and north is up', () => {
  expect(directionOf(EARTH, { row: 61, column: 61 })).toMatchObject({ elevationDegrees: 90 });
  const north = directionOf(EARTH, { row: 31, column: 61 })!;
  expect(north.azimuthDegrees).toBe(0);
  expect(north.elevationDegrees).toBeCloseTo(90 - (30 / 61.5) * 80);
  expect(directionOf(EARTH, { row: 61, column: 91 })!.azimuthDegrees).toBe(90);
  expect(directionOf(EARTH, { row: 0, column: 0 })).toBeUndefined();
});

test('the frame "terminal" needs an attitude', () => {
  expect(directionOf(TERMINAL, { row: 40, column: 40 })).toBeUndefined();
  expect(pixelOf(TERMINAL, { azimuthDegrees: 10, elevationDegrees: 60 })).toBeUndefined();
});

test('a recorded satellite is where its orbit predicts it', () => {
  // Near Victoria on 2025-05-29 at 23:21:51 UTC: pixel and attitude of the dish, direction by SGP4 (STARLINK-2706).
  const attitude: Attitude = [0.0311, 0.379, 0.9223, 0.0688];
  const direction = directionOf(TERMINAL, { row: 41, column: 81 }, attitude)!;
  expect(angleBetween(direction, { azimuthDegrees: 6.8, elevationDegrees: 46.2 })).toBeLessThan(1.5);
});

test('`pixelOf` and `directionOf` are inverse in both frames for any attitude', () => {
  const component = fc.double({ min: -1, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 78, noNaN: true }),
      fc.double({ min: 0, max: 360, noNaN: true }),
      fc.tuple(component, component, component, component).filter((q) => Math.hypot(...q) > 0.1),
      (theta, around, quaternion) => {
        const length = Math.hypot(...quaternion);
        const attitude = quaternion.map((value) => value / length) as unknown as Attitude;
        const radius = (theta / 80) * 61.5;
        const pixel = {
          row: 61 - radius * Math.cos((around * Math.PI) / 180),
          column: 61 + radius * Math.sin((around * Math.PI) / 180),
        };
        for (const map of [EARTH, TERMINAL]) {
          const direction = directionOf(map, pixel, attitude)!;
          const back = pixelOf(map, direction, attitude)!;
          expect(Math.hypot(back.row - pixel.row, back.column - pixel.column)).toBeLessThan(1e-3);
          expect(angleBetween(direction, directionOf(map, back, attitude)!)).toBeLessThan(0.01);
        }
      },
    ),
    { seed: 5, numRuns: 200 },
  );
});
