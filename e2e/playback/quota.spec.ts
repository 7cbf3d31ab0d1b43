/** Media of a high bitrate fill the browser's source buffer, and playback survives it. */

import { expect, test } from './playback-test.ts';

test('playback survives a full source buffer, and later plans use the reduced buffer cap', async ({ onStream }) => {
  const media = { ladderBps: [4e6, 60e6, 118e6], segmentSeconds: 2, segmentCount: 20, link: { 60: 300e6 } };
  const seen = await onStream({ ...media, media: { padding: 'filler-data' } }, async (manifest) => {
    const settings = { streaming: { abr: { minBitrate: { video: 50_000 } } } };
    const { player, video, decisions } = window.lab.start({ manifest, settings });
    const quota: { playhead: number; ahead: number; decided: number }[] = [];
    player.on(
      'quotaExceeded' as never,
      (() => {
        const { buffered, currentTime } = video;
        const ahead = buffered.length === 0 ? 0 : buffered.end(buffered.length - 1) - currentTime;
        quota.push({ playhead: currentTime, ahead, decided: decisions.length });
      }) as never,
    );
    await window.lab.until('the quota', () => quota.length > 0);
    const { playhead, decided } = quota[0]!;
    const isBeyond = () => decisions.length >= decided + 3 && video.currentTime > playhead + 4;
    await window.lab.until('decisions and playback beyond', isBeyond);
    return { first: quota[0]!, decisions, error: video.error?.message };
  });
  expect(seen.error).toBeUndefined();
  const { decided, ahead } = seen.first;
  const caps = seen.decisions.map(({ state }) => state.bufferCapSeconds);
  expect(caps.length - decided).toBeGreaterThan(1);
  const after = Math.max(...caps.slice(decided));
  expect(after).toBeLessThan(Math.max(...caps.slice(0, decided)));
  // The buffer level at that moment, in seconds.
  expect(after).toBeLessThanOrEqual(ahead + 2);
});
