/**
 * dash.js without the plugin plays the origin's live streams. With `LIVE_SECONDS=600` four players side by side play for
 * that long, and their latency and the lateness of the origin's chunks are the measurement of docs/live.md.
 */

import type { Page } from '@playwright/test';
import type { RunningOrigin } from '../../replay/origin/index.ts';
import type { LiveStream } from '../../replay/scenarios.ts';
import { expect, type StreamOptions, test } from './playback-test.ts';

const LOW_LATENCY: LiveStream = {
  chunkSeconds: 0.25,
  encoderLatencySeconds: 0.3,
  targetLatencySeconds: 2,
  timeShiftSeconds: 60,
};
const WHOLE_SEGMENTS: LiveStream = { ...LOW_LATENCY, chunkSeconds: 2, targetLatencySeconds: 8 };
/** Media that each player plays. */
const PLAYED_SECONDS = 15;
/** There are none on a host that never stands still for longer than the buffer lasts. */
const MOST_STALLS = PLAYED_SECONDS / 2;
const MEASURED_SECONDS = Number(process.env['LIVE_SECONDS'] ?? PLAYED_SECONDS);
/** The link is no limit. */
const UNLIMITED: StreamOptions = {
  segmentSeconds: 2,
  segmentCount: 60 + Math.ceil(MEASURED_SECONDS / 2),
  link: [[600, 1e9]],
};

interface Played {
  /** So much media has been played, and then latency was within 0.1 s of the target; else the time limit was reached. */
  isThere: boolean;
  /** Latency less the target every 0.1 s since the player was there first, ascending. */
  offTargetSeconds: number[];
  latencySeconds: number;
  targetSeconds: number;
  isLowLatency: boolean;
  stallsAtSeconds: number[];
  errors: string[];
}

/** Plays the manifests side by side, each until it is close to its target after so many seconds of media. */
function play(page: Page, manifests: readonly string[], playedSeconds = PLAYED_SECONDS): Promise<Played[]> {
  return page.evaluate(
    async ({ manifests, playedSeconds }) => {
      const CLOSE_SECONDS = 0.1;
      // dash.js may seek once more after the first picture.
      const JOIN_SECONDS = 0.5;
      const LIMIT_MS = playedSeconds * 1000 + 30_000;
      const play = async (manifest: string): Promise<Played> => {
        const video = document.createElement('video');
        video.muted = true;
        document.body.append(video);
        const player = window.dashjs.MediaPlayer().create();
        // By default only low-latency streams catch up; without it a player stays as late as it began.
        player.updateSettings({ streaming: { liveCatchup: { enabled: true } } });
        const errors: string[] = [];
        player.on('error', ({ error }: { error?: unknown }) => errors.push(JSON.stringify(error)));
        let joinedAtSeconds = Number.POSITIVE_INFINITY;
        const stallsAtSeconds: number[] = [];
        video.addEventListener('playing', () => {
          joinedAtSeconds = Math.min(joinedAtSeconds, video.currentTime);
        });
        video.addEventListener('waiting', () => {
          if (video.currentTime > joinedAtSeconds + JOIN_SECONDS) stallsAtSeconds.push(video.currentTime);
        });
        player.initialize(video, manifest, true);
        const offTarget = () => player.getCurrentLiveLatency() - player.getTargetLiveDelay();
        const isThere = () =>
          video.currentTime - joinedAtSeconds > playedSeconds && Math.abs(offTarget()) < CLOSE_SECONDS;
        const offTargetSeconds: number[] = [];
        const beganMs = performance.now();
        while (!isThere() && errors.length === 0 && performance.now() - beganMs < LIMIT_MS) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          const isPlaying = video.currentTime > joinedAtSeconds + JOIN_SECONDS;
          if (isPlaying && (offTargetSeconds.length > 0 || Math.abs(offTarget()) < CLOSE_SECONDS)) {
            offTargetSeconds.push(offTarget());
          }
        }
        const seen = {
          isThere: isThere(),
          offTargetSeconds: offTargetSeconds.sort((a, b) => a - b),
          latencySeconds: player.getCurrentLiveLatency(),
          targetSeconds: player.getTargetLiveDelay(),
          isLowLatency: player.getLowLatencyModeEnabled(),
          stallsAtSeconds,
          errors,
        };
        player.destroy();
        return seen;
      };
      return Promise.all(manifests.map(play));
    },
    { manifests, playedSeconds },
  );
}

/** Segments that were requested before they existed. */
const waited = (origin: RunningOrigin, folder: string) => {
  const { log, presentation } = origin.session(folder.split('/').at(-2)!)!;
  return log.filter(({ path, requestedAtSeconds }) => {
    const { chunks = [] } = presentation.find(path)!;
    return chunks.some(({ existsAtSeconds }) => existsAtSeconds > requestedAtSeconds);
  });
};

test.describe.configure({ mode: 'parallel' });

test('low latency: 2 s behind the encoder', async ({ labPage, stream, origin }) => {
  const folder = stream({ ...UNLIMITED, live: LOW_LATENCY });
  const [seen] = await play(labPage, [`${folder}manifest.mpd`]);
  expect(seen).toMatchObject({ isThere: true, isLowLatency: true, targetSeconds: 2, errors: [] });
  expect(seen!.stallsAtSeconds.length).toBeLessThan(MOST_STALLS);
  expect(waited(origin, folder).length).toBeGreaterThan(2);
});

for (const addressing of ['template', 'timeline'] as const) {
  test(`whole segments, addressed by ${addressing}: 8 s behind the encoder`, async ({ labPage, stream, origin }) => {
    const folder = stream({ ...UNLIMITED, live: WHOLE_SEGMENTS, media: { addressing } });
    const [seen] = await play(labPage, [`${folder}manifest.mpd`]);
    expect(seen).toMatchObject({ isThere: true, isLowLatency: false, targetSeconds: 8, errors: [] });
    expect(seen!.stallsAtSeconds.length).toBeLessThan(MOST_STALLS);
    // The timeline lists what exists. By number, a player's clock may be a little fast.
    if (addressing === 'timeline') expect(waited(origin, folder)).toEqual([]);
  });
}

test('four players side by side; the origin reports how late chunks left', async ({ labPage, stream }) => {
  test.setTimeout(MEASURED_SECONDS * 1000 + 60_000);
  const folders = [1, 2, 3, 5].map((targetLatencySeconds) =>
    stream({ ...UNLIMITED, live: { ...LOW_LATENCY, targetLatencySeconds } }),
  );
  const seen = await play(
    labPage,
    folders.map((folder) => `${folder}manifest.mpd`),
    MEASURED_SECONDS,
  );
  expect(seen.map(({ isThere, targetSeconds, errors }) => ({ isThere, targetSeconds, errors }))).toEqual(
    [1, 2, 3, 5].map((targetSeconds) => ({ isThere: true, targetSeconds, errors: [] })),
  );
  for (const [i, folder] of folders.entries()) {
    const { targetSeconds, offTargetSeconds: off, stallsAtSeconds } = seen[i]!;
    const mean = off.reduce((sum, value) => sum + value, 0) / off.length;
    const [least, p05, p95, most] = [0, 0.05, 0.95, 1].map((level) => off[Math.round(level * (off.length - 1))]!);
    const lateness = await (await fetch(`${folder}lateness`)).text();
    console.log(
      `target ${targetSeconds} s: off it by ${mean.toFixed(3)} s in the mean, 90 % ${p05!.toFixed(3)} to ` +
        `${p95!.toFixed(3)}, ${least!.toFixed(3)} to ${most!.toFixed(3)} of ${off.length}, ` +
        `${stallsAtSeconds.length} stalls; lateness of chunks: ${lateness}`,
    );
    expect((JSON.parse(lateness) as { chunks: number }).chunks).toBeGreaterThan(40);
  }
});
