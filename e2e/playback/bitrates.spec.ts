/** dash.js and hls.js with bitrates that say nothing: the best picture on a fast link, the lowest on a slow one. */

import { editTexts, expect, type LabPlayer, type LabPlayerName, PICTURE_WIDTHS, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

/** What is declared for each representation, from the lowest, in bit/s. Null: as it is. */
const DECLARED: Record<string, (string | null)[]> = {
  'two are equal': [null, null, '2600000', '2600000'],
  'all are equal': Array(4).fill('2600000'),
  'the lowest is 0': ['0', null, null, null],
  'all are 0': Array(4).fill('0'),
};
const BUFFER_SECONDS = 4;
const PLAYERS: [LabPlayerName, settings: object, file: string, declaration: RegExp][] = [
  [
    'dash',
    { streaming: { buffer: { bufferTimeDefault: BUFFER_SECONDS, bufferTimeAtTopQuality: BUFFER_SECONDS } } },
    'manifest.mpd',
    /(?<=id="video-\d" bandwidth=")\d+/g,
  ],
  [
    'hls.js',
    { maxBufferLength: BUFFER_SECONDS, maxMaxBufferLength: BUFFER_SECONDS },
    'master.m3u8',
    /(?<=:BANDWIDTH=)\d+,AVERAGE-BANDWIDTH=\d+/g,
  ],
];

for (const [playerName, settings, file, declaration] of PLAYERS) {
  test.describe(playerName, () => {
    test.use({ playerName });

    for (const [name, declared] of Object.entries(DECLARED)) {
      // hls.js never plays a variant that declares 0.
      if (playerName === 'hls.js' && declared.includes('0')) continue;
      test(`bitrates of which ${name}`, async ({ labPage, stream }) => {
        await editTexts(labPage, `**/${file}`, (text) => {
          let rung = 0;
          return text.replace(declaration, (own) => declared[rung++] ?? own);
        });
        const folders = [12e6, 0.5e6].map((bps) => stream({ segmentCount: 14, link: { 60: bps } }));
        const seen = await labPage.evaluate(
          async ({ folders, settings }) => {
            const start = (folder: string) => window.lab.play({ manifest: `${folder}manifest.mpd`, settings });
            const labs = (await Promise.all(folders.map(start))) as LabPlayer[];
            await window.lab.until('the end', ({ video }) => video.ended, labs[0]);
            await window.lab.until('some segments', ({ requests }) => requests.length > 9, labs[1]);
            return labs.map(({ widths, decisions }) => ({
              ladders: decisions.map(({ state }) => state.ladderBps),
              chosen: decisions.map(({ decision }) => decision.representation),
              width: widths.at(-1),
            }));
          },
          { folders, settings },
        );
        const [fast, slow] = seen as [(typeof seen)[0], (typeof seen)[0]];
        expect(fast.width).toBe(PICTURE_WIDTHS.at(-1));
        // Sizes have been learnt.
        expect(slow.chosen.slice(-4).filter((rung) => rung > 1).length).toBeLessThan(2);
        for (const ladder of seen.flatMap(({ ladders }) => ladders)) {
          expect(ladder.length).toBeGreaterThan(2);
          for (const [i, bps] of ladder.entries()) expect(bps).toBeGreaterThan(ladder[i - 1] ?? 0);
        }
      });
    }
  });
}
