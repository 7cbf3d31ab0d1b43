import { expect, test } from '@jest/globals';
import { preparation } from '../../replay/evaluation/figures/handover-moment.ts';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { MOMENT_RULES, playScene, SCENE_SECONDS, searchLink } from '../../replay/simulator/moment-search.ts';
import { firstChoice, sceneOf } from './choice.ts';
import { SCENES } from './scenes.ts';

const traces = synthesizeShippedTraces();

/** MPC-L and the other player in a scene, in the simulator. */
function played(name: string) {
  const { startSeconds, risk, watchedSeconds, ...scene } = SCENES.find((one) => one.name === name)!;
  const rules = { ...MOMENT_RULES[name]!, risk, watchedSeconds };
  expect(scene.scenario).toBe(rules.scenario);
  const trace = traces.find((one) => one.name === scene.trace)!;
  const play = (algorithm: string) => playScene(trace, rules, { algorithm, startSeconds });
  const [own, other] = [play('mpc-l'), play(rules.rival)];
  expect(own.qoe).toBeGreaterThan(other.qoe);
  return { own, other, watchedSeconds };
}

test('live, MPC-L is prepared for the handover in the simulator', () => {
  const { own, watchedSeconds } = played('live');
  expect(watchedSeconds).toBe(MOMENT_RULES['live']!.watchedSeconds);
  const [handover] = own.handovers.filter(({ atSeconds }) => atSeconds > 5);
  expect(handover!.atSeconds).toBeLessThan(SCENE_SECONDS - 2);
  expect(handover!.confidence).toBeGreaterThan(0.9);
  // In Chromium the other one stalls in the dip, too (e2e/demo/moment.spec.ts).
  const { atSeconds } = handover!;
  expect(preparation(own.played, atSeconds - 8, atSeconds)).toMatchObject({ slowed: {} });
});

test('on demand, MPC-L gives up a download and plays on where the other player stalls', () => {
  const { own, other } = played('on-demand');
  expect(own.played.stalls).toEqual([]);
  expect(other.result.stallSeconds).toBeGreaterThan(1);
  expect(own.result.segments.some(({ abandonedBits }) => abandonedBits > 0)).toBe(true);
});

test('an empty address opens the first scene, with whatever else the origin offers', () => {
  const listed = traces.map(({ name, durationSeconds }) => ({ name, durationSeconds }));
  const choice = firstChoice({ traces: listed });
  expect(choice).toMatchObject({ players: ['dynamic', 'mpc-l'] });
  expect(sceneOf(choice)).toBe(SCENES[0]);
  expect(sceneOf({ ...choice, startSeconds: choice.startSeconds + 1 })).toBeUndefined();
  expect(firstChoice({ traces: listed.slice(0, 1) }).trace).toBe(listed[0]!.name);
});

test('the search plays the starts whose handover is late enough', () => {
  const { startSeconds, trace } = SCENES[0]!;
  const whole = traces.find(({ name }) => name === trace)!;
  const { found, starts } = searchLink(whole, MOMENT_RULES['live']!, [startSeconds - 1, startSeconds + 1]);
  expect(found.every((one) => one.moment.lostSeconds >= 0.2)).toBe(true);
  // Of a start at second 76 the handover is too early.
  expect(starts).toBe(2);
});
