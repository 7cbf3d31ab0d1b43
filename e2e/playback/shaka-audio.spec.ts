/** With Shaka Player, which audio goes with the video. */

import type { Page } from '@playwright/test';
import { editManifests, expect, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

/** Serves the origin's audio at other addresses, too: `audio-130/1.m4s` is `audio/1.m4s`. Returns the requested names. */
async function audioAliases(page: Page): Promise<string[]> {
  const requested: string[] = [];
  await page.route(/\/audio-\w+(\/\w+\.(m4s|mp4)|\.m3u8)/, (route) => {
    const url = route.request().url();
    const name = /audio-\w+/.exec(url)![0];
    if (!url.endsWith('.mp4')) requested.push(name);
    return route.continue({ url: url.replace(name, 'audio') });
  });
  return requested;
}

const MEDIA = { media: { audio: true }, segmentSeconds: 2 } as const;
const LADDER = { ladderBps: [250e3, 700e3, 1.5e6, 4.5e6] };
/** Several in one set, from `audio`. */
const AUDIOS = [50, 130, 222];

for (const playerName of ['Shaka 5', 'Shaka 4'] as const) {
  test.describe(playerName, () => {
    test.use({ playerName });

    for (const [kind, isOne] of [
      ['follows the video and the link', false],
      ['follows the link beside one video', true],
    ] as const) {
      test(`the audio ${kind}`, async ({ labPage, stream }) => {
        const audio = await audioAliases(labPage);
        await editManifests(labPage, (text) =>
          text.replace(/<Representation id="audio"[^>]*>[\s\S]*?<\/Representation>/, (one) =>
            AUDIOS.map((kbps) =>
              one.replace(/bandwidth="\d+"/, `bandwidth="${kbps}000"`).replace(/"audio(?=["/])/g, `"audio-${kbps}`),
            ).join(''),
          ),
        );
        const ladder = isOne ? { ladderBps: [250e3] } : LADDER;
        const folder = stream({ ...MEDIA, ...ladder, segmentCount: 24, link: { 12: 9e6, 600: 0.33e6 } });
        const rungs = await labPage.evaluate(async (manifest) => {
          const settings = { streaming: { bufferingGoal: 6 } };
          const lab = await window.lab.startShaka({ manifest, settings, options: { abandon: true } });
          await window.lab.until('30 s', () => lab.video.currentTime > 30, lab);
          return lab.requests.map(({ rung }) => rung);
        }, `${folder}manifest.mpd`);
        if (!isOne) expect([rungs.includes(3), rungs.at(-1)]).toEqual([true, 0]);
        expect(audio).toContain('audio-222');
        expect(audio.at(-1)).toBe('audio-50');
        // Neither back nor forth.
        const flips = audio.filter((one, i) => i > 0 && one !== audio[i - 1]).length;
        expect(flips).toBeLessThan(6);
      });
    }

    test('an audio group for each quality of HLS leaves what Shaka allows of the ladder', async ({
      labPage,
      stream,
    }) => {
      const audio = await audioAliases(labPage);
      await labPage.route('**/master.m3u8', async (route) => {
        const response = await route.fetch();
        const text = await response.text();
        const groups = ['sd', 'sd', 'hd', 'uhd'];
        let variant = 0;
        const body = text
          .replace(/#EXT-X-MEDIA:.*/, (line) =>
            [...new Set(groups)]
              .map((group) =>
                line
                  .replace('GROUP-ID="audio"', `GROUP-ID="${group}",CHANNELS="2"`)
                  .replace('audio.m3u8', `audio-${group}.m3u8`),
              )
              .join('\n'),
          )
          .replace(/AUDIO="audio"/g, () => `AUDIO="${groups[variant++]}"`);
        await route.fulfill({ response, body });
      });
      const folder = stream({ ...MEDIA, segmentCount: 10, link: { 600: 20e6 } });
      const seen = await labPage.evaluate(async (manifest) => {
        const lab = await window.lab.startShaka({ manifest });
        await window.lab.until('the end', () => lab.video.ended, lab);
        return { ladders: lab.decisions.map(({ state }) => state.ladderBps.length), last: lab.requests.at(-1)!.rung };
      }, `${folder}master.m3u8`);
      // Shaka 4 itself stays with one group.
      const [rungs, group] = playerName === 'Shaka 5' ? [4, 'audio-uhd'] : [2, 'audio-sd'];
      expect(new Set(seen.ladders)).toEqual(new Set([rungs]));
      expect(seen.last).toBe(rungs - 1);
      expect(audio.at(-1)).toBe(group);
    });
  });
}
