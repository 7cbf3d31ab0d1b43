import { expect, test } from '@jest/globals';
import { PlaybackEnd } from './playback-end.ts';

const element = (currentTime: number, { duration = 96, ended = false } = {}) => ({ currentTime, duration, ended });

test.each([
  ['at once when the element has ended', element(95.9, { ended: true }), true, [true, true, true]],
  ['soon when the element stays at its end', element(95.99), true, [false, false, true]],
  ['never when it stalls before', element(95.5), false, [false, false, false]],
  ['never without a duration', element(0, { duration: Number.NaN }), false, [false, false, false]],
  ['never with a duration of 0', element(0, { duration: 0 }), false, [false, false, false]],
])('playback is over %s', (_, video, isReached, isOver) => {
  const end = new PlaybackEnd(video);
  expect(end.isReached).toBe(isReached);
  expect([100, 100.3, 100.5].map((now) => end.isOver(now))).toEqual(isOver);
});

test('a seek away from the end resets the wait', () => {
  const video = element(96);
  const end = new PlaybackEnd(video);
  expect(end.isOver(100)).toBe(false);
  video.currentTime = 40;
  expect(end.isOver(101)).toBe(false);
  video.currentTime = 96;
  expect([150, 150.5].map((now) => end.isOver(now))).toEqual([false, true]);
});
