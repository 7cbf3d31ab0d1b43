/** The plugin with Shaka Player, of both versions. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type * as leoAbrShaka from '../../src/shaka.ts';
import { expect, type ServedFile, test as base } from './playback-test.ts';

/** The part of Shaka that the page uses. */
interface Shaka {
  Player: {
    new (): leoAbrShaka.ShakaPlayer & {
      attach(video: HTMLVideoElement): Promise<void>;
      load(uri: string): Promise<void>;
      unload(): Promise<void>;
      destroy(): Promise<void>;
      getStats(): { estimatedBandwidth: number };
    };
    version: string;
  };
  polyfill: { installAll(): void };
}

/** One request for video that the player sent. */
interface Sent {
  index: number;
  representationId: string;
}

interface ShakaLab {
  player: InstanceType<Shaka['Player']>;
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

export const files: Record<string, ServedFile> = {};
for (const [version, name] of Object.entries(VERSIONS)) {
  files[`/shaka-${version}.js`] = ['text/javascript', readFileSync(requireHere.resolve(name))];
  files[`/shaka-${version}.html`] = page(version);
}

const test = base.extend<object, { files: typeof files }>({ files: [files, { scope: 'worker' }] });
test.use({ entry: 'plugin-shaka' });

export async function open(labPage: Page, url: string, version: string): Promise<void> {
  await labPage.addInitScript(installShakaLab);
  await labPage.goto(`${url}/shaka-${version}.html`);
}

/** Runs in the page before its scripts. */
export function installShakaLab(): void {
  window.startShaka = async ({ options, config, width = 320 } = {}) => {
    const { shaka, LeoAbrShaka } = window;
    shaka.polyfill.installAll();
    const video = document.createElement('video');
    video.muted = true;
    video.autoplay = true;
    video.width = width;
    document.body.append(video);
    const player = new shaka.Player();
    await player.attach(video);
    const calm = options?.controller === undefined && { abandon: false };
    const leoAbr = LeoAbrShaka.createLeoAbrFactory(player, { logger: null, ...calm, ...options });
    player.configure({ abrFactory: leoAbr, ...config });
    const lab: ShakaLab = { player, video, leoAbr, decisions: [], faults: [], paces: [], sent: [], widths: [] };
    leoAbr.handle.on('decision', (event) => lab.decisions.push(event));
    leoAbr.handle.on('fault', (event) => lab.faults.push(event));
    leoAbr.handle.on('pace', (event) => lab.paces.push(event));
    video.addEventListener('resize', () => lab.widths.push(video.videoWidth));
    player.getNetworkingEngine()!.registerRequestFilter((_, request) => {
      const [uri] = (request as { uris: string[] }).uris;
      const [, representationId, index] = /(video-\d+)\/(?:segment-)?(\d+)\.m4s/.exec(uri!) ?? [];
      if (representationId) lab.sent.push({ representationId, index: Number(index) });
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

for (const version of Object.keys(VERSIONS)) {
  test(`Shaka ${version} plays to the end with the decided representations`, async ({ origin, labPage, stream }) => {
    await open(labPage, origin.url, version);
    const seen = await labPage.evaluate(async (manifest) => {
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
      return {
        decisions: decisions.map(({ kind, state, representationId }) => ({ kind, representationId, ...state })),
        sent,
        widths,
        faults,
        status: leoAbr.handle.state.status,
        estimate: player.getStats().estimatedBandwidth,
      };
    }, `${stream({ segmentCount: 8 })}manifest.mpd`);
    console.log(JSON.stringify(seen, (k, v) => (k === 'upcomingSizesBits' ? v.length : v)));
  });
}
