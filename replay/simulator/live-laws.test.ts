/** Laws that hold for every live session on every link. */

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Controller, Observation } from '../../abr/index.ts';
import { between, draws, forAll, whole } from '../../abr/property.fixture.ts';
import { PERCEIVED_PRICES } from '../../abr/qoe/perceived-qoe.ts';
import { createController } from '../algorithms.ts';
import type { CatchUp } from '../catch-up.ts';
import { linkOf } from '../link/trace-link.ts';
import type { AnswerRecord } from '../observed-controller.ts';
import {
  chunkExistsAtSeconds,
  type LiveStream,
  liveSessionSeconds,
  MEASURED_BROWSER,
  SCENARIOS,
  type Scenario,
} from '../scenarios.ts';
import { type Trace, traceStartUtcMs } from '../trace.ts';
import { always, EXACT, IDEAL_BROWSER, recorder, restless, traceOfRates, traceUntil } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';
import { LivePlayback } from './player/live-playback.ts';
import { LIVE_PAGE } from './player/live-player.ts';
import type { SimulationOptions } from './simulation-options.ts';

const SEED = { seed: 20260101 };
const ROUNDING = 1e-6;

const traceOf = ([first, ...rest]: readonly number[], stepSeconds: number) =>
  // There is always some capacity before the wrap.
  traceOfRates([first! + 0.5, ...rest], stepSeconds);

const live = fc.record({
  chunkSeconds: fc.constantFrom(0.1, 0.25, 0.5, 2),
  encoderLatencySeconds: fc.constantFrom(0, 0.3),
  targetLatencySeconds: between(2.5, 8),
  timeShiftSeconds: fc.constantFrom(4, 20),
  playbackRates: fc.constantFrom({ min: 0.95, max: 1.05 }, { min: 0.5, max: 1.5 }, { min: 1, max: 1 }),
});
const catchUps = fc.constantFrom<CatchUp[]>('default', 'lolp');
const session = fc.record({
  mbps: fc.array(fc.oneof(fc.constant(0), between(0.2, 60)), { minLength: 5, maxLength: 60 }),
  stepSeconds: fc.constantFrom(0.1, 1, 4),
  live,
  segments: whole(3, 25),
  rttSeconds: fc.constantFrom(0, 0.04, 0.4),
  browser: fc.constantFrom(IDEAL_BROWSER, MEASURED_BROWSER),
  catchUp: catchUps,
  seed: whole(0, 1e6),
});
type LiveSession = typeof session extends fc.Arbitrary<infer T> ? T : never;

function play(of: LiveSession) {
  const scenario = {
    ...SCENARIOS['live-hd-1']!,
    segmentCount: of.live.timeShiftSeconds / 2 + of.segments,
    rttSeconds: of.rttSeconds,
    traceScale: { factor: 1 },
    browser: of.browser,
    live: of.live,
  };
  const records: AnswerRecord[] = [];
  const seen: Observation[] = [];
  const result = simulateSession({
    trace: traceOf(of.mbps, of.stepSeconds),
    scenario,
    catchUp: of.catchUp,
    controller: restless(of.seed, scenario.ladderBps.length),
    forecaster: recorder((observation) => seen.push({ ...observation })),
    onDecision: (record) => records.push(record),
  });
  const { state } = records.at(-1)!;
  const atMs = traceStartUtcMs({ dataset: 'test', recordingGroup: 'test' });
  /** Second of the join's clock at which the session's begins. */
  const startedAtSeconds = (state.utcMs! - atMs) / 1000 - state.nowSeconds;
  return { result, records, seen, scenario, startedAtSeconds };
}

/** Replaces `expect`, which is slow in loops. */
function atLeast(value: number, least: number): void {
  if (!(value >= least - ROUNDING)) throw new Error(`expected at least ${least}, got ${value}`);
}

test('startup, watching and stalls add up, the buffer holds only what exists, and no chunk comes early', () => {
  forAll([session], { ...SEED, numRuns: draws(100) }, (of) => {
    const { result, records, seen, scenario, startedAtSeconds } = play(of);
    const { watchedSeconds, stallSecondsPerMinute } = result.live!;
    expect(result.endedBy).toBe('end');
    expect(result.segments.length > 0 || watchedSeconds > 0).toBe(true);
    const lastsSeconds = liveSessionSeconds(scenario);
    if (result.startupSeconds < lastsSeconds - ROUNDING) {
      expect(result.startupSeconds + watchedSeconds).toBeCloseTo(lastsSeconds, 6);
      expect((stallSecondsPerMinute * watchedSeconds) / 60).toBeCloseTo(result.stallSeconds, 6);
    } else expect(watchedSeconds).toBeCloseTo(lastsSeconds, 6);

    const link = linkOf(traceOf(of.mbps, of.stepSeconds), scenario).from(0, 0);
    const chunks = Math.round(scenario.segmentSeconds / of.live.chunkSeconds);
    const exists = (segmentIndex: number, chunkIndex: number) =>
      chunkExistsAtSeconds(scenario, { segmentIndex, chunkIndex });
    for (const { index, requestedAtSeconds, downloadSeconds, sizeBits } of result.segments) {
      atLeast(requestedAtSeconds, exists(index, 0));
      atLeast(downloadSeconds, of.rttSeconds);
      atLeast(downloadSeconds, link.downloadSeconds(requestedAtSeconds, sizeBits));
      atLeast(requestedAtSeconds + downloadSeconds, exists(index, chunks - 1));
    }
    for (const { state, inFlight } of records) {
      const { bufferLevelSeconds, bufferCapSeconds, segmentSeconds, started, nowSeconds } = state;
      const { latencySeconds, firstChunkAtSeconds, chunkSeconds } = state.live!;
      // The first chunk of the next segment may be in the buffer.
      atLeast(bufferCapSeconds + chunkSeconds, bufferLevelSeconds + segmentSeconds);
      // Before its first request the session does not know how late it is.
      if (nowSeconds > 0) {
        expect(firstChunkAtSeconds + startedAtSeconds).toBeCloseTo(exists(state.segmentIndex, 0), 6);
      }
      if (started) {
        atLeast(latencySeconds - of.live.encoderLatencySeconds, bufferLevelSeconds);
        // The picture was captured after the stream's start.
        atLeast(nowSeconds + startedAtSeconds + of.live.timeShiftSeconds - latencySeconds, 0);
      }
      if (inFlight === undefined) continue;
      const existing = Array.from({ length: chunks }, (_, k) => exists(inFlight.segmentIndex, k)).filter(
        (at) => at <= nowSeconds + startedAtSeconds + ROUNDING,
      ).length;
      // The received bits belong to chunks that exist.
      atLeast((inFlight.sizeBits * existing) / chunks, inFlight.receivedBits);
    }
    let untilSeconds = 0;
    let observedBits = 0;
    for (const observation of seen) {
      if (observation.kind === 'request-latency') continue;
      atLeast(observation.startSeconds, untilSeconds);
      untilSeconds = observation.endSeconds;
      if (observation.kind === 'idle') continue;
      observedBits += observation.bits;
      // The meter spreads bits over the last 0.15 s.
      atLeast(link.cumulativeBits(untilSeconds + startedAtSeconds + 0.25) + 1, observedBits);
    }
  });
});

test('latency is the clock less the media that has played, also over stalls and jumps', () => {
  // A link that carries less than the media's rate, so that latency grows until playback jumps.
  const anySteps = fc.array(fc.record({ gap: between(0, 3), media: whole(0, 8) }), { minLength: 20, maxLength: 100 });
  let hits = 0;
  forAll([live, catchUps, anySteps], { ...SEED, numRuns: draws(100) }, (stream, catchUp, steps) => {
    const playback = new LivePlayback({ live: stream, catchUp, stallLevelSeconds: 0.025, begun() {} });
    playback.seekTo(stream.targetLatencySeconds);
    let media = playback.positionSeconds;
    for (const step of steps) {
      media += step.media * 0.25;
      const transfer = { startSeconds: 0, endSeconds: playback.nowSeconds + step.gap / 2 };
      playback.expect([{ transfer, responseSeconds: 0, appendSeconds: 0, untilMediaSeconds: media }]);
      const target = playback.nowSeconds + step.gap;
      playback.advanceTo(target);
      // Nothing plays that is not in the buffer, which a jump empties.
      const { bufferedUntilSeconds, positionSeconds } = playback;
      if (bufferedUntilSeconds > 0) expect(positionSeconds).toBeLessThanOrEqual(bufferedUntilSeconds + ROUNDING);
      if (playback.started && playback.catchUp()) media = playback.positionSeconds;
    }
    const { history, startupSeconds, nowSeconds, jumps } = playback;
    const total = history.reduce((sum, { seconds }) => sum + seconds, 0);
    expect(startupSeconds + total).toBeCloseTo(nowSeconds, 6);
    let jumped = 0;
    history.forEach(({ latencySeconds, seconds, rate, isStalled }, i) => {
      const after = latencySeconds + seconds * (isStalled ? 1 : 1 - rate);
      const next = history[i + 1]?.latencySeconds ?? playback.latencySeconds;
      if (Math.abs(next - after) > ROUNDING) jumped++;
    });
    // A jump out of a stall may find the target where playback was.
    expect(jumped).toBeLessThanOrEqual(jumps);
    hits += jumped;
  });
  expect(hits).toBeGreaterThan(50);
});

test('playback that is held by a rate of 0 goes on at the next rate, without another append', () => {
  const live = { ...SCENARIOS['live-hd-1']!.live!, targetLatencySeconds: 2 };
  const playback = new LivePlayback({ live, catchUp: 'default', stallLevelSeconds: 0, begun() {} });
  playback.seekTo(2);
  const transfer = { startSeconds: 0, endSeconds: 0 };
  const untilMediaSeconds = playback.positionSeconds + 9;
  playback.expect([{ transfer, responseSeconds: 0, appendSeconds: 0, untilMediaSeconds }]);
  for (const [rate, until] of [
    [1, 1],
    [0, 3],
    [1, 4],
  ] as const) {
    playback.setRate(rate);
    playback.advanceTo(until);
  }
  expect([playback.stallSeconds, playback.bufferLevelSeconds]).toEqual([2, 7]);
});

describe('live-session', () => {
  const traceOf = (...steps: Parameters<typeof traceUntil>[0]) => traceUntil(steps, { startUtcMs: 0 });

  const STREAM = { chunkSeconds: 0.5, encoderLatencySeconds: 0, playbackRates: { min: 1, max: 1 } };
  const LIVE: LiveStream = { ...STREAM, targetLatencySeconds: 2, timeShiftSeconds: 10 };
  /** 1 Mbit/s, exact sizes, no RTT, no delays of a browser but the join's: easy to compute by hand. */
  const MEDIA = { ladderBps: [1e6], segmentCount: 15, live: LIVE };
  const PAPER: Scenario = { ...SCENARIOS['live-hd-1']!, ...MEDIA, ...EXACT, rttSeconds: 0, browser: IDEAL_BROWSER };
  const play = (trace: Trace, scenario: Partial<Scenario> = {}, more: Partial<SimulationOptions> = {}) =>
    simulateSession({ trace, scenario: { ...PAPER, ...scenario }, controller: always(0), ...more });
  /** From second 5 on. */
  const outageUntil = (until: number) => traceOf({ until: 5, mbps: 4 }, { until, mbps: 0 }, { until: 100, mbps: 4 });
  const STEADY = traceOf({ until: 100, mbps: 4 });
  const near = (value: number) => expect.closeTo(value, 9);

  test('a live session joins at the target, less late than its first chunk', () => {
    expect(LIVE_PAGE).toMatchObject({ joinSeconds: 0.05, setUpSeconds: 0.02 });
    const { live, segments, ...result } = play(STEADY);
    // Playback aims at 8.05 s, and the first chunk of 0.5 Mbit arrives 0.145 s later.
    const undisturbed = { endedBy: 'end', stallCount: 0, stallSeconds: 0, wastedBits: 0 };
    expect(result).toMatchObject({ ...undisturbed, startupSeconds: near(0.195) });
    const times = { watchedSeconds: near(20 - 0.195), latencySecondsMean: near(2.145) };
    expect(live).toMatchObject({ ...times, stallsPerMinute: 0, offRateShare: 0, jumps: 0 });
    // The last segment exists at the session's end and arrives after it.
    expect(segments.map(({ index }) => index)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    // Segment 1 exists, and the first chunk of segment 2. Later segments are requested with their first chunk.
    const requested = [0.07, 0.57, 2.5 + LIVE_PAGE.lowLatencyLateSeconds].map(near);
    expect(segments.slice(0, 3).map(({ requestedAtSeconds }) => requestedAtSeconds)).toEqual(requested);
    expect(segments[2]!.requestedAtSeconds + segments[2]!.downloadSeconds).toBeCloseTo(4.125, 9);
  });

  test('an outage stalls until its first chunk, and playback stays as much later without catch-up', () => {
    const { live, ...result } = play(outageUntil(8));
    // Media until 14.5 s has arrived, and plays until second 6.645; the next chunk arrives at 8.125 s.
    expect(result).toMatchObject({ stallSeconds: near(1.48), stallCount: 1 });
    expect(live!.latencySecondsP95).toBeCloseTo(3.625, 9);
    expect(result.segments.reduce((sum, { stallSeconds }) => sum + stallSeconds, 0)).toBeCloseTo(1.48, 9);
  });

  test('a session without a segment has the cost of its startup, over one segment', () => {
    const { startupSeconds, segments, qoe } = play(traceOf({ until: 50, mbps: 0 }, { until: 100, mbps: 4 }));
    expect({ startupSeconds, segments }).toEqual({ startupSeconds: near(20), segments: [] });
    expect(qoe.perceived).toBeCloseTo((-20 * PERCEIVED_PRICES.startupSecond) / 0.5, 9);
    expect(qoe.linear).toBeCloseTo((-20 * PAPER.mu) / 0.5, 9);
  });

  test('a fault makes the segments that it keeps from arriving media of quality 0', () => {
    const broken: Controller = {
      name: 'broken',
      decide(state) {
        if (state.segmentIndex === 8) throw new Error('out of ideas');
        return always(0).decide(state);
      },
    };
    const [whole, faulty] = [{}, { controller: broken }].map((more) => play(STEADY, {}, more));
    expect(faulty).toMatchObject({ endedBy: 'fault', segments: { length: 4 } });
    // 20 s have ten segments of one quality.
    const { qoe, startupSeconds } = faulty!;
    const startup = (PAPER.mu * startupSeconds) / 5;
    expect(qoe.linear + startup).toBeCloseTo(0.4 * (whole!.qoe.linear + startup), 9);
  });

  test('with rates, playback returns to the target', () => {
    const live = { ...LIVE, playbackRates: { min: 0.5, max: 1.5 } };
    const records: AnswerRecord[] = [];
    const result = play(outageUntil(8), { live }, { onDecision: (record) => records.push(record) });
    expect(result.live!.jumps).toBe(0);
    expect(records.at(-1)!.state.live!.latencySeconds).toBeCloseTo(2, 1);
    expect(records.some(({ state: { playbackRate } }) => playbackRate > 1.4)).toBe(true);
  });

  test('later than 12 s behind the target it jumps to it, and gives up the running download', () => {
    const scenario = { live: { ...LIVE, timeShiftSeconds: 20 }, segmentCount: 30 };
    const { live, segments, ...result } = play(outageUntil(21), scenario);
    // Playback resumes at 21.125 s. At the tick at 21.195 s it jumps to 39.195 s, in the third chunk of segment 19.
    expect(live!.jumps).toBe(1);
    expect(result.stallSeconds).toBeCloseTo(14.48 + 0.375, 9);
    expect(segments.map(({ index }) => index).slice(1, 5)).toEqual([10, 11, 19, 20]);
    expect(segments[3]!.requestedAtSeconds).toBeCloseTo(21.195, 9);
    expect(result.wastedBits).toBeGreaterThan(0);
  });

  test('a stall that outlasts the time-shift buffer jumps too', () => {
    const live = { ...LIVE, timeShiftSeconds: 3.8 };
    const { segments, ...result } = play(outageUntil(21), { live, segmentCount: 22 });
    // Playback stalls at 7.22 s. At ticks more than 4.05 s late, every 2.25 s from 8.82 s on, it jumps to 2 s.
    expect(result.live!.jumps).toBe(6);
    expect(result.live!.latencySecondsP95).toBeLessThan(5);
    expect(segments.map(({ index }) => index)).toEqual([0, 1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  });

  test('whole segments are requested when they exist', () => {
    const live = { ...LIVE, chunkSeconds: 2, targetLatencySeconds: 6 };
    const { segments, ...result } = play(STEADY, { live });
    const requested = [0.07, 0.57, 1.07, 2 + LIVE_PAGE.lateSeconds, 4 + LIVE_PAGE.lateSeconds].map(near);
    expect(segments.slice(0, 5).map(({ requestedAtSeconds }) => requestedAtSeconds)).toEqual(requested);
    expect(result.startupSeconds).toBeCloseTo(0.57, 9);
    expect(result.live).toMatchObject({ offRateShare: 0, latencySecondsMean: near(6.52) });
  });

  test('the controller sees latency, chunks and how far the buffer can grow', () => {
    const records: AnswerRecord[] = [];
    play(STEADY, {}, { onDecision: (record) => records.push(record) });
    const [first, , third] = records.map(({ state }) => state);
    expect(first!.live).toMatchObject({ latencySeconds: 2, targetLatencySeconds: 2, chunkSeconds: 0.5 });
    // The session's clock starts with the first media request.
    const startedAtSeconds = LIVE_PAGE.joinSeconds + LIVE_PAGE.setUpSeconds;
    // At second 2.125 segment 5 has come; the next chunk comes into being at 1.645 s of buffer.
    expect(third).toMatchObject({
      ...{ segmentIndex: 6, segmentsRemaining: Number.POSITIVE_INFINITY, nowSeconds: near(2.125 - startedAtSeconds) },
      ...{ bufferLevelSeconds: near(2.02), bufferCapSeconds: near(3.645) },
      live: { firstChunkAtSeconds: near(2.5 - startedAtSeconds) },
    });
  });

  // The known failure of low-latency ABR: it measures the encoder and stays at the lowest representation.
  test.each(['throughput', 'mpc-d', 'mpc-l:no-forecast'])(
    '%s soon reaches the top of a fast link and stays',
    (name) => {
      const scenario = { ...SCENARIOS['live-hd-3']!, traceScale: { meanBps: 100e6 } };
      const controller = createController(name, { seed: 1 });
      const { segments } = simulateSession({ trace: STEADY, scenario, controller });
      const late = segments.filter(({ requestedAtSeconds }) => requestedAtSeconds > 10);
      expect(late.length).toBeGreaterThan(80);
      expect(late.every(({ bitrateBps }) => bitrateBps === 30e6)).toBe(true);
    },
  );
});
