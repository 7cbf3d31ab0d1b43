import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Controller } from '../abr/controller.ts';
import { InputError, suggestion } from '../abr/errors.ts';
import { forAll } from '../abr/property.fixture.ts';
import { anyDownloads, anyQuestion, anyState, type Question, scaledQuestion } from '../abr/random-states.fixture.ts';
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
