import { expect, test } from '@jest/globals';
import type { Observation } from '../../abr/index.ts';
import { PiecewisePath } from '../../abr/index.ts';
import { ObservationMeter } from '../../predictor/link/observation-meter.ts';
import { Flight, ProgressFeed } from './flight.ts';
import { recorder } from './made-up.fixture.ts';

const LATENCY_SECONDS = 0.04;

/** 8 Mbit/s for 1 s, nothing for 3 s, then 4 Mbit/s; every request costs 40 ms. */
const STEPS = { stepEndsSeconds: [1, 4, 100], ratesBps: [8e6, 0, 4e6] };
const LINK = new PiecewisePath({ ...STEPS, latencySeconds: LATENCY_SECONDS });
const SIZE_BITS = 6e6;

test.each([
  ['from the first byte on', 0.5],
  ['before the first byte', 1],
])('reports an outage %s while it lasts, as a page with progress events every 50 ms', (_, sentSeconds) => {
  const flight = new Flight(LINK, sentSeconds, SIZE_BITS, LATENCY_SECONDS);
  const simulated: Observation[] = [];
  const feed = new ProgressFeed(
    recorder((seen) => simulated.push(seen)),
    0.1,
  );
  feed.begin(flight);
  let at = sentSeconds;
  for (let tick = 1; ; tick++) {
    at = sentSeconds + tick * 0.1;
    if (at >= flight.endsAtSeconds) break;
    feed.report(at, false);
    if (at > 2 && at < 4) {
      const last = simulated.at(-1)!;
      expect(last).toMatchObject({ kind: 'throughput', bits: 0 });
      expect('endSeconds' in last && at - last.endSeconds).toBeLessThan(0.3);
    }
  }
  feed.report(flight.endsAtSeconds, true);

  const inPage: Observation[] = [];
  const meter = new ObservationMeter((observation) => inPage.push(observation));
  const request = meter.requestSent(sentSeconds);
  let seenBits = 0;
  for (let event = sentSeconds; ; event += 0.05) {
    const now = Math.min(event, flight.endsAtSeconds);
    const bits = flight.receivedBits(now);
    if (bits > seenBits) {
      if (seenBits === 0) meter.firstByte(request, flight.firstByteAtSeconds);
      meter.received(request, now, bits - seenBits);
      seenBits = bits;
    } else meter.advance(now);
    if (now === flight.endsAtSeconds) break;
  }
  meter.requestEnded(request, flight.endsAtSeconds);

  expect(simulated.map(({ kind }) => kind)).toEqual(inPage.map(({ kind }) => kind));
  for (const [i, observation] of simulated.entries()) {
    const other = inPage[i]!;
    if (observation.kind !== 'throughput' || other.kind !== 'throughput') {
      expect(observation).toEqual(other);
      continue;
    }
    expect([observation.startSeconds, observation.endSeconds]).toEqual([other.startSeconds, other.endSeconds]);
    // If bits begin or end within a piece, they may be counted in a neighbouring piece.
    expect(Math.abs(observation.bits - other.bits)).toBeLessThan(0.1 * 8e6);
  }
  const bits = (seen: Observation[]) => seen.reduce((sum, one) => sum + ('bits' in one ? one.bits : 0), 0);
  expect(bits(simulated)).toBeCloseTo(SIZE_BITS);
  expect(bits(inPage)).toBeCloseTo(SIZE_BITS);
});
