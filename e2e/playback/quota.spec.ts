/** Media of a high bitrate fill the browser's source buffer, and playback survives it. */

import { expect, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

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

for (const playerName of ['dash', 'hls.js', 'Shaka 5'] as const) {
  test.describe(playerName, () => {
    test.use({ playerName });
    test('a source buffer for 10 s at the top: plays to the end without a reload loop', async ({ onStream }) => {
      const media = { ladderBps: [1e6, 4e6], segmentSeconds: 2, segmentCount: 9, link: { 60: 40e6 } };
      const seen = await onStream({ ...media, media: { padding: 'filler-data' } }, async (manifest) => {
        // A tenth of a television's, for a tenth of its bitrate.
        const quotaBytes = 5e6;
        const held = new WeakMap<SourceBuffer, { bytes: number; seconds: number }>();
        const secondsIn = ({ buffered }: SourceBuffer) => {
          let seconds = 0;
          for (let i = 0; i < buffered.length; i++) seconds += buffered.end(i) - buffered.start(i);
          return seconds;
        };
        const { appendBuffer } = SourceBuffer.prototype;
        let refusals = 0;
        SourceBuffer.prototype.appendBuffer = function (data) {
          const before = held.get(this) ?? { bytes: 0, seconds: 0 };
          const seconds = secondsIn(this);
          // The player has removed the rest.
          const bytes = before.seconds > 0 ? before.bytes * Math.min(1, seconds / before.seconds) : before.bytes;
          if (bytes + data.byteLength > quotaBytes) {
            refusals++;
            throw new DOMException('the buffer is full', 'QuotaExceededError');
          }
          appendBuffer.call(this, data);
          const now = { bytes: bytes + data.byteLength, seconds };
          held.set(this, now);
          this.addEventListener('updateend', () => Object.assign(now, { seconds: secondsIn(this) }), { once: true });
        };
        const lab = await window.lab.play({ manifest });
        await window.lab.until('the end', ({ video }) => video.ended, lab);
        return { refusals, requests: lab.requests, faults: lab.faults };
      });
      expect(seen.refusals).toBeGreaterThan(0);
      expect(seen.faults).toEqual([]);
      expect(seen.requests.length, JSON.stringify(seen.requests)).toBeLessThanOrEqual(2 * media.segmentCount);
    });
  });
}
