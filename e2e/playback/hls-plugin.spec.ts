/** hls.js with the plugin as its ABR controller. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from '@playwright/test';
import type HlsPlayer from 'hls.js';
import type { HlsConfig } from 'hls.js';
import type * as leoAbr from '../../src/hls.ts';
import {
  decidedAgain,
  expect,
  expectCmcd,
  expectEarlyAbandonment,
  FAILING_STREAM,
  PICTURE_WIDTHS,
  recordCmcd,
  type ServedFile,
  test,
} from './playback-test.ts';

declare global {
  interface Window {
    Hls: typeof HlsPlayer;
    playHls(playlist: string, options: leoAbr.LeoAbrOptions, config?: Partial<HlsConfig>): HlsLab;
  }
}

interface HlsLab {
  hls: HlsPlayer;
  video: HTMLVideoElement;
  handle: leoAbr.LeoAbrHandle;
  decisions: leoAbr.DecisionEvent[];
  paces: leoAbr.PaceEvent[];
  faults: leoAbr.FaultEvent[];
  /** Video segments that hls.js requested. */
  requests: { index: number; level: number; atMs: number }[];
  /** Errors of hls.js. */
  errors: string[];
}

const VERSIONS = ['hls.js', 'hls.js-1.6'];
const requireHere = createRequire(import.meta.url);
const FILES = VERSIONS.map((name): [string, ServedFile] => [
  `/${name}.js`,
  ['text/javascript', readFileSync(requireHere.resolve(`${name}/dist/hls.min.js`))],
]);
test.use({
  entry: ['plugin-hls', { scope: 'worker' }],
  files: [Object.fromEntries(FILES), { scope: 'worker' }],
});
test.describe.configure({ mode: 'parallel' });

async function prepare(page: Page, version: string): Promise<void> {
  await page.addScriptTag({ url: `/${version}.js` });
  await page.waitForFunction(() => window.LeoAbr);
  await page.evaluate(() => {
    window.playHls = (playlist, options, config = {}) => {
      const video = document.createElement('video');
      video.muted = true;
      document.body.append(video);
      const { createLeoAbrController } = window.LeoAbr as unknown as typeof leoAbr;
      const abrController = createLeoAbrController({ logger: null, ...options });
      const { handle } = abrController;
      const hls = new window.Hls({ abrController, ...config });
      const { Events } = window.Hls;
      const lab: HlsLab = { hls, video, handle, decisions: [], paces: [], faults: [], requests: [], errors: [] };
      handle.on('decision', (event) => lab.decisions.push(event));
      handle.on('pace', (event) => lab.paces.push(event));
      handle.on('fault', (event) => lab.faults.push(event));
      // A host that stands still stalls playback.
      const isStall = (details: string) => /^buffer(Stalled|NudgeOnStall|SeekOverHole)/.test(details);
      hls.on(Events.ERROR, (_, { details }) => isStall(details) || lab.errors.push(details));
      hls.on(Events.FRAG_LOADING, (_, { frag }) => {
        if (frag.type !== 'main' || frag.sn === 'initSegment') return;
        lab.requests.push({ index: frag.sn, level: frag.level, atMs: performance.now() });
      });
      hls.loadSource(playlist);
      hls.attachMedia(video);
      video.play().catch(() => {});
      return lab;
    };
  });
}

for (const version of VERSIONS) {
  test(`${version}: a decision per segment, the segment in that quality, and CMCD`, async ({ labPage, stream }) => {
    await prepare(labPage, version);
    const folder = stream({ segmentCount: 8, sizeSpread: 0.2 });
    const cmcd = recordCmcd(labPage, folder);
    const seen = await labPage.evaluate(async (playlist) => {
      const lab = window.playHls(playlist, { abandon: false, cmcd: true });
      const { video, hls, decisions, faults, errors, requests, handle } = lab;
      await window.lab.until('the end', () => video.ended, lab as never);
      const result = {
        faults: faults.map(({ message }) => message),
        errors,
        requests: requests.map(({ index, level }) => [index, String(hls.levels[level]!.bitrate)]),
        decisions: decisions.map(({ state, representationId }) => [state.segmentIndex, representationId]),
        downloads: decisions.at(-1)!.state.downloads,
        events: decisions.map(({ state, forecast, decision }) => ({ state, forecast, decision })),
        sources: decisions.map(({ decision }) => decision.forecastSource),
        width: video.videoWidth,
        status: handle.state.status,
      };
      hls.destroy();
      return { ...result, after: handle.state.status };
    }, `${folder}master.m3u8`);
    expect(seen).toMatchObject({ faults: [], errors: [], status: 'attached', after: 'inactive' });
    // The first playlist tells the duration of segments: hls.js is given a second decision on the first one.
    const [first, ...decisions] = seen.decisions;
    expect(decisions).toEqual(seen.requests);
    expect(first![0]).toBe(0);
    expect(seen.requests.map(([index]) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(seen.downloads).toHaveLength(7);
    for (const { receivedBits, sizeBits, downloadSeconds } of seen.downloads) {
      expect(receivedBits).toBe(sizeBits);
      expect(receivedBits / downloadSeconds).toBeLessThan(8.2e6);
    }
    expect(decidedAgain(seen.events, 'mpc-l:no-abandon')).toEqual(
      seen.events.map(({ decision }) => decision.representation),
    );
    expect(seen.sources).toContain('built-in');
    const chosen = seen.events.map(({ decision }) => decision.representation);
    expect(Math.max(...chosen)).toBeGreaterThan(0);
    expect(seen.width).toBe(PICTURE_WIDTHS[chosen.at(-1)!]);
    expectCmcd(cmcd);
  });

  test(`${version}: abandons a download in an outage, for a level without a playlist`, async ({ labPage, stream }) => {
    await prepare(labPage, version);
    const outage: [number, number][] = [
      [2, 8e6],
      [6, 0],
      [60, 8e6],
    ];
    const folder = stream({ segmentSeconds: 2, segmentCount: 4, link: outage });
    const withoutCmcd = recordCmcd(labPage, folder);
    const seen = await labPage.evaluate(async (playlist) => {
      const to = (representation: number) => ({ representation, controller: 'own', reason: 'own' });
      const controller: leoAbr.Controller = {
        name: 'own',
        decide: () => to(3),
        reconsider: ({ nowSeconds }, { requestedAtSeconds, abandonments }) =>
          abandonments === 0 && nowSeconds - requestedAtSeconds > 2.5 ? to(0) : 'keep',
      };
      const lab = window.playHls(playlist, { controller });
      const { video, decisions, faults, requests } = lab;
      await window.lab.until('the end', () => video.ended, lab as never);
      return {
        faults: faults.map(({ message }) => message),
        requests: requests.map(({ index, level }) => ({ index, level })),
        abandoned: decisions.filter(({ kind }) => kind === 'abandon').map(({ state }) => state.segmentIndex),
        downloads: decisions.at(-1)!.state.downloads,
      };
    }, `${folder}master.m3u8`);
    expect(seen.faults).toEqual([]);
    expect(new Set(withoutCmcd)).toEqual(new Set([null]));
    expect(seen.abandoned.length).toBeGreaterThan(0);
    const index = seen.abandoned[0]!;
    expect(seen.requests.filter((request) => request.index === index)).toEqual([
      { index, level: 3 },
      { index, level: 0 },
    ]);
    expect(seen.downloads.filter(({ abandoned }) => abandoned)[0]).toMatchObject({ segmentIndex: index });
  });
}

test('mpc-l abandons a download soon after the last byte', async ({ labPage, stream }) => {
  await expectEarlyAbandonment(async () => {
    await labPage.reload();
    await prepare(labPage, VERSIONS[0]!);
    return labPage.evaluate(
      (playlist) => {
        const lab = window.playHls(playlist, {});
        const sent = () => lab.requests.map(({ index, level }) => ({ index, rung: level }));
        return window.lab.untilAgain(lab as never, sent);
      },
      `${stream(FAILING_STREAM)}master.m3u8`,
    );
  });
});

test('a controller that fails leaves the decisions to hls.js, with one fault', async ({ labPage, stream }) => {
  await prepare(labPage, VERSIONS[0]!);
  const seen = await labPage.evaluate(async (playlist) => {
    const decide = () => {
      throw new Error('no idea');
    };
    const lab = window.playHls(playlist, { controller: { name: 'own', decide } });
    await window.lab.until('the end', () => lab.video.ended, lab as never);
    return { faults: lab.faults.map(({ code }) => code), requests: lab.requests.map(({ index }) => index) };
  }, `${stream()}master.m3u8`);
  expect(seen).toEqual({ faults: ['controller-failed'], requests: [0, 1, 2, 3, 4, 5, 6, 7] });
});

test('plays a low-latency stream at the pace of the plugin', async ({ labPage, stream }) => {
  await prepare(labPage, VERSIONS[0]!);
  const live = { chunkSeconds: 0.25, encoderLatencySeconds: 0.3, targetLatencySeconds: 2.3, timeShiftSeconds: 20 };
  const seen = await labPage.evaluate(
    async (playlist) => {
      const lab = window.playHls(playlist, { abandon: false });
      const { video, decisions, faults, paces, requests, hls } = lab;
      const isPlaying = () => video.currentTime > 0 && paces.length > 0;
      await window.lab.until('a pace', isPlaying, lab as never);
      const start = video.currentTime;
      await window.lab.until('6 s', () => video.currentTime - start > 6, lab as never);
      return {
        faults: faults.map(({ message }) => message),
        decisions: decisions.map(({ state }) => state.segmentIndex),
        requests: requests.map(({ index }) => index),
        live: decisions.at(-1)!.state.live!,
        paces: paces.map(({ playbackRate }) => playbackRate),
        targetSeconds: hls.targetLatency!,
      };
    },
    `${stream({ segmentSeconds: 2, segmentCount: 40, link: [[600, 20e6]], live })}master.m3u8`,
  );
  expect(seen.faults).toEqual([]);
  expect(seen.live).toMatchObject({ chunkSeconds: 0.25, targetLatencySeconds: seen.targetSeconds });
  expect(seen.live.latencySeconds).toBeGreaterThan(0);
  for (const rate of seen.paces) expect(Math.abs(rate - 1)).toBeLessThan(0.051);
  // One decision for all parts of a segment.
  expect(seen.decisions.filter((index) => index === seen.decisions.at(-1))).toHaveLength(1);
  expect(seen.requests.length).toBeGreaterThan(new Set(seen.requests).size + 5);
});
