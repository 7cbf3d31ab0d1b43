/** Streams, settings and loaders that pages have with hls.js, beyond what the origin itself serves. */

import type { Page } from '@playwright/test';
import type { HlsConfig } from 'hls.js';
import { expect, FAULTS, PICTURE_WIDTHS, test } from './playback-test.ts';

test.describe.configure({ mode: 'parallel' });
test.use({ playerName: 'hls.js' });

/** Changes the text of these playlists. */
async function edit(page: Page, path: string, change: (text: string) => string): Promise<void> {
  await page.route(path, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: change(await response.text()) });
  });
}

/** Replaces the variants' bitrates. */
const BANDWIDTHS: Record<string, (text: string) => string> = {
  'two are equal': (text) => text.replace(/BANDWIDTH=[34]\d{6},AVERAGE-BANDWIDTH=\d+/g, 'BANDWIDTH=2600000'),
  'all are equal': (text) => text.replace(/BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+/g, 'BANDWIDTH=2600000'),
  'none is declared': (text) => text.replace(/BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+,/g, ''),
};
const LADDER_BPS = [300e3, 1e6, 3e6, 4e6];

for (const [name, change] of Object.entries(BANDWIDTHS)) {
  test(`bitrates of which ${name}: the best picture on a fast link, the lowest on a slow one`, async ({
    labPage,
    stream,
  }) => {
    await edit(labPage, '**/master.m3u8', change);
    const media = { ladderBps: LADDER_BPS, segmentCount: 12 };
    const folders = [12e6, 0.5e6].map((bps) => stream({ ...media, link: { 60: bps } }));
    const seen = await labPage.evaluate(async (folders) => {
      const labs = folders.map((folder) =>
        window.lab.startHls({
          manifest: `${folder}manifest.mpd`,
          settings: { maxBufferLength: 4, maxMaxBufferLength: 4 },
        }),
      );
      await window.lab.until('the end', ({ video }) => video.ended, labs[0]);
      await window.lab.until('some segments', ({ requests }) => requests.length > 9, labs[1]);
      return labs.map(({ widths, decisions, requests, player: { levels } }) => ({
        ladders: decisions.map(({ state }) => state.ladderBps),
        width: widths.at(-1),
        requested: requests.map(({ rung }) => levels[rung]!.width),
        ids: new Set(decisions.map(({ representationId }) => representationId)).size,
      }));
    }, folders);
    const [fast, slow] = seen as [(typeof seen)[0], (typeof seen)[0]];
    expect(fast.width).toBe(PICTURE_WIDTHS.at(-1));
    // Sizes have been learnt.
    expect(slow.requested.slice(-4).filter((width) => width > PICTURE_WIDTHS[0]!).length).toBeLessThan(2);
    for (const ladder of seen.flatMap(({ ladders }) => ladders)) {
      expect(ladder.length).toBeGreaterThan(2);
      for (const [i, bps] of ladder.entries()) expect(bps).toBeGreaterThan(ladder[i - 1] ?? 0);
    }
    expect(fast.ids).toBeGreaterThan(0);
  });
}

test('a destroyed player answers as hls.js does', async ({ onStream }) => {
  const answers = await onStream({ segmentCount: 4 }, async (manifest) => {
    const lab = window.lab.startHls({ manifest });
    const { player: hls } = lab;
    await window.lab.until('a segment', ({ requests }) => requests.length > 0, lab);
    const { abrController } = hls as unknown as { abrController: { firstAutoLevel: number; nextAutoLevel: number } };
    hls.destroy();
    return [abrController.firstAutoLevel, abrController.nextAutoLevel];
  });
  expect(answers).toEqual([0, -1]);
});

test('while abrSwitchInterval holds the level, decisions say what is loaded', async ({ onStream }) => {
  const media = { segmentCount: 16, link: { 3: 8e6, 6: 1.5e6, 60: 8e6 } };
  const { decisions, requests } = await onStream(media, async (manifest) => {
    const lab = window.lab.startHls({
      manifest,
      settings: { abrSwitchInterval: 4, maxBufferLength: 2, maxMaxBufferLength: 3 },
    });
    await window.lab.until('the end', ({ video }) => video.ended, lab);
    const { decisions, requests } = lab;
    return {
      requests,
      decisions: decisions.map(({ state, representationId }) => [state.segmentIndex, representationId]),
    };
  });
  // If a segment has two decisions, the second holds.
  expect([...new Map(decisions as [number, string][])]).toEqual(
    requests.map(({ index, representationId }) => [index, representationId]),
  );
  const rungs = requests.map(({ rung }) => rung);
  expect(new Set(rungs).size).toBeGreaterThan(1);
});

test('an interstitial starts, adapts and shares the link; the main session goes on', async ({ labPage, stream }) => {
  const main = stream({ segmentCount: 10, link: { 60: 6e6 } });
  const advert = stream({ segmentCount: 4, link: { 60: 6e6 } });
  const date = '2026-01-01T00:00:00.000Z';
  const range = `#EXT-X-DATERANGE:ID="ad",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:04.000Z",DURATION=4,X-ASSET-URI="${advert}master.m3u8",X-RESUME-OFFSET=0`;
  await edit(labPage, `${main}video-*.m3u8`, (text) =>
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

test(
  'two players of a page with one controller: the second one plays by itself, with one fault',
  FAULTS,
  async ({ onStream }) => {
    const seen = await onStream({ segmentCount: 4 }, async (manifest) => {
      const lab = window.lab.startHls({ manifest });
      const { abrController } = lab.player.userConfig;
      const other = new window.Hls({ abrController: abrController! });
      other.loadSource(manifest.replace('manifest.mpd', 'master.m3u8'));
      await window.lab.until('the end', ({ video }) => video.ended, lab);
      other.destroy();
      return { faults: lab.faults.map(({ code }) => code), status: lab.handle.state.status };
    });
    expect(seen).toEqual({ faults: ['already-attached'], status: 'attached' });
  },
);

test('a loader that pretends to be done from the start', async ({ onStream }) => {
  const media = { segmentSeconds: 2, segmentCount: 6, link: { 60: 1.6e6 } };
  const seen = await onStream(media, async (manifest) => {
    /** A loader like that of p2p-media-loader-hlsjs says "1 of 1 byte" until the end. */
    class Pretending {
      stats = {
        ...{ aborted: false, loaded: 1, total: 1, retry: 0, chunkCount: 0, bwEstimate: 0 },
        loading: { start: 0, first: 0, end: 0 },
        parsing: { start: 0, end: 0 },
        buffering: { start: 0, first: 0, end: 0 },
      };
      context: unknown;
      aborting = new AbortController();
      load(context: { url: string }, _: unknown, callbacks: { onSuccess(...more: unknown[]): void }): void {
        this.context = context;
        const start = performance.now();
        fetch(context.url, { signal: this.aborting.signal })
          .then((response) => response.arrayBuffer())
          .then((data) => {
            const end = performance.now();
            this.stats.loading = { start, first: start + 1, end };
            this.stats.total = data.byteLength;
            this.stats.loaded = data.byteLength;
            callbacks.onSuccess({ url: context.url, data }, this.stats, context, null);
          })
          .catch(() => {});
      }
      abort(): void {
        this.stats.aborted ||= this.stats.loaded === 1;
        this.aborting.abort();
      }
      destroy(): void {
        this.abort();
      }
    }
    const settings = { fLoader: Pretending } as unknown as Partial<HlsConfig>;
    // Three quarters of the link: each segment takes longer than an abandonment would wait.
    const lab = window.lab.startHls({ manifest, settings, options: { abandon: true } });
    await window.lab.until('the end', ({ video }) => video.ended, lab);
    const { decisions, handle, errors } = lab;
    const { wastedBits } = handle.state;
    return { decisions, errors, wastedBits };
  });
  expect(seen).toMatchObject({ errors: [], wastedBits: 0 });
  expect(seen.decisions.map(({ kind }) => kind)).not.toContain('abandon');
  const { state } = seen.decisions.at(-1)!;
  for (const { receivedBits, downloadSeconds } of state.downloads) {
    expect(receivedBits).toBeGreaterThan(1e5);
    expect(receivedBits / downloadSeconds).toBeLessThan(3e6);
  }
  for (const sizes of seen.decisions.flatMap(({ state }) => state.upcomingSizesBits))
    expect(Math.min(...sizes)).toBeGreaterThan(1e5);
});
