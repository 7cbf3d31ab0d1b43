/** Laws that hold for every live session on every link. */

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Observation } from '../../abr/index.ts';
import { between, draws, forAll, whole } from '../../abr/property.fixture.ts';
import type { CatchUp } from '../catch-up.ts';
import { chunkExistsAtSeconds, liveSessionSeconds, MEASURED_BROWSER, SCENARIOS } from '../scenarios.ts';
import { traceStartUtcMs } from '../trace.ts';
import { IDEAL_BROWSER, recorder, restless, traceOfRates } from './made-up.fixture.ts';
import { simulateSession } from './play.ts';
import { LivePlayback } from './player/live-playback.ts';
import { linkOf } from './session-setup.ts';
import type { AnswerRecord } from './simulation-options.ts';

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
      atLeast(downloadSeconds, link.transferSeconds(requestedAtSeconds, sizeBits));
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
