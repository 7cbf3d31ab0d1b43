/** Random observations of a session's link. */

import fc from 'fast-check';
import type { Observation } from './forecast.ts';
import { between } from './property.fixture.ts';

/** Observations, most of them possible, with random numbers. */
export const anyObservation: fc.Arbitrary<Observation> = (() => {
  const number = fc.oneof(fc.double(), between(0, 1000), fc.constant(0));
  return fc.oneof(
    fc.record({ kind: fc.constant('throughput' as const), startSeconds: number, endSeconds: number, bits: number }),
    fc.tuple(between(0, 600), between(0, 2), number).map(([startSeconds, seconds, bits]) => {
      return { kind: 'throughput' as const, startSeconds, endSeconds: startSeconds + seconds, bits };
    }),
    fc.record({ kind: fc.constant('request-latency' as const), atSeconds: number, latencySeconds: number }),
    fc.record({ kind: fc.constant('idle' as const), startSeconds: number, endSeconds: number }),
  );
})();

/** Pieces of a session in order of time. */
export const anySession = fc
  .array(fc.record({ afterSeconds: between(0, 20), seconds: between(0.02, 8), mbps: between(0, 300) }))
  .map((pieces) => {
    let untilSeconds = 0;
    return pieces.map(({ afterSeconds, seconds, mbps }) => {
      const startSeconds = untilSeconds + afterSeconds;
      untilSeconds = startSeconds + seconds;
      return { kind: 'throughput' as const, startSeconds, endSeconds: untilSeconds, bits: mbps * 1e6 * seconds };
    });
  });
