import { expect, test } from '@jest/globals';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { type PlayedStart, playStarts, typicalStart } from '../../replay/simulator/link-starts.ts';
import { firstChoice, sceneOf } from './choice.ts';
import { SCENES } from './scenes.ts';

const traces = synthesizeShippedTraces();

test.each(SCENES)('$title: the start is the typical one, and the means are those of all starts', (scene) => {
  const trace = traces.find(({ name }) => name === scene.trace)!;
  const pairs = playStarts(trace, SCENARIOS[scene.scenario]!, scene.rival);
  const { startSeconds, rival, own } = typicalStart(pairs, scene.by);
  expect(startSeconds).toBe(scene.startSeconds);
  expect(own.perceived).toBeGreaterThan(rival.perceived + 1);
  expect(own.stallSeconds).toBe(0);
  expect(rival.stallSeconds).toBeGreaterThan(1);
  const mean = (of: (one: (typeof pairs)[number]) => PlayedStart, digits: number, key: 'stallSeconds' | 'quality') =>
    Number((pairs.reduce((sum, one) => sum + of(one)[key], 0) / pairs.length).toFixed(digits));
  for (const who of ['rival', 'own'] as const) {
    expect(scene.typical[who].stallSeconds).toBe(mean((one) => one[who], 1, 'stallSeconds'));
    expect(scene.typical[who].quality).toBe(mean((one) => one[who], 0, 'quality'));
  }
  expect(scene.typical.starts).toBe(pairs.length);
});

test('an empty address opens the first scene, with whatever else the origin offers', () => {
  const listed = traces.map(({ name, durationSeconds }) => ({ name, durationSeconds }));
  const choice = firstChoice({ traces: listed });
  expect(sceneOf(choice)).toBe(SCENES[0]);
  expect(sceneOf({ ...choice, startSeconds: choice.startSeconds + 1 })).toBeUndefined();
  expect(firstChoice({ traces: listed.slice(0, 1) }).trace).toBe(listed[0]!.name);
});
