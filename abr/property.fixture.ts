import fc from 'fast-check';

export const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });
export const whole = (min: number, max: number) => fc.integer({ min, max });

/** Asserts that `holds` passes for random values. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  parameters: fc.Parameters<Values>,
  holds: (...values: Values) => unknown,
): void {
  const property = fc.property<Values>(...arbitraries, (...values) => holds(...values) as boolean | undefined);
  fc.assert(property, parameters);
}
