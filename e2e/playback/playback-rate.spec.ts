/** At rate 2 the buffer drains twice as fast, and plans take that into account. */

import { expect, test } from './playback-test.ts';

/** The first decisions know neither the link nor the rate. */
const SETTLED_SECONDS = 10;

test('at rate 2 a link that sustains the lowest bitrate only plays without stalls', async ({ labPage, stream }) => {
  const manifest = `${stream({
    ladderBps: [0.3e6, 0.9e6, 2e6],
    segmentSeconds: 4,
    segmentCount: 30,
    link: [[60, 1.35e6]],
  })}manifest.mpd`;
  const { stallsAtSeconds, faults, rates } = await labPage.evaluate(async (manifest) => {
    const { video, faults, decisions } = window.lab.start({ manifest, options: { controller: 'mpc-d' } });
    await window.lab.until('a picture', () => video.currentTime > 0);
    video.playbackRate = 2;
    const startMs = performance.now();
    const stallsAtSeconds: number[] = [];
    video.addEventListener('waiting', () => stallsAtSeconds.push((performance.now() - startMs) / 1000));
    await window.lab.until('44 s of media', () => video.currentTime > 44);
    return { stallsAtSeconds, faults, rates: decisions.map(({ state }) => state.playbackRate) };
  }, manifest);
  expect(faults).toEqual([]);
  expect(rates.slice(-8)).toEqual(Array(8).fill(2));
  // None on a quiet host; seven if the plan does not know the rate.
  expect(stallsAtSeconds.filter((seconds) => seconds > SETTLED_SECONDS).length).toBeLessThan(4);
});
