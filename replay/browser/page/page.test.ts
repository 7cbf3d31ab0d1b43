import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { between, forAll } from '../../../abr/property.fixture.ts';
import { PlaybackEnd } from './playback-end.ts';
import { meterOf, PlaybackMeter } from './playback-meter.ts';
import { RequestRecorder } from './request-recorder.ts';

/** An element with its meter, which samples each `period` seconds. */
class Playing {
  readonly element = { currentTime: 30, playbackRate: 1 };
  readonly meter = new PlaybackMeter(this.element);
  now = 0;

  constructor(readonly period = 0.025) {}

  pass(seconds: number, isStalled = false): void {
    for (const end = this.now + seconds; this.now < end; ) {
      const step = Math.min(this.period, end - this.now);
      this.now += step;
      if (!isStalled) this.element.currentTime += step * this.element.playbackRate;
      this.meter.sample(this.now);
    }
  }

  /** Stalls. The event comes after `late` seconds. */
  stall(seconds: number, late: number): void {
    this.pass(late, true);
    this.meter.onWaiting(this.now);
    this.pass(seconds - late, true);
  }

  set(currentTime: number, seconds: number): void {
    this.element.currentTime = currentTime;
    this.now += seconds;
    this.meter.sample(this.now);
  }
}

test('startup and stalls are exact for any rate, period and delay of events; positions tell where the playhead was', () => {
  const stall = fc.option(between(0.05, 5), { nil: 0 });
  const span = fc.record({ rate: between(0.5, 1.5), seconds: between(0.5, 3), stall, late: between(0.01, 0.9) });
  const spans = fc.array(span, { minLength: 1, maxLength: 4 });
  forAll([spans, between(0.1, 3), between(0.02, 0.1)], { seed: 1, numRuns: 300 }, (spans, startup, period) => {
    const playing = new Playing(period);
    const { meter, element } = playing;
    playing.pass(startup, true);
    playing.pass(0.5);
    const starts: number[] = [];
    for (const { rate, seconds, stall, late } of spans) {
      element.playbackRate = rate;
      meter.sample(playing.now);
      playing.pass(seconds);
      if (stall === 0) continue;
      starts.push(playing.now);
      playing.stall(stall, Math.min(0.25, late * stall));
      playing.pass(0.3);
    }
    expect(meter.startedAtSeconds).toBeCloseTo(startup, 6);
    const stalls = spans.flatMap(({ stall }) => (stall > 0 ? stall : []));
    expect(meter.stalls.length).toBe(stalls.length);
    for (const [i, { startSeconds, endSeconds }] of meter.stalls.entries()) {
      expect(Math.abs(startSeconds - starts[i]!)).toBeLessThan(0.05);
      expect(Math.abs(endSeconds - startSeconds - stalls[i]!)).toBeLessThan(0.05);
    }
    const waited = stalls.reduce((sum, seconds) => sum + seconds, startup);
    expect(Math.abs(meter.waitedSeconds(playing.now) - waited)).toBeLessThan(0.1);
    expect(Math.abs(meter.unaccountedSeconds())).toBeLessThan(0.02);
    const { atSeconds, mediaSeconds, rate } = meter.positions.at(-1)!;
    expect(Math.abs(mediaSeconds + (playing.now - atSeconds) * rate - element.currentTime)).toBeLessThan(0.02);
    expect(meter.jumps).toBe(0);
  });
});

test('an event without lost time is no stall, and lost time without an event is unaccounted', () => {
  const playing = new Playing();
  playing.pass(2);
  playing.meter.onWaiting(playing.now);
  playing.pass(2);
  expect([playing.meter.stalls, playing.meter.unaccountedSeconds()]).toEqual([[], expect.closeTo(0, 6)]);
  playing.pass(0.4, true);
  playing.pass(2);
  expect([playing.meter.stalls, playing.meter.unaccountedSeconds()]).toEqual([[], expect.closeTo(0.4, 2)]);
});

test('an ongoing wait counts as waited time, and is a stall at the end', () => {
  const playing = new Playing();
  playing.pass(8, true);
  expect([playing.meter.startedAtSeconds, playing.meter.waitedSeconds(8)]).toEqual([undefined, 8]);
  playing.pass(1);
  playing.stall(5, 0.1);
  expect(playing.meter.stalls).toEqual([]);
  expect(playing.meter.waitedSeconds(14)).toBeCloseTo(13, 1);
  playing.meter.end(15);
  const [startSeconds, mediaSeconds] = [9, 31].map((at) => expect.closeTo(at, 6));
  expect(playing.meter.stalls).toEqual([{ startSeconds, endSeconds: 15, mediaSeconds }]);
});

test('a seek before the start is no playback, one to the live edge is a jump and its wait a stall', () => {
  const playing = new Playing();
  const { meter } = playing;
  playing.set(30, 1);
  playing.set(17, 0.1);
  expect(meter.startedAtSeconds).toBeUndefined();
  playing.set(17.025, 0.025);
  expect(meter.startedAtSeconds).toBeCloseTo(1.1, 9);
  playing.set(17.05, 0.025);
  // dash.js freezes at the end of its buffer before it goes to the live edge.
  playing.set(17.3, 0.025);
  meter.onWaiting(playing.now);
  playing.set(17.3, 0.825);
  playing.set(30, 0.5);
  playing.set(30.025, 0.025);
  expect([meter.jumps, meter.jumpedSeconds]).toEqual([1, expect.closeTo(12.95, 6)]);
  const end = expect.closeTo(2.5, 9);
  expect(meter.stalls).toEqual([{ startSeconds: expect.closeTo(1.15, 2), endSeconds: end, mediaSeconds: 17.3 }]);
  expect(meter.positions.at(-1)).toEqual({ atSeconds: end, mediaSeconds: 30, rate: 1 });
});

test('an element that waits at rate 0, as Shaka Player makes it, stalls', () => {
  const playing = new Playing();
  const { meter, element } = playing;
  playing.pass(2);
  element.playbackRate = 0;
  playing.stall(1, 0);
  element.playbackRate = 1;
  playing.pass(1);
  const [startSeconds, endSeconds, mediaSeconds] = [2, 3, 32].map((at) => expect.closeTo(at));
  expect(meter.stalls).toEqual([{ startSeconds, endSeconds, mediaSeconds }]);
  expect(meter.unaccountedSeconds()).toBeCloseTo(0);
});

test('a change of the rate is a sample, and a rate of 0 is a wait', () => {
  const video = Object.assign(new EventTarget(), { currentTime: 0, playbackRate: 1 });
  let now = 0;
  const meter = meterOf(video as HTMLVideoElement, () => now);
  for (const [type, playbackRate, seconds, media] of [
    ...([
      ['timeupdate', 1, 1, 1],
      ['ratechange', 2, 1, 1],
      ['timeupdate', 2, 1, 2],
    ] as const),
    ...([
      ['ratechange', 0, 0, 0],
      ['ratechange', 1, 1, 0],
      ['timeupdate', 1, 0.1, 0.1],
    ] as const),
  ]) {
    now += seconds;
    video.currentTime += media;
    video.playbackRate = playbackRate;
    video.dispatchEvent(new Event(type));
  }
  expect([meter.jumpedSeconds, meter.stalls]).toEqual([0, [expect.objectContaining({ mediaSeconds: 4 })]]);
});

const element = (currentTime: number, { duration = 96, ended = false } = {}) => ({ currentTime, duration, ended });

test.each([
  ['at once when the element has ended', element(95.9, { ended: true }), true, [true, true, true]],
  ['soon when the element stays at its end', element(95.99), true, [false, false, true]],
  ['never when it stalls before', element(95.5), false, [false, false, false]],
  ['never without a duration', element(0, { duration: Number.NaN }), false, [false, false, false]],
  ['never with a duration of 0', element(0, { duration: 0 }), false, [false, false, false]],
])('playback is over %s', (_, video, isReached, isOver) => {
  const end = new PlaybackEnd(video);
  expect(end.isReached).toBe(isReached);
  expect([100, 100.3, 100.5].map((now) => end.isOver(now))).toEqual(isOver);
});

test('a seek away from the end resets the wait', () => {
  const video = element(96);
  const end = new PlaybackEnd(video);
  expect(end.isOver(100)).toBe(false);
  video.currentTime = 40;
  expect(end.isOver(101)).toBe(false);
  video.currentTime = 96;
  expect([150, 150.5].map((now) => end.isOver(now))).toEqual([false, true]);
});

test("a response tells the trace's second at a second of the plugin's clock, which begins with the first request", () => {
  const element = { buffered: { length: 0 }, currentTime: 0, playbackRate: 1 } as HTMLMediaElement;
  const recorder = new RequestRecorder(element, [1e6]);
  // A live session's clock begins before, at the join.
  recorder.startClock(performance.now() - 500);
  const told: [number, number][] = [];
  recorder.onResponse = (traceSeconds, nowSeconds) => told.push([traceSeconds, nowSeconds]);
  const request = {};
  recorder.started(request, { index: 0, representationId: 'video-0', ownReason: () => '' });
  recorder.responded(request, '9.5');
  expect(told).toEqual([[9.5, 0]]);
  expect(recorder.requests[0]!.requestedAtSeconds).toBeGreaterThanOrEqual(0.5);
});
