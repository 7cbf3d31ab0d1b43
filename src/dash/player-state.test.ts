import { describe, expect, test } from '@jest/globals';
import type { PlayerState } from '../../abr/controller.ts';
import { attachLeoAbr } from '../index.ts';
import { asPlayer, FakePlayer, ranges } from './fake-player.fixture.ts';

/** The last state that a controller was shown while the element has these properties. */
function stateWith(player: FakePlayer, element: object | undefined): PlayerState {
  player.element = element && Object.assign({ currentTime: 0, buffered: ranges([[0, 8]]) }, element);
  player.ask();
  return states.at(-1)!;
}

const states: PlayerState[] = [];
const controller = {
  name: 'recording',
  decide(state: PlayerState) {
    states.push(state);
    return { representation: 0, controller: 'recording', reason: 'none' };
  },
};

describe('playback rate and pause', () => {
  const player = new FakePlayer();
  attachLeoAbr(asPlayer(player), { controller, logger: null });
  player.instantiateRules();

  test('before the first picture the viewer waits, although the element is paused', () => {
    player.element = { currentTime: 0, buffered: ranges([]) };
    expect(stateWith(player, { paused: true, buffered: ranges([]) })).toMatchObject({
      started: false,
      isPaused: false,
    });
  });

  test("are the element's", () => {
    player.trigger('playbackPlaying');
    expect(stateWith(player, { playbackRate: 2, paused: false })).toMatchObject({ playbackRate: 2, isPaused: false });
    expect(stateWith(player, { playbackRate: 0.5, paused: true })).toMatchObject({ playbackRate: 0.5, isPaused: true });
  });

  test('without an element, or with the rate of 0 that dash.js may set in a stall, the rate is 1', () => {
    expect(stateWith(player, { playbackRate: 0, paused: false })).toMatchObject({ playbackRate: 1, isPaused: false });
    expect(stateWith(player, undefined)).toMatchObject({ playbackRate: 1, isPaused: false });
  });
});
