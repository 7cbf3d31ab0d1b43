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

  test('stalls are exact at any playback rate, and positions tell where the playhead was', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            rate: fc.double({ min: 0.5, max: 1.5, noNaN: true }),
            seconds: fc.double({ min: 0.5, max: 3, noNaN: true }),
            stall: fc.option(fc.double({ min: 0.05, max: 2, noNaN: true }), { nil: 0 }),
          }),
          { minLength: 1, maxLength: 4 },
        ),
        (spans) => {
          const element = { currentTime: 30, playbackRate: 1 };
          const meter = new PlaybackMeter(element);
          let now = 0;
          const pass = (seconds: number, isStalled = false) => {
            for (const end = now + seconds; now < end; ) {
              const step = Math.min(0.025, end - now);
              now += step;
              if (!isStalled) element.currentTime += step * element.playbackRate;
              meter.sample(now);
            }
          };
          pass(0.5);
          for (const { rate, seconds, stall } of spans) {
            element.playbackRate = rate;
            meter.sample(now);
            pass(seconds);
            if (stall === 0) continue;
            pass(stall / 2, true);
            meter.onWaiting(now);
            pass(stall / 2, true);
            pass(0.2);
          }
          const seconds = meter.stalls.map(({ startSeconds, endSeconds }) => endSeconds - startSeconds);
          const stalls = spans.flatMap(({ stall }) => (stall > 0 ? stall : []));
          expect(seconds.length).toBe(stalls.length);
          for (const [i, stall] of stalls.entries()) expect(Math.abs(seconds[i]! - stall)).toBeLessThan(0.05);
          const { atSeconds, mediaSeconds, rate } = meter.positions.at(-1)!;
          expect(Math.abs(mediaSeconds + (now - atSeconds) * rate - element.currentTime)).toBeLessThan(0.02);
          expect(meter.jumps).toBe(0);
        },
      ),
      { seed: 1, numRuns: 200 },
    );
  });

  test('a seek before the start is no playback, one to the live edge is a jump and its wait a stall', () => {
    const element = { currentTime: 0, playbackRate: 1 };
    const meter = new PlaybackMeter(element);
    meter.sample(1);
    element.currentTime = 17;
    meter.sample(1.1);
    expect(meter.startedAtSeconds).toBeUndefined();
    element.currentTime = 17.025;
    meter.sample(1.125);
    expect(meter.startedAtSeconds).toBeCloseTo(1.1, 9);
    element.currentTime = 17.05;
    meter.sample(1.15);
    // dash.js freezes at the end of its buffer before it goes to the live edge.
    element.currentTime = 17.3;
    meter.sample(1.175);
    meter.onWaiting(1.175);
    meter.sample(2);
    element.currentTime = 30;
    meter.sample(2.5);
    element.currentTime = 30.025;
    meter.sample(2.525);
    expect(meter.jumps).toBe(1);
    const end = expect.closeTo(2.5, 9);
    expect(meter.stalls).toEqual([{ startSeconds: expect.closeTo(1.15, 2), endSeconds: end, mediaSeconds: 17.3 }]);
    expect(meter.positions.at(-1)).toEqual({ atSeconds: end, mediaSeconds: 30, rate: 1 });
  });

  test('a stall that goes on ends with the session', () => {
    const element = { currentTime: 0, playbackRate: 1 };
    const meter = new PlaybackMeter(element);
    for (let tick = 1; tick <= 40; tick++) {
      element.currentTime = tick / 40;
      meter.sample(tick / 40);
    }
    meter.onWaiting(1.2);
    meter.end(3);
    expect(meter.stalls).toEqual([{ startSeconds: expect.closeTo(1, 6), endSeconds: 3, mediaSeconds: 1 }]);
  });

  test('an element that waits at rate 0, as Shaka Player makes it, stalls', () => {
    const element = { currentTime: 0, playbackRate: 1 };
    const meter = new PlaybackMeter(element);
    const at = (now: number, currentTime: number, playbackRate: number) => {
      Object.assign(element, { currentTime, playbackRate });
      meter.sample(now);
    };
    for (let now = 0.05; now < 2; now += 0.05) at(now, now, 1);
    Object.assign(element, { currentTime: 2, playbackRate: 0 });
    meter.onWaiting(2);
    for (let now = 2.05; now < 3; now += 0.05) at(now, 2, 0);
    for (let now = 3; now < 4; now += 0.05) at(now, now - 1, 1);
    expect(meter.stalls).toEqual([
      { startSeconds: expect.closeTo(2), endSeconds: expect.closeTo(3), mediaSeconds: expect.closeTo(2) },
    ]);
    expect(meter.unaccountedSeconds()).toBeCloseTo(0);
  });
});
