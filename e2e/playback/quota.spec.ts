/** Playback survives if media of a high bitrate fill the browser's source buffer. */

import { describePlayers, expect, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

describePlayers([['dash'], ['hls.js'], ['Shaka 5']] as const, (playerName) => {
  test('a source buffer for 10 s at the top: plays to the end without a reload loop', async ({ labPage, stream }) => {
    const media = { ladderBps: [1e6, 4e6], segmentSeconds: 2, segmentCount: 9, link: { 60: 40e6 } };
    const manifest = `${stream({ ...media, media: { padding: 'filler-data' } })}manifest.mpd`;
    const seen = await labPage.evaluate(async (manifest) => {
      /** At the top bitrate, 10 s. */
      const quotaBytes = 5e6;
      const held = new WeakMap<SourceBuffer, { bytes: number; seconds: number }>();
      const secondsIn = ({ buffered }: SourceBuffer) => {
        let seconds = 0;
        for (let i = 0; i < buffered.length; i++) seconds += buffered.end(i) - buffered.start(i);
        return seconds;
      };
      const { appendBuffer } = SourceBuffer.prototype;
      /** Seconds in the buffer at each refusal. */
      const refusals: number[] = [];
      SourceBuffer.prototype.appendBuffer = function (data) {
        const before = held.get(this) ?? { bytes: 0, seconds: 0 };
        const seconds = secondsIn(this);
        // If the buffer has less media, the player has removed some.
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
    }, manifest);
    expect(seen.refusals.length).toBeGreaterThan(0);
    expect(seen.faults).toEqual([]);
    expect(seen.requests.length, JSON.stringify(seen.requests)).toBeLessThanOrEqual(2 * media.segmentCount);
    // Plans use the reduced buffer. Shaka keeps its goal.
    const capSeconds = playerName === 'Shaka 5' ? 12 : seen.refusals[0]! + 2;
    expect(seen.last.bufferCapSeconds).toBeLessThanOrEqual(capSeconds);
  });
});
