import { expect, test } from '@jest/globals';
import { useManualClock } from '../core/manual-clock.fixture.ts';
import { Scripted } from '../core/scripted.fixture.ts';
import { ranges } from '../core/stand-in.fixture.ts';
import { attachLeoAbr as attachLive } from '../live.ts';
import { attached, FakePlayer, fakeVideo } from './fake-player.fixture.ts';

useManualClock();

/** `asked`: the state in which the controller is asked, with these changes of the player or the media element. */
function started(options = {}) {
  const seen = attached({ controller: new Scripted(), ...options }, new FakePlayer(), attachLive);
  const { player, controller } = seen;
  const asked = (changes: Partial<typeof player> = {}, media = {}) => {
    Object.assign(player, changes);
    Object.assign(player.media, media);
    player.ask();
    return controller.states.at(-1)!;
  };
  return { ...seen, asked };
}

test('after a seek, the next segment follows what is buffered there', () => {
  const { player, asked } = started();
  asked();
  player.download(0, 3e6, 1);
  player.plays();
  player.seeks(21);
  expect(asked({}, { buffered: ranges([[20, 28]]) })).toMatchObject({ segmentIndex: 7, segmentsRemaining: 3 });
  player.send(7, 1);
  expect(asked({ bufferLevelSeconds: 11 })).toMatchObject({ segmentIndex: 8, previousBitrateBps: 2e6 });
});

test('after a track switch, the next segment is the one at the end of the buffer', () => {
  const { player, asked } = started();
  asked();
  for (let index = 0; index < 6; index++) player.download(index, 3e6, 0.5);
  expect(asked().segmentIndex).toBe(6);
  expect(asked({ bufferLevelSeconds: 0 }, { currentTime: 9 }).segmentIndex).toBe(2);
});

test('a new period keeps the history and counts segments from the start of the presentation', () => {
  const { player, asked } = started();
  const manifestInfo = { isDynamic: false, duration: 40 };
  expect(asked({ representations: fakeVideo(6, { manifestInfo }) })).toMatchObject({
    segmentIndex: 0,
    segmentsRemaining: 10,
  });
  player.download(0, 4e6, 1);
  player.send(5, 2);
  expect(asked({ representations: fakeVideo(4, { id: 'p1', start: 24, manifestInfo }) })).toMatchObject({
    ...{ segmentIndex: 6, segmentsRemaining: 4, previousBitrateBps: 4e6 },
    downloads: [{ segmentIndex: 0 }],
  });
});

test('a live stream has no end and short buffer targets count without the segment', () => {
  const manifestInfo = { isDynamic: true, duration: Number.NaN };
  const state = started().asked({ representations: fakeVideo(6, { start: 1000, manifestInfo }), bufferTarget: 3 });
  expect(state).toMatchObject({ segmentIndex: 0, segmentsRemaining: Number.POSITIVE_INFINITY, bufferCapSeconds: 7 });
  expect(state.upcomingSizesBits).toHaveLength(10);
});

test("after a full source buffer, the cap is dash.js's reduced target", () => {
  const { player, asked } = started();
  player.settings.streaming.buffer.bufferTimeAtTopQuality = 6.5;
  expect(asked().bufferCapSeconds).toBe(18);
  player.emit('quotaExceeded');
  expect(asked().bufferCapSeconds).toBe(6.5);
});

test("the first segment has the page's initial bitrate", () => {
  const { player, asked } = started();
  player.settings.streaming.abr.initialBitrate.video = 2000;
  expect(asked({ current: 1 }).ladderBps).toEqual([2e6]);
  player.send(0, 1);
  expect(asked().ladderBps).toEqual([1e6, 2e6, 4e6]);
});

test('sizes from byte ranges of the index, and from a file', async () => {
  const segments = [{ mediaRange: '0-99' }, { mediaRange: '100-349' }];
  const { asked } = started();
  expect(
    asked({ representations: fakeVideo().map((one) => ({ ...one, segments })) }).upcomingSizesBits.slice(0, 3),
  ).toEqual([
    [800, 800, 800],
    [2000, 2000, 2000],
    [4e6, 8e6, 16e6],
  ]);
  const listed = started({ sizes: { representations: { v1: Array(10).fill(5) } } });
  await Promise.resolve();
  await Promise.resolve();
  expect(listed.asked().upcomingSizesBits[9]).toEqual([4e6, 40, 16e6]);
});

test('playback rate and pause are those of the media element', () => {
  const { player, asked } = started();
  // Before the first picture, a paused element waits for data.
  expect(asked({}, { paused: true })).toMatchObject({ started: false, isPaused: false });
  player.plays();
  expect(asked({}, { paused: false, playbackRate: 2 })).toMatchObject({ playbackRate: 2, isPaused: false });
  expect(asked({}, { paused: true, playbackRate: 0.5 })).toMatchObject({ playbackRate: 0.5, isPaused: true });
  // dash.js may set a rate of 0 in a stall.
  expect(asked({}, { paused: false, playbackRate: 0 })).toMatchObject({ playbackRate: 1, isPaused: false });
  expect(asked({ hasElement: false })).toMatchObject({ playbackRate: 1, isPaused: false });
});
