/** Trials with real players: viewers in arms, their reports in a collector, and the player's own arm as without us. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { type SessionReport, validSessionReport } from '../../abr/session-report.ts';
import { synthesizeShippedTraces } from '../../replay/link-model/shipped-traces.ts';
import { SCENARIOS } from '../../replay/scenarios.ts';
import { type RunningCollector, startCollector } from '../../service/index.ts';
import type * as trialEntry from '../../src/trial.ts';
import { test as base, built, expect, LADDER_BPS, type PlayerName } from './playback-test.ts';

/** A large trial: how many viewers, four at a time, and where their reports stay. */
const { TRIAL_VIEWERS = '4', TRIAL_FOLDER: FOLDER } = process.env;
const VIEWERS = Number(TRIAL_VIEWERS);
const AT_ONCE = 4;

interface Viewer {
  manifest: string;
  /** Absent: nothing of the trial is loaded. */
  trial?: trialEntry.TrialOptions;
  report?: string;
}

interface Seen {
  arm: string | undefined;
  /** The representation of each request for video. */
  requested: string[];
  /** All settings of the player, before and after. */
  settings: string[];
  /** From the call to the first picture, and in which no picture moved after it, as the playhead says. */
  startupSeconds: number;
  stallSeconds: number;
}

declare global {
  interface Window {
    LeoAbrTrial: typeof trialEntry;
    /** Plays to the end and leaves the player as it is. */
    view(viewer: Viewer): Promise<Seen>;
    stopAll(): void;
  }
}

const test = base.extend<{ collector: RunningCollector & { reports(count: number): Promise<SessionReport[]> } }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the pattern.
  collector: async ({}, use) => {
    const directory = FOLDER ?? mkdtempSync(join(tmpdir(), 'leo-abr-trial-'));
    const collector = await startCollector({ port: 0, directory, maxBytes: 1e7 });
    const lines = () =>
      readdirSync(directory).flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n'));
    const stored = () =>
      lines()
        .filter((line) => line !== '')
        .map((line) => validSessionReport(JSON.parse(line)));
    const reports = async (count: number) => {
      await expect.poll(() => stored().length, { timeout: 20_000 }).toBe(count);
      return stored();
    };
    await use(Object.assign(collector, { reports }));
    await collector.close();
    if (FOLDER === undefined) rmSync(directory, { recursive: true });
  },
});

/** Runs in the page before its scripts. */
function installViewers(): void {
  const stops: (() => void)[] = [];
  window.stopAll = () => {
    for (const stop of stops) stop();
  };
  const textOf = (settings: object) =>
    JSON.stringify(settings, (_, value) => (typeof value === 'function' ? String(value) : value));

  window.view = async ({ manifest, trial, report }) => {
    const video = document.createElement('video');
    Object.assign(video, { muted: true, width: 320, height: 180 });
    document.body.append(video);
    const { LeoAbrTrial, LeoAbr } = window;
    const arm = trial && LeoAbrTrial.assignArm(trial);
    const requested: string[] = [];
    const settings: string[] = [];
    const observe = (player: trialEntry.ObservablePlayer, leoAbr: trialEntry.ReportOptions['leoAbr']) => {
      if (!arm) return;
      const reports = LeoAbrTrial.reportSessions(player, { arm, leoAbr, report });
      stops.push(() => reports.stop());
    };
    const calledMs = performance.now();
    let [movedMs, position, startupSeconds, stallSeconds] = [calledMs, 0, 0, 0];
    const watch = () => {
      const nowMs = performance.now();
      const still = (nowMs - movedMs) / 1000;
      if (video.currentTime > position) {
        if (position === 0) startupSeconds = still;
        // Less is between two pictures, and a page that stands still.
        else if (still - (video.currentTime - position) > 0.3) stallSeconds += still;
        [movedMs, position] = [nowMs, video.currentTime];
      }
      requestAnimationFrame(watch);
    };
    watch();
    const ended = () =>
      new Promise<void>((resolve) => {
        const isOver = () => video.ended || video.currentTime > video.duration - 0.1;
        const timer = setInterval(() => {
          if (!isOver()) return;
          clearInterval(timer);
          resolve();
        }, 50);
      });
    if (window.dashjs) {
      const player = window.dashjs.MediaPlayer().create();
      const keep = () => settings.push(textOf(player.getSettings()));
      player.on('fragmentLoadingStarted' as 'fragmentLoadingCompleted', ({ request }) => {
        if (request.type === 'MediaSegment' && request.mediaType === 'video')
          requested.push(request.representation!.id);
      });
      keep();
      observe(player, arm?.options && LeoAbr.attachLeoAbr(player, arm.options));
      player.initialize(video, manifest, true);
      await ended();
      keep();
    } else if (window.shaka) {
      const { shaka } = window;
      shaka.polyfill.installAll();
      video.autoplay = true;
      const player = new shaka.Player();
      await player.attach(video);
      player.configure('abr.droppedFrames', false);
      const keep = () => settings.push(textOf(player.getConfiguration()));
      keep();
      const factory = arm?.options && LeoAbr.createLeoAbrFactory(player as never, arm.options);
      if (factory) player.configure({ abrFactory: factory });
      observe(player as never, factory?.handle);
      player.getNetworkingEngine()!.registerRequestFilter((_, { uris }) => {
        const [, id] = /(video-\d+)\/\d+\.m4s/.exec(uris[0]!) ?? [];
        if (id) requested.push(id);
      });
      await player.load(manifest);
      await ended();
      keep();
    } else {
      const abrController = arm?.options && LeoAbr.createLeoAbrController(arm.options);
      const hls = new window.Hls({ ...(abrController && { abrController }) } as object);
      const keep = () => settings.push(textOf(hls.config));
      keep();
      observe(hls, abrController?.handle);
      hls.on(window.Hls.Events.FRAG_LOADING, (_, { frag }) => {
        if (frag.type === 'main' && frag.sn !== 'initSegment') requested.push(String(frag.level));
      });
      hls.loadSource(manifest.replace('manifest.mpd', 'master.m3u8'));
      hls.attachMedia(video);
      video.play().catch(() => {});
      await ended();
      keep();
    }
    return { arm: arm?.arm, requested, settings, startupSeconds, stallSeconds };
  };
}

async function open(page: Page): Promise<Page> {
  await page.addInitScript(installViewers);
  const code = await built({ mode: 'plugin-trial' }, 'leo-abr.trial.js');
  await page.route('**/plugin-trial.js', (route) => route.fulfill({ contentType: 'text/javascript', body: code }));
  await page.reload();
  await page.evaluate(async () => {
    const path = '/plugin-trial.js';
    window.LeoAbrTrial = await import(path);
  });
  return page;
}

const PLAYERS: [PlayerName, SessionReport['player']][] = [
  ['dash', 'dash.js'],
  ['hls.js', 'hls.js'],
  ['Shaka 5', 'shaka'],
  ['hls.js 1.6', 'hls.js'],
  ['Shaka 4', 'shaka'],
];
/** Older versions have one test. */
const isOlder = (name: PlayerName) => /1.6|4/.test(name);
const SECONDS = 10;

for (const [playerName, reported] of PLAYERS) {
  test.describe(playerName, () => {
    test.use({ playerName });

    test('viewers on a shipped link, half in each arm, report to a collector', async ({
      labPage,
      origin,
      collector,
    }) => {
      test.setTimeout(60_000 + VIEWERS * 15_000);
      const page = await open(labPage);
      const scenario = {
        ...{ ...SCENARIOS['pensieve-60']!, name: 'trial', ladderBps: LADDER_BPS, segmentSeconds: 1 },
        ...{ segmentCount: SECONDS, rttSeconds: 0.02, traceScale: { factor: 0.1 } },
      };
      const traces = synthesizeShippedTraces();
      const report = `${collector.url}/v1/reports`;
      const arms: (string | undefined)[] = [];
      for (let first = 0; first < VIEWERS; first += AT_ONCE) {
        const sessions = Array.from({ length: Math.min(AT_ONCE, VIEWERS - first) }, (_, i) =>
          origin.createSession({ trace: traces[(first + i) % traces.length]!, scenario }),
        );
        const viewers = sessions.map((session, i) => {
          const trial = { name: 'e2e', key: `viewer ${first + i}` };
          return { manifest: origin.manifestUrl(session), trial, report };
        });
        const seen = await page.evaluate((all) => Promise.all(all.map((one) => window.view(one))), viewers);
        arms.push(...seen.map(({ arm }) => arm));
        await page.evaluate(() => window.stopAll());
        for (const session of sessions) origin.removeSession(session.id);
      }
      const reports = await collector.reports(VIEWERS);
      expect(reports.map(({ arm }) => arm).sort()).toEqual(arms.sort());
      expect(new Set(arms)).toEqual(new Set(['leo-abr', 'player']));
      for (const one of reports) {
        expect(one).toMatchObject({
          ...{ trial: 'e2e', armShare: 0.5, unit: 'viewer', player: reported, browser: 'chromium', live: false },
          ...{ controller: one.arm === 'player' ? 'player' : 'mpc-l', started: true, ended: 'end' },
        });
        expect(one.watchedSeconds).toBeGreaterThan(SECONDS - 1);
        expect(one.watchedSeconds).toBeLessThan(SECONDS + 0.5);
        expect(one.topBitrateBps! / 5e6).toBeCloseTo(1, 1);
        expect(one.requestedBits).toBeGreaterThan(SECONDS * 0.2e6);
      }
    });

    if (isOlder(playerName)) return;

    test('a page that goes away reports', async ({ labPage, stream, collector }) => {
      const page = await open(labPage);
      const viewer = { manifest: `${stream({ segmentCount: 60 })}manifest.mpd`, report: `${collector.url}/v1/reports` };
      await page.evaluate((one) => {
        void window.view({ ...one, trial: { name: 'e2e', share: 0 } });
      }, viewer);
      await page.waitForFunction(() => document.querySelector('video')!.currentTime > 2);
      await page.goto('about:blank');
      const [report] = await collector.reports(1);
      expect(report).toMatchObject({ ended: 'page', started: true, controller: 'player', arm: 'player' });
      expect(report!.watchedSeconds).toBeGreaterThan(1.5);
      expect(report!.meanBitrateBps).toBeGreaterThan(2e5);
    });

    test('measures startup and stalls as they are on screen', async ({ labPage, stream, collector }) => {
      const page = await open(labPage);
      const link: [number, number][] = [
        [1, 0.2e6],
        [5, 1.6e6],
        [14, 0],
        [60, 8e6],
      ];
      const viewer = {
        manifest: `${stream({ ladderBps: [1e6], segmentCount: 16, link })}manifest.mpd`,
        ...{ trial: { name: 'e2e', share: 0 }, report: `${collector.url}/v1/reports` },
      };
      const seen = await page.evaluate((one) => window.view(one), viewer);
      await page.evaluate(() => window.stopAll());
      const [report] = await collector.reports(1);
      expect(seen.stallSeconds).toBeGreaterThan(3);
      expect(report!.stallCount).toBeGreaterThanOrEqual(1);
      expect(Math.abs(report!.stallSeconds - seen.stallSeconds), JSON.stringify({ seen, report })).toBeLessThan(0.6);
      expect(Math.abs(report!.startupSeconds - seen.startupSeconds)).toBeLessThan(0.6);
      expect(Math.abs(report!.watchedSeconds - 16)).toBeLessThan(0.6);
      expect(report!.meanBitrateBps! / 1e6).toBeCloseTo(1, 0);
    });

    test("the player's own arm is as without us: settings, requests and choices", async ({ labPage, stream }) => {
      const page = await open(labPage);
      // So fast that its own algorithm has one choice, unless the host stands still.
      const options = { ladderBps: [300e3, 1e6], link: [[60, 60e6]] as [number, number][], rttSeconds: 0.01 };
      const play = (viewer: Omit<Viewer, 'manifest'>) =>
        page.evaluate((one) => window.view(one), { ...viewer, manifest: `${stream(options)}manifest.mpd` });
      const without = await play({});
      let own = await play({ trial: { name: 'e2e', share: 0 } });
      for (let again = 0; again < 2 && own.requested.join() !== without.requested.join(); again++) {
        own = await play({ trial: { name: 'e2e', share: 0 } });
      }
      expect(own.arm).toBe('player');
      expect(own.settings).toEqual(without.settings);
      expect(own.requested).toEqual(without.requested);
      expect(own.requested.length).toBeGreaterThanOrEqual(8);
    });
  });
}
