/** The origin makes a representation at the first request: the first byte takes seconds, and later bytes do not. */

import { TIMING } from '../builds.ts';
import { describePlayers, expect, test } from './playback-test.ts';

const WAIT_MS = 2500;

describePlayers([['dash'], ['hls.js']] as const, () => {
  test('a slow start of each representation is waited for, once', TIMING, async ({ labPage, onStream }) => {
    const started = new Set<string>();
    await labPage.route('**/video-*/*.m4s', async (route) => {
      const [, name] = /(video-\d+)\/\d+\.m4s/.exec(route.request().url())!;
      const isNew = !started.has(name!);
      started.add(name!);
      if (isNew) await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
      // The route of an aborted request is gone.
      await route.continue().catch(() => {});
    });
    const media = { segmentSeconds: 2, segmentCount: 11, link: { 200: 12e6 } };
    const seen = await onStream(media, async (manifest) => {
      const lab = await window.lab.play({ manifest, options: { abandon: true, prior: false } });
      await window.lab.until('the last decision', ({ decisions }) => decisions.at(-1)?.state.segmentIndex === 10);
      return {
        // Bits that a busy page gets late may be reason enough to give up, but only once they arrive.
        abandonedBeforeBits: lab.decisions.filter(({ inFlight }) => inFlight?.receivedBits === 0),
        rungs: lab.requests.map(({ rung }) => rung),
        setUps: lab.decisions.map(({ state }) => Math.max(0, ...(state.setupSeconds ?? []))),
      };
    });
    // The plugin expects of each representation the wait of the first.
    expect(Math.max(...seen.setUps)).toBeGreaterThan(WAIT_MS / 1000 - 0.3);
    expect(seen.abandonedBeforeBits).toEqual([]);
    expect(Math.max(...seen.rungs)).toBeGreaterThan(1);
  });
});
