import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll } from '../../property.fixture.ts';
import { type LatencyProblem, planRate } from './latency-plan.ts';

const TARGET_SECONDS = 1;
const CHUNK_SECONDS = 0.5;
const bounds = (min: number, max: number) => ({ min, max });
const RATES = bounds(0.95, 1.05);
/** Viewers do not notice a smaller change of the rate. */
const UNNOTICED = 0.02;
/** Chunks of a plan: an epoch. */
const CHUNKS = 30;

type Changes = Partial<Omit<LatencyProblem, 'live' | 'neededLatencySeconds'> & LatencyProblem['live']> & {
  needed?: Float64Array;
};

/** The planned rate, by default at the target, without futures. */
function rateOf({ needed = new Float64Array(0), chunks = CHUNKS, ...changes }: Changes): number {
  const { dueSeconds = 0.8, presentRate = 1, beginSeconds = 0.1, segmentSeconds = 2, ...live } = changes;
  const atTarget = { latencySeconds: TARGET_SECONDS, targetLatencySeconds: TARGET_SECONDS };
  return planRate({
    live: { ...atTarget, playbackRates: RATES, chunkSeconds: CHUNK_SECONDS, ...live },
    ...{ dueSeconds, presentRate, beginSeconds, segmentSeconds, chunks },
    neededLatencySeconds: needed,
  });
}

/** The latencies that the chunks of one future need; 0.4 s by default. */
const needs = (chunks: Record<number, number>) =>
  Float64Array.from({ length: CHUNKS }, (_, chunk) => chunks[chunk] ?? 0.4);

/** Plays at the planned rates in steps of 0.5 s. Returns the latency before each step and at the end. */
function play(latencySeconds: number, steps: number, needsAt?: (step: number) => Float64Array): number[] {
  const latencies = [latencySeconds];
  let presentRate = 1;
  for (let step = 0; step < steps; step++) {
    const now = latencies[step]!;
    presentRate = rateOf({ latencySeconds: now, presentRate, ...(needsAt && { needed: needsAt(step) }) });
    latencies.push(now + (1 - presentRate) * 0.5);
  }
  return latencies;
}

test('without futures, playback at the target stays there, and far above it is as fast as allowed', () => {
  expect(play(TARGET_SECONDS, 60)).toEqual(new Array(61).fill(TARGET_SECONDS));
  for (const latencySeconds of [1.6, 2, 5, 3600]) expect(rateOf({ latencySeconds })).toBe(RATES.max);
  expect(rateOf({ latencySeconds: 1.59 })).toBe(1.0099);
});

test('the plan knows the latencies between playback and its target', () => {
  expect(rateOf({ latencySeconds: 1.5, segmentSeconds: 0.2, needed: needs({ 29: 1 }) })).toBe(RATES.max);
  // Below the target the rate returns, also if the plan is too short for that.
  expect(rateOf({ latencySeconds: 0.9, chunks: 1, dueSeconds: 0.1, needed: Float64Array.of(0.8) })).toBe(0.9901);
});

test.each([1.5, 1.3, 1.1, 0.9, 0.7])('without futures, playback returns from %p s to the target', (latencySeconds) => {
  const latencies = play(latencySeconds, 160);
  const away = latencies.map((latency) => Math.abs(latency - TARGET_SECONDS));
  for (let i = 1; i < away.length; i++) expect(away[i]).toBeLessThanOrEqual(Math.max(away[i - 1]!, 0.01));
  expect(away[160]).toBeLessThan(0.05);
});

test('without a stall to fear, playback within 0.05 s of the target has rate 1, and once off it returns all the way', () => {
  const rateAt = (late: number, presentRate = 1) =>
    rateOf({ latencySeconds: TARGET_SECONDS + late, presentRate, needed: needs({}) });
  expect([-0.049, -0.01, 0, 0.01, 0.049].map((late) => rateAt(late))).toEqual(new Array(5).fill(1));
  expect([-0.06, -0.02, 0.001].map((late) => rateAt(late, 0.9901))).toEqual([0.9901, 0.9901, 1]);
  expect([0.06, 0.02, -0.001].map((late) => rateAt(late, 1.0099))).toEqual([1.0099, 1.0099, 1]);
});

test('far below the target playback is as slow as allowed, whatever the futures and the time off 1', () => {
  for (const offRateShare of [0, 1]) {
    for (const needed of [needs({}), needs({ 2: 0.9 })]) {
      expect(rateOf({ latencySeconds: 0.8, offRateShare, needed })).toBe(RATES.min);
    }
  }
});

test('a rate that can be noticed is no choice after too much time off 1, and a dear one shortly before', () => {
  const late = (offRateShare: number, latencySeconds = 1.7) => rateOf({ latencySeconds, offRateShare });
  expect([late(0.149), late(0.15), late(1)]).toEqual([RATES.max, 1.0099, 1.0099]);
  expect([late(1, 3), late(1, 5)]).toEqual([RATES.max, RATES.max]);
  const playbackRates = { min: 0.997, max: 1.003 };
  expect(rateOf({ latencySeconds: 1.7, offRateShare: 1, playbackRates })).toBe(1.003);
  expect([1.2, 0.9].map((latencySeconds) => rateOf({ latencySeconds, playbackRates }))).toEqual([1.003, 0.997]);
  const before = (offRateShare: number) => rateOf({ offRateShare, beginSeconds: 3, needed: needs({ 3: 1.3 }) });
  expect([before(0), before(0.15)]).toEqual([RATES.min, 0.9901]);
});

test('a chunk that needs a higher latency slows playback down before it, as long as needed and no longer', () => {
  // In each step the chunk comes nearer.
  const latencies = play(TARGET_SECONDS, 25, (step) => needs({ [25 - step]: 1.05 }));
  expect(Math.abs(latencies[25]! - 1.05)).toBeLessThan(0.04);
  expect(latencies.slice(0, 6)).toEqual(new Array(6).fill(TARGET_SECONDS));
});

test('a chunk that needs a higher latency is no reason long before it, too late, nor if the latency suffices', () => {
  for (const need of [{ 29: 1.02 }, { 8: 0.95 }]) expect(rateOf({ needed: needs(need) })).toBe(1);
  expect(rateOf({ latencySeconds: 1.3, needed: needs({ 8: 1.2 }) })).toBeGreaterThan(1 - UNNOTICED);
  // Slower playback could not help before the chunk is due.
  const dueSeconds = 0.01;
  expect(rateOf({ dueSeconds, beginSeconds: 0, needed: needs({ 0: 1.2 }) })).toBeGreaterThan(1 - UNNOTICED);
  // A chunk that needs no more than a chunk of the last 2 s is no reason either.
  const again = (chunk: number, need: number) =>
    rateOf({ dueSeconds, beginSeconds: 3, needed: needs({ 0: need, [chunk]: need }) });
  expect([again(4, 1.3), again(5, 1.3)]).toEqual([1, RATES.min]);
});

test('a chunk that needs a higher latency counts by the share of the futures that have it', () => {
  const among = (futures: number) => {
    const needed = new Float64Array(futures * CHUNKS);
    needed.set(needs({ 8: 1.2 }));
    return rateOf({ needed });
  };
  expect(among(1)).toBeLessThan(1);
  expect(among(1000)).toBe(1);
});

test('a chunk that needs a higher latency stops catching up where that would cause a stall', () => {
  const at = { latencySeconds: 1.3, presentRate: RATES.max };
  expect(rateOf(at)).toBeGreaterThan(1);
  expect(rateOf({ ...at, needed: needs({ 0: 1.299 }) })).toBeLessThanOrEqual(1);
});

const anyChanges = fc
  .record({
    latencySeconds: fc.oneof(between(0, 4), fc.constantFrom(-3600, 3600, -1e9, Number.NaN, Number.NEGATIVE_INFINITY)),
    targetLatencySeconds: between(0.3, 4),
    chunkSeconds: fc.constantFrom(0.1, 0.5, 1, 4),
    playbackRates: fc.constantFrom(RATES, bounds(1, 1), bounds(1, 1.1), bounds(0.5, 2), bounds(0.995, 1.003)),
    dueSeconds: between(0, 20),
    presentRate: fc.constantFrom(1, 0.95, 1.05, 2),
    beginSeconds: between(0, 1),
    futures: fc.nat(4),
    needed: fc.array(between(-2, 6), { minLength: 1, maxLength: 30 }),
  })
  .map(({ futures, needed, ...rest }) => ({
    ...rest,
    chunks: needed.length,
    needed: Float64Array.from(Array(futures * needed.length), (_, i) => needed[(i * 7) % needed.length]!),
  }));

test('for any problem the rate is a bound, 1 or next to it, within the bounds, and the same again', () => {
  forAll([anyChanges], { seed: 3, numRuns: 300 }, (any) => {
    const rate = rateOf(any);
    const { min, max } = any.playbackRates;
    expect(rate).toBeGreaterThanOrEqual(min);
    expect(rate).toBeLessThanOrEqual(max);
    expect(rate === min || rate === max || Math.abs(rate - 1) < UNNOTICED).toBe(true);
    expect(rateOf(any)).toBe(rate);
  });
});
