/** Media of a high bitrate fill the browser's source buffer, and playback survives it. */

import { expect, test } from './playback-test.ts';

test('playback survives a full source buffer, and later plans use the reduced buffer cap', async ({ onStream }) => {
  const seen = await onStream(
    {
      ladderBps: [4e6, 60e6, 118e6],
      segmentSeconds: 2,
      segmentCount: 20,
      link: { 60: 300e6 },
      media: { padding: 'filler-data' },
    },
    async (manifest) => {
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
      const caps = () => decisions.map(({ state }) => state.bufferCapSeconds);
      await window.lab.until('the quota', () => quota.length > 0);
      const { playhead, decided } = quota[0]!;
      const isBeyond = () => decisions.length >= decided + 3 && video.currentTime > playhead + 4;
      await window.lab.until('decisions and playback beyond', isBeyond);
      return {
        quota,
        before: Math.max(...caps().slice(0, quota[0]!.decided)),
        after: caps().slice(quota[0]!.decided),
        error: video.error?.message,
        decidedAfter: decisions.length - quota[0]!.decided,
        top: decisions.at(-1)!.state.ladderBps.at(-1)!,
      };
    },
  );
  expect(seen.error).toBeUndefined();
  expect(seen.decidedAfter).toBeGreaterThan(1);
  expect(Math.max(...seen.after)).toBeLessThan(seen.before);
  // The buffer level at that moment, in seconds.
  expect(Math.max(...seen.after)).toBeLessThanOrEqual(seen.quota[0]!.ahead + 2);
});
