/** hls.js, without the plugin, plays the origin's HLS playlists. */

import { expect, LADDER_BPS, liveStream, type StreamOptions, test } from './playback-test.ts';

test.use({ playerName: 'hls.js' });
test.describe.configure({ mode: 'parallel' });

const LIVE = liveStream(2.3);
/** Media that is played of a live stream. */
const PLAYED_SECONDS = 6;

const STREAMS: [name: string, stream: StreamOptions][] = [
  ['a file per segment', { segmentCount: 5 }],
  ['byte ranges and audio', { segmentCount: 5, media: { addressing: 'base', audio: true } }],
  ['a live stream in parts', { segmentSeconds: 2, segmentCount: 40, link: [[600, 1e9]], live: LIVE }],
];

for (const [name, options] of STREAMS) {
  test(`hls.js plays ${name}`, async ({ labPage, origin, stream }) => {
    const folder = stream(options);
    const seen = await labPage.evaluate(
      async ({ manifest, seconds }) => {
        const { player: hls, video, handle, errors } = window.lab.startHls({ manifest });
        handle.detach();
        // hls.js's own choice depends on how busy the host is.
        hls.on(window.Hls.Events.MANIFEST_PARSED, (_, { levels }) => {
          hls.loadLevel = levels.length - 1;
        });
        await video.play();
        const startSeconds = video.currentTime;
        const deadline = performance.now() + 30_000;
        const isThere = () => video.ended || video.currentTime - startSeconds > seconds;
        while (!isThere() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
        const utcMs = Number(await (await fetch(new URL('time', manifest))).text());
        const result = {
          isThere: isThere(),
          errors,
          bitratesBps: hls.levels.map(({ bitrate }) => bitrate),
          widths: hls.levels.map(({ width }) => width),
          width: video.videoWidth,
          latencySeconds: hls.latency,
          trueLatencySeconds: (utcMs - Number(hls.playingDate)) / 1000,
        };
        hls.destroy();
        return result;
      },
      { manifest: `${folder}manifest.mpd`, seconds: options.live ? PLAYED_SECONDS : Number.POSITIVE_INFINITY },
    );
    expect(seen).toMatchObject({ isThere: true, errors: [], widths: [64, 96, 128, 160] });
    // The audio's 31 kbit/s are in them.
    seen.bitratesBps.forEach((bps, i) => {
      expect(Math.abs(bps - LADDER_BPS[i]!)).toBeLessThan(options.media?.audio ? 40e3 : 1);
    });
    expect(seen.width).toBe(160);
    if (!options.live) return;
    // hls.js counts from the newest part in the playlist, the trace's UTC from the capture.
    expect(Math.abs(seen.trueLatencySeconds - LIVE.encoderLatencySeconds - seen.latencySeconds)).toBeLessThan(0.3);
    const { log } = origin.session(folder.split('/').at(-2)!)!;
    const parts = log.filter(({ kind, bytes }) => kind === 'segment' && bytes < LADDER_BPS[3]! / 4);
    expect(parts.length).toBeGreaterThan(20);
  });
}
