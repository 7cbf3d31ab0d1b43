/** Features that only hls.js has, with the plugin as its ABR controller. */

import { CORE, editTexts, expect, liveStream, PICTURE_WIDTHS, test } from './playback-test.ts';

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
    // A late player requests whole segments until it has caught up.
    const hasParts = () => requests.length > new Set(requests.map(({ index }) => index)).size;
    await window.lab.until('two parts of a segment', hasParts, lab);
    return { decisions, requests, paces, targetSeconds: hls.targetLatency! };
  });
  const { live } = seen.decisions.at(-1)!.state;
  expect(live).toMatchObject({ chunkSeconds: 0.25, targetLatencySeconds: seen.targetSeconds });
  expect(live!.latencySeconds).toBeGreaterThan(0);
  for (const { playbackRate } of seen.paces) expect(Math.abs(playbackRate - 1)).toBeLessThan(0.051);
  // All parts of a segment share a decision. A late player may request at most two segments again.
  const decided = new Set(seen.decisions.map(({ state }) => state.segmentIndex));
  expect(seen.decisions.length).toBeLessThan(decided.size + 3);
});

test('an interstitial starts, adapts and shares the link; the main session goes on', async ({ labPage, stream }) => {
  const main = stream({ segmentCount: 10, link: { 60: 6e6 } });
  const advert = stream({ segmentCount: 4, link: { 60: 6e6 } });
  const date = '2026-01-01T00:00:00.000Z';
  const range = `#EXT-X-DATERANGE:ID="ad",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:04.000Z",DURATION=4,X-ASSET-URI="${advert}master.m3u8",X-RESUME-OFFSET=0`;
  await editTexts(labPage, `${main}video-*.m3u8`, (text) =>
    text.replace('#EXT-X-INDEPENDENT', `#EXT-X-PROGRAM-DATE-TIME:${date}\n${range}\n#EXT-X-INDEPENDENT`),
  );
  const seen = await labPage.evaluate(async (folder) => {
    const lab = window.lab.startHls({
      manifest: `${folder}manifest.mpd`,
      settings: { maxBufferLength: 3, maxMaxBufferLength: 4 },
    });
    const { player: hls, handle, decisions, requests } = lab;
    const { Events } = window.Hls;
    const adverts: { width: number; session: number }[] = [];
    hls.on(Events.INTERSTITIAL_ASSET_PLAYER_CREATED, (_, { player }) => {
      player.on(Events.FRAG_LOADED, (_, { frag }) => {
        if (frag.type !== 'main' || frag.sn === 'initSegment') return;
        adverts.push({ width: player.hls!.levels[frag.level]!.width, session: handle.state.session });
      });
    });
    let ended = 0;
    hls.on(Events.INTERSTITIAL_ENDED, () => ended++);
    await window.lab.until('the last segment', () => requests.some(({ index }) => index === 9) && ended > 0, lab);
    const last = decisions.at(-1)!.state;
    return {
      ...{ adverts, ended, session: handle.state.session, status: handle.state.status },
      downloads: last.downloads.map(({ segmentIndex }) => segmentIndex),
      index: last.segmentIndex,
    };
  }, main);
  expect(seen).toMatchObject({ session: 1, status: 'attached' });
  expect(seen.adverts).toHaveLength(4);
  // hls.js begins with the main player's estimate.
  expect(Math.max(...seen.adverts.map(({ width }) => width))).toBeGreaterThan(PICTURE_WIDTHS[0]!);
  expect(seen.downloads.length).toBeGreaterThanOrEqual(seen.index);
});
