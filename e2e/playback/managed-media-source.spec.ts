/**
 * Managed Media Source, as on an iPhone: players pause requests from `endstreaming` to `startstreaming`. The test
 * simulates it on Chromium's MediaSource. WebKit's core tests play with the real one.
 */

import type { Forecaster, QuantileForecast } from '../../abr/forecast.ts';
import type { DecisionEvent } from '../../src/index.ts';
import { describePlayers, expect, type LabPlayer, type LabPlayerName, test } from './playback-test.ts';

/** These settings give each player a buffer of 5 s. */
const SETTINGS: [LabPlayerName, object][] = [
  ['dash', { streaming: { buffer: { bufferTimeDefault: 5, bufferTimeAtTopQuality: 5 } } }],
  ['hls.js', { maxBufferLength: 5, preferManagedMediaSource: true }],
  ['Shaka 5', { streaming: { bufferingGoal: 5 } }],
];

test.describe.configure({ mode: 'parallel' });
describePlayers(SETTINGS, (_, settings) => {
  test('a pause of requests is not taken for a slow link', async ({ labPage, stream }) => {
    await labPage.addInitScript(() => {
      class ManagedMediaSource extends MediaSource {
        readonly streaming = true;
        constructor() {
          super();
          Object.assign(window, { managed: this });
        }
      }
      Object.assign(window, { ManagedMediaSource });
    });
    await labPage.reload();
    const manifest = `${stream({ segmentCount: 60 })}manifest.mpd`;
    const seen = await labPage.evaluate(
      async ({ manifest, settings }) => {
        const silent: [startSeconds: number, endSeconds: number][] = [];
        const observe: Forecaster['observe'] = (one) => {
          if (one.kind === 'throughput' && one.bits === 0) silent.push([one.startSeconds, one.endSeconds]);
        };
        const witness: Forecaster = { name: 'witness', start() {}, observe, latest: () => undefined };
        const options = { forecasters: [witness], abandon: true };
        const lab = (await window.lab.play({ manifest, settings, options })) as LabPlayer;
        const { video, requests, decisions, handle } = lab;
        const ahead = () => (video.buffered.length > 0 ? video.buffered.end(0) - video.currentTime : 0);
        await window.lab.until('a full buffer', () => requests.length > 6 && ahead() > 3.5, lab);
        const { managed } = window as unknown as { managed: MediaSource };
        managed.dispatchEvent(new Event('endstreaming'));
        const pausedAtSeconds = handle.state.nowSeconds;
        await window.lab.until('a low buffer', () => ahead() < 1.5, lab);
        const before = requests.length;
        const resumedAtSeconds = handle.state.nowSeconds;
        managed.dispatchEvent(new Event('startstreaming'));
        await window.lab.until('requests', () => requests.length > before + 5, lab);
        const after = decisions.filter(({ state }) => state.nowSeconds > resumedAtSeconds);
        const medianBps = ({ forecast }: DecisionEvent) => {
          const { levels, quantilesBps } = forecast as QuantileForecast;
          return quantilesBps[0]![levels.findIndex((level) => level >= 0.5)]!;
        };
        const known = decisions.filter(({ forecast }) => forecast);
        const last = known.filter(({ state }) => state.nowSeconds < pausedAtSeconds).pop()!;
        const next = known.find(({ state }) => state.nowSeconds > resumedAtSeconds)!;
        return {
          abandoned: decisions.filter(({ kind }) => kind === 'abandon').length,
          estimateRatio: medianBps(next) / medianBps(last),
          silent: silent.filter(([start, end]) => start > pausedAtSeconds + 1 && end < resumedAtSeconds),
          pauseSeconds: resumedAtSeconds - pausedAtSeconds,
          longestSeconds: Math.max(...after.at(-1)!.state.downloads.map(({ downloadSeconds }) => downloadSeconds)),
          sources: after.map(({ decision }) => decision.forecastSource),
          highest: Math.max(...after.map(({ decision }) => decision.representation)),
        };
      },
      { manifest, settings },
    );
    expect(seen.pauseSeconds).toBeGreaterThan(2);
    // On a host that stood still, a request of before may end late.
    expect(seen.silent.reduce((sum, [start, end]) => sum + end - start, 0)).toBeLessThan(0.2);
    // No download is as long as the pause.
    expect(seen.longestSeconds).toBeLessThan(seen.pauseSeconds);
    expect(seen.abandoned).toBe(0);
    expect(seen.estimateRatio).toBeGreaterThan(0.6);
    expect(seen.sources).toContain('built-in');
    expect(seen.highest).toBeGreaterThan(0);
  });
});

test.describe('hls.js', () => {
  test.use({ playerName: 'hls.js' });

  test('an element that plays another source, as for AirPlay, is left alone until hls.js attaches it again', async ({
    onStream,
  }) => {
    const seen = await onStream({ segmentCount: 60 }, async (manifest) => {
      const lab = window.lab.startHls({ manifest, settings: { maxBufferLength: 5 } });
      const { player, video, decisions } = lab;
      await window.lab.until('decisions', () => decisions.length > 2, lab);
      video.src = 'data:audio/wav;base64,UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA==';
      await window.lab.until('hls.js leaves', () => player.media === null, lab);
      const before = decisions.length;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const during = decisions.length - before;
      player.attachMedia(video);
      player.startLoad();
      await window.lab.until('decisions again', () => decisions.length > before + 2, lab);
      return { during, status: lab.handle.state.status };
    });
    expect(seen).toEqual({ during: 0, status: 'attached' });
  });
});
