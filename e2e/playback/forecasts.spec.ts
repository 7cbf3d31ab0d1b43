/** MPC-L's forecasts in a page: their traces in decisions, failing forecasters, and the prior of earlier sessions. */

import { expect, test } from './playback-test.ts';

test('prior and pageLoad begin above the lowest bitrate after good measurements', async ({ labPage, stream }) => {
  const link = { 60: 60e6 };
  const seen = await labPage.evaluate(
    async ([first, later]) => {
      const play = async (manifest: string, options: object, until: 'the end' | 'a decision') => {
        const lab = window.lab.start({ manifest, options });
        const { player, video, handle, decisions } = lab;
        await window.lab.until(until, () => (until === 'the end' ? video.ended : decisions.length > 0), lab);
        handle.detach();
        player.destroy();
        const { decision } = decisions[0]!;
        return { source: decision.forecastSource, chosen: decision.representation };
      };
      const sessions = [
        await play(first!, {}, 'the end'),
        await play(later!, {}, 'a decision'),
        await play(later!, { prior: false }, 'a decision'),
        // The page's scripts came from this machine.
        await play(later!, { prior: false, pageLoad: true }, 'a decision'),
      ];
      return { sessions, stored: localStorage.getItem('leo-abr')! };
    },
    [
      // Six seconds of download time.
      `${stream({ link, ladderBps: [50e6], segmentCount: 7 })}manifest.mpd`,
      `${stream({ link, segmentSeconds: 2 })}manifest.mpd`,
    ],
  );
  expect(seen.sessions[0]).toMatchObject({ chosen: 0 });
  expect(seen.sessions[1]).toMatchObject({ source: 'prior' });
  expect(seen.sessions[1]!.chosen).toBeGreaterThan(0);
  expect(seen.sessions[2]).toEqual({ source: undefined, chosen: 0 });
  expect(seen.sessions[3]).toMatchObject({ source: 'built-in' });
  expect(seen.sessions[3]!.chosen).toBeGreaterThan(0);
  const [origin] = Object.entries(JSON.parse(seen.stored) as Record<string, number[]>);
  expect(origin![0]).toMatch(/^http:\/\/[^/]+$/);
  expect(origin![1]![0]).toBeGreaterThan(30e6);
  expect(origin![1]![0]).toBeLessThan(70e6);
});
