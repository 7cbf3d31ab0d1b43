/** Viewers of a trial: a page in which each plays a stream to its end, in its arm. */

import type { Page } from '@playwright/test';
import type * as trialEntry from '../../src/trial.ts';
import { built } from './playback-test.ts';

export interface Viewer {
  manifest: string;
  /** Absent: nothing of the trial is loaded. */
  trial?: trialEntry.TrialOptions;
  report?: string;
}

export interface Seen {
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

/** Returns the page with `window.view`. */
export async function openViewers(page: Page): Promise<Page> {
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
