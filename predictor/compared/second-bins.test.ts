import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation } from '../../abr/forecast.ts';
import { FEATURES, LinkHistory } from '../link-history.ts';
import { SECONDS_SEEN, type SeenSeconds } from './compared-model.ts';
import { SecondBins } from './second-bins.ts';

function throughput(startSeconds: number, endSeconds: number, rateBps: number): Observation {
  return { kind: 'throughput', startSeconds, endSeconds, bits: rateBps * (endSeconds - startSeconds) };
}

/** Ratios of the bins that are at most so old. */
function recent({ ratios, ages }: SeenSeconds, seconds: number): number[] {
  return [...ratios].filter((_, i) => ages[i]! <= seconds);
}

describe('SecondBins', () => {
  test('has nothing before a second was downloaded', () => {
    const bins = new SecondBins();
    const isEmpty = () => Object.values(bins.moment(1, 8e6)).every((values) => values.every(Number.isNaN));
    expect(isEmpty()).toBe(true);
    bins.observe(throughput(0, 0.5, 8e6));
    expect(isEmpty()).toBe(true);
    bins.observe(throughput(3, 3.5, 8e6));
    const { ratios, ages } = bins.moment(5, 8e6);
    // Half a second before a pause and half a second after it.
    expect(ratios[SECONDS_SEEN - 1]).toBeCloseTo(0, 9);
    expect(ages[SECONDS_SEEN - 1]).toBeCloseTo(1.5, 9);
    expect([...ratios.subarray(0, -1), ...ages.subarray(0, -1)].every(Number.isNaN)).toBe(true);
  });

  test('keeps the last ones, the oldest first', () => {
    const bins = new SecondBins();
    for (let second = 0; second < 100; second++) bins.observe(throughput(second, second + 1, 1e6 * (second + 1)));
    const { ratios, ages } = bins.moment(100, 2e6);
    expect([...ages]).toEqual(Array.from({ length: SECONDS_SEEN }, (_, i) => SECONDS_SEEN - 1 - i));
    expect(ratios[0]).toBeCloseTo(Math.log(37e6 / 2e6), 9);
    expect(bins.moment(100, 1e12).ratios[0]).toBe(Math.log(0.01));
  });

  test('are the bins of which LinkHistory makes its features, whatever it is told', () => {
    const piece = fc.record({
      pauseSeconds: fc.oneof(fc.constant(0), fc.double({ min: -0.2, max: 30, noNaN: true })),
      seconds: fc.oneof(fc.constant(0.1), fc.double({ min: -0.1, max: 3, noNaN: true })),
      rateBps: fc.oneof(fc.constant(0), fc.double({ min: -1, max: 1e9, noNaN: true }), fc.constant(Number.NaN)),
    });
    const at = (name: string) => FEATURES.findIndex((feature) => feature.name === name);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 150 }), fc.double({ min: 0, max: 20, noNaN: true }), (pieces, wait) => {
        const bins = new SecondBins();
        const history = new LinkHistory();
        let now = 0;
        for (const { pauseSeconds, seconds, rateBps } of pieces) {
          const observation = throughput(now + pauseSeconds, now + pauseSeconds + seconds, rateBps);
          const isAccepted = history.observe(observation);
          expect(bins.observe(observation)).toBe(isAccepted);
          if (isAccepted) now += pauseSeconds + seconds;
        }
        now += wait;
        const features = new Float64Array(FEATURES.length);
        if (!history.features(now, Number.NaN, features)) return;
        const moment = bins.moment(now, history.referenceBps()!);
        const last90 = recent(moment, 90);
        const mean = last90.length === 0 ? 0 : last90.reduce((sum, ratio) => sum + ratio, 0) / last90.length;
        expect(features[at('lowest-10s')]).toBe(Math.min(0, ...recent(moment, 10)));
        expect(features[at('lowest-40s')]).toBe(Math.min(0, ...recent(moment, 40)));
        expect(features[at('highest-40s')]).toBe(Math.max(0, ...recent(moment, 40)));
        expect(features[at('mean-90s')]).toBeCloseTo(mean, 9);
      }),
      { seed: 8, numRuns: 300 },
    );
  });
});
