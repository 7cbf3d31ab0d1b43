import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Controller, Decision, Download, InFlight, PlayerState } from '../controller.ts';
import type { Forecast, QuantileForecast, ValidForecast } from '../forecast.ts';
import { ConstantPath } from '../mpc/capacity-path.ts';
import { createMpcD } from '../mpc/mpc-d.ts';
import { between, forAll, whole } from '../property.fixture.ts';
import { beginShare, changeCost, type QoeWeights } from '../qoe/qoe.ts';
import { qoeWeights } from '../qoe/session-qoe.ts';
import {
  alongPath,
  anyQuantiles,
  downloadsOf,
  inFlightOf,
  LADDERS_BPS,
  quantilesOf,
  scaledForecast,
  stateOf,
} from '../random-states.fixture.ts';
import { validForecast } from '../valid-forecast.ts';
import { evaluationsOf } from './evaluations.fixture.ts';
import { createLiveMpcL } from './live/live-mpc-l.ts';
import type { MpcLOptions } from './options.ts';

const SEED = { seed: 20260101 };
type Case = { state: PlayerState; forecast: ValidForecast<QuantileForecast> };

/** A running session, and a forecast within its ladder that agrees with the downloads. */
function anyCase(): fc.Arbitrary<Case> {
  return fc
    .record({
      ladderBps: fc.constantFrom(...LADDERS_BPS.slice(0, 2)),
      place: between(0, 1),
      segmentSeconds: fc.constantFrom(2, 4),
      capSegments: fc.constantFrom(2, 3, 4, 8, 15),
      fill: between(0, 1),
      segmentsRemaining: fc.constantFrom(1, 2, 5, 40, Number.POSITIVE_INFINITY),
      previous: fc.nat(5),
      factors: fc.array(between(0.7, 1.4), { minLength: 1, maxLength: 8 }),
      downloads: fc.nat(8),
    })
    .chain(({ ladderBps, place, segmentSeconds, capSegments, fill, previous, factors, ...rest }) => {
      const rateBps = ladderBps[0]! * (ladderBps[5]! / ladderBps[0]!) ** place;
      const bufferCapSeconds = capSegments * segmentSeconds;
      const downloads = downloadsOf(rest.downloads, ladderBps[previous]!, rateBps * 3, 3.05);
      const state = stateOf(ladderBps, {
        bufferLevelSeconds: fill * (bufferCapSeconds - segmentSeconds),
        bufferCapSeconds,
        segmentSeconds,
        segmentsRemaining: rest.segmentsRemaining,
        upcomingSizesBits: factors.map((factor) => ladderBps.map((bps) => bps * segmentSeconds * factor)),
        previousBitrateBps: ladderBps[previous],
        downloads: downloads.map((one) => ({ ...one, latencySeconds: 0.05 })),
      });
      return anyQuantiles(state, rateBps).map((forecast) => ({ state, forecast }));
    });
}

type LateCase = Case & { inFlight: InFlight };

/** A running download of a high representation. */
function anyLateCase(): fc.Arbitrary<LateCase> {
  const anyReceived = fc.oneof(fc.constant(0), between(0, 0.9));
  return fc
    .tuple(anyCase(), whole(0, 5), between(0.1, 4), anyReceived, between(0, 1.6))
    .map(([{ state, forecast }, current, elapsed, received, level]) => {
      const inFlight = inFlightOf(state, current, received, elapsed);
      return {
        forecast,
        state: { ...state, bufferLevelSeconds: level * state.segmentSeconds },
        inFlight: { ...inFlight, sessionRequestedBits: 40 * inFlight.sizeBits, sessionWastedBits: 0 },
      };
    });
}

const reconsider = (controller: Controller, { state, inFlight, forecast }: LateCase) =>
  controller.reconsider!(state, inFlight, forecast);
function expectClose(actual: number, expected: number): void {
  expect(actual / (1 + Math.abs(expected))).toBeCloseTo(expected / (1 + Math.abs(expected)), 6);
}

/** The choice without the reason, which holds rounded numbers. */
const choiceOf = (answer: Decision | 'keep') => (answer === 'keep' ? answer : answer.representation);

test('the reason says what speaks against the next higher bitrate: both parts together cost at least nothing', () => {
  const controller = createLiveMpcL();
  const changes = /; [\d.]+ Mbit\/s: ([+-][\d.]+) in this segment, ([+-][\d.]+) in later ones and by risk$/;
  let hits = 0;
  let gainsNow = 0;
  forAll([anyCase()], { ...SEED, numRuns: 200 }, ({ state, forecast }) => {
    const { reason, representation, candidates } = controller.decide(state, forecast);
    const change = changes.exec(reason);
    if (!change) {
      expect(reason).toMatch(/; no higher bitrate$|just abandoned$|^no usable forecast/);
      return;
    }
    hits++;
    const [now, later] = [Number(change[1]), Number(change[2])];
    const [chosen, above] = candidates!.slice(representation).map(({ expectedQoe }) => expectedQoe);
    expect(now).toBeCloseTo(above! - chosen!, 1);
    expect(now + later).toBeLessThanOrEqual(0.011);
    if (now > 0) gainsNow++;
  });
  expect(hits).toBeGreaterThan(50);
  expect(gainsNow).toBeGreaterThan(3);
});

const measured = (one: PlayerState, bps: number) => ({ ...one, downloads: downloadsOf(2, one.ladderBps[0]!, bps, 1) });

test('a dead link: the lowest, and a late download is abandoned', () => {
  const controller = createLiveMpcL({ tuning: { patienceSegments: 1.5 } });
  forAll([anyLateCase()], { ...SEED, numRuns: 200 }, (one) => {
    const forecast = quantilesOf(1);
    const state = measured(one.state, 1);
    const { controller: by, representation, forecastSource } = controller.decide(state, forecast);
    expect([by, representation, forecastSource]).toEqual(['mpc-l', 0, 'test']);
    const settled = { ...one, state, forecast, inFlight: { ...one.inFlight, requestedAtSeconds: 97, receivedBits: 0 } };
    const answer = choiceOf(reconsider(controller, settled));
    // The buffer is large enough to wait.
    const isPatient = one.state.bufferLevelSeconds > 1.5 * one.state.segmentSeconds;
    expect(answer).toBe(isPatient || one.inFlight.bitrateBps === one.state.ladderBps[0] ? 'keep' : 0);
    // A bitrate below the ladder, after its lower limit was raised.
    const belowLadder = { ...settled, inFlight: { ...settled.inFlight, bitrateBps: 1 } };
    expect(reconsider(controller, belowLadder)).toBe('keep');
  });
});

test('one segment ahead on a constant link: score and outlook by hand', () => {
  const options = { horizon: 1, abandon: false, risk: 0.5, tuning: { stallLevelSeconds: 0.1 } };
  const controller = createLiveMpcL(options);
  const anyPrices = fc.constantFrom({ stall: 0, rise: 1 }, { stall: 3, rise: 0.5 });
  const any = [anyCase(), between(1e5, 2e8), fc.constantFrom(0, 0, 0.3), anyPrices, fc.boolean()] as const;
  forAll([...any], { ...SEED, numRuns: 300 }, ({ state: one }, bps, setup, prices, started) => {
    const weights = { ...one.weights, ...prices };
    const setupSeconds = one.ladderBps.map((_, r) => r * setup);
    const state = { ...measured(one, bps), started, segmentsRemaining: 1, setupSeconds, weights };
    const forecast = quantilesOf(bps);
    const { candidates } = controller.decide(state, forecast);
    const evaluations = evaluationsOf(state, forecast, options);
    const { segmentSeconds, bufferLevelSeconds, ladderBps } = state;
    candidates!.forEach(({ bitrateBps, expectedQoe, expectedStallSeconds }, r) => {
      const q = weights.quality(ladderBps[r]!);
      // The latency is 0.05 s.
      const takes = 0.05 + r * setup + state.upcomingSizesBits[0]![r]! / bps;
      const stall = started ? Math.max(0, takes - Math.max(0, bufferLevelSeconds - 0.1)) : takes;
      const change = changeCost(weights, weights.quality(state.previousBitrateBps!), q);
      const begin = started ? weights.stall * beginShare(stall) : 0;
      expect(bitrateBps).toBe(ladderBps[r]);
      expectClose(expectedStallSeconds, stall);
      // QoE per 4 s, without the risk; in the score risk 0.5 makes stalls count three times.
      expectClose(expectedQoe, q - ((change + weights.mu * stall + begin) * 4) / segmentSeconds);
      expectClose(evaluations[r]!.score, (q * segmentSeconds) / 4 - change - 3 * (weights.mu * stall + begin));
    });
  });
});

test('an abandonment in the plan waits for what the player loads before the lower bitrate', () => {
  const ladderBps = [1e6, 4e6];
  const one = stateOf(ladderBps, { bufferLevelSeconds: 3, segmentsRemaining: 1, previousBitrateBps: 4e6 });
  const tuning = { patienceSegments: 1.5, stallLevelSeconds: 0 };
  const stallSecondsWith = (setupSeconds?: number[]) =>
    evaluationsOf({ ...one, ...(setupSeconds && { setupSeconds }) }, quantilesOf(1e6), { tuning })[1]!.stallSeconds;
  // Abandoned after 2 s; then 0.05 s of latency and 4 s at 1 Mbit/s, with 3 s in the buffer.
  expect(stallSecondsWith()).toBeCloseTo(2 + 0.05 + 4 - 3, 9);
  expect(stallSecondsWith([0.5, 0])).toBeCloseTo(2 + 0.5 + 0.05 + 4 - 3, 9);
  expect(stallSecondsWith([0, 0.5])).toBeCloseTo(2 + 0.05 + 4 - 3, 9);
});

test('of a long segment, and before one, the plan takes a lower bitrate', () => {
  const ladderBps = [1e6, 2e6, 3e6];
  const chosen = (upcomingSeconds: number[]) => {
    const upcomingSizesBits = upcomingSeconds.map((seconds) => ladderBps.map((bps) => bps * seconds));
    const state = stateOf(ladderBps, { bufferLevelSeconds: 4, upcomingSeconds, upcomingSizesBits });
    return createLiveMpcL({ tuning: { outagesPerSecond: 0.144 } }).decide(state, quantilesOf(3.85e6)).representation;
  };
  expect([chosen([4, 4, 4]), chosen([4, 12, 4]), chosen([12, 4, 4])]).toEqual([1, 0, 0]);
});

test('an outage counts more the less is buffered, and in the first minute less', () => {
  const { outage, ...weights } = stateOf([1e6, 4e6]).weights;
  const lossAt = (nowSeconds: number, bufferLevelSeconds: number, prices: QoeWeights = weights) => {
    const session = { nowSeconds, bufferLevelSeconds, bufferCapSeconds: 60, segmentsRemaining: 2, weights: prices };
    const forecast = quantilesOf(40e6, { issuedAtMs: 1000 * nowSeconds });
    const options = { watchSeconds: Number.POSITIVE_INFINITY, risk: 0 };
    const scoreWith = (outagesPerSecond: number) =>
      evaluationsOf(stateOf([1e6, 4e6], session), forecast, { ...options, tuning: { outagesPerSecond } })[1]!.score;
    return scoreWith(0) - scoreWith(0.001);
  };
  // One later segment; at 40 Mbit/s a segment of 4 s takes 0.45 s, so 3.55 s are gained.
  for (const buffered of [4, 12, 40]) {
    const expected = weights.mu * 0.001 * 4 * 20 * Math.exp(-(buffered + 3.55) / 20);
    expect(lossAt(75, buffered) / expected).toBeCloseTo(1, 1);
    expect(lossAt(75, buffered, { ...weights, outage: outage! }) / expected).toBeCloseTo(1 / 20, 2);
  }
  expect(lossAt(0, 12)).toBe(0);
  expect(lossAt(37.5, 12) / lossAt(75, 12)).toBeCloseTo(1 / 16, 9);
});

/**
 * Choices are not monotone, and scores only without abandonment on a link whose distribution does not change: after a
 * stall, the value function reads the capacity of an earlier time.
 */
test('without abandonment, more buffer never lowers a score, and larger sizes never stall less', () => {
  forAll([anyCase(), between(0, 1)], { ...SEED, numRuns: 400 }, ({ state, forecast: changing }, more) => {
    const forecast = { ...changing, quantilesBps: changing.quantilesBps.map(() => changing.quantilesBps[0]!) };
    const room = state.bufferCapSeconds - state.segmentSeconds - state.bufferLevelSeconds;
    const fuller = { ...state, bufferLevelSeconds: state.bufferLevelSeconds + more * room };
    // A fuller buffer plays the segment later, to other viewers.
    const options = { abandon: false, watchSeconds: Number.POSITIVE_INFINITY };
    const evaluations = evaluationsOf(state, forecast, options);
    const withMore = evaluationsOf(fuller, forecast, options);
    evaluations.forEach(({ score, qoe, stallSeconds }, r) => {
      expect(withMore[r]!.score).toBeGreaterThanOrEqual(score - 1e-9 * (1 + Math.abs(score)));
      expect(withMore[r]!.qoe).toBeGreaterThanOrEqual(qoe - 1e-9 * (1 + Math.abs(qoe)));
      expect(stallSeconds).toBeGreaterThanOrEqual((evaluations[r - 1]?.stallSeconds ?? 0) - 1e-9);
    });
  });
});

test('the smallest and the largest sizes that a page may give have a score', () => {
  const rows = fc.array(fc.array(fc.constantFrom(8, 4e6, 8e12), { minLength: 6, maxLength: 6 }), { minLength: 1 });
  forAll([anyCase(), rows], SEED, ({ state, forecast }, upcomingSizesBits) => {
    for (const { score } of evaluationsOf({ ...state, upcomingSizesBits }, forecast))
      expect(Number.isFinite(score)).toBe(true);
  });
});

const controller = createLiveMpcL({ tuning: { patienceSegments: 1.5 } });

test('a running download is kept or lowered, within the limits on abandonments and waste', () => {
  let abandoned = 0;
  forAll([anyLateCase()], { ...SEED, numRuns: 400 }, (one) => {
    const answer = reconsider(controller, one);
    if (answer === 'keep') return;
    abandoned++;
    const { state, inFlight } = one;
    expect(state.ladderBps[answer.representation]!).toBeLessThan(inFlight.bitrateBps);
    expect(answer.controller).toBe('mpc-l');
    expect(answer.reason).not.toMatch(/NaN|undefined/);
    const asked = (changes: Partial<InFlight>, options: MpcLOptions = {}) =>
      createLiveMpcL(options).reconsider!(state, { ...inFlight, ...changes }, one.forecast);
    expect(asked({ abandonments: 4 })).toBe('keep');
    expect(asked({}, { abandon: false })).toBe('keep');
    expect(asked({ requestedAtSeconds: state.nowSeconds - 0.1 })).toBe('keep');
    expect(asked({ sessionWastedBits: 0.1 * inFlight.sessionRequestedBits! }, { maxWastedShare: 0.05 })).toBe('keep');
    // Only received bits are wasted.
    const nothingYet = asked({ receivedBits: 0, sessionWastedBits: 0 }, { maxWastedShare: 0 });
    const somethingCame = asked({ receivedBits: 1e3, sessionWastedBits: 0 }, { maxWastedShare: 0 });
    expect(choiceOf(nothingYet)).toBe(choiceOf(asked({ receivedBits: 0 })));
    expect(somethingCame).toBe('keep');
  });
  expect(abandoned).toBeGreaterThan(20);
});

test('a download is reconsidered after a fifth of what is buffered, or when it may be abandoned, in 3 s at the latest', () => {
  forAll([anyLateCase()], { ...SEED, numRuns: 100 }, ({ state, inFlight }) => {
    const seconds = (change: Partial<PlayerState>) =>
      controller.keepsForSeconds!({ ...state, nowSeconds: inFlight.requestedAtSeconds + 1, ...change }, inFlight);
    const isLowest = inFlight.bitrateBps === state.ladderBps[0];
    expect(seconds({ bufferLevelSeconds: 0.9, playbackRate: 2 })).toBeCloseTo(isLowest ? 3 : 0.09, 9);
    expect(seconds({ bufferLevelSeconds: 30 })).toBe(3);
    const waiting = { bufferLevelSeconds: 4, segmentSeconds: 2, started: false };
    expect(seconds(waiting)).toBeCloseTo(isLowest ? 3 : 0.8, 9);
  });
});

test('a download is not reconsidered for as long after a decision as it would be kept', () => {
  let hits = 0;
  forAll([anyLateCase(), between(0, 0.999)], { ...SEED, numRuns: 300 }, ({ state, inFlight, forecast }, share) => {
    const { representation, keepsForSeconds } = controller.decide(state, forecast);
    const elapsedSeconds = keepsForSeconds! * share;
    const bufferLevelSeconds = Math.max(0, state.bufferLevelSeconds - elapsedSeconds * state.playbackRate);
    const later = { ...state, bufferLevelSeconds, nowSeconds: state.nowSeconds + elapsedSeconds };
    const bitrateBps = state.ladderBps[representation]!;
    const request = { ...inFlight, bitrateBps, requestedAtSeconds: state.nowSeconds };
    expect(controller.reconsider!(later, request, forecast)).toBe('keep');
    if (representation > 0 && keepsForSeconds! > 0.3) hits++;
  });
  expect(hits).toBeGreaterThan(0);
});

test('no download is abandoned for another representation of the same bitrate', () => {
  forAll([anyLateCase(), fc.nat(4)], { ...SEED, numRuns: 300 }, (one, twin) => {
    const ladderBps = one.state.ladderBps.map((bps, r, all) => (r === twin + 1 ? all[twin]! : bps));
    // The other representation has fewer bits in this segment.
    const sizes = ladderBps.map((bps, r) => bps * one.state.segmentSeconds * (r === twin ? 0.2 : 1));
    const upcomingSizesBits = [sizes];
    const inFlight = { ...one.inFlight, bitrateBps: ladderBps[twin]!, sizeBits: sizes[twin + 1]! };
    const answer = controller.reconsider!({ ...one.state, ladderBps, upcomingSizesBits }, inFlight, one.forecast);
    if (answer !== 'keep') expect(ladderBps[answer.representation]!).toBeLessThan(ladderBps[twin]!);
  });
});

test('after an abandonment neither this segment nor the next goes straight back', () => {
  let hits = 0;
  forAll([anyCase(), whole(1, 5), fc.boolean()], { ...SEED, numRuns: 200 }, ({ state, forecast }, gaveUp, same) => {
    const fast = scaledForecast(forecast, 3);
    const segmentIndex = state.segmentIndex - (same ? 0 : 1);
    const attempt = (abandoned: boolean, r: number) => {
      const [one] = downloadsOf(1, state.ladderBps[r]!, 1e6, 1) as [Download];
      return { ...one, segmentIndex, requestedAtSeconds: 98, abandoned };
    };
    const downloads = [...state.downloads, attempt(true, gaveUp), ...(same ? [] : [attempt(false, 0)])];
    const decision = controller.decide({ ...state, downloads }, fast);
    // The attempt contradicts the forecast.
    if (decision.reason.startsWith('no usable forecast')) return;
    hits++;
    expect(decision.representation).toBeLessThan(gaveUp);
    // One segment later the limit ends.
    const later = { ...state, downloads, segmentIndex: state.segmentIndex + 2 };
    const fresh = { ...later, downloads: downloads.map((download) => ({ ...download, abandoned: false })) };
    expect(controller.decide(later, fast).representation).toBe(controller.decide(fresh, fast).representation);
  });
  expect(hits).toBeGreaterThan(100);
});

test('the reason of the first choice does not read like a failure', () => {
  const first = { ...stateOf(LADDERS_BPS[1]!), downloads: [] };
  expect(createLiveMpcL().decide(first).reason).toMatch(/^nothing measured yet: /);
});

test('a previous bitrate without a quality counts as none', () => {
  const ladderBps = LADDERS_BPS[1]!;
  const answersAfter = (previousBitrateBps?: number) => {
    const state = stateOf(ladderBps, { previousBitrateBps, weights: qoeWeights('hd', ladderBps)! });
    const late = reconsider(controller, { state, inFlight: inFlightOf(state, 5, 0), forecast: quantilesOf(0.5e6) });
    return [0.5e6, 1.5e6, 4e6].map((bps): unknown => controller.decide(state, quantilesOf(bps))).concat(late);
  };
  // Pensieve's table of qualities has no 2 Mbit/s.
  expect(answersAfter(2e6)).toEqual(answersAfter(undefined));
});

// valid-forecast.test.ts tests invalid forms, forecast.test.ts the age.
test.each<[string, ((forecast: QuantileForecast) => Forecast) | undefined]>([
  ['none at all', undefined],
  ['a path, which is for mpc-o', () => alongPath(new ConstantPath(1e6), 99)],
  ['rates ten thousand times too high', (f) => scaledForecast(f, 1e4)],
  ['rates ten thousand times too low', (f) => scaledForecast(f, 1e-4)],
])('an unusable forecast, %s: decided as by mpc-d', (name, changed) => {
  const controller = createLiveMpcL();
  const mpcD = createMpcD({ name: 'mpc-l' });
  const cases = anyLateCase().filter(({ state }) => state.downloads.length > 2);
  forAll([cases], { ...SEED, numRuns: 40 }, (one) => {
    const forecast = changed && validForecast(changed({ ...one.forecast, issuedAtMs: 99e3 }));
    const expected = mpcD.decide(one.state);
    const { keepsForSeconds: _, ...decision } = controller.decide(one.state, forecast);
    expect(decision).toEqual({ ...expected, reason: `no usable forecast, so mpc-d: ${expected.reason}` });
    const answer = controller.reconsider!(one.state, one.inFlight, forecast);
    if (answer === 'keep') return;
    // An implausible forecast may have chosen the download, so it may be abandoned.
    expect(name).toMatch(/^rates/);
    expect(one.state.ladderBps[answer.representation]!).toBeLessThan(one.inFlight.bitrateBps);
  });
});

test('handovers in the horizon are reported', () => {
  const utcMs = 1.7e12;
  const isReported = (...aheadSeconds: number[]) => {
    const handovers = aheadSeconds.map((seconds) => ({ atMs: utcMs + seconds * 1000, confidence: 1 }));
    return createLiveMpcL().decide(stateOf([1e6, 4e6], { utcMs }), quantilesOf(2e6, { handovers })).handoverInHorizon;
  };
  expect([isReported(3), isReported(-3), isReported(1000), isReported()]).toEqual([true, false, false, false]);
});
