import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Controller, Decision, PlayerState } from '../abr/controller.ts';
import { InputError, suggestion } from '../abr/errors.ts';
import { PiecewisePath } from '../abr/mpc/capacity-path.ts';
import { createMpcD } from '../abr/mpc/mpc-d.ts';
import { MpcO } from '../abr/mpc/mpc-o.ts';
import { evaluationsOf } from '../abr/mpc-l/evaluations.fixture.ts';
import { createLiveMpcL } from '../abr/mpc-l/live/live-mpc-l.ts';
import { MPC_L_TUNING } from '../abr/mpc-l/options.ts';
import { forAll } from '../abr/property.fixture.ts';
import {
  alongPath,
  anyDownloads,
  anyQuestion,
  anyState,
  inFlightOf as downloadOf,
  downloadsOf,
  type Question,
  quantilesOf,
  rateOf,
  scaledQuestion,
  stateOf,
} from '../abr/random-states.fixture.ts';
import { ALGORITHM_NAMES, createController } from './algorithms.ts';

/** Fewer for the variants of MPC-L, most of which differ from it by a constant. */
const runsOf = (name: string, numRuns: number) => (name.startsWith('mpc-l:') ? Math.ceil(numRuns / 4) : numRuns);

test.each(ALGORITHM_NAMES)('%s names itself in its answers, which are valid in any state', (name) => {
  const controllers = [{}, { horizon: 1 }, { horizon: 6 }].map((options) => createController(name, options));
  const any = fc.constantFrom(...controllers);
  forAll([anyQuestion(), any], { numRuns: runsOf(name, 100), seed: 1 }, ({ state, inFlight, forecast }, controller) => {
    const change = controller.reconsider?.(state, inFlight, forecast) ?? 'keep';
    for (const answer of [controller.decide(state, forecast), ...(change === 'keep' ? [] : [change])]) {
      expect(answer.controller).toBe(name);
      expect(state.ladderBps[answer.representation]).toBeDefined();
      expect(answer.reason).not.toMatch(/NaN|undefined|Infinity/);
      for (const { expectedQoe, expectedStallSeconds } of answer.candidates ?? []) {
        expect(Number.isFinite(expectedQoe) && Number.isFinite(expectedStallSeconds)).toBe(true);
      }
    }
    const pace = state.live && controller.pace?.(state, inFlight, forecast);
    if (!pace) return;
    expect(pace.playbackRate).toBeGreaterThanOrEqual(state.live!.playbackRates.min);
    expect(pace.playbackRate).toBeLessThanOrEqual(state.live!.playbackRates.max);
    expect(pace.reason).not.toMatch(/NaN|undefined|Infinity/);
  });
});

test.each(ALGORITHM_NAMES)('%s keeps nothing between sessions or answers', (name) => {
  const used = createController(name);
  // `used` has played a minute at twice the rate.
  const [{ state: before }] = fc.sample(anyQuestion(true), { numRuns: 1, seed: 2 }) as [Question];
  for (let second = 0; second < 60; second++) {
    used.pace?.({ ...before, nowSeconds: before.nowSeconds + second, playbackRate: 2 }, undefined);
  }
  // No example is shrunk, because it would lack what `used` remembers.
  forAll([anyQuestion()], { numRuns: 15, seed: 2, endOnFailure: true }, ({ state, inFlight, forecast }) => {
    const questions: ((controller: Controller) => unknown)[] = [
      (controller) => controller.decide(state, forecast),
      (controller) => controller.reconsider?.(state, inFlight, forecast),
      (controller) => state.live && controller.pace?.(state, inFlight, forecast),
      (controller) => state.live && controller.pace?.(state, undefined, forecast),
    ];
    const before = JSON.stringify([state, inFlight, forecast]);
    for (const answerOf of questions) expect(answerOf(used)).toEqual(answerOf(createController(name)));
    expect(JSON.stringify([state, inFlight, forecast])).toBe(before);
  });
});

test.each(ALGORITHM_NAMES)('%s needs the last 16 downloads only', (name) => {
  const controller = createController(name);
  forAll([anyState(anyDownloads(40))], { numRuns: runsOf(name, 50), seed: 3 }, (state) => {
    const shortened = { ...state, downloads: state.downloads.slice(-16) };
    expect(controller.decide(shortened)).toEqual(controller.decide(state));
  });
});

const UNLIKE = ALGORITHM_NAMES.filter((name) => !name.startsWith('mpc-l:'));
test.each(UNLIKE)('%s: bits in another unit change no choice', (name) => {
  const controller = createController(name);
  const choices = ({ state, inFlight, forecast }: Question) => {
    const change = controller.reconsider?.(state, inFlight, forecast) ?? 'keep';
    const rate = state.live && controller.pace?.(state, inFlight, forecast).playbackRate;
    const { representation } = controller.decide(state, forecast);
    return [representation, change === 'keep' ? change : change.representation, rate];
  };
  const anyForm = fc.constantFrom('linear' as const, 'log' as const);
  forAll([anyQuestion(), fc.constantFrom(2, 0.5), anyForm], { numRuns: 150, seed: 4 }, (question, by, form) => {
    expect(choices(scaledQuestion(question, by, form))).toEqual(choices(scaledQuestion(question, 1, form)));
  });
});

test('mpc-l:no-rate decides as mpc-l, and sets no playback rate', () => {
  const [noRate, mpcL] = [createController('mpc-l:no-rate'), createController('mpc-l')];
  expect(noRate.pace).toBeUndefined();
  forAll([anyQuestion()], { numRuns: 20, seed: 5 }, ({ state, forecast }) => {
    expect(noRate.decide(state, forecast).representation).toBe(mpcL.decide(state, forecast).representation);
  });
});

test('suggests the name that is spelt alike', () => {
  const suggested = (name: string) => /did you mean (.*)\?/.exec(suggestion(ALGORITHM_NAMES, name))?.[1];
  const given = ['mcp-d', 'MPC-L', 'throughputs', 'mpc-l:risk0.5', 'bla', 'no-such-name', ''];
  expect(given.map(suggested)).toEqual([
    'mpc-d',
    'mpc-l',
    'throughput',
    'mpc-l:risk-0.5',
    'bola',
    undefined,
    undefined,
  ]);
});

test.each(['', 'mpc-x', 'toString', 'MPC-D'])('refuses %p and lists the known names', (name) => {
  expect(() => createController(name)).toThrow(InputError);
  expect(() => createController(name)).toThrow(/algorithm: expected one of mpc-d, .*throughput/);
});

const SEED = { seed: 7 };

/** A forecast around the measured throughput that changes from step to step. */
const forecastFor = (state: PlayerState) =>
  quantilesOf(rateOf(state), { stepEndsSeconds: [1, 4, 12, 40], factors: [1, 0.6, 1.5, 0.8], shares: [0.5, 1, 1.6] });

const TRUE_PATH = new PiecewisePath({ stepEndsSeconds: [3, 9, 14], ratesBps: [6e6, 1e6, 9e6] });
const truthAt = (nowSeconds: number) => alongPath(TRUE_PATH, nowSeconds);

/** A running download of the top representation, two seconds old. */
const inFlightOf = (state: PlayerState, receivedShare: number) =>
  downloadOf(state, state.ladderBps.length - 1, receivedShare, 2);

const choiceOf = (answer: Decision | 'keep') => (answer === 'keep' ? answer : answer.representation);

/** The same bits and QoE per segment at rate 1, with media as long as its playback. */
function atRateOne(state: PlayerState): PlayerState {
  const { playbackRate: v, weights, previousBitrateBps } = state;
  return {
    ...state,
    playbackRate: 1,
    bufferLevelSeconds: state.bufferLevelSeconds / v,
    bufferCapSeconds: state.bufferCapSeconds / v,
    segmentSeconds: state.segmentSeconds / v,
    ladderBps: state.ladderBps.map((bps) => bps * v),
    previousBitrateBps: previousBitrateBps === undefined ? undefined : previousBitrateBps * v,
    downloads: state.downloads.map((download) => ({ ...download, bitrateBps: download.bitrateBps * v })),
    weights: {
      ...weights,
      quality: (bps) => v * weights.quality(bps / v),
      lambda: weights.lambda / v,
      ...(weights.rise !== undefined && { rise: weights.rise / v }),
    },
  };
}

function mpcLAtRateOne(v: number): Controller {
  const { stallLevelSeconds, abandonMargin } = MPC_L_TUNING;
  return createLiveMpcL({ tuning: { stallLevelSeconds: stallLevelSeconds / v, abandonMargin: abandonMargin / v } });
}
const CONTROLLERS: Record<string, (v: number) => Controller> = {
  'mpc-d': () => createMpcD(),
  'mpc-d:cap': () => createMpcD({ bufferCap: true }),
  'mpc-d:abandon': () => createMpcD({ abandon: true }),
  // A plan of 16 segments on random paths would take long.
  'mpc-o': () => new MpcO({ horizon: 4 }),
  'mpc-l': mpcLAtRateOne,
  // dash.js abandons without regard to the rate.
  throughput: () => ({
    ...createController('throughput'),
    decide: (state) => createController('throughput').decide(state),
  }),
};

test.each(Object.keys(CONTROLLERS))('rate v equals rate 1 with segments that are v times shorter: %s', (name) => {
  const controller = CONTROLLERS[name]!(1);
  const equivalents = new Map([0.5, 2].map((v) => [v, CONTROLLERS[name]!(v)]));
  const received = fc.constantFrom(0, 0.1, 0.4);
  const rate = fc.constantFrom(0.5, 2);
  forAll([anyState(anyDownloads()), rate, received], { ...SEED, numRuns: 300 }, (any, v, share) => {
    const state = { ...any, playbackRate: v };
    const other = equivalents.get(v)!;
    const forecast = name === 'mpc-o' ? truthAt(state.nowSeconds) : forecastFor(state);
    const same = atRateOne(state);
    const [answer, expected] = [controller.decide(state, forecast), other.decide(same, forecast)];
    expect(answer.representation).toBe(expected.representation);
    answer.candidates?.forEach(({ expectedStallSeconds }, r) => {
      expect(expectedStallSeconds).toBeCloseTo(expected.candidates![r]!.expectedStallSeconds, 9);
    });
    const inFlight = inFlightOf(state, share);
    const change = controller.reconsider?.(state, inFlight, forecast) ?? 'keep';
    const expectedChange = other.reconsider?.(same, { ...inFlight, bitrateBps: inFlight.bitrateBps * v }, forecast);
    expect(choiceOf(change)).toBe(choiceOf(expectedChange ?? 'keep'));
  });
});

const [mpcD, mpcO] = [createMpcD({ outlook: true }), new MpcO({ outlook: true })];
const controllers = [mpcD, mpcO, createLiveMpcL(), createController('mpc-l:no-forecast')];

test('a paused player never stalls, nor drains its buffer', () => {
  const states = anyState(anyDownloads());
  forAll([states, fc.constantFrom(...controllers)], { ...SEED, numRuns: 300 }, (state, controller) => {
    const paused = { ...state, isPaused: true };
    const forecast = controller.name === 'mpc-o' ? truthAt(state.nowSeconds) : forecastFor(state);
    const { candidates, reason } = controller.decide(paused, forecast);
    for (const { expectedStallSeconds } of candidates ?? []) expect(expectedStallSeconds).toBe(0);
    expect(reason).not.toMatch(/NaN|undefined|Infinity/);
  });
  const paused = stateOf([1e6, 4e6], { isPaused: true });
  const [slow, fast] = [3, 0].map((setup) => evaluationsOf({ ...paused, setupSeconds: [setup] }, quantilesOf(2e6)));
  slow!.forEach(({ score }, r) => {
    expect(score).toBeCloseTo(fast![r]!.score, 9);
  });
});

test('a paused player abandons nothing', () => {
  const names = ['mpc-d:abandon', 'mpc-l', 'mpc-l:no-forecast', 'mpc-l:risk-1'];
  const abandoning = names.map((name) => createController(name));
  forAll([anyState(anyDownloads()), fc.constantFrom(0, 0.01, 0.3)], { ...SEED, numRuns: 300 }, (state, share) => {
    for (const controller of abandoning) {
      const paused = { ...state, isPaused: true };
      expect(controller.reconsider!(paused, inFlightOf(state, share), forecastFor(state))).toBe('keep');
    }
  });
});

test.each(['mpc-l', 'mpc-d:abandon'])('a change of rate or pause in a download counts for %s', (name) => {
  const controller = createController(name);
  const downloads = downloadsOf(16, 0.9e6, 3.6e6, 3.6e6 / 0.5e6);
  const session = { bufferCapSeconds: 16, segmentIndex: 16, segmentsRemaining: 30, downloads };
  const state = stateOf([0.3e6, 0.9e6, 2e6], { ...session, bufferLevelSeconds: 5.9 });
  // 1.1 of 3.6 Mbit came in 2.2 s, and the rest takes 5 s: in time at rate 1, but not at rate 2.
  const inFlight = downloadOf(state, 1, 1.1 / 3.6, 2.2);
  const forecast = quantilesOf(0.5e6, { shares: [0.95, 1, 1.05] });
  const at = (change: Partial<PlayerState>) =>
    choiceOf(controller.reconsider!({ ...state, ...change }, inFlight, forecast));
  expect(at({})).toBe('keep');
  expect(at({ playbackRate: 2 })).toBe(0);
  expect(at({ playbackRate: 2, isPaused: true })).toBe('keep');
});
