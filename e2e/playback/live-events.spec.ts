/**
 * After an incident in a low-latency stream, playback goes on and latency returns to the target. Two players play side
 * by side, one with `mpc-l` and one with `mpc-d`.
 */

import type { Page } from '@playwright/test';
import {
  test as base,
  CORE_WITH_CATCH_UP,
  expect,
  installClocks,
  type LabPlayer,
  liveStream,
  type StreamOptions,
} from './playback-test.ts';

// With wide bounds, a late player catches up within seconds.
const LIVE = liveStream(2, { playbackRates: { min: 0.5, max: 1.5 } });
const STREAM: StreamOptions = {
  ...{ ladderBps: [1e6, 2.5e6, 5e6], segmentSeconds: 2, segmentCount: 60, link: { 600: 20e6 }, live: LIVE },
};

const OUTAGE_END_SECONDS = 12.5;

type LiveIncident = 'outage' | 'paused encoder' | 'decision' | 'periods' | 'seek' | 'pause';

const test = base.extend<{ two(options?: StreamOptions): string[] }>({
  /** Serves two streams; returns the URLs of their manifests. */
  // The origin's UTC is the device's, because dash.js 5.2.1 counts a difference twice in a seek.
  two: ({ stream }, use) =>
    use((options) => [1, 2].map(() => `${stream({ ...STREAM, startUtcMs: Date.now(), ...options })}manifest.mpd`)),
});

test.describe.configure({ mode: 'parallel' });

/** Runs in the page. Plays each stream until latency is at its target, then through the incident until it is again. */
function playThrough({
  incident,
  manifests,
  outageEndSeconds,
}: {
  incident: LiveIncident;
  manifests: string[];
  outageEndSeconds: number;
}) {
  /** Tolerance. After a pause of encoder, link or host, MPC-L expects outages and hurries only from 0.6 s on. */
  const closeSeconds = (i: number) => (i > 0 ? 0.1 : 0.65);
  const lateBySeconds = ({ player }: LabPlayer) => player.getCurrentLiveLatency() - player.getTargetLiveDelay();
  /** Waits until a second of media has been played and latency is close to the target. */
  const atTarget = (lab: LabPlayer, i: number) => {
    const { video } = lab;
    let at = video.currentTime;
    let playedSeconds = 0;
    const isThere = () => {
      const step = video.currentTime - at;
      at += step;
      // Larger steps are seeks.
      if (step > 0 && step < 0.5) playedSeconds += step;
      return playedSeconds > 1 && Math.abs(lateBySeconds(lab)) < closeSeconds(i);
    };
    return window.lab.until('at the target', isThere, lab);
  };
  const acts: Record<LiveIncident, (lab: LabPlayer, i: number) => Promise<void>> = {
    outage: (lab) => {
      const edge = () => lab.video.currentTime + lab.player.getCurrentLiveLatency();
      return window.lab.until('the end of the outage', () => edge() > outageEndSeconds, lab);
    },
    'paused encoder': (lab) => {
      // 20 x 5 attempts 0.1 s apart outlast the pause.
      lab.player.updateSettings({ streaming: { retryAttempts: { MediaSegment: 20 } } });
      return window.lab.until('late', () => lateBySeconds(lab) > 2, lab);
    },
    decision: (lab) => {
      const before = lab.decisions.length;
      return window.lab.until('a decision', () => lab.decisions.length > before, lab);
    },
    periods: (lab) => {
      // A period has 4 s.
      const change = Math.ceil(lab.video.currentTime / 4) * 4;
      return window.lab.until('two changes', () => lab.video.currentTime > change + 4, lab);
    },
    seek: async (lab) => {
      const { player, video } = lab;
      const to = video.currentTime - 20;
      player.seekToPresentationTime(to);
      await window.lab.until('playback there', () => video.currentTime > to + 3 && video.currentTime < to + 10, lab);
      player.seekToOriginalLive();
    },
    pause: async ({ player, video }, i) => {
      // dash.js jumps after a pause of more than 4 s, instead of the stream's 13.5 s.
      player.updateSettings({ streaming: { liveCatchup: { maxDrift: 4 } } });
      const isOfElement = i === 0;
      if (isOfElement) video.pause();
      else player.pause();
      await new Promise((resolve) => setTimeout(resolve, 6000));
      if (isOfElement) return video.play();
      // Without the second call, dash.js would take the lateness for the viewer's choice.
      player.play();
      player.seekToOriginalLive();
    },
  };
  const view = async (manifest: string, i: number) => {
    const lab = window.lab.start({ options: i === 0 ? {} : { controller: 'mpc-d' } });
    const { player, video, decisions } = lab;
    const errors: string[] = [];
    player.on('error', ({ error }: { error?: unknown }) => errors.push(JSON.stringify(error)));
    player.initialize(video, manifest, true);
    await atTarget(lab, i);
    const before = decisions.length;
    await acts[incident](lab, i);
    await atTarget(lab, i);
    return { targetSeconds: player.getTargetLiveDelay(), errors, decided: decisions.length > before };
  };
  return Promise.all(manifests.map(view));
}

async function expectUndisturbed(page: Page, incident: LiveIncident, manifests: string[]): Promise<void> {
  const viewer = { targetSeconds: LIVE.targetLatencySeconds, errors: [], decided: true };
  const outageEndSeconds = LIVE.timeShiftSeconds + OUTAGE_END_SECONDS;
  expect(await page.evaluate(playThrough, { incident, manifests, outageEndSeconds })).toEqual([viewer, viewer]);
}

/** The streams of the two viewers. */
const INCIDENTS: [what: string, incident: LiveIncident, streams: StreamOptions | StreamOptions[]][] = [
  ['the link carries nothing for 2.5 s', 'outage', { link: { 10: 20e6, [OUTAGE_END_SECONDS]: 0, 600: 20e6 } }],
  [
    'the encoder pauses for 5 s, within a segment and where one begins',
    'paused encoder',
    // A segment begins to exist at 8.55 s. The second time is for a host that is too busy to be at the target before.
    [9, 8.4].map((at) => ({
      live: { ...LIVE, encoderPauses: [at, at + 30].map((fromSeconds) => ({ fromSeconds, seconds: 5 })) },
    })),
  ],
  ['periods change', 'periods', { media: { periods: 30 } }],
  ['a seek into the time-shift buffer, and back to live', 'seek', {}],
  ['a pause that is longer than what is caught up', 'pause', {}],
];
for (const [what, incident, streams] of INCIDENTS) {
  test(what, incident === 'outage' || incident === 'seek' ? CORE_WITH_CATCH_UP : {}, async ({ labPage, two }) => {
    const manifests = Array.isArray(streams) ? streams.map((one, i) => two(one)[i]!) : two(streams);
    await expectUndisturbed(labPage, incident, manifests);
  });
}

for (const wrongBySeconds of [3, -3]) {
  test(`the clock of the device is wrong by ${wrongBySeconds} s`, async ({ labPage, two, origin }) => {
    await labPage.addInitScript(installClocks, { wallOffsetMs: wrongBySeconds * 1000 });
    await labPage.reload();
    const manifests = two();
    await expectUndisturbed(labPage, 'decision', manifests);
    for (const [i, manifest] of manifests.entries()) {
      const session = origin.session(manifest.split('/').at(-2)!)!;
      // This latency is measured by the origin's clock, not by the player's.
      const latencySeconds = async () => {
        const mediaSeconds = await labPage.evaluate((i) => window.lab.players[i]!.video.currentTime, i);
        return session.nowSeconds + LIVE.timeShiftSeconds - mediaSeconds;
      };
      await expect
        .poll(async () => Math.abs((await latencySeconds()) - LIVE.targetLatencySeconds), { intervals: [50] })
        .toBeLessThan(0.3);
    }
  });
}
