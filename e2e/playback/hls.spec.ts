/** hls.js, without the plugin, plays the origin's playlists of byte ranges; the benchmark and the plugin's tests play the others. */

import { expect, LADDER_BPS, test } from './playback-test.ts';

test.use({ playerName: 'hls.js' });

test('hls.js plays byte ranges and audio', async ({ onStream }) => {
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
