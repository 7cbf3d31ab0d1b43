/** The plugin in both versions of Shaka Player, with several kinds of streams and actions of the page. */

import type shaka5 from 'shaka-player';
import {
  CORE,
  CORE_MODERN,
  CORE_WITH_CATCH_UP,
  describePlayers,
  expect,
  isOlder,
  liveStream,
  test,
} from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });

/** Each version of Shaka loads only its own type. */
type Preload = shaka5.media.PreloadManager & string;

describePlayers([['Shaka 5'], ['Shaka 4']] as const, (playerName) => {
  // Other engines play with the newer version only.
  const core = isOlder(playerName) ? {} : CORE;
  // In WebKitGTK, Shaka alone buffers no more than the first segment of HLS.
  const engines = isOlder(playerName) ? {} : { tag: [...CORE_WITH_CATCH_UP.tag, ...CORE_MODERN.tag] };

  test('decides as the buffer empties, after a seek, and for the next source', core, async ({ onStream }) => {
    const seen = await onStream({ segmentCount: 16 }, async (manifest) => {
      const lab = await window.lab.startShaka({ manifest, settings: { streaming: { bufferingGoal: 3 } } });
      const { player, video, handle, decisions, requests } = lab;
      await window.lab.until('a picture', () => video.currentTime > 2.5, lab);
      const levels = decisions.map(({ state }) => state.bufferLevelSeconds);
      const beforeSeek = decisions.length;
      video.currentTime = 12.5;
      await window.lab.until('a picture after the seek', () => video.currentTime > 12.6, lab);
      const afterSeek = decisions[beforeSeek]!.state;
      await player.load(manifest);
      await window.lab.until('a picture of the next source', () => video.currentTime > 0.2, lab);
      const sessions = decisions.map(({ session }) => session);
      const first = decisions.find(({ session }) => session === 2)!.state;
      handle.detach();
      const [decided, requested] = [decisions.length, requests.length];
      const isGoingOn = () => requests.length > requested + 3 && video.currentTime > 2;
      await window.lab.until('playback without the plugin', isGoingOn, lab);
      const decidedLater = decisions.length - decided;
      await player.destroy();
      return { levels, afterSeek, sessions, first, decidedLater, status: handle.state.status };
    });
    // The buffer may exceed the goal by the time between two of Shaka's checks.
    for (const level of seen.levels) expect(level).toBeLessThan(3.6);
    // In WebKit, Shaka may begin a segment earlier.
    expect(seen.afterSeek.bufferLevelSeconds).toBe(0);
    expect([11, 12]).toContain(seen.afterSeek.segmentIndex);
    expect(new Set(seen.sessions)).toEqual(new Set([1, 2]));
    expect(seen.first).toMatchObject({ segmentIndex: 0, nowSeconds: 0, downloads: [] });
    expect(seen).toMatchObject({ decidedLater: 0, status: 'detached' });
  });

  test('decides for HLS, then DASH, then HLS', engines, async ({ onStream }) => {
    const seen = await onStream({ segmentCount: 8, media: { audio: true } }, async (dash) => {
      const hls = dash.replace('manifest.mpd', 'master.m3u8');
      const lab = await window.lab.startShaka({ manifest: hls });
      const { player, video, decisions, handle, requests } = lab;
      const seen = [];
      for (const next of [dash, hls, undefined]) {
        const { session } = handle.state;
        const requested = requests.length;
        const isDecided = () => decisions.filter((event) => event.session === session).length >= 4;
        await window.lab.until('four decisions and playback', () => isDecided() && video.currentTime > 1, lab);
        const decided = decisions.filter((event) => event.session === session);
        seen.push({
          ladder: decided[0]!.state.ladderBps.length,
          ends: decided.slice(1).map(({ state }) => state.segmentIndex + state.segmentsRemaining),
          chosen: decided.map(({ state, representationId }) => [state.segmentIndex, representationId.split('.')[0]]),
          requested: requests.slice(requested).map(({ index, representationId }) => [index, representationId]),
          status: handle.state.status,
        });
        if (next) await player.load(next);
      }
      await player.destroy();
      return seen;
    });
    for (const { ladder, ends, chosen, requested, status } of seen) {
      expect([ladder, status]).toEqual([4, 'attached']);
      expect(new Set(ends)).toEqual(new Set([8]));
      // Shaka loads what the plugin chose. It reads the first segment of HLS before, and the last request may be due.
      expect(requested).toEqual(expect.arrayContaining(chosen.slice(1, -1)));
    }
  });

  test('decides for a preload that follows another source, again and again', async ({ onStream }) => {
    const sessions = await onStream({ segmentCount: 8, media: { audio: true } }, async (dash) => {
      const hls = dash.replace('manifest.mpd', 'master.m3u8');
      const lab = await window.lab.startShaka({ manifest: hls });
      const { player, video, decisions, handle } = lab;
      const seen: { status: string; decided: number }[] = [];
      for (let i = 0; i < 4; i++) {
        const next = i % 2 ? dash : hls;
        const preload = (await player.preload(next)) as Preload;
        const isPlaying = () => {
          const { session } = handle.state;
          return video.currentTime > 1.2 && decisions.filter((event) => event.session === session).length >= 2;
        };
        await window.lab.until('playback', isPlaying, lab);
        await player.load(i === 2 ? dash : preload);
        await window.lab.until('playback of the next source', isPlaying, lab);
        const { session, status } = handle.state;
        seen.push({ status, decided: decisions.filter((event) => event.session === session).length });
        if (i === 2) await preload.destroy();
      }
      await player.destroy();
      return seen;
    });
    expect(sessions.map(({ status }) => status)).toEqual(Array(4).fill('attached'));
    expect(Math.min(...sessions.map(({ decided }) => decided))).toBeGreaterThan(1);
  });

  test('plays HLS at its edge: live, in parts, and in parts requested one by one', async ({ labPage, stream }) => {
    const media = { ladderBps: [1e6, 2.5e6], segmentSeconds: 2, segmentCount: 60, startUtcMs: Date.now() };
    const plays = [2, 0.25, 0.25].map((chunkSeconds, i) => {
      const folder = stream({ ...media, link: { 600: 20e6 }, live: liveStream(4, { chunkSeconds }) });
      // A browser opens six connections to a host.
      return { manifest: `${folder.replace('127.0.0.1', `s${i}.localhost`)}master.m3u8`, isOneByOne: i === 2 };
    });
    const all = await labPage.evaluate((plays) => {
      const play = async ({ manifest, isOneByOne }: (typeof plays)[number]) => {
        const hls = { allowLowLatencyByteRangeOptimization: !isOneByOne };
        const settings = { streaming: { lowLatencyMode: true }, manifest: { hls } };
        const lab = await window.lab.startShaka({ manifest, settings });
        const { player, video, decisions, requests, handle } = lab;
        const isThere = () => decisions.length >= 6 && video.currentTime > player.seekRange().end - 12;
        await window.lab.until('six decisions at the edge', isThere, lab);
        const { status } = handle.state;
        const found = decisions.map(({ state }) => ({ index: state.segmentIndex, live: state.live }));
        const repeated = requests.length - new Set(requests.map(({ index }) => index)).size;
        await player.destroy();
        return { isOneByOne, status, found, repeated };
      };
      return Promise.all(plays.map(play));
    }, plays);
    for (const { isOneByOne, status, found, repeated } of all) {
      expect(status).toBe('attached');
      const decided = new Set(found.map(({ index }) => index)).size;
      expect(decided).toBeGreaterThan(2);
      // Shaka knows no playlist when it chooses the first variant.
      for (const { live } of found.slice(1)) expect(live!.latencySeconds).toBeGreaterThan(0);
      if (!isOneByOne) continue;
      // All parts of a segment share a decision. Shaka's search for the stream's start needs a few more.
      expect(found.length).toBeLessThan(decided + 4);
      expect(repeated).toBeGreaterThan(3 * decided);
    }
  });
});
