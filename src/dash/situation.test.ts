import { describe, expect, test } from '@jest/globals';
import type { PlayerState } from '../../abr/controller.ts';
import { useManualClock } from '../core/manual-clock.fixture.ts';
import { Scripted } from '../core/scripted.fixture.ts';
import { attachLeoAbr } from '../index.ts';
import { attachLeoAbr as attachLive } from '../live.ts';
import { attached, download } from './attached.fixture.ts';
import { asPlayer, FakePlayer, fakeVideo, ranges } from './fake-player.fixture.ts';

useManualClock();

describe('the situation', () => {
  test('after a seek there is no previous bitrate, and the next segment follows the buffer', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.ask();
    download(player, 0, 0, 3e6, 1);
    player.trigger('playbackPlaying');
    player.trigger('playbackSeeking');
    player.element = { currentTime: 21, buffered: ranges([[20, 28]]) };
    player.ask();
    expect(controller.states[1]).toMatchObject({ segmentIndex: 7, segmentsRemaining: 3, started: true });
    expect(controller.states[1]!.previousBitrateBps).toBeUndefined();
    player.request(7, 1);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 11 });
    player.ask();
    expect(controller.states[2]).toMatchObject({ segmentIndex: 8, previousBitrateBps: 2e6 });
  });

  test('after a track switch, the next segment is the one at the end of the buffer', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.ask();
    for (let index = 0; index < 6; index++) download(player, index, 0, 3e6, 0.5);
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 24 });
    player.ask();
    player.element = { currentTime: 9, buffered: ranges([]) };
    player.trigger('bufferLevelUpdated', { mediaType: 'video', streamId: 'p0', bufferLevel: 0 });
    player.ask();
    expect(controller.states.map(({ segmentIndex }) => segmentIndex)).toEqual([0, 6, 2]);
  });

  test('a new period keeps the history and counts segments from the start of the presentation', () => {
    const { controller, player } = attached({ controller: new Scripted() });
    const manifestInfo = { isDynamic: false, duration: 40 };
    player.representations = fakeVideo(6, { manifestInfo });
    player.ask();
    download(player, 0, 0, 4e6, 1);
    player.request(5, 2);
    player.representations = fakeVideo(4, { id: 'p1', start: 24, manifestInfo });
    player.ask();
    expect(controller.states.map(({ segmentIndex, segmentsRemaining }) => [segmentIndex, segmentsRemaining])).toEqual([
      [0, 10],
      [6, 4],
    ]);
    expect(controller.states[1]).toMatchObject({ previousBitrateBps: 4e6, downloads: [{ segmentIndex: 0 }] });
  });

  test('a live stream has no end and short buffer targets count without the segment', () => {
    const { controller, player } = attached({ controller: new Scripted() }, new FakePlayer(), attachLive);
    player.representations = fakeVideo(6, { start: 1000, manifestInfo: { isDynamic: true, duration: Number.NaN } });
    player.bufferTarget = 3;
    player.ask();
    expect(controller.states[0]).toMatchObject({
      segmentIndex: 0,
      segmentsRemaining: Number.POSITIVE_INFINITY,
      bufferCapSeconds: 7,
    });
    expect(controller.states[0]!.upcomingSizesBits).toHaveLength(10);
  });

  test("after a full source buffer, the cap is dash.js's reduced target", () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.settings.streaming.buffer.bufferTimeAtTopQuality = 6.5;
    player.ask();
    player.trigger('quotaExceeded');
    player.ask();
    expect(controller.states.map(({ bufferCapSeconds }) => bufferCapSeconds)).toEqual([18, 6.5]);
  });

  test("the first segment has the page's initial bitrate", () => {
    const { controller, player } = attached({ controller: new Scripted() });
    player.settings.streaming.abr.initialBitrate.video = 2000;
    player.current = 1;
    expect(player.ask()).toBe('v1');
    expect(controller.states[0]!.ladderBps).toEqual([2e6]);
    player.request(0, 1);
    player.ask();
    expect(controller.states[1]!.ladderBps).toEqual([1e6, 2e6, 4e6]);
  });

  test('sizes from byte ranges of the index, and from a file', async () => {
    const { controller, player } = attached({ controller: new Scripted() });
    for (const one of player.representations) {
      one.segments = [{ mediaRange: '0-99' }, { mediaRange: '100-349' }];
    }
    player.ask();
    expect(controller.states[0]!.upcomingSizesBits.slice(0, 3)).toEqual([
      [800, 800, 800],
      [2000, 2000, 2000],
      [4e6, 8e6, 16e6],
    ]);
    const listed = attached({ controller, sizes: { representations: { v1: Array(10).fill(5) } } });
    await Promise.resolve();
    await Promise.resolve();
    listed.player.ask();
    expect(controller.states.at(-1)!.upcomingSizesBits[9]).toEqual([4e6, 40, 16e6]);
  });
});

describe('playback rate and pause', () => {
  const controller = new Scripted();
  const player = new FakePlayer();
  attachLeoAbr(asPlayer(player), { controller, logger: null });
  player.instantiateRules();

  /** The controller's state while the element has these properties. */
  function stateWith(element: object | undefined): PlayerState {
    player.element = element && Object.assign({ currentTime: 0, buffered: ranges([[0, 8]]) }, element);
    player.ask();
    return controller.states.at(-1)!;
  }

  test('before the first picture, a paused element waits for data', () => {
    expect(stateWith({ paused: true, buffered: ranges([]) })).toMatchObject({ started: false, isPaused: false });
  });

  test('come from the media element', () => {
    player.trigger('playbackPlaying');
    expect(stateWith({ playbackRate: 2, paused: false })).toMatchObject({ playbackRate: 2, isPaused: false });
    expect(stateWith({ playbackRate: 0.5, paused: true })).toMatchObject({ playbackRate: 0.5, isPaused: true });
  });

  test('without an element, or with the rate of 0 that dash.js may set in a stall, the rate is 1', () => {
    expect(stateWith({ playbackRate: 0, paused: false })).toMatchObject({ playbackRate: 1, isPaused: false });
    expect(stateWith(undefined)).toMatchObject({ playbackRate: 1, isPaused: false });
  });
});
