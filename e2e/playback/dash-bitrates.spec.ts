/** dash.js with bitrates that say nothing: the best picture on a fast link, the lowest on a slow one. */

import { editManifests, expect, PICTURE_WIDTHS, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

/** Replaces the video's `bandwidth`; `rung` counts from the lowest. */
const BANDWIDTHS: Record<string, (bps: string, rung: number) => string> = {
  'two are equal': (bps, rung) => (rung < 2 ? bps : '2600000'),
  'all are equal': () => '2600000',
  'the lowest is 0': (bps, rung) => (rung > 0 ? bps : '0'),
  'all are 0': () => '0',
};

for (const [name, change] of Object.entries(BANDWIDTHS)) {
  test(`bitrates of which ${name}`, async ({ labPage, stream }) => {
    await editManifests(labPage, (text) =>
      text.replace(/<Representation id="video-(\d)"[^>]*/g, (tag, rung) =>
        tag.replace(/bandwidth="(\d+)"/, (_, bps) => `bandwidth="${change(bps, Number(rung))}"`),
      ),
    );
    const folders = [12e6, 0.5e6].map((bps) => stream({ segmentCount: 14, link: { 60: bps } }));
    const seen = await labPage.evaluate(async (folders) => {
      const settings = { streaming: { buffer: { bufferTimeDefault: 4, bufferTimeAtTopQuality: 4 } } };
      const labs = folders.map((folder) => window.lab.start({ manifest: `${folder}manifest.mpd`, settings }));
      await window.lab.until('the end', ({ video }) => video.ended, labs[0]);
      await window.lab.until('some segments', ({ requests }) => requests.length > 9, labs[1]);
      return labs.map(({ widths, decisions, requests }) => ({
        ladders: decisions.map(({ state }) => state.ladderBps),
        width: widths.at(-1),
        rungs: requests.map(({ rung }) => rung),
      }));
    }, folders);
    const [fast, slow] = seen as [(typeof seen)[0], (typeof seen)[0]];
    expect(fast.width).toBe(PICTURE_WIDTHS.at(-1));
    // Sizes have been learnt.
    expect(slow.rungs.slice(-4).filter((rung) => rung > 0).length).toBeLessThan(2);
    for (const ladder of seen.flatMap(({ ladders }) => ladders)) {
      expect(ladder.length).toBeGreaterThan(2);
      for (const [i, bps] of ladder.entries()) expect(bps).toBeGreaterThan(ladder[i - 1] ?? 0);
    }
  });
}
