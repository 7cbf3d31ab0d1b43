import { describe, expect, test } from '@jest/globals';
import { Scripted, ScriptedAbandoning, useManualClock, wait } from '../../session/scripted.fixture.ts';
import { attached, fakeVideo } from './fake-player.fixture.ts';

useManualClock();

describe('the switch rule', () => {
  test("counts dash.js's buffer with the playback since its last event", () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.bufferLevelSeconds = 4;
    player.media.currentTime = 0.5;
    player.ask();
    expect(controller.states[0]).toMatchObject({ bufferLevelSeconds: 3.5, bufferCapSeconds: 18 });
    expect(controller.states[0]!.upcomingSizesBits).toHaveLength(10);
  });

  test('an unexpected dash.js causes one fault and no choice', async () => {
    const { player, faults } = attached({ controller: new Scripted() });
    player.representations = [];
    expect(() => player.ask()).toThrow();
    player.representations = fakeVideo();
    for (const representation of player.representations) {
      representation.segmentDuration = Number.NaN;
      representation.fragmentDuration = null;
    }
    expect(player.ask()).toBeUndefined();
    await Promise.resolve();
    expect(faults.map(({ code, message }) => [code, message])).toEqual([
      ['player-failed', 'dash.js is not as expected: representation v0 has no segment duration'],
    ]);
  });
});

function slow() {
  const seen = attached({ controller: new ScriptedAbandoning() });
  seen.player.ask();
  seen.controller.instead = 0;
  seen.player.send(0, 2);
  return seen;
}

test("an abandonment is dash.js's own, and not repeated before dash.js has reacted", () => {
  const { player } = slow();
  wait(0.6);
  expect(player.qualitySet).toEqual([{ id: 'v0', reason: { forceAbandon: true, message: 'scripted: slow' } }]);
});

test('an abandonment in which dash.js fails causes one fault', async () => {
  const { player, faults } = slow();
  player.qualitySet.push = () => {
    throw new Error('not now');
  };
  expect(() => wait(3)).not.toThrow();
  await Promise.resolve();
  expect(faults.map(({ message }) => message)).toEqual(['dash.js is not as expected: not now']);
});
