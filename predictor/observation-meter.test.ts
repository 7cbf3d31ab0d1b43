import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation } from '../abr/forecast.ts';
import { ObservationMeter } from './observation-meter.ts';

function recorded(feed: (meter: ObservationMeter) => void): Observation[] {
  const observations: Observation[] = [];
  feed(new ObservationMeter((observation) => observations.push(observation)));
  return observations;
}

const throughput = (startSeconds: number, endSeconds: number, bits: number) =>
  ({ kind: 'throughput', startSeconds, endSeconds, bits }) as const;
const idle = (startSeconds: number, endSeconds: number) => ({ kind: 'idle', startSeconds, endSeconds }) as const;

describe('ObservationMeter', () => {
  test('cuts a download at whole seconds and tells its latency; waiting for the first byte is neither', () => {
    const seen = recorded((meter) => {
      meter.requestSent(0.25);
      meter.firstByte(0.5, 0.25);
      meter.received(0.5, 1.5, 8e6);
      meter.requestEnded(1.5, true);
      meter.requestSent(2);
    });
    expect(seen).toEqual([
      idle(0, 0.25),
      { kind: 'request-latency', atSeconds: 0.5, latencySeconds: 0.25 },
      throughput(0.5, 1, 4e6),
      throughput(1, 1.5, 4e6),
      idle(1.5, 2),
    ]);
  });

  test('an outage in a download counts as seconds without bits, told as they pass', () => {
    const observations: Observation[] = [];
    const meter = new ObservationMeter((observation) => observations.push(observation));
    meter.requestSent(0);
    meter.firstByte(0, 0);
    meter.received(0, 1, 1e6);
    meter.advance(4.1);
    expect(observations.filter(({ kind }) => kind === 'throughput')).toEqual([
      throughput(0, 1, 1e6),
      throughput(1, 2, 0),
      throughput(2, 3, 0),
    ]);
    meter.advance(4.4);
    expect(observations.at(-1)).toEqual(throughput(3, 4, 0));
  });

  test('requests side by side share the seconds and add up their bits', () => {
    const seen = recorded((meter) => {
      meter.requestSent(0);
      meter.requestSent(0);
      meter.firstByte(0.1, 0.1);
      meter.firstByte(0.2, 0.2);
      meter.received(0.1, 0.5, 4e6);
      meter.received(0.2, 0.5, 3e6);
      meter.requestEnded(0.5, true);
      meter.requestEnded(0.5, true);
      meter.advance(1);
    });
    const busy = seen.filter(({ kind }) => kind === 'throughput') as Extract<Observation, { kind: 'throughput' }>[];
    expect(busy).toHaveLength(1);
    expect(busy[0]).toMatchObject({ startSeconds: 0.1, endSeconds: 0.5, bits: 7e6 });
  });

  test('whatever the course: in order, within a second, no overlap, and all bits are told', () => {
    const step = fc.record({
      waitSeconds: fc.double({ min: 0, max: 2.5, noNaN: true }),
      what: fc.constantFrom('send', 'progress', 'end', 'tick'),
      bits: fc.integer({ min: 0, max: 1e7 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let sent = 0;
        const seen = recorded((meter) => {
          let now = 0;
          let waiting = 0;
          const delivering: { since: number }[] = [];
          for (const { waitSeconds, what, bits } of steps) {
            now += waitSeconds;
            if (what === 'send') {
              waiting++;
              meter.requestSent(now);
            } else if (what === 'progress' && waiting > 0) {
              waiting--;
              meter.firstByte(now, waitSeconds);
              delivering.push({ since: now });
            } else if (what === 'end' && delivering.length > 0) {
              const { since } = delivering.shift()!;
              if (now > since) {
                meter.received(since, now, bits);
                sent += bits;
              }
              meter.requestEnded(now, true);
            } else meter.advance(now);
          }
          while (delivering.length > 0) {
            delivering.shift();
            meter.requestEnded(now, true);
          }
          meter.advance(now + 2);
        });
        let end = 0;
        let told = 0;
        for (const observation of seen) {
          if (observation.kind === 'request-latency') {
            expect(observation.atSeconds).toBeGreaterThanOrEqual(end);
            continue;
          }
          const { startSeconds, endSeconds } = observation;
          expect(startSeconds).toBeGreaterThanOrEqual(end);
          expect(endSeconds).toBeGreaterThan(startSeconds);
          expect(endSeconds).toBeLessThanOrEqual(Math.floor(startSeconds) + 1);
          end = endSeconds;
          if (observation.kind === 'throughput') told += observation.bits;
        }
        expect(told).toBeGreaterThanOrEqual(0);
        expect(told).toBeLessThanOrEqual(sent * (1 + 1e-9));
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test('all bits of downloads that last are told', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: 0.05, max: 3, noNaN: true }), fc.integer({ min: 1, max: 1e7 })), {
          minLength: 1,
          maxLength: 20,
        }),
        (pieces) => {
          const seen = recorded((meter) => {
            meter.requestSent(0);
            meter.firstByte(0.02, 0.02);
            let now = 0.02;
            for (const [seconds, bits] of pieces) {
              meter.received(now, now + seconds, bits);
              now += seconds;
            }
            meter.requestEnded(now, true);
          });
          const told = seen.reduce((sum, one) => sum + (one.kind === 'throughput' ? one.bits : 0), 0);
          const sent = pieces.reduce((sum, [, bits]) => sum + bits, 0);
          expect(Math.abs(told - sent)).toBeLessThan(1e-6 * sent);
        },
      ),
      { seed: 2, numRuns: 300 },
    );
  });
});
