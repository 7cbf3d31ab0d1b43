import fc from 'fast-check';

/** Mostly evenly spread numbers, whereas `fc.double` from 0 on nearly always gives numbers next to 0. */
export const between = (min: number, max: number) => {
  const even = fc.nat({ max: 2 ** 30 }).map((n) => min + ((max - min) * n) / 2 ** 30);
  return fc.oneof(fc.double({ min, max, noNaN: true }), { arbitrary: even, weight: 3 });
};
export const whole = (min: number, max: number) => fc.integer({ min, max });

/** For slow properties, `npm test` makes fewer of the draws of `npm run unit` and `npm run test:all` (`scripts/test.js`). */
export const draws = (count: number) => Math.ceil(count * Number(process.env['LEO_ABR_DRAWS'] ?? 1));

/** Asserts that `holds` passes for random values. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  parameters: fc.Parameters<Values>,
  holds: (...values: Values) => unknown,
): void {
  const property = fc.property<Values>(...arbitraries, (...values) => holds(...values) as boolean | undefined);
  fc.assert(property, parameters);
}
