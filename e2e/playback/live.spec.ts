/** dash.js without the plugin plays a live stream of the origin with a timeline; the plugin's tests play the others. */

import type { RunningOrigin } from '../../replay/origin/index.ts';
import { expect, liveStream, test } from './playback-test.ts';

/** Media that the player plays. */
const PLAYED_SECONDS = 10;
/** There are none on a host that never stands still for longer than the buffer lasts. */
const MOST_STALLS = PLAYED_SECONDS / 2;

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

test('whole segments that the manifest lists are played at the target, and none is requested before it exists', async ({
  labPage,
  stream,
  origin,
}) => {
  const live = liveStream(8, { chunkSeconds: 2 });
  const folder = stream({
    segmentSeconds: 2,
    segmentCount: 60,
    link: [[600, 1e9]],
    live,
    media: { addressing: 'timeline' },
  });
  const { stalls, ...seen } = await labPage.evaluate(play, {
    manifest: `${folder}manifest.mpd`,
    playedSeconds: PLAYED_SECONDS,
  });
  expect(seen).toEqual({ targetSeconds: 8, isLowLatency: false, errors: [] });
  expect(stalls).toBeLessThan(MOST_STALLS);
  expect(waited(origin, folder)).toEqual([]);
});
