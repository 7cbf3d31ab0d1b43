/** dash.js without the plugin plays the origin's live streams, five of them side by side. */

import type { RunningOrigin } from '../../replay/origin/index.ts';
import { expect, liveStream, type StreamOptions, test } from './playback-test.ts';

/** Media that each player plays. */
const PLAYED_SECONDS = 10;
/** There are none on a host that never stands still for longer than the buffer lasts. */
const MOST_STALLS = PLAYED_SECONDS / 2;

/** By what the tests call them; the link is no limit. */
const STREAMS: Record<string, StreamOptions> = {
  '1 s behind': { live: liveStream(1) },
  '2 s behind': { live: liveStream(2) },
  '5 s behind': { live: liveStream(5) },
  'whole segments by number': { live: liveStream(8, { chunkSeconds: 2 }) },
  'whole segments by timeline': { live: liveStream(8, { chunkSeconds: 2 }), media: { addressing: 'timeline' } },
};

/** In the page: plays the manifest until it is within 0.1 s of its target after so many seconds of media. */
async function play({ manifest, playedSeconds }: { manifest: string; playedSeconds: number }) {
  // dash.js may seek once more after the first picture.
  const JOIN_SECONDS = 0.5;
  // By default only low-latency streams catch up; without it a player stays as late as it began.
  const lab = window.lab.start({ settings: { streaming: { liveCatchup: { enabled: true } } } });
  lab.handle.detach();
  const { player, video } = lab;
  const errors: string[] = [];
  player.on('error', ({ error }: { error?: unknown }) => errors.push(JSON.stringify(error)));
  let joinedAtSeconds = Number.POSITIVE_INFINITY;
  let stalls = 0;
  video.addEventListener('playing', () => {
    joinedAtSeconds = Math.min(joinedAtSeconds, video.currentTime);
  });
  video.addEventListener('waiting', () => {
    if (video.currentTime > joinedAtSeconds + JOIN_SECONDS) stalls++;
  });
  player.initialize(video, manifest, true);
  const offTarget = () => player.getCurrentLiveLatency() - player.getTargetLiveDelay();
  const isThere = () => video.currentTime - joinedAtSeconds > playedSeconds && Math.abs(offTarget()) < 0.1;
  await window.lab.until('the target', () => isThere() || errors.length > 0, lab);
  const targetSeconds = player.getTargetLiveDelay();
  const seen = { targetSeconds, isLowLatency: player.getLowLatencyModeEnabled(), stalls, errors };
  player.destroy();
  return seen;
}

/** Segments that were requested before they existed. */
const waited = (origin: RunningOrigin, folder: string) => {
  const { log, presentation } = origin.session(folder.split('/').at(-2)!)!;
  return log.filter(({ path, requestedAtSeconds }) => {
    const { chunks = [] } = presentation.find(path)!;
    return chunks.some(({ existsAtSeconds }) => existsAtSeconds > requestedAtSeconds);
  });
};

test('five players side by side are at their targets', async ({ labPage, stream, origin }) => {
  const media: StreamOptions = { segmentSeconds: 2, segmentCount: 60, link: [[600, 1e9]] };
  const folders = Object.values(STREAMS).map((options) => stream({ ...media, ...options }));
  const played = await Promise.all(
    folders.map((folder) =>
      labPage.evaluate(play, { manifest: `${folder}manifest.mpd`, playedSeconds: PLAYED_SECONDS }),
    ),
  );
  for (const [i, [name, options]] of Object.entries(STREAMS).entries()) {
    const { stalls, ...seen } = played[i]!;
    const { targetLatencySeconds: targetSeconds, chunkSeconds } = options.live!;
    expect([name, seen]).toEqual([name, { targetSeconds, isLowLatency: chunkSeconds < 2, errors: [] }]);
    expect(stalls, name).toBeLessThan(MOST_STALLS);
  }
  expect(waited(origin, folders[1]!).length).toBeGreaterThan(2);
  // The timeline lists what exists. By number, a player's clock may be a little fast.
  expect(waited(origin, folders[4]!)).toEqual([]);
});
