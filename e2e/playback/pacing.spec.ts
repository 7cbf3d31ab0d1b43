/** The entry for live streams: a controller sets the playback rate instead of dash.js's catch-up. */

import type { Controller, Pace } from '../../abr/controller.ts';
import { test as base, expect, type LabPlayer, liveStream } from './playback-test.ts';

const LIVE = liveStream(3, { playbackRates: { min: 0.9, max: 1.1 } });

/** In the page: a player whose controller asks for what the test says. */
interface PacedPage {
  lab: LabPlayer;
  pace: Pace;
  /** Latencies that the controller saw. */
  latencies: number[];
  /** Watches playback: the element's rates, and media per second of the clock, in the median of windows of 1 s. */
  watch(seconds: number): Promise<{ rates: number[]; speed: number }>;
}

declare global {
  interface Window {
    paced: PacedPage;
  }
}

const test = base.extend<{ manifest: string }>({
  manifest: async ({ stream }, use) => {
    const media = { ladderBps: [1e6, 2.5e6], segmentSeconds: 2, segmentCount: 60 };
    await use(`${stream({ ...media, link: { 600: 20e6 }, live: LIVE, startUtcMs: Date.now() })}manifest.mpd`);
  },
  page: async ({ page }, use) => {
    await page.addInitScript(installPacedPage);
    await use(page);
  },
});

test.describe.configure({ mode: 'parallel' });

/** Runs in the page before its scripts. */
function installPacedPage(): void {
  const still: Pace = { playbackRate: 1, jump: false, targetLatencySeconds: 3, reason: 'scripted' };
  const latencies: number[] = [];
  const controller: Controller = {
    name: 'scripted',
    decide: () => ({ representation: 0, controller: 'scripted', reason: 'scripted' }),
    pace({ live }) {
      latencies.push(live!.latencySeconds);
      return window.paced.pace;
    },
  };
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  addEventListener('DOMContentLoaded', () => {
    const lab = window.lab.start({ options: { controller } });
    const watch = async (seconds: number) => {
      const { video } = lab;
      const samples: { atMs: number; media: number }[] = [];
      const rates = new Set<number>();
      const speeds: number[] = [];
      for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(50)) {
        const now = { atMs: performance.now(), media: video.currentTime };
        const before = samples.filter(({ atMs }) => atMs <= now.atMs - 1000).pop();
        if (before) speeds.push(((now.media - before.media) * 1000) / (now.atMs - before.atMs));
        samples.push(now);
        rates.add(video.playbackRate);
      }
      speeds.sort((a, b) => a - b);
      return { rates: [...rates], speed: speeds[speeds.length >> 1]! };
    };
    window.paced = { lab, pace: still, latencies, watch };
  });
}

test('playback follows the pace, dash.js keeps out, and gets its catch-up back', async ({ labPage, manifest }) => {
  const seen = await labPage.evaluate(async (manifest) => {
    const { lab, watch, latencies } = window.paced;
    const { player, video, handle, paces } = lab;
    const enabled = () => player.getSettings().streaming!.liveCatchup!.enabled;
    const before = enabled();
    player.initialize(video, manifest, true);
    await window.lab.until('playback under our control', () => paces.length > 0 && video.currentTime > 0);
    const whilePaced = enabled();
    const phases = [];
    for (const playbackRate of [0.95, 1.05]) {
      window.paced.pace = { ...window.paced.pace, playbackRate };
      await window.lab.until(`a rate of ${playbackRate}`, () => video.playbackRate === playbackRate);
      phases.push(await watch(5));
    }
    // The viewer's own.
    video.playbackRate = 1.5;
    phases.push(await watch(1.5));
    video.playbackRate = 1;
    await window.lab.until('our rate again', () => video.playbackRate === 1.05);
    const shown = handle.state.pace?.playbackRate;
    handle.detach();
    const after = { rate: video.playbackRate, enabled: enabled(), pace: handle.state.pace };
    const asked = latencies.length;
    await watch(0.5);
    return {
      ...{ before, whilePaced, phases, shown, after },
      askedLater: latencies.length - asked,
      rates: paces.map(({ playbackRate }) => playbackRate),
      limits: paces[0]!.state.live,
    };
  }, manifest);
  expect(seen).toMatchObject({ before: null, whilePaced: false, shown: 1.05, askedLater: 0 });
  expect(seen.limits).toMatchObject({ playbackRates: LIVE.playbackRates, maxLatencySeconds: 15 });
  expect(seen.phases.map(({ rates }) => rates)).toEqual([[0.95], [1.05], [1.5]]);
  const [slow, fast] = seen.phases;
  expect(Math.abs(slow!.speed - 0.95), `${slow!.speed}`).toBeLessThan(0.02);
  expect(Math.abs(fast!.speed - 1.05), `${fast!.speed}`).toBeLessThan(0.02);
  expect(seen.after).toEqual({ rate: 1, enabled: null, pace: undefined });
  expect(seen.rates.slice(0, 3)).toEqual([1, 0.95, 1.05]);
});
