import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InFlight, LiveState, PlayerState } from '../../controller.ts';
import { between, forAll } from '../../property.fixture.ts';
import { inFlightOf, liveOf, quantilesOf, stateOf as runningState } from '../../random-states.fixture.ts';
import { type MpcLOptions, resolveMpcLOptions } from '../options.ts';
import { LinkFutures } from './link-futures.ts';
import { LiveOutcomes } from './live-outcomes.ts';

const SEGMENT_SECONDS = 2;
const CHUNK_SECONDS = 0.5;
const LADDER_BPS = [1e6, 2e6, 4e6, 8e6];
/** The representation of 4 Mbit/s, with chunks of 2 Mbit. */
const MIDDLE = 2;
/** An append may take this long after an arrival. */
const APPEND_SECONDS = 0.05;

function stateOf(changes: Partial<PlayerState> = {}, live: Partial<LiveState> = {}): PlayerState {
  const previous = { segmentSeconds: SEGMENT_SECONDS, previousBitrateBps: LADDER_BPS[MIDDLE] };
  return runningState(LADDER_BPS, { bufferLevelSeconds: 1, ...previous, live: liveOf(live), ...changes });
}

/** Outcomes on a link of exactly this rate; an element that stalls at an empty buffer. */
function outcomesOn(bps: number, state = stateOf(), given: MpcLOptions = {}): LiveOutcomes {
  const forecast = quantilesOf(bps, { issuedAtMs: 1000 * state.nowSeconds, stepEndsSeconds: [60], rankCorrelation: 0 });
  const options = resolveMpcLOptions({ ...given, tuning: { futures: 4, stallLevelSeconds: 0 } });
  const link = new LinkFutures(options.tuning.futures, options.seed);
  return new LiveOutcomes(state, options, link.draw(state, forecast));
}

function evaluationOn(bps: number, state?: PlayerState) {
  const outcomes = outcomesOn(bps, state);
  return outcomes.evaluate(outcomes.newRequest(MIDDLE));
}

const downloading = (changes: Partial<InFlight> = {}): InFlight => ({
  ...inFlightOf(stateOf(), MIDDLE, 5 / 8),
  firstByteAtSeconds: 99.05,
  ...changes,
});

/** Latencies at which the first `count` chunks play in time, in the first future; all futures are equal. */
function neededOf(outcomes: LiveOutcomes, request = outcomes.newRequest(MIDDLE), count = 4): number[] {
  const needed = outcomes.neededLatencySeconds(request, count);
  for (let i = count; i < needed.length; i++) expect(needed[i]).toBe(needed[i % count]);
  return [...needed.subarray(0, count)];
}

/** These latencies imply arrivals in the buffer, in seconds from now. */
function expectArrivals(needed: readonly number[], state: PlayerState, expected: readonly number[]): void {
  const soonest = state.bufferLevelSeconds / state.playbackRate - state.live!.latencySeconds;
  const late = needed.map((latency, i) => latency + soonest + i * CHUNK_SECONDS - expected[i]!);
  expect(late[0]).toBeGreaterThanOrEqual(0);
  expect(late[0]).toBeLessThanOrEqual(APPEND_SECONDS);
  for (const one of late) expect(one).toBeCloseTo(late[0]!, 6);
}

// The link takes 0.25 s per chunk, and the set-up 1 s. The request leaves after both set-up and first chunk.
test.each<[string, firstChunkAtSeconds: number, setup: number, arrivals: number[]]>([
  ['waits for each chunk on a link that is faster than the encoder', 100, 0, [0.3, 0.75, 1.25, 1.75]],
  ['is not sent before its first chunk exists', 101, 0, [1.3, 1.75, 2.25, 2.75]],
  ['catches up with chunks that exist for long', 98, 0, [0.3, 0.55, 0.8, 1.05]],
  ['waits for what is loaded before it, after its first chunk', 100, 1, [1.3, 1.55, 1.8, 2.05]],
  ['waits for what is loaded before it, while its first chunk is encoded', 100.6, 1, [1.3, 1.55, 1.85, 2.35]],
  ['waits for what is loaded before it, before its first chunk', 102, 1, [2.3, 2.75, 3.25, 3.75]],
])('a new request %s', (_, firstChunkAtSeconds, setup, arrivals) => {
  const setupSeconds = LADDER_BPS.map((_, r) => (r === MIDDLE ? setup : 0));
  const state = stateOf({ setupSeconds }, { firstChunkAtSeconds });
  expectArrivals(neededOf(outcomesOn(8e6, state)), state, arrivals);
});

test('a new request is a growing queue on a slower link', () => {
  const state = stateOf();
  const needed = neededOf(outcomesOn(2e6, state));
  expectArrivals(needed, state, [1.05, 2.05, 3.05, 4.05]);
  expect(evaluationOn(2e6, state).stallSeconds).toBeCloseTo(needed[3]! - state.live!.latencySeconds, 6);
});

test('a new request of a whole segment arrives in one piece', () => {
  const state = stateOf({ bufferLevelSeconds: 0.5 }, { chunkSeconds: SEGMENT_SECONDS });
  const needed = neededOf(outcomesOn(8e6, state), undefined, 1);
  expectArrivals(needed, state, [1.05]);
  expect(evaluationOn(8e6, state).stallSeconds).toBeCloseTo(needed[0]! - 1.2, 6);
});

test('a new request needs the higher latency, the sooner the buffer is empty', () => {
  const slow = neededOf(outcomesOn(8e6, stateOf()));
  const fast = neededOf(outcomesOn(8e6, stateOf({ playbackRate: 2 })));
  const low = neededOf(outcomesOn(8e6, stateOf({ bufferLevelSeconds: 0.5 })));
  expect(fast[0]! - slow[0]!).toBeCloseTo(0.5, 9);
  expect(low).toEqual(fast);
});

test('a running download goes on with the chunk that has partly arrived', () => {
  // The third of four chunks exists since now, and half of it has come.
  const state = stateOf({}, { firstChunkAtSeconds: 99 });
  const outcomes = outcomesOn(4e6, state);
  const running = outcomes.running(downloading(), MIDDLE);
  expect(running).toEqual({ representation: MIDDLE, chunk: 2, bits: 1e6, latencySeconds: 0, buffered: 2 });
  expectArrivals(neededOf(outcomes, running, 2), state, [0.25, 1]);
});

test.each([
  // Equal chunks would be six, or one.
  ['large', 6.5e6, { whole: 2, nextBits: 0.5e6 }, { chunk: 2, bits: 0.5e6 }],
  ['small', 1.5e6, { whole: 2, nextBits: 0.5e6 }, { chunk: 2, bits: 0.5e6 }],
  ['larger than expected', 6.5e6, { whole: 2, nextBits: 2.5e6 }, { chunk: 2, bits: 0 }],
  ['all here', 1.5e6, { whole: 4, nextBits: 0 }, { chunk: 3, bits: 0 }],
])(
  'a running download goes on after the chunks that the player counts, which are %s',
  (_, receivedBits, chunks, rest) => {
    const inFlight = downloading({ sizeBits: 4e6, receivedBits, chunks });
    expect(outcomesOn(4e6).running(inFlight, MIDDLE)).toMatchObject({ ...rest, buffered: rest.chunk });
  },
);

test('a running download has its latency before it until its first byte', () => {
  const outcomes = outcomesOn(4e6);
  const waiting = downloading({ receivedBits: 0, firstByteAtSeconds: undefined });
  expect(outcomes.running(waiting, MIDDLE)).toEqual(outcomes.newRequest(MIDDLE));
});

test('a running download with all of its bits takes no time', () => {
  const outcomes = outcomesOn(1e5, stateOf({}, { firstChunkAtSeconds: 98 }));
  const running = outcomes.running(downloading({ receivedBits: 9e6 }), MIDDLE);
  expect(running).toMatchObject({ chunk: 3, bits: 0 });
  expect(outcomes.evaluate(running)).toMatchObject({ qoe: 4, stallSeconds: 0 });
});

test('a running download is worth as much as its replacement by itself, if the link takes no time', () => {
  // All chunks of four segments exist.
  const outcomes = outcomesOn(1e12, stateOf({}, { firstChunkAtSeconds: 90 }));
  for (const receivedBits of [0, 3e6, 5e6, 7.9e6]) {
    const running = outcomes.running(downloading({ receivedBits }), MIDDLE);
    const again = outcomes.newRequest(MIDDLE, running);
    expect(again).toMatchObject({ chunk: 0, bits: 2e6, buffered: running.buffered });
    // The replacement's request takes one latency more.
    expect(Math.abs(outcomes.evaluate(again).score - outcomes.evaluate(running).score)).toBeLessThan(1);
  }
});

test('a running download delays its replacement by the chunks that are in the buffer already', () => {
  const state = stateOf({}, { firstChunkAtSeconds: 98 });
  const outcomes = outcomesOn(4e6, state);
  const again = outcomes.newRequest(MIDDLE, outcomes.running(downloading(), MIDDLE));
  // Playback needs the third chunk, which comes after two others.
  expectArrivals(neededOf(outcomes, again, 2), state, [1.55, 2.05]);
});

test('playback that has not started begins with its first chunk', () => {
  const waiting = stateOf({ started: false, bufferLevelSeconds: 0 });
  const outcomes = outcomesOn(2e6, waiting);
  const needed = neededOf(outcomes);
  expect(needed[0]).toBeCloseTo(waiting.live!.latencySeconds, 9);
  expect(needed[1]! - needed[0]!).toBeCloseTo(0.5, 6);
  expect(evaluationOn(8e6, waiting).stallSeconds).toBe(0);
});

test('playback that is paused stalls on no link', () => {
  expect(evaluationOn(1e5, stateOf({ isPaused: true }))).toMatchObject({ qoe: 4, stallSeconds: 0 });
  expect(evaluationOn(1e5).stallSeconds).toBeGreaterThan(10);
});

test('playback stalls by the greatest lack of latency among the chunks', () => {
  const any = [between(1e5, 2e7), between(0, 5), between(95, 103), fc.nat(LADDER_BPS.length - 1)] as const;
  forAll([...any], { seed: 5, numRuns: 100 }, (bps, bufferLevelSeconds, firstChunkAtSeconds, representation) => {
    const outcomes = outcomesOn(bps, stateOf({ bufferLevelSeconds }, { firstChunkAtSeconds }));
    const request = outcomes.newRequest(representation);
    const needed = neededOf(outcomes, request);
    const lack = Math.max(0, ...needed.map((latency) => latency - 1.2));
    expect(outcomes.evaluate(request).stallSeconds).toBeCloseTo(lack, 6);
  });
});

const scoresOn = (bps: number, given: MpcLOptions = {}) => {
  const outcomes = outcomesOn(bps, stateOf(), given);
  return LADDER_BPS.map((_, r) => outcomes.evaluate(outcomes.newRequest(r)).score);
};

test('the score rises with the bitrate on a fast link, and falls above the capacity', () => {
  const fast = scoresOn(100e6);
  const slow = scoresOn(1.2e6);
  for (let r = 1; r < LADDER_BPS.length; r++) {
    expect(fast[r]).toBeGreaterThan(fast[r - 1]!);
    expect(slow[r]).toBeLessThan(slow[r - 1]!);
  }
});

test('the score falls with the capacity and with the aversion to risk, and counts on lower bitrates later', () => {
  const rates = [0.5e6, 1e6, 2e6, 4e6, 8e6, 16e6].map((bps) => scoresOn(bps)[MIDDLE]!);
  for (let i = 1; i < rates.length; i++) expect(rates[i]).toBeGreaterThan(rates[i - 1]! - 1e-9);
  expect(rates[0]).toBeLessThan(rates[5]!);
  expect(scoresOn(2e6, { risk: 1 })[MIDDLE]).toBeLessThan(scoresOn(2e6, { risk: 0 })[MIDDLE]!);
  const gains = (scores: number[]) => scores.map((score) => score - scores[0]!);
  const [averse, neutral] = [1, 0].map((risk) => gains(scoresOn(1e12, { risk })));
  for (const [r, gain] of averse!.entries()) expect(gain).toBeCloseTo(neutral![r]!, 3);
  // 24 Mbit at the same bitrate would be 9 s late, which costs at least 8 * 6.5.
  expect(scoresOn(2e6, { risk: 0.1 })[MIDDLE]).toBeGreaterThan(24 - 8 * 6.5);
});
