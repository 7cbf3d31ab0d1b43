/** The plugin with Shaka Player, of both versions. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type shaka5 from 'shaka-player';
import type shaka4 from 'shaka-player-4';
import type { LiveStream } from '../../replay/scenarios.ts';
import type * as leoAbrShaka from '../../src/shaka.ts';
import {
  test as base,
  decidedAgain,
  expect,
  expectCmcd,
  expectEarlyAbandonment,
  FAILING_STREAM,
  LADDER_BPS,
  recordCmcd,
  type ServedFile,
} from './playback-test.ts';

/** Both have to fit the plugin's types. */
type Shaka = typeof shaka5 | typeof shaka4;

/** One request for a video segment that the player sent. */
interface Sent {
  index: number;
  representationId: string;
}

interface ShakaLab {
  player: shaka5.Player | shaka4.Player;
  video: HTMLVideoElement;
  leoAbr: leoAbrShaka.LeoAbrFactory;
  decisions: leoAbrShaka.DecisionEvent[];
  faults: leoAbrShaka.FaultEvent[];
  paces: leoAbrShaka.PaceEvent[];
  sent: Sent[];
  widths: number[];
}

interface ShakaStart {
  options?: leoAbrShaka.LeoAbrOptions;
  config?: object;
  width?: number;
  height?: number;
  /** Hides the end of a live stream: Shaka 4 plays one whose end is known from its start. */
  isEndless?: boolean;
}

declare global {
  interface Window {
    shaka: Shaka;
    LeoAbrShaka: typeof leoAbrShaka;
    startShaka(options?: ShakaStart): Promise<ShakaLab>;
    untilShaka(what: string, lab: ShakaLab, condition: () => unknown): Promise<void>;
  }
}

const requireHere = createRequire(import.meta.url);
const VERSIONS = { '5': 'shaka-player', '4': 'shaka-player-4' };

const page = (version: string): ServedFile => [
  'text/html',
  `<!doctype html><script src="shaka-${version}.js"></script>
<script type="module">import * as LeoAbrShaka from './leo-abr.js'; window.LeoAbrShaka = LeoAbrShaka;</script>`,
];

const files: Record<string, ServedFile> = {};
for (const [version, name] of Object.entries(VERSIONS)) {
  files[`/shaka-${version}.js`] = ['text/javascript', readFileSync(requireHere.resolve(name))];
  files[`/shaka-${version}.html`] = page(version);
}

const test = base.extend<object, { files: typeof files }>({ files: [files, { scope: 'worker' }] });
test.use({ entry: 'plugin-shaka' });
test.describe.configure({ mode: 'parallel' });

/** Runs in the page before its scripts. */
function installShakaLab(): void {
  window.startShaka = async ({ options, config, width = 320, height = 180, isEndless = false } = {}) => {
    const { shaka, LeoAbrShaka } = window;
    shaka.polyfill.installAll();
    const video = document.createElement('video');
    video.muted = true;
    video.autoplay = true;
    video.width = width;
    video.height = height;
    document.body.append(video);
    const player = new shaka.Player();
    await player.attach(video);
    const calm = options?.controller === undefined && { abandon: false };
    const leoAbr = LeoAbrShaka.createLeoAbrFactory(player as shaka5.Player, { logger: null, ...calm, ...options });
    player.configure({ abrFactory: leoAbr, ...config });
    // Shaka asks again after a busy host has dropped pictures.
    player.configure('abr.droppedFrames', false);
    const lab: ShakaLab = {
      ...{ player, video, leoAbr, decisions: [], faults: [], paces: [] },
      ...{ sent: [], widths: [] },
    };
    leoAbr.handle.on('decision', (event) => lab.decisions.push(event));
    leoAbr.handle.on('fault', (event) => lab.faults.push(event));
    leoAbr.handle.on('pace', (event) => lab.paces.push(event));
    video.addEventListener('resize', () => lab.widths.push(video.videoWidth));
    const networking = player.getNetworkingEngine()!;
    networking.registerRequestFilter((_, { uris }) => {
      const [, representationId, number] = /(video-\d+)\/(\d+)\.m4s/.exec(uris[0]!) ?? [];
      if (representationId) lab.sent.push({ representationId, index: Number(number) - 1 });
    });
    networking.registerResponseFilter((type, response) => {
      if (!isEndless || type !== shaka.net.NetworkingEngine.RequestType.MANIFEST) return;
      const manifest = new TextDecoder().decode(response.data as ArrayBuffer);
      response.data = new TextEncoder().encode(manifest.replace(/mediaPresentationDuration="[^"]*"/, '')).buffer;
    });
    return lab;
  };
  window.untilShaka = async (what, lab, condition) => {
    const deadline = performance.now() + 40_000;
    while (!condition()) {
      if (performance.now() > deadline) {
        const { currentTime, readyState } = lab.video;
        const faults = lab.faults.map(({ code, message }) => `${code}: ${message}`);
        const seen = { currentTime, readyState, decisions: lab.decisions.length, sent: lab.sent, faults };
        throw new Error(`not within 40 s: ${what}; ${JSON.stringify(seen)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
}

const LIVE: LiveStream = {
  chunkSeconds: 0.25,
  encoderLatencySeconds: 0.3,
  targetLatencySeconds: 3,
  timeShiftSeconds: 40,
  playbackRates: { min: 0.9, max: 1.1 },
};

for (const version of Object.keys(VERSIONS)) {
  test.describe(`Shaka ${version}`, () => {
    test.beforeEach(async ({ origin, labPage }) => {
      await labPage.addInitScript(installShakaLab);
      await labPage.goto(`${origin.url}/shaka-${version}.html`);
    });

    test('plays to the end with the decided representations; the pictures on screen prove it', async ({
      labPage,
      stream,
    }) => {
      const seen = await labPage.evaluate(
        async (manifest) => {
          // Each representation twice, from the lowest up, independent of measurements.
          const controller = {
            name: 'up',
            decide: ({ segmentIndex }: { segmentIndex: number }) => ({
              representation: Math.floor(segmentIndex / 2),
              controller: 'up',
              reason: 'its turn',
            }),
          };
          const lab = await window.startShaka({ options: { controller } });
          const { player, video, leoAbr, decisions, faults, sent, widths } = lab;
          await player.load(manifest);
          await window.untilShaka('the end', lab, () => video.ended);
          const { status } = leoAbr.handle.state;
          return { decisions, sent, widths, faults, status, estimate: player.getStats().estimatedBandwidth };
        },
        `${stream({ segmentCount: 8 })}manifest.mpd`,
      );
      expect(seen).toMatchObject({ faults: [], status: 'attached', widths: [64, 96, 128, 160] });
      expect(seen.estimate).toBeGreaterThan(1e6);
      const { decisions } = seen;
      expect(
        decisions.map(({ state: { segmentIndex: index }, representationId }) => ({ index, representationId })),
      ).toEqual(seen.sent);
      expect(seen.sent).toHaveLength(8);
      const states = decisions.map(({ state }) => state);
      expect(states.map(({ segmentsRemaining }) => segmentsRemaining)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
      expect(states.map(({ downloads }) => downloads.length)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect(states[0]).toMatchObject({
        ladderBps: LADDER_BPS,
        segmentSeconds: 1,
        bufferLevelSeconds: 0,
        nowSeconds: 0,
      });
      for (const { abandoned, receivedBits, sizeBits, downloadSeconds, latencySeconds } of states[7]!.downloads) {
        expect(abandoned).toBe(false);
        expect(receivedBits).toBe(sizeBits);
        expect(receivedBits / downloadSeconds).toBeLessThan(8.1e6);
        if (latencySeconds !== undefined) expect(latencySeconds).toBeGreaterThan(0.015);
      }
    });

    // By default Shaka prefetches the segment that is due, and a switch discards it; without, its own rule has to abort.
    for (const segmentPrefetchLimit of [1, 0]) {
      test(`mpc-l abandons a download soon after the last byte, prefetch ${segmentPrefetchLimit}`, async ({
        labPage,
        stream,
      }) => {
        await expectEarlyAbandonment(async () => {
          await labPage.reload();
          return labPage.evaluate(
            async ({ manifest, segmentPrefetchLimit }) => {
              const config = { streaming: { segmentPrefetchLimit } };
              const lab = await window.startShaka({ options: { abandon: true }, config });
              await lab.player.load(manifest);
              const sent = () =>
                lab.sent.map(({ index, representationId }) => ({ index, rung: Number(representationId.at(-1)) }));
              return window.lab.untilAgain({ ...lab, handle: lab.leoAbr.handle } as never, sent);
            },
            { manifest: `${stream(FAILING_STREAM)}manifest.mpd`, segmentPrefetchLimit },
          );
        });
      });
    }

    test('decides when the buffer empties, after a seek, and for the next source; not after its detachment', async ({
      labPage,
      stream,
    }) => {
      const seen = await labPage.evaluate(
        async (manifest) => {
          const lab = await window.startShaka({ config: { streaming: { bufferingGoal: 3 } } });
          const { player, video, leoAbr, decisions, faults, sent } = lab;
          await player.load(manifest);
          await window.untilShaka('a picture', lab, () => video.currentTime > 2.5);
          const levels = decisions.map(({ state }) => state.bufferLevelSeconds);
          const beforeSeek = decisions.length;
          video.currentTime = 12.5;
          await window.untilShaka('a picture after the seek', lab, () => video.currentTime > 12.6);
          const afterSeek = decisions[beforeSeek]!.state;
          await player.load(manifest);
          await window.untilShaka('a picture of the next source', lab, () => video.currentTime > 0.2);
          const sessions = decisions.map(({ session }) => session);
          const first = decisions.find(({ session }) => session === 2)!.state;
          leoAbr.handle.detach();
          const detached = { decisions: decisions.length, sent: sent.length };
          const isGoingOn = () => sent.length > detached.sent + 3 && video.currentTime > 2;
          await window.untilShaka('playback without the plugin', lab, isGoingOn);
          const more = { decisions: decisions.length - detached.decisions, sent: sent.length - detached.sent };
          await player.destroy();
          return { levels, afterSeek, sessions, first, more, faults, status: leoAbr.handle.state.status };
        },
        `${stream({ segmentCount: 16 })}manifest.mpd`,
      );
      expect(seen.faults).toEqual([]);
      // The goal, and what plays between two looks of Shaka at its buffer.
      for (const level of seen.levels) expect(level).toBeLessThan(3.6);
      expect(seen.afterSeek).toMatchObject({ bufferLevelSeconds: 0, segmentIndex: 12 });
      expect(new Set(seen.sessions)).toEqual(new Set([1, 2]));
      expect(seen.first).toMatchObject({ segmentIndex: 0, nowSeconds: 0, downloads: [] });
      expect(seen.more.decisions).toBe(0);
      expect(seen.more.sent).toBeGreaterThan(3);
      expect(seen.status).toBe('detached');
    });

    test('a decision per segment, with CMCD, and again after a source that Shaka has saved as a preload', async ({
      labPage,
      stream,
    }) => {
      const folder = stream({ segmentCount: 5, sizeSpread: 0.2 });
      const cmcd = recordCmcd(labPage, folder);
      const seen = await labPage.evaluate(async (manifest) => {
        const lab = await window.startShaka({ options: { cmcd: true } });
        const { player, video, decisions, faults, sent } = lab;
        await player.load(manifest);
        await window.untilShaka('the end', lab, () => video.ended);
        const first = { events: [...decisions], sent: [...sent] };
        // Each version loads only its own.
        const preload = (await player.unloadAndSavePreload()) as (shaka5.media.PreloadManager & string) | null;
        await player.load(preload!);
        await window.untilShaka('playback', lab, () => video.currentTime > 0.2);
        return { ...first, faults, again: decisions.some(({ session }) => session === 2) };
      }, `${folder}manifest.mpd`);
      expect(seen).toMatchObject({ faults: [], again: true });
      expect(seen.sent.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
      expect(seen.events.map(({ representationId }) => representationId)).toEqual(
        seen.sent.map(({ representationId }) => representationId),
      );
      expect(decidedAgain(seen.events, 'mpc-l:no-abandon')).toEqual(
        seen.events.map(({ decision }) => decision.representation),
      );
      expectCmcd(cmcd.slice(0, seen.sent.length));
    });

    test("keeps to the page's restrictions, and leaves the choice to it", async ({ labPage, stream }) => {
      const folder = stream({ segmentCount: 2 });
      const withoutCmcd = recordCmcd(labPage, folder);
      const play = (abr: object) =>
        labPage.evaluate(
          async ({ manifest, abr }) => {
            // A fixed height, so that it is known from the start.
            const lab = await window.startShaka({ config: { abr }, width: 128, height: 72 });
            await lab.player.load(manifest);
            await window.untilShaka('the end', lab, () => lab.video.ended);
            await lab.player.destroy();
            return { ladders: lab.decisions.map(({ state }) => state.ladderBps), faults: lab.faults };
          },
          { manifest: `${folder}manifest.mpd`, abr },
        );
      const both = (ladder: number[]) => ({ ladders: [ladder, ladder], faults: [] });
      expect(await play({ restrictions: { minWidth: 97, maxWidth: 128 } })).toEqual(both([2.5e6]));
      expect(await play({ restrictions: { maxBandwidth: 1 } })).toEqual(both([300e3]));
      expect(await play({ restrictToElementSize: true })).toEqual(both([300e3, 1e6, 2.5e6]));
      expect(await play({ enabled: false })).toEqual({ ladders: [], faults: [] });
      expect(new Set(withoutCmcd)).toEqual(new Set([null]));
    });

    test("a controller that throws, and a second player: Shaka's own manager decides", async ({ labPage, stream }) => {
      const seen = await labPage.evaluate(
        async (manifest) => {
          const controller = {
            name: 'broken',
            decide(): never {
              throw new Error('broken');
            },
          };
          const lab = await window.startShaka({ options: { controller } });
          const other = new window.shaka.Player();
          const video = document.createElement('video');
          await other.attach(video);
          other.configure({ abrFactory: lab.leoAbr });
          await lab.player.load(manifest);
          await other.load(manifest);
          await window.untilShaka('the end', lab, () => lab.video.ended);
          await other.destroy();
          await lab.player.destroy();
          return lab.faults.map(({ code }) => code);
        },
        `${stream({ segmentCount: 4 })}manifest.mpd`,
      );
      expect(seen).toEqual(['controller-failed', 'already-attached']);
    });

    test('paces a live stream, and gives the rate back', async ({ labPage, stream }) => {
      const media = { ladderBps: [1e6, 2.5e6], segmentSeconds: 2, segmentCount: 60 };
      const manifest = `${stream({ ...media, link: [[600, 20e6]], live: LIVE, startUtcMs: Date.now() })}manifest.mpd`;
      const seen = await labPage.evaluate(async (manifest) => {
        const latencies: number[] = [];
        const controller: leoAbrShaka.Controller = {
          name: 'scripted',
          decide: () => ({ representation: 0, controller: 'scripted', reason: 'scripted' }),
          pace({ live }) {
            latencies.push(live!.latencySeconds);
            return { playbackRate: 1.1, jump: false, targetLatencySeconds: 3, reason: 'scripted' };
          },
        };
        const lab = await window.startShaka({ options: { controller }, isEndless: true });
        const { player, video, leoAbr, decisions, paces, faults } = lab;
        await player.load(manifest);
        await window.untilShaka('a picture at a rate', lab, () => video.playbackRate === 1.1 && video.currentTime);
        const rates = new Set<number>();
        // There Shaka would play more slowly.
        await window.untilShaka('a latency below the end of the seek range', lab, () => {
          rates.add(video.playbackRate);
          return video.currentTime > player.seekRange().end + 0.3;
        });
        const sync = player.getConfiguration().streaming.liveSync;
        leoAbr.handle.detach();
        const after = player.getConfiguration().streaming.liveSync;
        await player.destroy();
        const paced = paces.map(({ playbackRate }) => playbackRate);
        return { faults, first: decisions[0]!.state, latencies, rates: [...rates], paced, sync, after };
      }, manifest);
      expect(seen.faults).toEqual([]);
      expect(seen.first.live).toMatchObject({ targetLatencySeconds: 3, playbackRates: { min: 0.9, max: 1.1 } });
      // By the stream's clock: the join is at most a segment before the target.
      for (const latency of seen.latencies) expect(latency).toBeGreaterThan(2);
      expect(Math.min(...seen.latencies)).toBeLessThan(8);
      expect(seen.rates).toEqual([1.1]);
      expect(seen.paced[0]).toBe(1.1);
      expect(seen.sync).toMatchObject({ enabled: true, minPlaybackRate: 0, maxPlaybackRate: 0 });
      expect(seen.after).toMatchObject({ enabled: false, minPlaybackRate: 0.95, maxPlaybackRate: 1.1 });
    });
  });
}
