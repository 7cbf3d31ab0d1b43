/** A viewer picks a quality, then automatic quality again, within the page's limits; or enlarges the picture. */

import type { MediaPlayerClass } from 'dashjs';
import type Hls from 'hls.js';
import type shaka from 'shaka-player';
import { describePlayers, expect, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

/** The page's limit: the third of four representations. */
const LIMITED = 2;
const LIMITS = {
  dash: { streaming: { abr: { maxBitrate: { video: 3000 } } } },
  'hls.js': { capLevelToPlayerSize: true },
  'Shaka 5': { abr: { restrictions: { maxBandwidth: 3e6 } } },
} as const;

/** These settings make each player limit bitrates to the size of the element. */
const SIZE_LIMITS = {
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
  test('a picked quality, then automatic quality', async ({ labPage, stream }) => {
    const manifest = `${stream({ segmentCount: 60 })}manifest.mpd`;
    const seen = await labPage.evaluate(
      async ({ manifest, settings, LIMITED }) => {
        // hls.js limits bitrates to the size of the element.
        const lab = await window.lab.play({ manifest, settings, width: 128, height: 72 });
        const { requests, decisions, player } = lab;
        /** What the players' own menus call, and pages that have their own. */
        const pick = (isLowest: boolean) => {
          if (window.dashjs) {
            const dash = player as MediaPlayerClass;
            dash.updateSettings({ streaming: { abr: { autoSwitchBitrate: { video: !isLowest } } } });
            if (isLowest) dash.setRepresentationForTypeByIndex('video', 0, true);
          } else if (window.shaka) {
            const shakas = player as shaka.Player;
            shakas.configure('abr.enabled', !isLowest);
            const [lowest] = shakas.getVariantTracks().sort((a, b) => a.bandwidth - b.bandwidth);
            if (isLowest) shakas.selectVariantTrack(lowest!, true);
          } else (player as Hls).currentLevel = isLowest ? 0 : -1;
        };
        await window.lab.until('the limit', () => requests.at(-1)?.rung === LIMITED && lab.video.currentTime > 1, lab);
        pick(true);
        await window.lab.until('the lowest', () => requests.at(-1)?.rung === 0, lab);
        const before = { requests: requests.length, decisions: decisions.length };
        await window.lab.until('three more', () => requests.length === before.requests + 3, lab);
        const decidedMeanwhile = decisions.length - before.decisions;
        pick(false);
        const picked = requests.length;
        await window.lab.until('a decision', () => decisions.length > before.decisions, lab);
        await window.lab.until('the limit again', () => requests.at(-1)?.rung === LIMITED, lab);
        await window.lab.until('three more', () => requests.length >= picked + 4, lab);
        const { state } = decisions[before.decisions]!;
        return {
          decidedMeanwhile,
          downloads: state.downloads.length,
          meanwhile: requests.slice(before.requests, picked).map(({ rung }) => rung),
          after: requests.slice(picked).map(({ rung }) => rung),
          highest: Math.max(...requests.map(({ rung }) => rung)),
          before: before.requests,
        };
      },
      { manifest, settings: LIMITS[playerName], LIMITED },
    );
    expect(seen).toMatchObject({ highest: LIMITED, decidedMeanwhile: 0, meanwhile: [0, 0, 0] });
    // A segment or two may be on their way. hls.js then empties the buffer.
    expect(seen.after.filter((rung) => rung === 0).length).toBeLessThanOrEqual(2);
    expect(seen.after.at(-1)).toBe(LIMITED);
    // The viewer's segments were measured, too.
    expect(seen.downloads).toBeGreaterThan(seen.before);
  });

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
      { manifest, settings: SIZE_LIMITS[playerName] },
    );
    expect(seen.faults).toEqual([]);
    expect(Math.max(...seen.small)).toBeLessThanOrEqual(96);
    expect(seen.afterSeconds).toBeLessThan(4 * SEGMENT_SECONDS);
  });
});
