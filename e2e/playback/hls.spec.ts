/** hls.js with the plugin as its ABR controller: what only it has. */

import { CORE, expect, LADDER_BPS, liveStream, test } from './playback-test.ts';

test.use({ playerName: 'hls.js' });

test('plays a low-latency stream at the pace of the plugin', CORE, async ({ onStream }) => {
  const media = { segmentSeconds: 2, segmentCount: 40, link: { 600: 20e6 }, live: liveStream(2.3) };
  const seen = await onStream(media, async (manifest) => {
    const lab = window.lab.startHls({ manifest });
    const { video, decisions, paces, requests, player: hls } = lab;
    // WebKit seeks to the live edge after its first picture.
    const isPlaying = () => video.currentTime > 0 && !video.seeking && paces.length > 0;
    await window.lab.until('a pace', isPlaying, lab);
    const start = video.currentTime;
    await window.lab.until('4 s', () => video.currentTime - start > 4, lab);
    return { decisions, requests, paces, targetSeconds: hls.targetLatency! };
  });
  const { live } = seen.decisions.at(-1)!.state;
  expect(live).toMatchObject({ chunkSeconds: 0.25, targetLatencySeconds: seen.targetSeconds });
  expect(live!.latencySeconds).toBeGreaterThan(0);
  for (const { playbackRate } of seen.paces) expect(Math.abs(playbackRate - 1)).toBeLessThan(0.051);
  // One decision for all parts of a segment, and at most two more, where a player that is late requests one again.
  const decided = new Set(seen.decisions.map(({ state }) => state.segmentIndex));
  expect(seen.decisions.length).toBeLessThan(decided.size + 3);
  expect(seen.requests.length).toBeGreaterThan(new Set(seen.requests.map(({ index }) => index)).size);
});

// The benchmark and the plugin's tests play the origin's other playlists.
test('without the plugin, hls.js plays byte ranges and audio', async ({ onStream }) => {
  const seen = await onStream({ segmentCount: 5, media: { addressing: 'base', audio: true } }, async (manifest) => {
    const lab = window.lab.startHls({ manifest });
    const { player: hls, video, handle, errors } = lab;
    handle.detach();
    // hls.js's own choice depends on how busy the host is.
    hls.on(window.Hls.Events.MANIFEST_PARSED, (_, { levels }) => {
      hls.loadLevel = levels.length - 1;
    });
    await window.lab.until('the end', () => video.ended, lab);
    const { levels } = hls;
    const widths = levels.map(({ width }) => width);
    return { errors, bitratesBps: levels.map(({ bitrate }) => bitrate), widths, width: video.videoWidth };
  });
  expect(seen).toMatchObject({ errors: [], widths: [64, 96, 128, 160], width: 160 });
  // The audio's 31 kbit/s are in them.
  seen.bitratesBps.forEach((bps, i) => {
    expect(Math.abs(bps - LADDER_BPS[i]!)).toBeLessThan(40e3);
  });
});
