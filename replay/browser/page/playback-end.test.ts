import { describe, expect, test } from '@jest/globals';
import { PlaybackEnd } from './playback-end.ts';

describe('PlaybackEnd', () => {
  const element = (currentTime: number, { duration = 96, ended = false } = {}) => ({ currentTime, duration, ended });

  test('is over at once when the element has ended', () => {
    expect(new PlaybackEnd(element(95.9, { ended: true })).isOver(1)).toBe(true);
  });

  test('is over soon when the element stays at its end, never when it stalls before', () => {
    const video = element(95.99);
    const end = new PlaybackEnd(video);
    expect(end.isReached).toBe(true);
    expect([100, 100.3, 100.5].map((now) => end.isOver(now))).toEqual([false, false, true]);
    const stalled = new PlaybackEnd(element(95.5));
    expect(stalled.isReached).toBe(false);
    expect([100, 200, 300].some((now) => stalled.isOver(now))).toBe(false);
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

  test('is not over without a duration', () => {
    const end = new PlaybackEnd(element(0, { duration: Number.NaN }));
    expect([0, 10].some((now) => end.isOver(now))).toBe(false);
    const empty = new PlaybackEnd(element(0, { duration: 0 }));
    expect([0, 10].some((now) => empty.isOver(now))).toBe(false);
  });
});
