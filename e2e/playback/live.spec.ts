/** dash.js without the plugin plays a live stream of the origin with a timeline; the plugin's tests play the others. */

import { expect, liveStream, test } from './playback-test.ts';

/** In the page: plays the manifest until it is within 0.1 s of its target after 10 s of media. */
async function play(manifest: string) {
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
  const isThere = () => video.currentTime - joinedAtSeconds > 10 && Math.abs(offTarget()) < 0.1;
  await window.lab.until('the target', () => isThere() || errors.length > 0, lab);
  const targetSeconds = player.getTargetLiveDelay();
  return { targetSeconds, isLowLatency: player.getLowLatencyModeEnabled(), stalls, errors };
}

test('listed whole segments play at the target, none requested before', async ({ labPage, stream, origin }) => {
  const live = liveStream(8, { chunkSeconds: 2 });
  const media = { addressing: 'timeline' } as const;
  const folder = stream({ segmentSeconds: 2, segmentCount: 60, link: { 600: 1e9 }, live, media });
  const { stalls, ...seen } = await labPage.evaluate(play, `${folder}manifest.mpd`);
  // Segments that were requested before they existed.
  const { log, presentation } = origin.session(folder.split('/').at(-2)!)!;
  const waited = log.filter(({ path, requestedAtSeconds }) => {
    const { chunks = [] } = presentation.find(path)!;
    return chunks.some(({ existsAtSeconds }) => existsAtSeconds > requestedAtSeconds);
  });
  expect(seen).toEqual({ targetSeconds: 8, isLowLatency: false, errors: [] });
  // None on a host that never stands still for longer than the buffer lasts.
  expect(stalls).toBeLessThan(5);
  expect(waited).toEqual([]);
});
