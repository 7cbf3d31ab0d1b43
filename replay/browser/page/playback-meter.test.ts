import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PlaybackMeter } from './playback-meter.ts';

/** An element that starts at `startup` and stalls during `stalls`, with events `late` seconds later. */
function play(options: {
  startup: number;
  stalls: readonly [start: number, seconds: number][];
  period: number;
  late: number;
  until: number;
  silent?: boolean;
}) {
  const { startup, stalls, period, late, until, silent = false } = options;
  const positionAt = (now: number) =>
    Math.max(0, now - startup) -
    stalls.reduce((sum, [start, seconds]) => sum + Math.min(seconds, Math.max(0, now - start)), 0);
  let now = 0;
  const meter = new PlaybackMeter({
    get currentTime() {
      return positionAt(now);
    },
    playbackRate: 1,
  });
  const waitings = silent ? [] : stalls.map(([start]) => start + late);
  for (let tick = 0; tick * period <= until; tick++) {
    const next = tick * period;
    for (const at of waitings) {
      if (at <= now || at > next) continue;
      const then = now;
      now = at;
      meter.onWaiting(at);
      now = then;
    }
    now = next;
    meter.sample(now);
  }
  return meter;
}

describe('PlaybackMeter', () => {
  test('startup and stalls are exact for any delay of events and any sampling period', () => {
    fc.assert(
      fc.property(
        fc.record({
          startup: fc.double({ min: 0.1, max: 3, noNaN: true }),
          gaps: fc.array(
            fc.tuple(fc.double({ min: 1, max: 6, noNaN: true }), fc.double({ min: 0.3, max: 5, noNaN: true })),
            {
              maxLength: 4,
            },
          ),
          period: fc.double({ min: 0.01, max: 0.1, noNaN: true }),
          late: fc.double({ min: 0.001, max: 0.25, noNaN: true }),
        }),
        ({ startup, gaps, period, late }) => {
          let at = startup;
          const stalls = gaps.map(([gap, seconds]): [number, number] => {
            const start = at + gap;
            at = start + seconds;
            return [start, seconds];
          });
          const meter = play({ startup, stalls, period, late, until: at + 2 });
          expect(meter.startedAtSeconds).toBeCloseTo(startup, 6);
          expect(meter.stalls.length).toBe(stalls.length);
          meter.stalls.forEach((stall, i) => {
            expect(Math.abs(stall.startSeconds - stalls[i]![0])).toBeLessThan(0.02);
            expect(Math.abs(stall.endSeconds - stall.startSeconds - stalls[i]![1])).toBeLessThan(0.02);
          });
          expect(Math.abs(meter.unaccountedSeconds())).toBeLessThan(0.02);
          const waited = startup + stalls.reduce((sum, [, seconds]) => sum + seconds, 0);
          expect(Math.abs(meter.waitedSeconds(at + 2) - waited)).toBeLessThan(0.02);
        },
      ),
      { seed: 1, numRuns: 300 },
    );
  });

  test('a `waiting` event without lost time is no stall', () => {
    const meter = play({ startup: 0.5, stalls: [[2, 0]], period: 0.01, late: 0.02, until: 5 });
    expect(meter.stalls).toEqual([]);
  });

  test('an ongoing wait counts as waited time', () => {
    const meter = play({ startup: 1, stalls: [[3, 100]], period: 0.05, late: 0.1, until: 8 });
    expect(meter.stalls).toEqual([]);
    expect(meter.waitedSeconds(8)).toBeCloseTo(6, 1);
    const never = play({ startup: 100, stalls: [], period: 0.05, late: 0.1, until: 8 });
    expect([never.startedAtSeconds, never.waitedSeconds(8)]).toEqual([undefined, 8]);
  });

  test('lost time without an event is unaccounted, not a stall', () => {
    const meter = play({ startup: 1, stalls: [[3, 0.4]], period: 0.05, late: 0, until: 8, silent: true });
    expect(meter.stalls).toEqual([]);
    expect(meter.unaccountedSeconds()).toBeCloseTo(0.4, 2);
  });
});
