/** If the picture becomes larger, it is sharp soon, and playback goes on. */

import { describePlayers, expect, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

/** These settings make each player limit bitrates to the size of the element. */
const LIMITS = {
  dash: {
    streaming: {
      abr: { limitBitrateByPortal: true },
      // dash.js requests nothing until the buffer is down to the target of the larger picture.
      buffer: { bufferTimeDefault: 16, bufferTimeAtTopQuality: 16 },
    },
  },
  'hls.js': { capLevelToPlayerSize: true },
  'Shaka 5': { abr: { restrictToElementSize: true, ignoreDevicePixelRatio: true }, streaming: { bufferingGoal: 16 } },
} as const;
const SEGMENT_SECONDS = 2;

describePlayers([['dash'], ['hls.js'], ['Shaka 5']] as const, (playerName) => {
  test('an element that is enlarged: the buffered small pictures are replaced', async ({ labPage, stream }) => {
    const media = { segmentSeconds: SEGMENT_SECONDS, segmentCount: 24, link: { 120: 40e6 } };
    const manifest = `${stream(media)}manifest.mpd`;
    const seen = await labPage.evaluate(
      async ({ manifest, settings }) => {
        const lab = await window.lab.play({ manifest, settings, width: 96, height: 54 });
        const { video } = lab;
        const bufferedSeconds = () => (video.buffered.length > 0 ? video.buffered.end(0) - video.currentTime : 0);
        await window.lab.until('a buffer', () => bufferedSeconds() > 13 && video.currentTime > 1, lab);
        const small = lab.widths.slice();
        const atSeconds = video.currentTime;
        Object.assign(video, { width: 640, height: 360 });
        await window.lab.until('the largest picture', () => video.videoWidth === 160, lab);
        return { small, afterSeconds: video.currentTime - atSeconds, faults: lab.faults };
      },
      { manifest, settings: LIMITS[playerName] },
    );
    expect(seen.faults).toEqual([]);
    expect(Math.max(...seen.small)).toBeLessThanOrEqual(96);
    expect(seen.afterSeconds).toBeLessThan(4 * SEGMENT_SECONDS);
  });
});
