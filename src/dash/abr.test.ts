import { expect, test } from '@jest/globals';
import { broken, Scripted, ScriptedAbandoning, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { attached } from './fake-player.fixture.ts';

useManualClock();

test("counts dash.js's buffer with the playback since its last event, and its present target", () => {
  const { controller, player } = attached({ controller: new Scripted() });
  player.bufferLevelSeconds = 4;
  player.media.currentTime = 0.5;
  player.ask();
  player.bufferTarget = 30;
  player.ask();
  const caps = [{ bufferCapSeconds: 18 }, { bufferCapSeconds: 30 }];
  expect(controller.states).toMatchObject(caps.map((cap) => ({ bufferLevelSeconds: 3.5, ...cap })));
});

test('an unexpected dash.js causes one fault and no choice', () => {
  const { player, handle } = attached({ controller: new Scripted() });
  for (const one of player.representations) Object.assign(one, { segmentDuration: Number.NaN, fragmentDuration: null });
  expect(player.ask()).toBeUndefined();
  const message = 'dash.js is not as expected: representation v0 has no segment duration';
  expect(handle.state.faults).toMatchObject([{ code: 'player-failed', message }]);
});

test('an abandonment in which dash.js fails causes one fault', () => {
  const { player, controller, handle } = attached({ controller: new ScriptedAbandoning() });
  player.ask();
  controller.instead = 0;
  player.send(0, 2);
  player.qualitySet.push = broken;
  expect(() => wait(3)).not.toThrow();
  expect(handle.state.faults).toMatchObject([{ message: 'dash.js is not as expected: broken' }]);
});
