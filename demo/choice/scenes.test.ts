import { expect, test } from '@jest/globals';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { inOrder, type PlayedStart, playStarts, typicalStart } from '../../replay/simulator/link-starts.ts';
import { firstChoice, sceneOf } from './choice.ts';
import { SCENES } from './scenes.ts';

const traces = synthesizeShippedTraces();

test.each(SCENES)('$title: the start is in the middle of all, and the means are those of all starts', (scene) => {
  const trace = traces.find(({ name }) => name === scene.trace)!;
  const pairs = playStarts(trace, SCENARIOS[scene.scenario]!, scene.rival);
  const ordered = inOrder(pairs, scene.by);
  const rank = ordered.findIndex(({ startSeconds }) => startSeconds === scene.startSeconds);
  // A change of the plan's constants moves the median to a start beside it.
  expect(Math.abs(rank - ordered.indexOf(typicalStart(pairs, scene.by)))).toBeLessThanOrEqual(2);
  const { rival, own } = ordered[rank]!;
  expect(own.perceived).toBeGreaterThan(rival.perceived + 1);
  expect(own.stallSeconds).toBe(0);
  expect(rival.stallSeconds).toBeGreaterThan(1);
  // The means are rounded, and a change of the plan's constants moves them a little.
  for (const who of ['rival', 'own'] as const) {
    const mean = (key: keyof PlayedStart) => pairs.reduce((sum, one) => sum + one[who][key], 0) / pairs.length;
    const { stallSeconds, quality } = scene.typical[who];
    expect(Math.abs(mean('stallSeconds') - stallSeconds)).toBeLessThan(0.1);
    expect(Math.abs(mean('quality') - quality)).toBeLessThan(1);
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
