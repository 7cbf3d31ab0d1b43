import { describe, expect, test } from '@jest/globals';
import { handoverMoment } from '../replay/evaluation/handover-moment.ts';
import { synthesizeShippedTraces } from '../replay/link-model/shipped-traces.ts';
import { MOMENT_RULES, playScene, SCENE_SECONDS, searchLink } from '../replay/simulator/moment-search.ts';
import { firstChoice, sceneOf } from './choice.ts';
import { SCENES } from './scenes.ts';

const traces = synthesizeShippedTraces();

describe.each(SCENES)('the scene $name', (scene) => {
  const rules = MOMENT_RULES[scene.name]!;
  const trace = traces.find(({ name }) => name === scene.trace)!;

  test('has its moment in the simulator', () => {
    expect(scene).toMatchObject({ scenario: rules.scenario, watchedSeconds: rules.watchedSeconds });
    const { startSeconds } = scene;
    const own = playScene(trace, rules, { algorithm: 'mpc-l', startSeconds });
    const other = playScene(trace, rules, { algorithm: rules.rival, startSeconds });
    const [handover] = own.handovers.filter(({ atSeconds }) => atSeconds > 5);
    expect(handover!.atSeconds).toBeLessThan(SCENE_SECONDS - 2);
    expect(handover!.confidence).toBeGreaterThan(0.9);
    expect(handoverMoment(handover!, own.played, other.played)).toMatchObject({ ownSeconds: 0, slowed: {} });
    expect(own.qoe).toBeGreaterThan(other.qoe);
  });
});

test('an empty address opens the first scene, with whatever else the origin offers', () => {
  const listed = traces.map(({ name, durationSeconds }) => ({ name, durationSeconds }));
  const choice = firstChoice({ traces: listed });
  expect(choice).toMatchObject({ players: ['dynamic', 'mpc-l'], link: 'own', service: '' });
  expect(sceneOf(choice)).toBe(SCENES[0]);
  expect(sceneOf({ ...choice, startSeconds: choice.startSeconds + 1 })).toBeUndefined();
  expect(firstChoice({ traces: listed.slice(0, 1) }).trace).toBe(listed[0]!.name);
});

test('the search finds the shipped scene on its link', () => {
  const { startSeconds, trace } = SCENES[0]!;
  const whole = traces.find(({ name }) => name === trace)!;
  const { found, starts } = searchLink(whole, MOMENT_RULES['live']!, [startSeconds - 1, startSeconds + 1]);
  expect(found.map((one) => one.startSeconds)).toContain(startSeconds);
  // Of a start at second 76 the handover is too early.
  expect(starts).toBe(2);
});
