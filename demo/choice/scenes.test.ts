import { expect, test } from '@jest/globals';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { firstChoice, sceneOf } from './choice.ts';
import { SCENES } from './scenes.ts';

test('an empty address opens the first scene, with whatever else the origin offers', () => {
  const listed = synthesizeShippedTraces().map(({ name, durationSeconds }) => ({ name, durationSeconds }));
  const choice = firstChoice({ traces: listed });
  expect(choice).toMatchObject({ players: ['dynamic', 'mpc-l'] });
  expect(sceneOf(choice)).toBe(SCENES[0]);
  expect(sceneOf({ ...choice, startSeconds: choice.startSeconds + 1 })).toBeUndefined();
  expect(firstChoice({ traces: listed.slice(0, 1) }).trace).toBe(listed[0]!.name);
});
