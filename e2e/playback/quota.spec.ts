/** Media of a high bitrate fill the browser's source buffer, and playback survives it. */

import { expect, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

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
        /** Seconds in the buffer at each. */
        const refusals: number[] = [];
        SourceBuffer.prototype.appendBuffer = function (data) {
          const before = held.get(this) ?? { bytes: 0, seconds: 0 };
          const seconds = secondsIn(this);
          // The player has removed the rest.
          const bytes = before.seconds > 0 ? before.bytes * Math.min(1, seconds / before.seconds) : before.bytes;
          if (bytes + data.byteLength > quotaBytes) {
            refusals.push(seconds);
            throw new DOMException('the buffer is full', 'QuotaExceededError');
          }
          appendBuffer.call(this, data);
          const now = { bytes: bytes + data.byteLength, seconds };
          held.set(this, now);
          this.addEventListener('updateend', () => Object.assign(now, { seconds: secondsIn(this) }), { once: true });
        };
        const lab = await window.lab.play({ manifest });
        await window.lab.until('the end', ({ video }) => video.ended, lab);
        return { refusals, last: lab.decisions.at(-1)!.state, requests: lab.requests, faults: lab.faults };
      });
      expect(seen.refusals.length).toBeGreaterThan(0);
      expect(seen.faults).toEqual([]);
      expect(seen.requests.length, JSON.stringify(seen.requests)).toBeLessThanOrEqual(2 * media.segmentCount);
      // Plans use the reduced buffer; Shaka keeps its goal.
      const capSeconds = playerName === 'Shaka 5' ? 12 : seen.refusals[0]! + 2;
      expect(seen.last.bufferCapSeconds).toBeLessThanOrEqual(capSeconds);
    });
  });
}
